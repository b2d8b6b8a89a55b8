//! The study file as the user wrote it: every key that exists, nothing filled in.

mod event_section;
mod load_section;

use std::collections::BTreeMap;

use serde::Deserialize;
use weir_model::{
    Bytes, CpuList, CrashTest, Duration, Limits, PoolStart, Price, Replication, Scale,
    ServerAgents, parse_toml,
};

use crate::StudyError;
use crate::declared::{ClaimSection, NegativeControlSection};
use crate::setting::Setting;

pub(crate) use event_section::EventSection;
pub(crate) use load_section::LoadSection;

/// A study file. Unknown keys are errors: a misspelt setting must not be silently a default.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyFile {
    /// Question of the study.
    pub(crate) study: StudySection,
    /// Server of the study, and the settings that all cells share.
    #[serde(default)]
    pub(crate) server: ServerSection,
    /// The data.
    #[serde(default)]
    pub(crate) data: DataSection,
    /// The load. Keys that a factor or the search gives may be left out here and above.
    #[serde(default)]
    pub(crate) load: LoadSection,
    /// Events of the server during the measurement.
    #[serde(default)]
    pub(crate) events: Vec<EventSection>,
    /// Factor -> levels; `crate::target` knows what names mean.
    #[serde(default)]
    pub(crate) factors: BTreeMap<String, LevelList>,
    /// Design other than all combinations.
    #[serde(default)]
    pub(crate) design: Option<DesignSection>,
    /// Combinations that are left out: factor -> level.
    #[serde(default)]
    pub(crate) exclude: Vec<BTreeMap<String, Setting>>,
    /// Search, instead of measurements at given places.
    #[serde(default)]
    pub(crate) search: Option<SearchSection>,
    /// Repetitions.
    #[serde(default)]
    pub(crate) repeat: RepeatSection,
    /// Published claims.
    #[serde(default)]
    pub(crate) claims: Vec<ClaimSection>,
    /// Places where a factor cannot have an effect.
    #[serde(default)]
    pub(crate) negative_controls: Vec<NegativeControlSection>,
    /// Prices of levels.
    #[serde(default)]
    pub(crate) prices: BTreeMap<String, Price>,
    /// Power-cut tests that the study relies on.
    #[serde(default)]
    pub(crate) crash_tests: Vec<CrashTest>,
    /// Values of a shorter version; read by `crate::reduced`.
    #[serde(default, rename = "reduced")]
    pub(crate) _reduced: Option<toml::Table>,
}

impl StudyFile {
    /// Reads the text of the study file called `name`.
    ///
    /// # Errors
    /// If the text is no TOML, or has unknown keys or values of another type.
    pub fn parse(name: &str, text: &str) -> Result<Self, StudyError> {
        parse_toml(text).map_err(|message| StudyError::Syntax {
            file: name.to_owned(),
            message,
        })
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudySection {
    pub(crate) title: String,
    pub(crate) question: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerSection {
    /// `mysql`, `mariadb`, or the path of a server program.
    #[serde(default = "mysql")]
    pub(crate) flavor: String,
    #[serde(default)]
    pub(crate) config: BTreeMap<String, Setting>,
    /// The processors that it may run on: `0-1`.
    #[serde(default)]
    cpus: Option<CpuList>,
    /// The memory that it may have, with the files that it reads; not scaled.
    #[serde(default)]
    memory: Option<Bytes>,
    #[serde(default)]
    pub(crate) pool: PoolStart,
    #[serde(default)]
    pub(crate) replicas: u32,
    #[serde(default)]
    pub(crate) replication: Replication,
    /// The profile of the emulated drive that each replica has for itself.
    pub(crate) replica_drive: Option<String>,
    #[serde(default)]
    pub(crate) heartbeat: bool,
    /// The agent on the server's host: its name, its host's, or `auto`. It starts the server there, or samples the
    /// host of a server given by its URL. Of a list, each repetition takes the next.
    pub(crate) agent: Option<ServerAgents>,
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            flavor: mysql(),
            config: BTreeMap::new(),
            cpus: None,
            memory: None,
            pool: PoolStart::default(),
            replicas: 0,
            replication: Replication::default(),
            replica_drive: None,
            heartbeat: false,
            agent: None,
        }
    }
}

impl ServerSection {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            cpus: self.cpus.clone(),
            memory: self.memory,
        }
    }
}

fn mysql() -> String {
    "mysql".to_owned()
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DataSection {
    /// A workload, several with weights, or the path of a workload's own file or of a Lua script.
    #[serde(default)]
    pub(crate) workload: Option<String>,
    /// A snapshot of a private server's data, for a replay.
    #[serde(default)]
    pub(crate) snapshot: Option<String>,
    /// Changes of the data before the measurement.
    #[serde(default)]
    pub(crate) before: Vec<ChangeSection>,
    /// Of sysbench's workloads; 1 if it is not said.
    #[serde(default)]
    pub(crate) tables: Option<u32>,
    /// Of each of these tables.
    #[serde(default)]
    pub(crate) rows: Option<u64>,
    /// A book for the text workloads.
    #[serde(default)]
    pub(crate) text_file: Option<String>,
    /// Appended to the `CREATE TABLE` of sysbench's tables.
    #[serde(default)]
    pub(crate) table_options: Option<String>,
    /// Of order entry, as the three that follow.
    #[serde(default)]
    pub(crate) warehouses: Option<Setting>,
    #[serde(default)]
    pub(crate) items: Option<Setting>,
    /// Of a district.
    #[serde(default)]
    pub(crate) customers: Option<Setting>,
    #[serde(default)]
    pub(crate) foreign_keys: Option<Setting>,
    #[serde(default)]
    pub(crate) scale: ScaleSetting,
    /// Options of a Lua script's `prepare`, and of its run.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, Setting>,
    /// Modules that a Lua script loads by a name that does not stand in it.
    #[serde(default)]
    pub(crate) modules: Vec<String>,
}

/// `[[data.before]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeSection {
    pub(crate) name: String,
    pub(crate) statement: String,
}

/// `scale = "1/500"` for data and drive alike, or a scale for each: data shrink to fit the
/// machine's memory, a drive shrinks to fit its cores, and the two need not be equal.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(
    untagged,
    expecting = "not a scale; write `\"1/500\"`, or `{ data = \"1/500\", drive = \"1/25\" }`, \
                 from above 0 to 1"
)]
pub(crate) enum ScaleSetting {
    Both(Scale),
    Each(EachScale),
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EachScale {
    #[serde(default)]
    pub(crate) data: Scale,
    #[serde(default)]
    pub(crate) drive: Scale,
}

impl Default for ScaleSetting {
    fn default() -> Self {
        Self::Both(Scale::FULL)
    }
}

impl ScaleSetting {
    pub(crate) fn each(self) -> EachScale {
        match self {
            Self::Both(scale) => EachScale {
                data: scale,
                drive: scale,
            },
            Self::Each(each) => each,
        }
    }
}

/// `threads = 32`, `threads = [2, 32]` or `threads = "2..3000 log 12"`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "not a number of connections, such as `32`, `[2, 32]` or `\"2..3000 log 12\"`"
)]
pub(crate) enum Threads {
    One(u32),
    More(Vec<u32>),
    Range(String),
}

/// `warmup = "30s"`, `warmup = "auto"` or `warmup = { at_least = "10s", at_most = "10m" }`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "not a warm-up; write a time such as `\"30s\"`, `\"auto\"`, or \
                 `{ at_least = \"10s\", at_most = \"10m\" }`"
)]
pub(crate) enum Warmup {
    Fixed(Duration),
    Auto(AutoWord),
    Bounded(WarmupBounds),
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) enum AutoWord {
    #[serde(rename = "auto")]
    Auto,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WarmupBounds {
    #[serde(default = "WarmupBounds::least")]
    pub(crate) at_least: Duration,
    #[serde(default = "WarmupBounds::most")]
    pub(crate) at_most: Duration,
}

impl WarmupBounds {
    /// Approaches with a time constant of up to three times this are seen.
    fn least() -> Duration {
        Duration::from_secs(60)
    }

    /// As long as the slowest point of the published memory sweep of 2018 took to become steady.
    fn most() -> Duration {
        Duration::from_secs(1_800)
    }
}

impl Warmup {
    pub(crate) fn resolve(&self) -> weir_model::Warmup {
        let bounded = |at_least, at_most| weir_model::Warmup::UntilSteady { at_least, at_most };
        match self {
            Self::Fixed(length) => weir_model::Warmup::Fixed { length: *length },
            Self::Auto(AutoWord::Auto) => bounded(WarmupBounds::least(), WarmupBounds::most()),
            Self::Bounded(bounds) => bounded(bounds.at_least, bounds.at_most),
        }
    }
}

/// A factor's levels: a list, or a range such as `"1G..22G step 1G"`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "not a list of levels; write `[1, 2]`, a range such as `\"1G..22G step 1G\"`, and \
                 quotes around a name with a dot"
)]
pub(crate) enum LevelList {
    Range(String),
    List(Vec<LevelSetting>),
}

/// A level of one setting, or of several that move together.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    untagged,
    expecting = "not a level; write text, a number, true or false, or `{ name = \"...\", setting = \
                 value, ... }`"
)]
pub(crate) enum LevelSetting {
    One(Setting),
    Together(BTreeMap<String, Setting>),
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RepeatSection {
    pub(crate) runs: Option<u32>,
    /// `verdict`: repeat until each effect surely differs from none. `equal +-5 %`: until each is surely equal within
    /// that, or surely differs by more. `effect +-5 %`: until the intervals are as narrow.
    pub(crate) until: Option<String>,
    pub(crate) at_most: Option<u32>,
    pub(crate) budget: Option<Duration>,
    /// The metric of the study's verdicts; by default queries per second.
    pub(crate) metric: Option<String>,
    /// Factors that are varied inside one run of the server.
    #[serde(default)]
    pub(crate) within_server: Vec<String>,
    #[serde(default)]
    pub(crate) order_within: OrderWithin,
    /// Of the order of runs and the keys; by default from the clock, and printed.
    pub(crate) seed: Option<u64>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderWithin {
    #[default]
    Random,
    AsWritten,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DesignSection {
    #[serde(rename = "kind")]
    _kind: DesignKind,
}

/// Kinds of design other than all combinations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DesignKind {
    /// Many settings of two levels are ranked in few runs; what wins is measured anew.
    Screen,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchSection {
    pub(crate) find: Find,
    /// Of `find = "rate"` and `"threads"`: `p99 <= 10ms`.
    pub(crate) objective: Option<String>,
    /// Of `find = "knee"` and `"peak"`: what is varied.
    pub(crate) factor: Option<String>,
    /// Smallest and largest place: `"8..512"`, `"1G..22G"`.
    pub(crate) range: String,
    pub(crate) tolerance: Option<String>,
    /// Of `find = "knee"`: shares of the plateau.
    pub(crate) shares: Option<Vec<f64>>,
    pub(crate) runs: Option<u32>,
    pub(crate) confirm: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Find {
    Rate,
    Threads,
    Knee,
    Peak,
}
