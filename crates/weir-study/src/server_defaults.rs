//! Variables that Weir sets unless the study does: what makes runs comparable.

use std::collections::BTreeMap;

use weir_model::variables::LOG_BIN;
use weir_model::{DataSource, Flavor, LRU_SCAN_DEPTH, Plan, Scale, option_variable};
use weir_workload::STATEMENTS_PER_TABLE_MAX;

use crate::target::scaled_scan_depth;

/// Tables for whose statements there is room where only a script knows how many it has.
const TABLES_OF_SCRIPTS: u32 = 64;

/// Adds the defaults to all cells of `plan`. A server that the user gives is left as it is.
pub(crate) fn add(plan: &mut Plan) {
    let (threads, tables) = largest(plan);
    for cell in &mut plan.cells {
        let spec = cell.spec_mut();
        let scale = spec.data.data_scale;
        for node in spec.topology.nodes_mut() {
            if node.server.given.is_none() {
                add_shared(&mut node.variables, threads, tables);
                add_of_flavor(&mut node.variables, node.server.flavor, scale);
            }
        }
    }
}

/// Most connections and most tables of a run: what follows from them is the same in all cells.
fn largest(plan: &Plan) -> (u32, u32) {
    let searched = plan
        .search
        .as_ref()
        .filter(|search| search.factor == "threads");
    let searched = searched.map(|search| u32::try_from(search.high).unwrap_or(u32::MAX / 2));
    let specs = plan.cells.iter().map(|cell| &cell.spec);
    let threads = specs.clone().map(|spec| {
        let load = &spec.load;
        load.connections.saturating_add(load.idle_connections)
    });
    let tables = specs.map(|spec| match spec.data.source {
        DataSource::Lua | DataSource::Snapshot { .. } => TABLES_OF_SCRIPTS,
        _ => spec.data.table_count() as u32,
    });
    let threads = threads.chain(searched).max();
    (threads.unwrap_or(1), tables.max().unwrap_or(1))
}

fn add_shared(variables: &mut BTreeMap<String, String>, threads: u32, tables: u32) {
    let mut default = |name: &str, value: String| {
        if !is_set(variables, name) {
            variables.insert(name.to_owned(), value);
        }
    };
    // A pool that a former run filled would make the runs of a cell unequal.
    default("innodb_buffer_pool_load_at_startup", "OFF".to_owned());
    default("innodb_buffer_pool_dump_at_shutdown", "OFF".to_owned());
    // The load, the probes and a user who looks on.
    default("max_connections", (threads + 20).max(151).to_string());
    let statements = u64::from(threads) * u64::from(tables) * STATEMENTS_PER_TABLE_MAX;
    default(
        "max_prepared_stmt_count",
        statements.clamp(16_382, 4_194_304).to_string(),
    );
}

/// Returns true if an option of any spelling sets the variable `name`.
fn is_set(variables: &BTreeMap<String, String>, name: &str) -> bool {
    variables
        .keys()
        .any(|option| option_variable(option) == name)
}

/// Adds the defaults in which the flavours differ.
fn add_of_flavor(variables: &mut BTreeMap<String, String>, flavor: Flavor, scale: Scale) {
    // The binary log is on in MySQL 8 and later, off in MariaDB: off unless a study asks for it.
    if flavor == Flavor::Mysql && !is_set(variables, LOG_BIN) {
        variables.insert("skip_log_bin".to_owned(), "1".to_owned());
    }
    if scale < Scale::FULL {
        let pages = scaled_scan_depth(flavor.lru_scan_depth(), scale);
        let depth = variables.entry(LRU_SCAN_DEPTH.to_owned());
        depth.or_insert_with(|| pages.to_string());
    }
}
