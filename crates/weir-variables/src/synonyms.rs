//! Variables that a server says under several names, and options that it says under another one.

use weir_model::{Flavor, ServerVersion};

use super::Version;

/// Names of one variable each, the one that stands for all first. A server shows as many of them as its version
/// has: `MySQL` 8.0.26 to 9 both `replica_parallel_workers` and `slave_parallel_workers`.
const SAME: &[&[&str]] = &[
    // MySQL 8.0.3 Release Notes, "Deprecation and Removal Notes"; MariaDB Knowledge Base, "transaction_isolation".
    &["transaction_isolation", "tx_isolation"],
    &["transaction_read_only", "tx_read_only"],
    // MariaDB Knowledge Base, "slave_parallel_threads": "slave_parallel_workers is a synonym".
    &[
        "replica_parallel_workers",
        "slave_parallel_workers",
        "slave_parallel_threads",
    ],
    // MariaDB Knowledge Base, "Slow Query Log Overview": names since 10.11.0.
    &["slow_query_log", "log_slow_query", "log_slow_queries"],
    &["slow_query_log_file", "log_slow_query_file"],
    &["long_query_time", "log_slow_query_time"],
    &["min_examined_row_limit", "log_slow_min_examined_row_limit"],
    // MariaDB Knowledge Base, "tmp_memory_table_size": "tmp_table_size and tmp_memory_table_size are aliases".
    &["tmp_table_size", "tmp_memory_table_size"],
    // MySQL 5.7.5 Release Notes; MariaDB Knowledge Base, "storage_engine": "an alias".
    &["default_storage_engine", "storage_engine"],
    // MySQL manual, "Server Option and Variable Reference"; MariaDB's option of the same name.
    &["table_open_cache", "table_cache"],
];

/// Old and new words of replication: MySQL 8.0.26 Release Notes, "Deprecation and Removal Notes". `MariaDB` has the
/// old ones.
const OLD_AND_NEW: &[(&str, &str)] = &[
    ("init_slave", "init_replica"),
    ("log_slave_updates", "log_replica_updates"),
    ("log_slow_slave_statements", "log_slow_replica_statements"),
    ("master_verify_checksum", "source_verify_checksum"),
    ("rpl_stop_slave_timeout", "rpl_stop_replica_timeout"),
    ("skip_slave_start", "skip_replica_start"),
    ("slave_allow_batching", "replica_allow_batching"),
    ("slave_checkpoint_group", "replica_checkpoint_group"),
    ("slave_checkpoint_period", "replica_checkpoint_period"),
    ("slave_compressed_protocol", "replica_compressed_protocol"),
    ("slave_exec_mode", "replica_exec_mode"),
    ("slave_load_tmpdir", "replica_load_tmpdir"),
    ("slave_max_allowed_packet", "replica_max_allowed_packet"),
    ("slave_net_timeout", "replica_net_timeout"),
    ("slave_parallel_type", "replica_parallel_type"),
    ("slave_parallel_workers", "replica_parallel_workers"),
    (
        "slave_pending_jobs_size_max",
        "replica_pending_jobs_size_max",
    ),
    (
        "slave_preserve_commit_order",
        "replica_preserve_commit_order",
    ),
    ("slave_skip_errors", "replica_skip_errors"),
    ("slave_sql_verify_checksum", "replica_sql_verify_checksum"),
    ("slave_transaction_retries", "replica_transaction_retries"),
    ("slave_type_conversions", "replica_type_conversions"),
    ("sql_slave_skip_counter", "sql_replica_skip_counter"),
    ("sync_master_info", "sync_source_info"),
];

/// The first `MySQL` with the new words.
const NEW_WORDS: Version = (8, 0, 26);

/// The first `MariaDB` whose variables are called as its options are (MDEV-21921).
const MARIADB_TRANSACTION: Version = (11, 1, 1);

/// The name that stands for all names of a variable.
pub fn one_variable(name: &str) -> &str {
    if let Some(group) = SAME.iter().find(|group| group.contains(&name)) {
        return group[0];
    }
    let pair = OLD_AND_NEW.iter().find(|(old, _)| *old == name);
    pair.map_or(name, |(_, new)| new)
}

/// All names of the variable that is called `name`.
pub(super) fn names_of(name: &str) -> impl Iterator<Item = &'static str> {
    let one = one_variable(name).to_owned();
    let same = SAME.iter().flat_map(|group| group.iter().copied());
    let words = OLD_AND_NEW.iter().flat_map(|(old, new)| [*old, *new]);
    same.chain(words)
        .filter(move |name| one_variable(name) == one)
}

/// The old word for a new one, where the version has only that.
pub(super) fn old_word(flavor: Flavor, version: Version, name: &str) -> Option<&'static str> {
    if flavor == Flavor::Mysql && version >= NEW_WORDS {
        return None;
    }
    let pair = OLD_AND_NEW.iter().find(|(_, new)| *new == name);
    pair.map(|(old, _)| *old)
}

/// The name under which `SHOW VARIABLES` has what an option sets: `MariaDB`'s options for transactions have their
/// variables' names from 11.1.1 on only.
pub(super) fn shown_as(flavor: Flavor, version: ServerVersion, option: &str) -> &str {
    let number = (version.major, version.minor, version.patch);
    match (flavor, option) {
        (Flavor::Mariadb, "transaction_isolation") if number < MARIADB_TRANSACTION => {
            "tx_isolation"
        }
        (Flavor::Mariadb, "transaction_read_only") if number < MARIADB_TRANSACTION => {
            "tx_read_only"
        }
        _ => option,
    }
}
