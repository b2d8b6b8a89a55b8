//! A resolved study: what will be run, with every default filled in.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{
    Claim, CrashTest, Deployment, Duration, Factor, Flavor, Repetition, Scale, SearchPlan,
    ServerUrl,
};

/// A study with nothing left to decide. It is stored with the result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The study's title.
    pub title: String,
    /// The question it answers.
    pub question: String,
    /// Seed of the order of runs and of the load's keys.
    pub seed: u64,
    /// The server and the settings that all cells share.
    pub server: ServerSettings,
    /// The data.
    pub data: DataPlan,
    /// The load that all cells share.
    pub load: LoadSettings,
    /// What varies; empty in results of Weir 0.1 before there were factors of every kind.
    #[serde(default)]
    pub factors: Vec<Factor>,
    /// Combinations of factor levels, in the order of the study file; after them the places where
    /// a search measured.
    pub cells: Vec<Cell>,
    /// The runs that are made in any case, in their order. [`Plan::repeat`] may add blocks, a
    /// search has none.
    pub runs: Vec<PlannedRun>,
    /// How often and in which way runs are repeated.
    #[serde(default)]
    pub repeat: Repetition,
    /// What is searched for in each of the cells.
    #[serde(default)]
    pub search: Option<SearchPlan>,
    /// Published claims that the study tests.
    pub claims: Vec<Claim>,
    /// Places where a factor cannot have an effect.
    #[serde(default)]
    pub negative_controls: Vec<NegativeControl>,
    /// Prices of levels: `intel-p4610` -> its price.
    #[serde(default)]
    pub prices: BTreeMap<String, Price>,
    /// Power-cut tests that the study relies on.
    #[serde(default)]
    pub crash_tests: Vec<CrashTest>,
}

impl Plan {
    /// The data of `cell`.
    pub fn data_of<'a>(&'a self, cell: &'a Cell) -> &'a DataPlan {
        cell.data.as_ref().unwrap_or(&self.data)
    }

    /// How the server of `cell` is deployed.
    pub fn deployment_of<'a>(&'a self, cell: &'a Cell) -> &'a Deployment {
        cell.deployment.as_ref().unwrap_or(&self.server.deployment)
    }

    /// The load of `cell`.
    pub fn load_of<'a>(&'a self, cell: &'a Cell) -> &'a LoadSettings {
        cell.load.as_ref().unwrap_or(&self.load)
    }

    /// The server of `cell`.
    pub fn server_of(&self, cell: &Cell) -> ServerChoice {
        cell.server.clone().unwrap_or_else(|| ServerChoice {
            flavor: self.server.flavor,
            version: self.server.version.clone(),
            binary: self.server.binary.clone(),
            given: self.server.given.clone(),
        })
    }

    /// All server variables of `cell`.
    pub fn variables_of(&self, cell: &Cell) -> BTreeMap<String, String> {
        let mut variables = self.server.variables.clone();
        variables.extend(cell.variables.clone());
        variables
    }

    /// Whether `cell` is served by the same process as `other` would be: they differ in factors
    /// that do not need another start.
    pub fn shares_server(&self, cell: usize, other: usize) -> bool {
        let outer = |cell: usize| {
            let factors = self.factors.iter().filter(|factor| !factor.within_server);
            let level = |factor: &Factor| self.cells[cell].levels.get(&factor.name);
            factors.map(level).collect::<Vec<_>>()
        };
        self.factors.iter().any(|factor| factor.within_server) && outer(cell) == outer(other)
    }
}

/// Which server serves.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ServerChoice {
    /// Flavour.
    pub flavor: Flavor,
    /// Version, or as much of it as matters: `8.4`.
    #[serde(default)]
    pub version: Option<String>,
    /// The program; `None`: the newest of flavour and version that is found.
    #[serde(default)]
    pub binary: Option<PathBuf>,
    /// A server that the user gives, instead of a program that Weir starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<ServerUrl>,
}

/// The server that a study runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerSettings {
    /// Flavour.
    pub flavor: Flavor,
    /// Version, or as much of it as matters: `8.4`.
    #[serde(default)]
    pub version: Option<String>,
    /// The server program, if the study names one; else the newest of the flavour that is found.
    #[serde(default)]
    pub binary: Option<PathBuf>,
    /// A server that the user gives, instead of a program that Weir starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<ServerUrl>,
    /// Variables of all cells: name -> value as in an option file, scaled.
    pub variables: BTreeMap<String, String>,
    /// Limits, buffer pool and replicas.
    #[serde(default, skip_serializing_if = "Deployment::is_plain")]
    pub deployment: Deployment,
}

/// The data that every run starts from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataPlan {
    /// Which schema and transactions.
    pub workload: WorkloadName,
    /// Number of tables.
    pub tables: u32,
    /// Rows of each table, scaled.
    pub rows: u64,
    /// By how much rows, buffer pool, redo and drive capacity were shrunk.
    pub data_scale: Scale,
    /// By how much drive throughput was shrunk; latency is never scaled.
    pub drive_scale: Scale,
}

/// The load of every run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LoadSettings {
    /// Load before the measurement begins; with `warmup_max` the least of it.
    pub warmup: Duration,
    /// Warm up until throughput is steady, but no longer than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup_max: Option<Duration>,
    /// Length of the measurement.
    pub measure: Duration,
    /// Which rows are asked for.
    pub distribution: DistributionName,
    /// Transactions per second of an open loop; `None`: a closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Round-trip time added to that of the network.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rtt: Duration,
    /// Options of the workload, by sysbench's names: `point_selects`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
}

fn is_zero(duration: &Duration) -> bool {
    duration.0.is_zero()
}

/// One combination of factor levels, with all that it changes in the plan's shared settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cell {
    /// Factor -> level, as written in the study file.
    pub levels: BTreeMap<String, String>,
    /// The drive's profile; `None`: the data lie on the host's own storage.
    pub drive: Option<String>,
    /// Keys of that profile with other values: `flash.fill` -> `0.9`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub drive_settings: BTreeMap<String, String>,
    /// Server variables that this cell sets beyond the shared ones.
    pub variables: BTreeMap<String, String>,
    /// Connections.
    pub threads: u32,
    /// The server program, where it is a factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerChoice>,
    /// How it is deployed, where that is a factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<Deployment>,
    /// The data, where they are a factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataPlan>,
    /// The load, where more of it than the connections is a factor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadSettings>,
    /// Where a search put it; `None`: it is of the study's design.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// The place of a search that a cell measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Index of the cell of the design in which is searched.
    pub of_cell: usize,
    /// The searched quantity: a rate per second, connections, or bytes.
    pub place: u64,
    /// Not to find the answer but to measure it once it was found.
    pub confirms: bool,
}

impl Cell {
    /// The drive with its changed settings: `intel-p4610+flash.fill=0.9`; so its profile is called
    /// in a result.
    pub fn drive_name(&self) -> Option<String> {
        let mut name = self.drive.clone()?;
        for (key, value) in &self.drive_settings {
            name.extend(["+", key, "=", value]);
        }
        Some(name)
    }

    /// The levels as one phrase: `drive intel-p4610, innodb_doublewrite OFF`.
    pub fn label(&self) -> String {
        let parts: Vec<_> = self
            .levels
            .iter()
            .map(|(name, level)| format!("{name} {level}"))
            .collect();
        if parts.is_empty() {
            "all".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

/// One run to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRun {
    /// Index into [`Plan::cells`].
    pub cell: usize,
    /// Repetition, from 1. Runs of one repetition form a block and are compared with each other.
    pub repetition: u32,
}

/// A place where a factor cannot have an effect: a shift there is the study's own error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NegativeControl {
    /// The factor.
    pub factor: String,
    /// Levels of other factors where it can do nothing.
    #[serde(rename = "where")]
    pub at: BTreeMap<String, String>,
}

/// What a level costs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// How much.
    pub amount: f64,
    /// In which currency, and for how long if it is a rent: `USD`, `EUR per month`.
    pub currency: String,
    /// When the price was seen: `2026-11-20`.
    pub date: String,
}

/// How keys fall on rows, by the names of sysbench's `--rand-type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DistributionName {
    /// All rows alike.
    Uniform,
    /// A bell over the middle of the table.
    Gaussian,
    /// A hot window in the middle: the default of sysbench 1.0.
    #[default]
    Special,
    /// Self-similar: a fifth of the rows gets four fifths of the keys, again and again.
    Pareto,
    /// By rank, with exponent 0.8.
    Zipfian,
}

impl DistributionName {
    /// sysbench's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::Gaussian => "gaussian",
            Self::Special => "special",
            Self::Pareto => "pareto",
            Self::Zipfian => "zipfian",
        }
    }
}

/// The workloads that Weir has, by sysbench's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkloadName {
    /// One row by primary key.
    OltpPointSelect,
    /// Point selects and range queries in a transaction.
    OltpReadOnly,
    /// The statements of `OltpReadOnly` and `OltpWriteOnly` in a transaction.
    OltpReadWrite,
    /// Updates, a delete and an insert in a transaction.
    OltpWriteOnly,
    /// A row at the end of a table.
    OltpInsert,
    /// A delete by primary key; rows that are gone stay gone.
    OltpDelete,
    /// An update of the indexed column by primary key.
    OltpUpdateIndex,
    /// An update of a column without index by primary key.
    OltpUpdateNonIndex,
    /// Rows at several points of the secondary index.
    SelectRandomPoints,
    /// A count over several ranges of the secondary index.
    SelectRandomRanges,
    /// Long multi-row inserts, each connection into a table of its own; a transaction is a row.
    BulkInsert,
    /// `OltpReadOnly` on a table with text, and a select by a line of it.
    OltpTextReadOnly,
    /// Updates of text too, by key and by a line, and a delete and an insert.
    OltpTextWriteOnly,
    /// The statements of both in a transaction.
    OltpTextReadWrite,
}

impl WorkloadName {
    /// All workloads.
    pub const ALL: [Self; 14] = [
        Self::OltpPointSelect,
        Self::OltpReadOnly,
        Self::OltpReadWrite,
        Self::OltpWriteOnly,
        Self::OltpInsert,
        Self::OltpDelete,
        Self::OltpUpdateIndex,
        Self::OltpUpdateNonIndex,
        Self::SelectRandomPoints,
        Self::SelectRandomRanges,
        Self::BulkInsert,
        Self::OltpTextReadOnly,
        Self::OltpTextWriteOnly,
        Self::OltpTextReadWrite,
    ];

    /// sysbench's name for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OltpPointSelect => "oltp_point_select",
            Self::OltpReadOnly => "oltp_read_only",
            Self::OltpReadWrite => "oltp_read_write",
            Self::OltpWriteOnly => "oltp_write_only",
            Self::OltpInsert => "oltp_insert",
            Self::OltpDelete => "oltp_delete",
            Self::OltpUpdateIndex => "oltp_update_index",
            Self::OltpUpdateNonIndex => "oltp_update_non_index",
            Self::SelectRandomPoints => "select_random_points",
            Self::SelectRandomRanges => "select_random_ranges",
            Self::BulkInsert => "bulk_insert",
            Self::OltpTextReadOnly => "oltp_text_read_only",
            Self::OltpTextWriteOnly => "oltp_text_write_only",
            Self::OltpTextReadWrite => "oltp_text_read_write",
        }
    }

    /// Whether its transactions change nothing.
    pub fn only_reads(self) -> bool {
        matches!(
            self,
            Self::OltpPointSelect
                | Self::OltpReadOnly
                | Self::SelectRandomPoints
                | Self::SelectRandomRanges
                | Self::OltpTextReadOnly
        )
    }
}

impl fmt::Display for WorkloadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for WorkloadName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|name| name.as_str() == text)
            .ok_or_else(|| {
                let known = Self::ALL.map(Self::as_str);
                match crate::nearest(text, known) {
                    Some(name) => format!("no workload `{text}`; did you mean `{name}`?"),
                    None => format!("no workload `{text}`; there are {}", known.join(", ")),
                }
            })
    }
}
