//! Options, declared once: which there are, whose they are, what they say, what they set. Those of the load that
//! sysbench does not have stand in the table that studies read, too ([`weir_model::LOAD_OPTIONS`]).

use std::net::{Ipv4Addr, SocketAddr};

use weir_load::{ReactorKind, ToleratedErrors};
use weir_model::{DistributionName, LoadOption, TlsMode, nearest};
use weir_mysql::Compression;

use super::compat::Compat;
use super::invocation::Settings;
use super::own_options;
use super::value::{UsageError, Value};

type Setter = fn(&mut Settings, Value<'_>) -> Result<(), UsageError>;

/// Origin of an option. Whatever either sysbench has is accepted; the help and the defaults are
/// those of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// Both sysbenches.
    Both,
    /// 1.0.20 only, or with this default.
    Release,
    /// 1.1 only, or with this default.
    Development,
    /// Neither.
    Weir,
}

impl Origin {
    /// Returns true if the sysbench of this version has it.
    pub(super) fn is_in(self, compat: Compat) -> bool {
        match self {
            Self::Both => true,
            Self::Release => compat == Compat::Release,
            Self::Development => compat == Compat::Development,
            Self::Weir => false,
        }
    }
}

/// An option that is supported.
pub(super) struct SupportedOption {
    pub(super) name: &'static str,
    pub(super) origin: Origin,
    pub(super) default: &'static str,
    pub(super) help: &'static str,
    set: Setter,
}

macro_rules! options {
    ($($name:literal, $origin:ident, $default:literal, $help:literal, |$settings:ident, $value:ident| $set:expr;)*) => {
        /// In the order of the help text.
        pub(super) const SUPPORTED: &[SupportedOption] = &[$(SupportedOption {
            name: $name,
            origin: Origin::$origin,
            default: $default,
            help: $help,
            set: |$settings, $value| { $set; Ok(()) },
        }),*];
    };
}

options! {
    "threads", Both, "1", "connections", |s, v| s.threads = v.small(1)?;
    "events", Both, "0", "largest number of transactions, 0: no limit", |s, v| s.events = v.number(0, u64::MAX)?;
    "time", Both, "10", "length of the measurement (s), such as 60 or 0.5; 0: no limit", |s, v| (s.measure, s.time_is_given) = (v.seconds()?, true);
    "rate", Both, "0", "transactions per second of an open loop; latency counts from the scheduled start; 0: closed loop", |s, v| s.rate_per_s = v.rate()?;
    "warmup-time", Development, "0", "load before the measurement (s)", |s, v| s.warmup = v.seconds()?;
    "thread-init-timeout", Development, "30", "longest time to connect, checks included (s)", |s, v| s.init_timeout_s = v.small(1)?;
    "forced-shutdown", Both, "off", "exit code 2 if transactions do not end within 3 s of the end: off, or seconds or percent as in sysbench", |s, v| s.forced_shutdown = forced_shutdown(v)?;
    "report-interval", Both, "0", "print a line after each such interval (s), 0: none", |s, v| s.report_interval_s = v.small(0)?;
    "report-checkpoints", Both, "", "print a report at these times (s), each since the one before, such as 60,120", |s, v| s.checkpoints_s = v.list_or_none(|text| text.parse().ok().filter(|second: &u32| *second > 0))?;
    "percentile", Both, "95", "percentile of latency to report, 0: none", |s, v| s.percentile = v.number(0, 100)? as u32;
    "hdr-log", Weir, "", "write the latencies of each interval to this file, as an HdrHistogram log", |s, v| s.hdr_log = Some(v.text()?.into());
    "csv", Weir, "", "write a row for each interval (--report-interval, else 1 s) to this file, as CSV", |s, v| s.csv = Some(v.text()?.into());
    "metrics", Weir, "", "serve OpenMetrics of the run (Prometheus) at this port of 127.0.0.1, or ADDRESS:PORT", |s, v| s.metrics = Some(metrics_address(v)?);
    "statement-latency", Weir, "off", "print the latency of each statement after the report", |s, v| s.statement_latency = v.switch()?;
    "json", Weir, "off", "print the result as JSON in place of the report", |s, v| s.json = v.switch()?;
    "percentiles", Weir, "", "print these percentiles after the report, such as 50,95,99.9", |s, v| s.percentiles = percentiles(v)?;
    "histogram", Both, "off", "print a histogram of latencies", |s, v| s.histogram = v.switch()?;
    "verbosity", Both, "3", "0: errors only, 5: everything", |s, v| s.verbosity = v.number(0, 5)? as u32;
    "rand-type", Release, "special", "distribution of keys: uniform, gaussian, special, pareto or zipfian", |s, v| s.rand_type = distribution(v)?;
    "rand-type", Development, "uniform", "distribution of keys: uniform, gaussian, special, pareto or zipfian", |s, v| s.rand_type = distribution(v)?;
    "rand-seed", Both, "0", "seed of keys and values, 0: from the clock", |s, v| s.rand_seed = v.number(0, u64::MAX)?;
    "rand-spec-iter", Release, "12", "numbers averaged by gaussian and special", |s, v| s.keys.iterations = v.small(1)?;
    "rand-spec-pct", Release, "1", "hot rows of special (%)", |s, v| s.keys.hot_rows_percent = v.number(0, 100)? as u32;
    "rand-spec-res", Release, "75", "keys that hit hot rows in special (%)", |s, v| s.keys.hot_keys_percent = v.number(0, 100)? as u32;
    "rand-pareto-h", Both, "0.2", "share h of pareto", |s, v| s.keys.pareto_h = v.real()?;
    "rand-zipfian-exp", Development, "0.8", "exponent of zipfian", |s, v| s.keys.zipfian_exponent = v.real()?;
    "mysql-host", Both, "localhost", "hosts, used in turn; localhost is the Unix socket", |s, v| s.server.hosts = v.list(|text| Some(text.to_owned()))?;
    "mysql-port", Both, "3306", "ports, used in turn", |s, v| s.server.ports = v.list(|text| text.parse().ok().filter(|port| *port > 0))?;
    "mysql-socket", Both, "", "Unix sockets, used in turn", |s, v| s.server.sockets = v.list_or_none(|text| Some(text.into()))?;
    "mysql-user", Both, "sbtest", "account", |s, v| s.server.user = v.text()?;
    "mysql-password", Both, "", "password, or -: Weir asks; safer: WEIR_MYSQL_PASSWORD or an option file", |s, v| s.server.set_password_option(v.text()?);
    "mysql-db", Both, "sbtest", "schema", |s, v| s.server.database = v.text()?;
    "mysql-ssl", Release, "off", "encrypt: on, off, or a mode of 1.1", |s, v| tls_mode(s, v)?;
    "mysql-ssl", Development, "disabled", "encrypt: disabled, preferred, required, verify_ca or verify_identity", |s, v| tls_mode(s, v)?;
    "mysql-ssl-ca", Development, "", "PEM file of the trusted authorities", |s, v| s.server.tls.authority = v.path()?;
    "mysql-ssl-cert", Development, "", "PEM file of the client's certificate", |s, v| s.server.tls.certificate = v.path()?;
    "mysql-ssl-key", Development, "", "PEM file of the key of the client's certificate", |s, v| s.server.tls.key = v.path()?;
    "mysql-ssl-cipher", Both, "", "ciphers, separated by colons", |s, v| s.server.tls.ciphers = ciphers(v)?;
    "mysql-compression", Both, "off", "compress the packets of all connections, within TLS", |s, v| s.server.compresses = v.switch()?;
    "mysql-compression-algorithms", Development, "zlib", "algorithm: zlib, zstd (MySQL from 8.0.18 on) or uncompressed", |s, v| s.server.compression = compression(v)?;
    "mysql-ignore-errors", Both, "1213,1020,1205", "error codes to ignore and retry, or all", |s, v| s.tolerated = tolerated(v)?;
    "db-ps-mode", Both, "auto", "auto: prepared statements; disable: statements as text", |s, v| s.prepared_statements = prepared_statements(v)?;
    "tables", Both, "1", "number of tables", |s, v| s.tables = v.small(1)?;
    "table_size", Both, "10000", "rows per table", |s, v| s.table_size = v.number(0, i32::MAX as u64)?;
    "range_size", Both, "100", "rows of a range", |s, v| s.mix.range_size = v.small(1)?;
    "range_selects", Both, "on", "use range selects", |s, v| s.mix.range_selects = v.switch()?;
    "point_selects", Both, "10", "selects by key per transaction", |s, v| s.mix.point_selects = v.small(0)?;
    "simple_ranges", Both, "1", "selects of a range per transaction", |s, v| s.mix.simple_ranges = v.small(0)?;
    "sum_ranges", Both, "1", "sums per transaction", |s, v| s.mix.sum_ranges = v.small(0)?;
    "order_ranges", Both, "1", "sorted ranges per transaction", |s, v| s.mix.order_ranges = v.small(0)?;
    "distinct_ranges", Both, "1", "distinct ranges per transaction", |s, v| s.mix.distinct_ranges = v.small(0)?;
    "index_updates", Both, "1", "updates of the indexed column per transaction", |s, v| s.mix.index_updates = v.small(0)?;
    "non_index_updates", Both, "1", "updates of another column per transaction", |s, v| s.mix.non_index_updates = v.small(0)?;
    "delete_inserts", Both, "1", "pairs of delete and insert per transaction", |s, v| s.mix.delete_inserts = v.small(0)?;
    "random_points", Both, "10", "points per statement of select_random_points", |s, v| s.mix.random_points = v.small(1)?;
    "number_of_ranges", Both, "10", "ranges per statement of select_random_ranges", |s, v| s.mix.random_ranges = v.small(1)?;
    "delta", Both, "5", "last minus first value of such a range", |s, v| s.mix.random_range_delta = v.small(0)?;
    "skip_trx", Both, "off", "no transactions: each statement commits by itself", |s, v| s.mix.skip_transactions = v.switch()?;
    "auto_inc", Both, "on", "tables with AUTO_INCREMENT keys", |s, v| s.auto_increment = v.switch()?;
    "secondary", Both, "off", "an ordinary index on id in place of the primary key", |s, v| s.secondary_key = v.switch()?;
    "create_secondary", Both, "on", "make the index on k", |s, v| s.create_secondary = v.switch()?;
    "create_table_options", Development, "", "appended to CREATE TABLE", |s, v| s.table_options = v.text()?;
    "mysql_storage_engine", Both, "innodb", "storage engine", |s, v| s.engine = v.text()?;
    "reconnect", Development, "0", "reconnect after this many transactions of a connection, 0: never", |s, v| s.reconnect_every = v.number(0, u64::MAX)?;
    "reconnect-on-loss", Weir, "off", "reconnect after a restart of the server", |s, v| s.reconnect = v.switch()?;
    "reactors", Weir, "auto", "threads that drive the connections: a number, or auto", |s, v| s.reactors = reactors(v)?;
    "text-file", Weir, "", "book for the oltp_text workloads [default: generated text]", |s, v| s.own.text_file = Some(v.text()?.into());
    "text_selects", Weir, "1", "selects by a line of text per oltp_text transaction", |s, v| s.mix.text_selects = v.small(0)?;
    "text_updates", Weir, "1", "updates by a line of text per oltp_text transaction", |s, v| s.mix.text_updates = v.small(0)?;
    "prepare-binlog", Weir, "on", "write tables and rows to the binary log; off breaks each replica that replays it later", |s, v| s.own.binary_log = own_options::binary_log(v)?;
    "allow-replica", Weir, "off", "write also to a replica or a read-only server; it then differs from its source", |s, v| s.own.allow_replica = v.switch()?;
    "server-agent", Weir, "", "tell the server's host after the run, by the agent there: its name, its host's, or auto", |s, v| s.own.server_agent = Some(v.text()?);
    "profile", Weir, "", "file for a flame graph of the server's process; the folded stacks go beside it", |s, v| s.own.profile = v.path()?;
    "profile-self", Weir, "", "the same of this process", |s, v| s.own.profile_self = v.path()?;
    "dry-run", Weir, "off", "print the statements that would change the server; send none", |s, v| s.own.dry_run = v.switch()?;
    "warehouses", Weir, "1", "of order_entry: warehouses, of some 130 MB each", |s, v| own_options::order_entry(&mut s.own.order_entry, v)?;
    "items", Weir, "100000", "of order_entry: items, and stocks of a warehouse; fewer for a small test", |s, v| own_options::order_entry(&mut s.own.order_entry, v)?;
    "customers", Weir, "3000", "of order_entry: customers of a district; fewer for a small test", |s, v| own_options::order_entry(&mut s.own.order_entry, v)?;
    "foreign_keys", Weir, "off", "of order_entry: make its foreign keys", |s, v| own_options::order_entry(&mut s.own.order_entry, v)?;
    "keying_and_think_time", Weir, "off", "of order_entry: users take the time of the specification", |s, v| own_options::order_entry(&mut s.own.order_entry, v)?;
    "fixed_warehouses", Weir, "off", "of order_entry: each connection stays at one warehouse", |s, v| own_options::order_entry(&mut s.own.order_entry, v)?;
    "reactor", Weir, "auto", "I/O backend: auto, epoll or io_uring", |s, v| s.reactor = reactor(v)?;
}

/// A value that changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Harmless {
    /// None.
    Nothing,
    /// sysbench's default.
    Only(&'static str),
    /// Any.
    Anything,
}

/// sysbench's options that do nothing here: which values may be given all the same, and why others
/// may not.
const WITHOUT_EFFECT: &[(&str, Harmless, &str)] = &[
    (
        "db-driver",
        Harmless::Only("mysql"),
        "only MySQL and MariaDB are spoken to",
    ),
    ("db-debug", Harmless::Only("off"), "there is no debug log"),
    ("debug", Harmless::Only("off"), "there is no debug log"),
    ("luajit-cmd", Harmless::Nothing, "workloads are native"),
    (
        "mysql-debug",
        Harmless::Only("off"),
        "there is no debug log",
    ),
    (
        "mysql-dry-run",
        Harmless::Only("off"),
        "a null server measures the client alone",
    ),
    (
        "pgsql-variant",
        Harmless::Nothing,
        "only MySQL and MariaDB are spoken to",
    ),
    // Connections have no threads of their own, and what a database returns is not validated by
    // sysbench either.
    ("thread-stack-size", Harmless::Anything, ""),
    ("validate", Harmless::Anything, ""),
];

/// Options that 1.0.20 still takes, and what they are called now.
const DEPRECATED: &[(&str, &str)] = &[
    ("max-requests", "events"),
    ("max-time", "time"),
    ("num-threads", "threads"),
    ("tx-rate", "rate"),
];

/// Options of MySQL's programs, as they stand in option files, and what they are called here.
const IN_OPTION_FILES: &[(&str, &str)] = &[
    ("host", "mysql-host"),
    ("port", "mysql-port"),
    ("socket", "mysql-socket"),
    ("user", "mysql-user"),
    ("password", "mysql-password"),
    ("database", "mysql-db"),
    ("ssl-mode", "mysql-ssl"),
    ("ssl-ca", "mysql-ssl-ca"),
    ("ssl-cert", "mysql-ssl-cert"),
    ("ssl-key", "mysql-ssl-key"),
    ("ssl-cipher", "mysql-ssl-cipher"),
];

/// The option that an option of MySQL's programs is.
pub(super) fn of_mysql(name: &str) -> Option<&'static str> {
    let (_, option) = IN_OPTION_FILES.iter().find(|(known, _)| *known == name)?;
    Some(option)
}

/// Applies one option. In sysbench `-` and `_` are the same in names.
pub(super) fn apply(settings: &mut Settings, value: Value<'_>) -> Result<(), UsageError> {
    let wanted = value.name.replace('_', "-");
    let is_wanted = |name: &str| name.replace('_', "-") == wanted;
    if let Some(option) = SUPPORTED.iter().find(|option| is_wanted(option.name)) {
        return (option.set)(settings, value);
    }
    if let Some(option) = own_options::load_options().find(|option| is_wanted(option.name)) {
        return settings.own.take(option, value);
    }
    if let Some((_, harmless, why)) = WITHOUT_EFFECT.iter().find(|(name, ..)| is_wanted(name)) {
        return match harmless {
            Harmless::Anything => Ok(()),
            Harmless::Only(default) if value.text == Some(default) => Ok(()),
            _ => Err(UsageError::UnsupportedOption {
                name: value.name.to_owned(),
                why,
            }),
        };
    }
    if let Some((_, name)) = DEPRECATED.iter().find(|(name, _)| is_wanted(name)) {
        let old = value.name;
        settings
            .warnings
            .push(format!("--{old} is deprecated, use --{name} instead"));
        return apply(settings, Value { name, ..value });
    }
    let of_load: Vec<_> = own_options::load_options().map(LoadOption::flag).collect();
    let known = SUPPORTED.iter().map(|option| option.name);
    let known = known.chain(of_load.iter().map(String::as_str));
    Err(UsageError::UnknownOption {
        nearest: nearest(&wanted, known).map(str::to_owned),
        name: value.name.to_owned(),
    })
}

/// `on` and `off` as in 1.0.20, or a mode as in 1.1.
fn tls_mode(settings: &mut Settings, value: Value<'_>) -> Result<(), UsageError> {
    let server = &mut settings.server;
    server.uses_fixed_files = false;
    server.tls.mode = match (value.switch(), value.text.unwrap_or_default().parse()) {
        (Ok(true), _) => {
            server.uses_fixed_files = true;
            TlsMode::Required
        }
        (Ok(false), _) => TlsMode::Disabled,
        (Err(_), Ok(mode)) => mode,
        (Err(_), Err(_)) => {
            return Err(value.wrong(
                "must be on, off, disabled, preferred, required, verify_ca or verify_identity",
            ));
        }
    };
    Ok(())
}

/// One of MySQL's algorithms: a choice would be the server's, and runs not comparable.
fn compression(value: Value<'_>) -> Result<Option<Compression>, UsageError> {
    match value.text {
        Some("zlib") => Ok(Some(Compression::Zlib)),
        Some("zstd") => Ok(Some(Compression::Zstd)),
        Some("uncompressed") => Ok(None),
        _ => Err(value.wrong("must be zlib, zstd or uncompressed")),
    }
}

/// Names between colons, as OpenSSL has them, or commas.
fn ciphers(value: Value<'_>) -> Result<Vec<String>, UsageError> {
    let text = value.text()?;
    let names = text.split([':', ',']).map(str::trim);
    Ok(names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

/// `off`, or a number of seconds or percent of the time.
fn forced_shutdown(value: Value<'_>) -> Result<bool, UsageError> {
    if let Ok(is_on) = value.switch() {
        return Ok(is_on);
    }
    let text = value.text.unwrap_or_default();
    let number = text.strip_suffix('%').unwrap_or(text).parse::<u32>();
    number
        .map(|_| true)
        .map_err(|_| value.wrong("must be off, a number of seconds, or a percentage"))
}

/// A port of this host alone, or an address that others may reach.
fn metrics_address(value: Value<'_>) -> Result<SocketAddr, UsageError> {
    let text = value.text()?;
    let of_port = text
        .parse()
        .map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    of_port.or_else(|_| text.parse()).map_err(|_| {
        value.wrong("must be a port such as 9104, or an address such as 10.0.0.5:9104")
    })
}

fn prepared_statements(value: Value<'_>) -> Result<bool, UsageError> {
    match value.text {
        Some("auto") => Ok(true),
        Some("disable") => Ok(false),
        _ => Err(value.wrong("must be auto or disable")),
    }
}

fn distribution(value: Value<'_>) -> Result<DistributionName, UsageError> {
    let expected = "must be uniform, gaussian, special, pareto or zipfian";
    value.text()?.parse().map_err(|_| value.wrong(expected))
}

fn reactors(value: Value<'_>) -> Result<Option<u32>, UsageError> {
    match value.text {
        Some("auto") => Ok(None),
        _ => value.small(1).map(Some),
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

fn tolerated(value: Value<'_>) -> Result<ToleratedErrors, UsageError> {
    let text = value.text()?;
    if text == "all" {
        return Ok(ToleratedErrors::All);
    }
    text.split(',')
        .filter(|code| !code.is_empty())
        .map(|code| code.trim().parse())
        .collect::<Result<_, _>>()
        .map(ToleratedErrors::Codes)
        .map_err(|_| value.wrong("must be error codes separated by commas, or all"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_in_the_help_are_the_defaults_in_force() {
        for compat in [Compat::Release, Compat::Development] {
            let given = |option: &&SupportedOption| !option.default.is_empty();
            for option in SUPPORTED.iter().filter(given) {
                if option.origin != Origin::Weir && !option.origin.is_in(compat) {
                    continue;
                }
                let mut settings = Settings::new(compat);
                let value = Value {
                    name: option.name,
                    text: Some(option.default),
                };
                (option.set)(&mut settings, value).unwrap();
                // A time that is given binds a script, also where it is the default.
                settings.time_is_given = false;
                assert_eq!(settings, Settings::new(compat), "{}", option.name);
            }
        }
    }

    #[test]
    fn no_option_is_both_supported_and_not() {
        let others = WITHOUT_EFFECT.iter().map(|(name, ..)| *name);
        for name in others.chain(DEPRECATED.iter().map(|(name, _)| *name)) {
            let is_supported = SUPPORTED.iter().any(|option| option.name == name);
            assert!(!is_supported, "{name}");
        }
    }

    #[test]
    fn every_new_name_exists() {
        for (_, name) in DEPRECATED.iter().chain(IN_OPTION_FILES) {
            assert!(
                SUPPORTED.iter().any(|option| option.name == *name),
                "{name}"
            );
        }
    }
}
