//! Variables that Weir sets unless the study does: what makes runs comparable.

use std::collections::BTreeMap;

use weir_load::STATEMENTS_PER_TABLE_MAX;
use weir_model::variables::LOG_BIN;
use weir_model::{Flavor, LRU_SCAN_DEPTH, Plan, Scale, option_variable};

use crate::target::scaled_scan_depth;

/// Adds the defaults to `plan`: shared ones once, those of a flavour where that is served. A server that
/// the user gives is left as it is.
pub(crate) fn add(plan: &mut Plan) {
    add_all(plan);
    give_way(plan);
}

/// A shared default gives way to a cell that sets its variable in another spelling: `skip_log_bin` to a factor
/// `log_bin`. The other cells keep it.
fn give_way(plan: &mut Plan) {
    let shared = std::mem::take(&mut plan.server.variables);
    for (name, value) in shared {
        let variable = option_variable(&name);
        let gives_way = |option: &String| *option != name && option_variable(option) == variable;
        let mut cells = plan.cells.iter();
        if !cells.any(|cell| cell.variables.keys().any(gives_way)) {
            plan.server.variables.insert(name, value);
            continue;
        }
        for cell in &mut plan.cells {
            if !is_set(&cell.variables, &variable) {
                cell.variables.insert(name.clone(), value.clone());
            }
        }
    }
}

fn add_all(plan: &mut Plan) {
    let (threads, tables) = largest(plan);
    let scale = plan.data.data_scale;
    let of_cells: Vec<_> = plan.cells.iter().map(|cell| plan.server_of(cell)).collect();
    let chooses_server = plan.cells.iter().any(|cell| cell.server.is_some());
    if !chooses_server {
        if plan.server.given.is_none() {
            add_shared(&mut plan.server.variables, threads, tables);
            add_of_flavor(&mut plan.server.variables, plan.server.flavor, scale);
        }
        return;
    }
    let gives_one = of_cells.iter().any(|server| server.given.is_some());
    if !gives_one {
        add_shared(&mut plan.server.variables, threads, tables);
    }
    for (index, server) in of_cells.iter().enumerate() {
        if server.given.is_some() {
            continue;
        }
        let before = plan.variables_of(&plan.cells[index]);
        let mut all = before.clone();
        if gives_one {
            add_shared(&mut all, threads, tables);
        }
        add_of_flavor(&mut all, server.flavor, scale);
        all.retain(|name, _| !before.contains_key(name));
        plan.cells[index].variables.extend(all);
    }
}

/// Most connections and most tables of a run.
fn largest(plan: &Plan) -> (u32, u32) {
    let searched = plan
        .search
        .as_ref()
        .filter(|search| search.factor == "threads");
    let searched = searched.map(|search| u32::try_from(search.high).unwrap_or(u32::MAX / 2));
    let threads = plan.cells.iter().map(|cell| cell.threads).chain(searched);
    let tables = plan.cells.iter().map(|cell| plan.data_of(cell).tables);
    (threads.max().unwrap_or(1), tables.max().unwrap_or(1))
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
    // The load, the probes and somebody who looks on.
    default("max_connections", (threads + 20).max(151).to_string());
    let statements = u64::from(threads) * u64::from(tables) * STATEMENTS_PER_TABLE_MAX;
    default(
        "max_prepared_stmt_count",
        statements.clamp(16_382, 4_194_304).to_string(),
    );
}

/// Whether an option of any spelling sets the variable `name`.
fn is_set(variables: &BTreeMap<String, String>, name: &str) -> bool {
    variables
        .keys()
        .any(|option| option_variable(option) == name)
}

/// What the flavours differ in.
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
