//! R1: nothing but the factor differs between the two cells.
//!
//! The servers' own variables are the evidence, not the option files: a server adjusts, rounds
//! and overrides what it was given.

use std::collections::BTreeSet;

use weir_model::{Comparison, Finding, RunResult, StudyResult};

use super::error;
use crate::setting::is_setting;

/// Variables that the server derives from the size of the buffer pool.
const DERIVED_FROM_THE_POOL: [&str; 6] = [
    "innodb_buffer_pool_chunk_size",
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_size_auto_min",
    "innodb_buffer_pool_size_max",
    "innodb_lru_scan_depth",
    "innodb_page_cleaners",
];

pub(super) fn check(result: &StudyResult, comparison: &Comparison) -> Option<Finding> {
    let run_of = |cell| result.runs.iter().find(|run| run.record.cell == cell);
    let baseline = run_of(comparison.baseline_cell)?;
    let level = run_of(comparison.level_cell)?;
    let cell = &result.plan.cells[comparison.level_cell];
    let undeclared: Vec<_> = differing(baseline, level)
        .into_iter()
        .filter(|name| *name != comparison.factor && is_setting(name))
        .filter(|name| {
            let pool_varies = cell.variables.contains_key("innodb_buffer_pool_size");
            !(pool_varies && DERIVED_FROM_THE_POOL.contains(name))
        })
        .collect();
    if undeclared.is_empty() {
        return None;
    }
    Some(error(
        "R1",
        format!(
            "the servers differ in more than {}: {}; set these to the same values in server.config",
            comparison.factor,
            undeclared.join(", ")
        ),
    ))
}

fn differing<'a>(baseline: &'a RunResult, level: &'a RunResult) -> BTreeSet<&'a str> {
    let names = baseline.variables.keys().chain(level.variables.keys());
    names
        .filter(|name| baseline.variables.get(*name) != level.variables.get(*name))
        .map(String::as_str)
        .collect()
}
