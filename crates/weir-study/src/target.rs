//! What a name in `[factors]` means: every name belongs to exactly one place of a run.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use weir_model::variables::{BUFFER_POOL_SIZE, LOG_FILE_SIZE, REDO_LOG_CAPACITY};
use weir_model::{
    Bytes, Cell, Duration, Flavor, LRU_SCAN_DEPTH, Plan, PoolStart, Scale, ServerChoice, ServerUrl,
    WorkloadName, nearest, option_spelling,
};

use crate::StudyError;

/// Names that are not server variables and not options of a workload.
const OWN_NAMES: [&str; 11] = [
    "pool",
    "replicas",
    "drive",
    "server",
    "threads",
    "rate",
    "rtt",
    "workload",
    "distribution",
    "tables",
    "rows",
];

/// Options of workloads, by sysbench's names.
const WORKLOAD_OPTIONS: [&str; 19] = [
    "range_size",
    "range_selects",
    "point_selects",
    "simple_ranges",
    "sum_ranges",
    "order_ranges",
    "distinct_ranges",
    "index_updates",
    "non_index_updates",
    "delete_inserts",
    "random_points",
    "number_of_ranges",
    "delta",
    "skip_trx",
    "rand_spec_iter",
    "rand_spec_pct",
    "rand_spec_res",
    "rand_pareto_h",
    "rand_zipfian_exp",
];

/// Sizes that shrink with the data, so that their ratios to the data stay.
pub(crate) const SCALED_VARIABLES: [&str; 3] = [BUFFER_POOL_SIZE, REDO_LOG_CAPACITY, LOG_FILE_SIZE];

/// The least that servers take for `innodb_lru_scan_depth`, pages.
pub(crate) const LRU_SCAN_DEPTH_MIN: u64 = 100;

const MEBIBYTE: u64 = 1 << 20;

/// The word for a load without a rate.
const CLOSED_LOOP: &str = "closed";

/// Tells the flavour of a server program.
pub(crate) type FlavorOf<'a> = &'a dyn Fn(&Path) -> Result<Flavor, StudyError>;

/// The place of a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Drive,
    /// A key of the drive's profile.
    DriveKey(String),
    Server,
    Pool,
    Replicas,
    Threads,
    Rate,
    Rtt,
    Workload,
    Distribution,
    Tables,
    Rows,
    WorkloadOption(String),
    /// Whatever else: the server is asked before the first run whether it has such a variable.
    Variable(String),
}

impl Target {
    /// What `name` means.
    pub(crate) fn of(name: &str) -> Self {
        match name {
            "drive" => Self::Drive,
            "server" => Self::Server,
            "pool" => Self::Pool,
            "replicas" => Self::Replicas,
            "threads" => Self::Threads,
            "rate" => Self::Rate,
            "rtt" => Self::Rtt,
            "workload" => Self::Workload,
            "distribution" => Self::Distribution,
            "tables" => Self::Tables,
            "rows" => Self::Rows,
            _ if WORKLOAD_OPTIONS.contains(&name) => Self::WorkloadOption(name.to_owned()),
            _ => match name.strip_prefix("drive.") {
                // The fill level is what people vary; its place in a profile is below the flash.
                Some("fill") => Self::DriveKey("flash.fill".to_owned()),
                Some(key) => Self::DriveKey(key.to_owned()),
                None => Self::Variable(option_spelling(name)),
            },
        }
    }

    /// The name of a setting: a server variable in one spelling, all else as it is written.
    pub(crate) fn name_of(name: &str) -> String {
        match Self::of(name) {
            Self::Variable(variable) => variable,
            _ => name.to_owned(),
        }
    }

    /// Whether another level needs no other server: only the load differs.
    pub(crate) fn is_of_the_load(&self) -> bool {
        use Target::{Distribution, Rate, Rtt, Threads, WorkloadOption};
        matches!(
            self,
            Threads | Rate | Rtt | Distribution | WorkloadOption(_)
        )
    }

    /// Gives `cell` the level `value`; an error says what it must be.
    pub(crate) fn apply(
        &self,
        cell: &mut Cell,
        plan: &Plan,
        value: &str,
        flavor_of: FlavorOf<'_>,
    ) -> Result<(), String> {
        match self {
            Self::Drive => cell.drive = Some(value.to_owned()),
            Self::DriveKey(key) => {
                cell.drive_settings.insert(key.clone(), value.to_owned());
            }
            Self::Server => cell.server = Some(server(value, flavor_of)?),
            Self::Pool => deployment(cell, plan).pool = pool(value)?,
            Self::Replicas => {
                let number = value.parse().map_err(|_| "must be a number of replicas");
                deployment(cell, plan).replicas = number?;
            }
            Self::Threads => cell.threads = positive(value, "number of connections")?,
            Self::Tables => data(cell, plan).tables = positive(value, "number of tables")?,
            Self::Rows => {
                let rows = positive(value, "number of rows")?;
                data(cell, plan).rows = plan.data.data_scale.apply(rows);
            }
            Self::Workload => data(cell, plan).workload = workload(value)?,
            Self::Rate => load(cell, plan).rate_per_s = rate(value)?,
            Self::Rtt => {
                load(cell, plan).rtt = Duration::from_str(value).map_err(|e| e.to_string())?;
            }
            Self::Distribution => {
                load(cell, plan).distribution = distribution(value)?;
            }
            Self::WorkloadOption(name) => {
                let options = &mut load(cell, plan).options;
                options.insert(name.clone(), value.to_owned());
            }
            Self::Variable(name) => {
                let value = scaled(name, value.trim(), plan.data.data_scale)?;
                cell.variables.insert(name.clone(), value);
            }
        }
        Ok(())
    }
}

/// Names of factors that are no server variables, for suggestions.
pub(crate) fn own_names() -> impl Iterator<Item = &'static str> {
    OWN_NAMES.into_iter().chain(WORKLOAD_OPTIONS)
}

fn data<'a>(cell: &'a mut Cell, plan: &Plan) -> &'a mut weir_model::DataPlan {
    cell.data.get_or_insert_with(|| plan.data.clone())
}

fn deployment<'a>(cell: &'a mut Cell, plan: &Plan) -> &'a mut weir_model::Deployment {
    cell.deployment
        .get_or_insert_with(|| plan.server.deployment.clone())
}

fn pool(value: &str) -> Result<PoolStart, String> {
    match value {
        "cold" => Ok(PoolStart::Cold),
        "warm" => Ok(PoolStart::Warm),
        _ => Err("must be `cold` or `warm`; `repeat.within_server` leaves it as it was".to_owned()),
    }
}

fn load<'a>(cell: &'a mut Cell, plan: &Plan) -> &'a mut weir_model::LoadSettings {
    cell.load.get_or_insert_with(|| plan.load.clone())
}

fn positive<N: FromStr + PartialOrd + From<u8>>(value: &str, what: &str) -> Result<N, String> {
    let number = value.replace('_', "").parse().ok();
    number
        .filter(|number| *number >= N::from(1))
        .ok_or_else(|| format!("must be a {what}"))
}

/// Transactions per second; `closed` is a closed loop.
pub(crate) fn rate(value: &str) -> Result<Option<f64>, String> {
    if value == CLOSED_LOOP {
        return Ok(None);
    }
    let number = value
        .parse()
        .ok()
        .filter(|rate: &f64| *rate > 0.0 && rate.is_finite());
    number
        .map(Some)
        .ok_or_else(|| format!("must be transactions per second, or `{CLOSED_LOOP}`"))
}

/// A flavour, with or without a version (`mysql 8.4`), the path of a server program, or the URL of a
/// server that the user gives.
pub(crate) fn server(value: &str, flavor_of: FlavorOf<'_>) -> Result<ServerChoice, String> {
    if ServerUrl::is_meant(value) {
        let url: ServerUrl = value.parse()?;
        return Ok(ServerChoice {
            flavor: url.flavor,
            version: None,
            binary: None,
            given: Some(url),
        });
    }
    if value.contains('/') {
        let path = PathBuf::from(value);
        let flavor = flavor_of(&path).map_err(|error| error.to_string())?;
        return Ok(ServerChoice {
            flavor,
            version: None,
            binary: Some(path),
            given: None,
        });
    }
    let (name, version) = match value.split_once(' ') {
        Some((name, version)) => (name, Some(version.trim().to_owned())),
        None => (value, None),
    };
    let flavor = Flavor::from_str(name).map_err(|_| {
        "must be `mysql`, `mariadb`, one of them with a version such as `mysql 8.4`, the path of a \
         server program, or a server's URL such as `mysql://USER@HOST:PORT/SCHEMA`"
            .to_owned()
    })?;
    Ok(ServerChoice {
        flavor,
        version,
        binary: None,
        given: None,
    })
}

/// A workload that a study can run.
pub(crate) fn workload(value: &str) -> Result<WorkloadName, String> {
    match WorkloadName::from_str(value)? {
        // It fills tables of its own until the time is over: no run starts from equal data.
        WorkloadName::BulkInsert => {
            Err("a study restores loaded tables; use `weir load bulk_insert`".to_owned())
        }
        workload => Ok(workload),
    }
}

fn distribution(value: &str) -> Result<weir_model::DistributionName, String> {
    const NAMES: [&str; 5] = ["uniform", "gaussian", "special", "pareto", "zipfian"];
    let read = serde::de::value::StrDeserializer::<serde::de::value::Error>::new(value);
    serde::Deserialize::deserialize(read).map_err(|_| match nearest(value, NAMES) {
        Some(name) => format!("no distribution `{value}`; did you mean `{name}`?"),
        None => format!("no distribution `{value}`; there are {}", NAMES.join(", ")),
    })
}

/// Shrinks a size that belongs to the data; passes every other value through.
pub(crate) fn scaled(variable: &str, value: &str, scale: Scale) -> Result<String, String> {
    if variable == LRU_SCAN_DEPTH {
        let pages = positive(value, "number of pages")?;
        return Ok(scaled_scan_depth(pages, scale).to_string());
    }
    if !SCALED_VARIABLES.contains(&variable) {
        return Ok(value.to_owned());
    }
    let size = Bytes::from_str(value).map_err(|why| why.to_string())?;
    let size = scale.apply(size.0);
    let is_pool = variable == BUFFER_POOL_SIZE;
    // MySQL rounds a log to whole mebibytes and MariaDB to 4 KiB: they should have the same.
    let whole = if is_pool {
        size
    } else {
        size.div_ceil(MEBIBYTE) * MEBIBYTE
    };
    Ok(whole.to_string())
}

/// Pages that the page cleaner keeps free in a pool that is scaled: as they are, 1,024 would be most of a pool
/// of 20 MB.
pub(crate) fn scaled_scan_depth(pages: u64, scale: Scale) -> u64 {
    scale.apply(pages).max(LRU_SCAN_DEPTH_MIN.min(pages))
}
