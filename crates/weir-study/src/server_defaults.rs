//! Variables that Weir sets unless the study does: what makes runs comparable.

use std::collections::BTreeMap;

use weir_model::Flavor;

/// Prepared statements of one workload per table and connection, at most.
const STATEMENTS_PER_TABLE: u64 = 10;

/// Adds the defaults to `variables`, for at most `threads` connections to `tables` tables.
pub(crate) fn add(
    variables: &mut BTreeMap<String, String>,
    flavor: Flavor,
    threads: u32,
    tables: u32,
) {
    let mut default = |name: &str, value: String| {
        variables.entry(name.to_owned()).or_insert(value);
    };
    // A pool that a former run filled would make the runs of a cell unequal.
    default("innodb_buffer_pool_load_at_startup", "OFF".to_owned());
    default("innodb_buffer_pool_dump_at_shutdown", "OFF".to_owned());
    // The load, the probes and somebody who looks on.
    default("max_connections", (threads + 20).max(151).to_string());
    let statements = u64::from(threads) * u64::from(tables) * STATEMENTS_PER_TABLE;
    default(
        "max_prepared_stmt_count",
        statements.clamp(16_382, 4_194_304).to_string(),
    );
    // On in MySQL 8 and later, off in MariaDB: equal unless a study asks for it.
    if flavor == Flavor::Mysql && !variables.contains_key("log_bin") {
        variables
            .entry("skip_log_bin".to_owned())
            .or_insert_with(|| "1".to_owned());
    }
}
