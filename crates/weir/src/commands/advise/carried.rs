//! Settings of the user's server that its copy gets, so that candidates are tried beside what is there.

use std::collections::{BTreeMap, BTreeSet};

use weir_server::look::LookReport;

/// Settings whose names do not begin with `innodb_`.
const CARRIED: [&str; 29] = [
    "binlog_cache_size",
    "binlog_format",
    "binlog_row_image",
    "character_set_server",
    "collation_server",
    "explicit_defaults_for_timestamp",
    "group_concat_max_len",
    "internal_tmp_mem_storage_engine",
    "join_buffer_size",
    "key_buffer_size",
    "log_bin",
    "lower_case_table_names",
    "max_allowed_packet",
    "max_connections",
    "max_heap_table_size",
    "optimizer_switch",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "sort_buffer_size",
    "sql_mode",
    "sync_binlog",
    "table_definition_cache",
    "table_open_cache",
    "thread_cache_size",
    "thread_handling",
    "tmp_table_size",
];

/// Parts of names of settings that belong to a host, to files, or to Weir's own order of runs.
const LEFT: [&str; 16] = [
    "auto_",
    "chunk_size",
    "dir",
    "path",
    "file_name",
    "filename",
    "buffer_pool_load",
    "buffer_pool_dump",
    "encrypt",
    "force",
    "read_only",
    "page_size",
    "ft_",
    "monitor",
    "numa",
    "undo_tablespaces",
];

/// The settings that differ from the defaults of the copy's program, `known`, and are no question.
pub(super) fn settings(
    report: &LookReport,
    known: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let asked = report.questions.asked.iter();
    let asked: BTreeSet<_> = asked
        .flat_map(|question| &question.settings)
        .map(|(name, ..)| name)
        .collect();
    let is_carried = |name: &str| {
        CARRIED.contains(&name)
            || (name.starts_with("innodb_") && !LEFT.iter().any(|part| name.contains(part)))
    };
    let differs = |name: &str, value: &str| {
        let default = known.get(name);
        default.is_some_and(|default| plain(default) != plain(value))
    };
    let all = report.settings.iter();
    all.filter(|(name, value)| is_carried(name) && differs(name, value))
        .filter(|(name, _)| !asked.contains(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// A switch has several words.
fn plain(value: &str) -> String {
    match value.to_ascii_uppercase().as_str() {
        "TRUE" | "ON" | "1" => "ON".to_owned(),
        "FALSE" | "OFF" | "0" => "OFF".to_owned(),
        other => other.to_owned(),
    }
}
