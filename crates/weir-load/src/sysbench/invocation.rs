//! A command line as a plan.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use weir_model::{Address, Endpoint, Secret, WorkloadName};

use super::options;
use super::value::{UsageError, Value};
use crate::plan::{ArrivalKind, LoadPlan, PreparePlan, Rate, Tolerated};
use crate::reactor::ReactorKind;
use crate::workload::{Distribution, Mix, Workload};

/// Environment variable that holds the password when no option does.
pub const PASSWORD_VARIABLE: &str = "WEIR_MYSQL_PASSWORD";

/// Where MySQL's and MariaDB's packages put their socket.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Make the tables.
    Prepare,
    /// Load them.
    Run,
    /// Drop them.
    Cleanup,
    /// Show the options.
    Help,
}

/// A command line, understood.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// What is to be done.
    pub command: Command,
    /// The run, if that is what is to be done; its endpoint and tables hold for all commands.
    pub plan: LoadPlan,
    /// The tables to be made.
    pub prepare: PreparePlan,
    /// The seed as given; 0: taken from the clock.
    pub rand_seed: u64,
    /// A line every so many seconds; 0 for none.
    pub report_interval_s: u32,
    /// Percentile of latency in reports; 0 for none.
    pub percentile: u32,
    /// Percentiles to report after sysbench's report.
    pub percentiles: Vec<f64>,
    /// Print a histogram.
    pub histogram: bool,
    /// 0 to 5, see sysbench.
    pub verbosity: u32,
}

/// Options as given.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub(super) threads: u32,
    pub(super) reactors: u32,
    pub(super) reactor: ReactorKind,
    pub(super) events: u64,
    pub(super) time_s: u32,
    pub(super) rate_per_s: f64,
    pub(super) arrivals: ArrivalKind,
    pub(super) warmup_s: u32,
    pub(super) report_interval_s: u32,
    pub(super) percentile: u32,
    pub(super) reconnect: bool,
    pub(super) rtt: Duration,
    pub(super) percentiles: Vec<f64>,
    pub(super) histogram: bool,
    pub(super) verbosity: u32,
    pub(super) rand_type: String,
    pub(super) rand_seed: u64,
    pub(super) rand_iterations: u32,
    pub(super) rand_hot_rows: u32,
    pub(super) rand_hot_keys: u32,
    pub(super) rand_pareto_h: f64,
    pub(super) rand_zipfian_exponent: f64,
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) socket: Option<String>,
    pub(super) user: String,
    pub(super) password: Option<Secret>,
    pub(super) database: String,
    pub(super) tolerated: Tolerated,
    pub(super) tables: u32,
    pub(super) table_size: u64,
    pub(super) mix: Mix,
    pub(super) create_secondary: bool,
    pub(super) engine: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: 1,
            reactors: 1,
            reactor: ReactorKind::default(),
            events: 0,
            time_s: 10,
            rate_per_s: 0.0,
            arrivals: ArrivalKind::Poisson,
            warmup_s: 0,
            report_interval_s: 0,
            percentile: 95,
            reconnect: false,
            rtt: Duration::ZERO,
            percentiles: Vec::new(),
            histogram: false,
            verbosity: 3,
            rand_type: "special".to_owned(),
            rand_seed: 0,
            rand_iterations: 12,
            rand_hot_rows: 1,
            rand_hot_keys: 75,
            rand_pareto_h: 0.2,
            rand_zipfian_exponent: 0.8,
            host: "localhost".to_owned(),
            port: 3306,
            socket: None,
            user: "sbtest".to_owned(),
            password: None,
            database: "sbtest".to_owned(),
            tolerated: Tolerated::Codes(vec![1213, 1020, 1205]),
            tables: 1,
            table_size: 10_000,
            mix: Mix::default(),
            create_secondary: true,
            engine: "innodb".to_owned(),
        }
    }
}

/// Understands the words after the program's name. `environment_password` is the value of
/// [`PASSWORD_VARIABLE`], if it is set.
pub fn parse<S: AsRef<str>>(
    arguments: &[S],
    environment_password: Option<&str>,
) -> Result<Invocation, UsageError> {
    let mut settings = Settings::default();
    let mut words = Vec::new();
    for argument in arguments.iter().map(AsRef::as_ref) {
        let Some(option) = argument.strip_prefix("--") else {
            words.push(argument);
            continue;
        };
        let (name, text) = match option.split_once('=') {
            Some((name, text)) => (name, Some(text)),
            None => (option, None),
        };
        if name == "help" {
            words.push("help");
        } else {
            options::apply(&mut settings, Value { name, text })?;
        }
    }
    if settings.password.is_none() {
        settings.password = environment_password.map(Secret::new);
    }
    let (workload, command) = words_of(&words)?;
    settings.resolve(workload, command)
}

fn words_of(words: &[&str]) -> Result<(Workload, Command), UsageError> {
    if words == ["help"] {
        return Ok((WorkloadName::OltpReadWrite.into(), Command::Help));
    }
    let (workload, rest) = words.split_first().ok_or(UsageError::Missing("workload"))?;
    let workload = workload.parse().map_err(UsageError::Workload)?;
    let (command, rest) = rest.split_first().ok_or(UsageError::Missing("command"))?;
    let command = match *command {
        "prepare" => Command::Prepare,
        "run" => Command::Run,
        "cleanup" => Command::Cleanup,
        "help" => Command::Help,
        other => return Err(UsageError::Command(other.to_owned())),
    };
    match rest.first() {
        Some(word) => Err(UsageError::Argument((*word).to_owned())),
        None => Ok((workload, command)),
    }
}

impl Settings {
    fn resolve(self, workload: Workload, command: Command) -> Result<Invocation, UsageError> {
        let distribution = self.distribution()?;
        let endpoint = Endpoint {
            address: self.address(),
            user: self.user.clone(),
            password: self.password.clone().unwrap_or_default(),
            database: self.database.clone(),
            tls: weir_model::Tls::default(),
        };
        let seed = if self.rand_seed == 0 {
            seed_from_clock()
        } else {
            self.rand_seed
        };
        let mut plan = LoadPlan::new(endpoint.clone(), workload.clone());
        // sysbench's bulk_insert gives each thread a table and knows no number of tables.
        let tables = if workload.is_bulk() {
            self.threads
        } else {
            self.tables
        };
        plan.tables = tables;
        plan.rows = self.table_size;
        plan.connections = self.threads;
        plan.reactors = self.reactors;
        plan.reactor = self.reactor;
        plan.warmup = Duration::from_secs(u64::from(self.warmup_s));
        plan.measure = (self.time_s > 0).then(|| Duration::from_secs(u64::from(self.time_s)));
        plan.interval = Duration::from_secs(u64::from(self.report_interval_s.max(1)));
        plan.max_events = (self.events > 0).then_some(self.events);
        plan.rate = (self.rate_per_s > 0.0).then_some(Rate {
            per_s: self.rate_per_s,
            arrivals: self.arrivals,
        });
        plan.reconnect = self.reconnect;
        plan.rtt = self.rtt;
        plan.seed = seed;
        plan.distribution = distribution;
        plan.mix = self.mix;
        plan.tolerated = self.tolerated;
        let mut prepare = PreparePlan::new(endpoint, workload);
        prepare.tables = tables;
        prepare.rows = self.table_size;
        prepare.threads = self.threads;
        prepare.seed = seed;
        prepare.distribution = distribution;
        prepare.secondary_index = self.create_secondary;
        prepare.engine = self.engine;
        Ok(Invocation {
            command,
            plan,
            prepare,
            rand_seed: self.rand_seed,
            report_interval_s: self.report_interval_s,
            percentile: self.percentile,
            percentiles: self.percentiles,
            histogram: self.histogram,
            verbosity: self.verbosity,
        })
    }

    fn distribution(&self) -> Result<Distribution, UsageError> {
        let iterations = self.rand_iterations;
        match self.rand_type.as_str() {
            "uniform" => Ok(Distribution::Uniform),
            "gaussian" => Ok(Distribution::Gaussian { iterations }),
            "special" => Ok(Distribution::Special {
                iterations,
                hot_rows_percent: self.rand_hot_rows,
                hot_keys_percent: self.rand_hot_keys,
            }),
            "pareto" => Ok(Distribution::Pareto {
                h: self.rand_pareto_h,
            }),
            "zipfian" => Ok(Distribution::Zipfian {
                exponent: self.rand_zipfian_exponent,
            }),
            _ => Err(UsageError::Value {
                name: "rand-type".to_owned(),
                value: self.rand_type.clone(),
                expected: "must be uniform, gaussian, special, pareto or zipfian",
            }),
        }
    }

    /// A socket overrides a host, and `localhost` is a socket, as in MySQL's client library.
    fn address(&self) -> Address {
        if let Some(socket) = self.socket.as_ref().filter(|socket| !socket.is_empty()) {
            return Address::Socket(PathBuf::from(socket));
        }
        if self.host == "localhost" {
            let found = SOCKETS.iter().find(|path| Path::new(path).exists());
            return Address::Socket(PathBuf::from(found.unwrap_or(&SOCKETS[0])));
        }
        Address::Tcp(self.host.clone(), self.port)
    }
}

fn seed_from_clock() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |time| time.as_nanos() as u64)
}

#[cfg(test)]
mod tests;
