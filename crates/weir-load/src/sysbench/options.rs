//! sysbench's options, declared once: which there are, what they say, what they set.

use std::fmt::Write as _;

use weir_model::{Secret, WorkloadName, nearest};

use super::invocation::Settings;
use super::value::{UsageError, Value};
use crate::plan::{ArrivalKind, Tolerated};
use crate::reactor::ReactorKind;

type Setter = fn(&mut Settings, Value<'_>) -> Result<(), UsageError>;

/// An option that is supported.
struct Supported {
    name: &'static str,
    default: &'static str,
    help: &'static str,
    set: Setter,
}

macro_rules! options {
    ($($name:literal, $default:literal, $help:literal, |$settings:ident, $value:ident| $set:expr;)*) => {
        /// In the order of the help text.
        const SUPPORTED: &[Supported] = &[$(Supported {
            name: $name,
            default: $default,
            help: $help,
            set: |$settings, $value| { $set; Ok(()) },
        }),*];
    };
}

options! {
    "threads", "1", "connections", |s, v| s.threads = v.small(1)?;
    "events", "0", "limit for the number of transactions, 0 for none", |s, v| s.events = v.number(0, u64::MAX)?;
    "time", "10", "length of the measurement in seconds, 0 for no limit", |s, v| s.time_s = v.small(0)?;
    "rate", "0", "transactions per second of an open loop, whose latency counts from when they are due; 0 for a closed loop", |s, v| s.rate_per_s = v.rate()?;
    "rate-arrivals", "poisson", "when transactions are due: poisson or constant (not in sysbench)", |s, v| s.arrivals = arrivals(v)?;
    "warmup-time", "0", "load before the measurement in seconds", |s, v| s.warmup_s = v.small(0)?;
    "report-interval", "0", "print a line every so many seconds, 0 for none", |s, v| s.report_interval_s = v.small(0)?;
    "percentile", "95", "percentile of latency to report, 0 for none", |s, v| s.percentile = v.number(0, 100)? as u32;
    "percentiles", "", "percentiles of latency after the report, such as 50,95,99.9 (not in sysbench)", |s, v| s.percentiles = percentiles(v)?;
    "histogram", "off", "print a histogram of latencies", |s, v| s.histogram = v.switch()?;
    "verbosity", "3", "0 prints nothing but errors, 5 everything", |s, v| s.verbosity = v.number(0, 5)? as u32;
    "rand-type", "special", "distribution of keys: uniform, gaussian, special, pareto or zipfian", |s, v| s.rand_type = v.text()?;
    "rand-seed", "0", "seed of keys and values, 0 to take it from the clock", |s, v| s.rand_seed = v.number(0, u64::MAX)?;
    "rand-spec-iter", "12", "numbers averaged by gaussian and special", |s, v| s.rand_iterations = v.small(1)?;
    "rand-spec-pct", "1", "percent of the rows that are hot in special", |s, v| s.rand_hot_rows = v.number(0, 100)? as u32;
    "rand-spec-res", "75", "percent of the keys that are hot in special", |s, v| s.rand_hot_keys = v.number(0, 100)? as u32;
    "rand-pareto-h", "0.2", "share h of pareto", |s, v| s.rand_pareto_h = v.real()?;
    "rand-zipfian-exp", "0.8", "exponent of zipfian", |s, v| s.rand_zipfian_exponent = v.real()?;
    "db-driver", "mysql", "mysql", |s, v| only(s, v, "mysql")?;
    "db-ps-mode", "auto", "prepared statements: auto", |s, v| only(s, v, "auto")?;
    "mysql-host", "localhost", "host; localhost means the Unix socket", |s, v| s.host = v.text()?;
    "mysql-port", "3306", "port", |s, v| s.port = v.number(1, 65_535)? as u16;
    "mysql-socket", "", "Unix socket", |s, v| s.socket = Some(v.text()?);
    "mysql-user", "sbtest", "account", |s, v| s.user = v.text()?;
    "mysql-password", "", "password; the environment variable WEIR_MYSQL_PASSWORD keeps it out of `ps`", |s, v| s.password = Some(Secret::new(v.text()?));
    "mysql-db", "sbtest", "schema", |s, v| s.database = v.text()?;
    "mysql-ignore-errors", "1213,1020,1205", "errors to try again after, or all", |s, v| s.tolerated = tolerated(v)?;
    "tables", "1", "number of tables", |s, v| s.tables = v.small(1)?;
    "table_size", "10000", "rows per table", |s, v| s.table_size = v.number(1, i32::MAX as u64)?;
    "range_size", "100", "rows of a range", |s, v| s.mix.range_size = v.small(1)?;
    "range_selects", "on", "use range selects", |s, v| s.mix.range_selects = v.switch()?;
    "point_selects", "10", "selects by key per transaction", |s, v| s.mix.point_selects = v.small(0)?;
    "simple_ranges", "1", "selects of a range per transaction", |s, v| s.mix.simple_ranges = v.small(0)?;
    "sum_ranges", "1", "sums per transaction", |s, v| s.mix.sum_ranges = v.small(0)?;
    "order_ranges", "1", "sorted ranges per transaction", |s, v| s.mix.order_ranges = v.small(0)?;
    "distinct_ranges", "1", "distinct ranges per transaction", |s, v| s.mix.distinct_ranges = v.small(0)?;
    "index_updates", "1", "updates of the indexed column per transaction", |s, v| s.mix.index_updates = v.small(0)?;
    "non_index_updates", "1", "updates of another column per transaction", |s, v| s.mix.non_index_updates = v.small(0)?;
    "delete_inserts", "1", "pairs of delete and insert per transaction", |s, v| s.mix.delete_inserts = v.small(0)?;
    "random_points", "10", "points per statement of select_random_points", |s, v| s.mix.random_points = v.small(1)?;
    "number_of_ranges", "10", "ranges per statement of select_random_ranges", |s, v| s.mix.random_ranges = v.small(1)?;
    "delta", "5", "last minus first value of such a range", |s, v| s.mix.random_range_delta = v.small(0)?;
    "skip_trx", "off", "no transactions: each statement commits", |s, v| s.mix.skip_transactions = v.switch()?;
    "auto_inc", "on", "tables with AUTO_INCREMENT keys", |s, v| only_on(s, v)?;
    "create_secondary", "on", "make the index on k", |s, v| s.create_secondary = v.switch()?;
    "mysql_storage_engine", "innodb", "storage engine", |s, v| s.engine = v.text()?;
    "reconnect-on-loss", "off", "survive a restart of the server: make lost connections again (not in sysbench)", |s, v| s.reconnect = v.switch()?;
    "rtt", "0ms", "round-trip time added to the network's, such as 500us (not in sysbench)", |s, v| s.rtt = v.duration()?;
    "reactors", "1", "threads that drive the connections (not in sysbench)", |s, v| s.reactors = v.small(1)?;
    "reactor", "auto", "how they wait: auto, epoll or io_uring (not in sysbench)", |s, v| s.reactor = reactor(v)?;
}

/// sysbench's options that are not here yet, and why.
const UNSUPPORTED: &[(&str, &str)] = &[
    ("config-file", "options are read from the command line only"),
    ("db-debug", "there is no debug log"),
    ("debug", "there is no debug log"),
    (
        "forced-shutdown",
        "a run always ends within 5 s of its time",
    ),
    ("luajit-cmd", "workloads are native"),
    ("mysql-compression", "the protocol is spoken uncompressed"),
    (
        "mysql-compression-algorithms",
        "the protocol is spoken uncompressed",
    ),
    ("mysql-debug", "there is no debug log"),
    ("mysql-dry-run", "use the null server instead"),
    ("mysql-ssl", "connections are not encrypted"),
    ("mysql-ssl-ca", "connections are not encrypted"),
    ("mysql-ssl-cert", "connections are not encrypted"),
    ("mysql-ssl-cipher", "connections are not encrypted"),
    ("mysql-ssl-key", "connections are not encrypted"),
    (
        "create_table_options",
        "tables are made with the engine's defaults",
    ),
    ("reconnect", "connections last for the whole run"),
    ("report-checkpoints", "use --report-interval"),
    ("secondary", "the primary key is always id"),
    (
        "thread-init-timeout",
        "each step of connecting may take 10 s",
    ),
    (
        "thread-stack-size",
        "connections have no threads of their own",
    ),
    ("validate", "it is for file I/O tests"),
    ("pgsql_variant", "only MySQL and MariaDB are spoken to"),
    ("max-requests", "deprecated; use --events"),
    ("max-time", "deprecated; use --time"),
    ("num-threads", "deprecated; use --threads"),
    ("test", "deprecated; write the workload's name first"),
    ("tx-rate", "deprecated; use --rate"),
];

/// Applies one option. In sysbench `-` and `_` are the same in names.
pub(super) fn apply(settings: &mut Settings, value: Value<'_>) -> Result<(), UsageError> {
    let wanted = value.name.replace('_', "-");
    let is_wanted = |name: &str| name.replace('_', "-") == wanted;
    if let Some(option) = SUPPORTED.iter().find(|option| is_wanted(option.name)) {
        return (option.set)(settings, value);
    }
    let name = value.name.to_owned();
    if let Some((_, why)) = UNSUPPORTED.iter().find(|(name, _)| is_wanted(name)) {
        return Err(UsageError::UnsupportedOption { name, why });
    }
    let known = SUPPORTED.iter().map(|option| option.name);
    Err(UsageError::UnknownOption {
        nearest: nearest(&wanted, known).map(str::to_owned),
        name,
    })
}

/// The help text: all options with their defaults.
pub fn help() -> String {
    let mut text = String::from("usage: WORKLOAD [--name=value ...] prepare|run|cleanup|help\n\n");
    text.push_str("workloads:\n");
    for name in WorkloadName::ALL {
        line(&mut text, format_args!("  {name}"));
    }
    text.push_str("\noptions:\n");
    for option in SUPPORTED {
        let name = format!("--{}={}", option.name, option.default);
        line(&mut text, format_args!("  {name:<36} {}", option.help));
    }
    text
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    writeln!(text, "{arguments}").expect("invariant: writing into a string cannot fail");
}

fn only(_: &mut Settings, value: Value<'_>, wanted: &str) -> Result<(), UsageError> {
    if value.text == Some(wanted) {
        return Ok(());
    }
    Err(value.wrong("only the default is supported"))
}

fn only_on(_: &mut Settings, value: Value<'_>) -> Result<(), UsageError> {
    if value.switch()? {
        return Ok(());
    }
    Err(value.wrong("only on is supported"))
}

fn arrivals(value: Value<'_>) -> Result<ArrivalKind, UsageError> {
    match value.text {
        Some("poisson") => Ok(ArrivalKind::Poisson),
        Some("constant") => Ok(ArrivalKind::Constant),
        _ => Err(value.wrong("must be poisson or constant")),
    }
}

fn reactor(value: Value<'_>) -> Result<ReactorKind, UsageError> {
    match value.text {
        Some("auto") => Ok(ReactorKind::Auto),
        Some("epoll") => Ok(ReactorKind::Epoll),
        Some("io_uring") => Ok(ReactorKind::IoUring),
        _ => Err(value.wrong("must be auto, epoll or io_uring")),
    }
}

fn percentiles(value: Value<'_>) -> Result<Vec<f64>, UsageError> {
    let text = value.text()?;
    text.split(',')
        .filter(|part| !part.is_empty())
        .map(|part| part.trim().parse().ok())
        .map(|percentile| percentile.filter(|p: &f64| *p > 0.0 && *p <= 100.0))
        .collect::<Option<_>>()
        .ok_or_else(|| value.wrong("must be numbers above 0 up to 100, separated by commas"))
}

fn tolerated(value: Value<'_>) -> Result<Tolerated, UsageError> {
    let text = value.text()?;
    if text == "all" {
        return Ok(Tolerated::All);
    }
    text.split(',')
        .filter(|code| !code.is_empty())
        .map(|code| code.trim().parse())
        .collect::<Result<_, _>>()
        .map(Tolerated::Codes)
        .map_err(|_| value.wrong("must be error codes separated by commas, or all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_in_the_help_are_the_defaults_in_force() {
        for option in SUPPORTED.iter().filter(|option| !option.default.is_empty()) {
            let mut settings = Settings::default();
            let value = Value {
                name: option.name,
                text: Some(option.default),
            };
            (option.set)(&mut settings, value).unwrap();
            assert_eq!(settings, Settings::default(), "{}", option.name);
        }
    }

    #[test]
    fn no_option_is_both_supported_and_not() {
        for (name, _) in UNSUPPORTED {
            assert!(
                SUPPORTED.iter().all(|option| option.name != *name),
                "{name}"
            );
        }
    }
}
