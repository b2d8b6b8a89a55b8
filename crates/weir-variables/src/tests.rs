//! Names and values per version, without a server.

use super::redo_log::{CAPACITY as REDO_CAPACITY, FILE_SIZE as LOG_FILE_SIZE, FILES as LOG_FILES};
use super::*;

fn translated(
    flavor: Flavor,
    version: &str,
    pair: (&str, &str),
) -> Result<BTreeMap<String, String>, SettingError> {
    let variables = BTreeMap::from([(pair.0.to_owned(), pair.1.to_owned())]);
    native_options(flavor, version.parse().unwrap(), &variables)
}

#[test]
fn the_redo_size_takes_the_name_that_the_server_has() {
    let cases = [
        (
            Flavor::Mysql,
            "9.7.4",
            REDO_CAPACITY,
            "2G",
            REDO_CAPACITY,
            "2G",
        ),
        (
            Flavor::Mysql,
            "9.7.4",
            LOG_FILE_SIZE,
            "1G",
            REDO_CAPACITY,
            "2147483648",
        ),
        (
            Flavor::Mysql,
            "8.0.28",
            REDO_CAPACITY,
            "2G",
            LOG_FILE_SIZE,
            "1073741824",
        ),
        (
            Flavor::Mariadb,
            "10.11.19",
            REDO_CAPACITY,
            "2G",
            LOG_FILE_SIZE,
            "2147483648",
        ),
        (
            Flavor::Mariadb,
            "10.4.1",
            REDO_CAPACITY,
            "2G",
            LOG_FILE_SIZE,
            "1073741824",
        ),
        (
            Flavor::Mariadb,
            "10.11.19",
            LOG_FILE_SIZE,
            "2G",
            LOG_FILE_SIZE,
            "2G",
        ),
    ];
    for (flavor, version, name, value, native, native_value) in cases {
        let result = translated(flavor, version, (name, value)).unwrap();
        let expected = BTreeMap::from([(native.to_owned(), native_value.to_owned())]);
        assert_eq!(result, expected, "{flavor} {version} {name}");
    }
}

#[test]
fn doublewrite_values_are_those_of_the_version() {
    for (flavor, version, value, allowed) in [
        (Flavor::Mysql, "9.7.4", "DETECT_ONLY", true),
        (Flavor::Mysql, "8.0.28", "DETECT_ONLY", false),
        (Flavor::Mariadb, "10.11.19", "DETECT_ONLY", false),
        (Flavor::Mariadb, "11.4.3", "fast", true),
        (Flavor::Mariadb, "10.11.19", "off", true),
    ] {
        let result = translated(flavor, version, ("innodb-doublewrite", value));
        assert_eq!(result.is_ok(), allowed, "{flavor} {version} {value}");
    }
}

#[test]
fn two_spellings_of_one_variable_are_refused() {
    for (one, other) in [
        ("sync-binlog", "sync_binlog"),
        ("innodb_doublewrite", "skip-innodb-doublewrite"),
        ("log_bin", "skip_log_bin"),
        ("innodb_doublewrite", "loose_innodb_doublewrite"),
        ("tx_isolation", "transaction_isolation"),
        ("slave_parallel_workers", "replica_parallel_workers"),
        ("slave_net_timeout", "replica_net_timeout"),
        ("long_query_time", "log_slow_query_time"),
    ] {
        let pair = |name: &str| (name.to_owned(), "1".to_owned());
        let variables = BTreeMap::from([one, other].map(pair));
        let error =
            native_options(Flavor::Mysql, "9.7.4".parse().unwrap(), &variables).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("sets the same variable; keep one"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
}

/// An option file holds values in quotes, in which blanks count.
#[test]
fn blanks_around_a_value_are_not_its_own() {
    let told = translated(Flavor::Mysql, "9.7.4", ("innodb_doublewrite", " OFF "));
    assert_eq!(told.unwrap()["innodb_doublewrite"], "OFF");
}

/// A setting of a study, and the option for the server or why there is none.
const CASES: &str = "\
mysql 5.7.44: query_cache_size = 1M -> query_cache_size = 1M
mysql 8.0.36: query_cache_size = 1M -> refused: removed in mysql 8.0.3
mariadb 12.0.2: query-cache-size = 1M -> query_cache_size = 1M
mysql 5.7.44: tx_isolation = READ-COMMITTED -> tx_isolation = READ-COMMITTED
mysql 8.4.3: tx_isolation = READ-COMMITTED -> transaction_isolation = READ-COMMITTED
mysql 8.0.36: expire_logs_days = 3 -> expire_logs_days = 3
mysql 9.7.4: expire_logs_days = 3 -> binlog_expire_logs_seconds = 259200
mysql 9.7.4: expire_logs_days = x -> refused: whole number
mysql 5.7.44: innodb_doublewrite_pages = 64 -> refused: new in mysql 8.0.20
mariadb 11.4.3: innodb_doublewrite_pages = 64 -> refused: mariadb has none
mysql 9.7.4: slave_parallel_threads = 4 -> replica_parallel_workers = 4
mysql 8.0.20: slave_parallel_threads = 4 -> slave_parallel_workers = 4
mariadb 10.11.19: replica_parallel_workers = 4 -> slave_parallel_threads = 4
mariadb 10.4.34: innodb_buffer_pool_instances = 8 -> innodb_buffer_pool_instances = 8
mariadb 10.6.0: innodb_buffer_pool_instances = 8 -> refused: removed in mariadb 10.6.0
mysql 9.7.4: innodb_buffer_pool_instances = 8 -> innodb_buffer_pool_instances = 8
mariadb 10.11.19: innodb_change_buffering = none -> innodb_change_buffering = none
mariadb 11.4.3: innodb_change_buffering = none -> refused: no change buffer
mysql 8.0.36: default_authentication_plugin = x -> default_authentication_plugin = x
mysql 8.4.0: default_authentication_plugin = x -> refused: authentication_policy
mariadb 10.11.19: innodb_flush_method = O_DIRECT -> innodb_flush_method = O_DIRECT
mysql 9.7.4: log_bin = OFF -> skip_log_bin = 1
mysql 9.7.4: log-bin = 0 -> skip_log_bin = 1
mariadb 10.11.19: log_bin = false -> skip_log_bin = 1
mariadb 10.11.19: loose_log_bin = off -> skip_log_bin = 1
mariadb 10.11.19: skip-log-bin = 1 -> skip_log_bin = 1
mysql 9.7.4: skip_log_bin = 0 -> log_bin = binlog
mysql 9.7.4: disable_log_bin = OFF -> log_bin = binlog
mysql 9.7.4: enable_log_bin = 1 -> log_bin = binlog
mysql 9.7.4: enable_log_bin = 0 -> skip_log_bin = 1
mariadb 10.11.19: log_bin = ON -> log_bin = binlog
mysql 9.7.4: log_bin = true -> log_bin = binlog
mysql 9.7.4: log_bin = /var/log/mysql/bin -> log_bin = /var/log/mysql/bin
mysql 9.7.4: general_log_file = OFF -> refused: `general_log` switches the log on or off
mariadb 10.11.19: slow-query-log-file = 0 -> refused: `slow_query_log` switches the log on or off
mariadb 10.11.19: log_slow_query_file = ON -> refused: `slow_query_log` switches
mysql 9.7.4: relay_log = OFF -> refused: no relay log; leave it out
mysql 9.7.4: skip_relay_log = 1 -> refused: is no switch, so it cannot be skipped
mysql 9.7.4: log_error = FALSE -> refused: leave it out for none
mysql 9.7.4: init_connect = OFF -> refused: it is a statement
mysql 9.7.4: innodb_buffer_pool_filename = OFF -> refused: innodb_buffer_pool_dump_at_shutdown
mysql 9.7.4: innodb_doublewrite_dir = OFF -> refused: `innodb_doublewrite` is the switch
mysql 9.7.4: tmpdir = OFF -> refused: leave it out for the default
mysql 9.7.4: relay_log = relay -> relay_log = relay
mysql 9.7.4: general_log = OFF -> general_log = OFF
mariadb 10.11.19: transaction_isolation = READ-COMMITTED -> transaction_isolation = READ-COMMITTED
mariadb 10.11.19: replica_net_timeout = 9 -> slave_net_timeout = 9
mariadb 10.11.19: log_replica_updates = ON -> log_slave_updates = ON
mariadb 10.11.19: source_verify_checksum = ON -> master_verify_checksum = ON
mysql 8.0.20: replica_net_timeout = 9 -> slave_net_timeout = 9
mysql 9.7.4: slave_net_timeout = 9 -> slave_net_timeout = 9
mysql 9.7.4: log_slow_query = ON -> slow_query_log = ON
mysql 9.7.4: log_slow_query_time = 1 -> long_query_time = 1
mariadb 10.6.3: log_slow_query_time = 1 -> long_query_time = 1
mysql 9.7.4: tmp_memory_table_size = 1M -> tmp_table_size = 1M
mysql 9.7.4: storage_engine = InnoDB -> default_storage_engine = InnoDB
mysql 9.7.4: thread_handling = pool-of-threads -> refused: MySQL Enterprise
mysql 9.7.4: max_statement_time = 3 -> refused: max_execution_time
mariadb 10.11.19: max_execution_time = 3000 -> refused: max_statement_time";

#[test]
fn each_version_is_told_what_it_understands() {
    for case in CASES.lines() {
        let (server, settings) = case.split_once(": ").unwrap();
        let (flavor, version) = server.split_once(' ').unwrap();
        let (said, told) = settings.split_once(" -> ").unwrap();
        let said = said.split_once(" = ").unwrap();
        let result = translated(flavor.parse().unwrap(), version, said);
        if let Some(why) = told.strip_prefix("refused: ") {
            let error = result.unwrap_err().to_string();
            assert!(error.contains(why), "{case}: {error}");
        } else {
            let (name, value) = told.split_once(" = ").unwrap();
            let expected = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            assert_eq!(result.unwrap(), expected, "{case}");
        }
    }
}

/// Size and number of files are one thing.
#[test]
fn the_redo_logs_files_are_multiplied_where_there_is_one_size() {
    let both = BTreeMap::from([
        (LOG_FILE_SIZE.to_owned(), "1G".to_owned()),
        (LOG_FILES.to_owned(), "3".to_owned()),
    ]);
    let told =
        |flavor, version: &str| native_options(flavor, version.parse().unwrap(), &both).unwrap();
    let three = (3_u64 << 30).to_string();
    assert_eq!(told(Flavor::Mysql, "9.7.4")[REDO_CAPACITY], three);
    assert_eq!(told(Flavor::Mariadb, "10.11.19")[LOG_FILE_SIZE], three);
    assert_eq!(told(Flavor::Mysql, "8.0.28"), both);
    assert_eq!(told(Flavor::Mariadb, "10.4.34"), both);

    let twice = BTreeMap::from([
        (LOG_FILE_SIZE.to_owned(), "1G".to_owned()),
        (REDO_CAPACITY.to_owned(), "2G".to_owned()),
    ]);
    let error = native_options(Flavor::Mysql, "9.7.4".parse().unwrap(), &twice).unwrap_err();
    assert!(error.to_string().contains("keep one"), "{error}");
}

/// A setting under one name, which the server may show under others.
#[test]
fn a_variable_is_looked_for_under_all_its_names() {
    for (flavor, version, name, shown) in [
        (Flavor::Mariadb, "10.11.19", REDO_CAPACITY, LOG_FILE_SIZE),
        (Flavor::Mysql, "9.7.4", LOG_FILE_SIZE, REDO_CAPACITY),
        (Flavor::Mysql, "9.7.4", LOG_FILES, REDO_CAPACITY),
        (
            Flavor::Mariadb,
            "10.11.19",
            "transaction_isolation",
            "tx_isolation",
        ),
        (
            Flavor::Mysql,
            "9.7.4",
            "tx_isolation",
            "transaction_isolation",
        ),
        (
            Flavor::Mysql,
            "9.7.4",
            "replica_parallel_workers",
            "slave_parallel_workers",
        ),
        (
            Flavor::Mysql,
            "9.7.4",
            "slave_parallel_threads",
            "replica_parallel_workers",
        ),
        (
            Flavor::Mariadb,
            "10.11.19",
            "replica_parallel_workers",
            "slave_parallel_workers",
        ),
        (
            Flavor::Mariadb,
            "10.11.19",
            "slow_query_log",
            "log_slow_query",
        ),
        (
            Flavor::Mysql,
            "9.7.4",
            "expire_logs_days",
            "binlog_expire_logs_seconds",
        ),
        (
            Flavor::Mysql,
            "9.7.4",
            "skip-innodb-doublewrite",
            DOUBLEWRITE,
        ),
    ] {
        let names = shown_names(flavor, version.parse().unwrap(), name);
        assert!(
            names.contains(shown),
            "{flavor} {version} {name}: {names:?}"
        );
    }
}

/// The names that a server says are those of its options where it has no others.
#[test]
fn what_a_server_would_say_has_its_own_names() {
    let told = [
        ("transaction_isolation", "READ-COMMITTED"),
        ("innodb_redo_log_capacity", "2G"),
        ("log_bin", "OFF"),
    ];
    let told = told.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let version = "10.11.19".parse().unwrap();
    let said = native_variables(Flavor::Mariadb, version, &told.into()).unwrap();
    assert_eq!(said.get("tx_isolation"), Some("READ-COMMITTED"));
    assert_eq!(said.get(LOG_FILE_SIZE), Some("2147483648"));
    assert_eq!(said.binary_log(), Some(false));
}
