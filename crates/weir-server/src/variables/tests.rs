//! Names and values per version, without a server.

use super::*;

fn translated(
    flavor: Flavor,
    version: &str,
    pair: (&str, &str),
) -> Result<BTreeMap<String, String>, ServerError> {
    let variables = BTreeMap::from([(pair.0.to_owned(), pair.1.to_owned())]);
    translate(flavor, version.parse().unwrap(), &variables)
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
    let variables = BTreeMap::from([
        ("sync-binlog".to_owned(), "1".to_owned()),
        ("sync_binlog".to_owned(), "0".to_owned()),
    ]);
    assert!(translate(Flavor::Mysql, "9.7.4".parse().unwrap(), &variables).is_err());
}

/// One case a line: flavour, version, what a study says, what the server is told or why not.
#[test]
fn each_version_is_told_what_it_understands() {
    use Flavor::{Mariadb, Mysql};
    let cases: &[(Flavor, &str, &str, &str, Result<(&str, &str), &str>)] = &[
        (
            Mysql,
            "5.7.44",
            "query_cache_size",
            "1M",
            Ok(("query_cache_size", "1M")),
        ),
        (
            Mysql,
            "8.0.36",
            "query_cache_size",
            "1M",
            Err("removed in mysql 8.0.3"),
        ),
        (
            Mariadb,
            "12.0.2",
            "query-cache-size",
            "1M",
            Ok(("query_cache_size", "1M")),
        ),
        (
            Mysql,
            "5.7.44",
            "tx_isolation",
            "READ-COMMITTED",
            Ok(("tx_isolation", "READ-COMMITTED")),
        ),
        (
            Mysql,
            "8.4.3",
            "tx_isolation",
            "READ-COMMITTED",
            Ok(("transaction_isolation", "READ-COMMITTED")),
        ),
        (
            Mysql,
            "8.0.36",
            "expire_logs_days",
            "3",
            Ok(("expire_logs_days", "3")),
        ),
        (
            Mysql,
            "9.7.4",
            "expire_logs_days",
            "3",
            Ok(("binlog_expire_logs_seconds", "259200")),
        ),
        (Mysql, "9.7.4", "expire_logs_days", "x", Err("whole number")),
        (
            Mysql,
            "5.7.44",
            "innodb_doublewrite_pages",
            "64",
            Err("new in mysql 8.0.20"),
        ),
        (
            Mariadb,
            "11.4.3",
            "innodb_doublewrite_pages",
            "64",
            Err("mariadb has none"),
        ),
        (
            Mysql,
            "9.7.4",
            "slave_parallel_threads",
            "4",
            Ok(("replica_parallel_workers", "4")),
        ),
        (
            Mysql,
            "8.0.20",
            "slave_parallel_threads",
            "4",
            Ok(("slave_parallel_workers", "4")),
        ),
        (
            Mariadb,
            "10.11.19",
            "replica_parallel_workers",
            "4",
            Ok(("slave_parallel_threads", "4")),
        ),
        (
            Mariadb,
            "10.4.34",
            "innodb_buffer_pool_instances",
            "8",
            Ok(("innodb_buffer_pool_instances", "8")),
        ),
        (
            Mariadb,
            "10.6.0",
            "innodb_buffer_pool_instances",
            "8",
            Err("removed in mariadb 10.6.0"),
        ),
        (
            Mysql,
            "9.7.4",
            "innodb_buffer_pool_instances",
            "8",
            Ok(("innodb_buffer_pool_instances", "8")),
        ),
        (
            Mariadb,
            "10.11.19",
            "innodb_change_buffering",
            "none",
            Ok(("innodb_change_buffering", "none")),
        ),
        (
            Mariadb,
            "11.4.3",
            "innodb_change_buffering",
            "none",
            Err("no change buffer"),
        ),
        (
            Mysql,
            "8.0.36",
            "default_authentication_plugin",
            "x",
            Ok(("default_authentication_plugin", "x")),
        ),
        (
            Mysql,
            "8.4.0",
            "default_authentication_plugin",
            "x",
            Err("authentication_policy"),
        ),
        (
            Mariadb,
            "10.11.19",
            "innodb_flush_method",
            "O_DIRECT",
            Ok(("innodb_flush_method", "O_DIRECT")),
        ),
    ];
    for (flavor, version, name, value, expected) in cases {
        let result = translated(*flavor, version, (name, value));
        let place = format!("{flavor} {version} {name}");
        match (result, expected) {
            (Ok(told), Ok((name, value))) => {
                let expected = BTreeMap::from([((*name).to_owned(), (*value).to_owned())]);
                assert_eq!(told, expected, "{place}");
            }
            (Err(error), Err(why)) => assert!(error.to_string().contains(why), "{place}: {error}"),
            (result, _) => panic!("{place}: {result:?}"),
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
    let told = |flavor, version: &str| translate(flavor, version.parse().unwrap(), &both).unwrap();
    let three = (3_u64 << 30).to_string();
    assert_eq!(told(Flavor::Mysql, "9.7.4")[REDO_CAPACITY], three);
    assert_eq!(told(Flavor::Mariadb, "10.11.19")[LOG_FILE_SIZE], three);
    assert_eq!(told(Flavor::Mysql, "8.0.28"), both);
    assert_eq!(told(Flavor::Mariadb, "10.4.34"), both);

    let twice = BTreeMap::from([
        (LOG_FILE_SIZE.to_owned(), "1G".to_owned()),
        (REDO_CAPACITY.to_owned(), "2G".to_owned()),
    ]);
    let error = translate(Flavor::Mysql, "9.7.4".parse().unwrap(), &twice).unwrap_err();
    assert!(error.to_string().contains("keep one"), "{error}");
}
