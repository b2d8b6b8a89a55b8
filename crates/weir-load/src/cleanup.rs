//! Drops what [`prepare`](crate::prepare) has made.

use crate::LoadError;
use crate::plan::PreparePlan;
use crate::preflight::check_control;
use weir_mysql::{Connection, Connector, Gate, Patience, identifier};
use weir_workload::table_name;

/// Names of the workload's tables that are there.
///
/// # Errors
///
/// A server that cannot be asked, a schema that is not there.
pub fn existing_tables(plan: &PreparePlan, gate: &Gate) -> Result<Vec<String>, LoadError> {
    let connector = Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?;
    let mut control = Connection::connect(&connector, true, Patience::Endless)?;
    let there: Vec<String> = control.rows(TABLES)?;
    let names = names(plan)?.into_iter();
    Ok(names.filter(|name| there.contains(name)).collect())
}

const TABLES: &str =
    "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()";

fn names(plan: &PreparePlan) -> Result<Vec<String>, LoadError> {
    if plan.workload.is_bulk() {
        return Ok((1..=plan.tables.tables).map(table_name).collect());
    }
    let tables = plan.own_tables()?;
    Ok(tables.into_iter().map(|table| table.name).collect())
}

/// Drops the tables of a workload that are there. The schema stays.
///
/// # Errors
///
/// A server that refuses or is gone, or statements that the gate does not let pass.
pub fn cleanup(plan: &PreparePlan, gate: &Gate) -> Result<(), LoadError> {
    let mut names = names(plan)?;
    if !plan.workload.is_on_sbtest() {
        // Tables that refer to others stand after them, and go before them.
        names.reverse();
    }
    let connector = Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?;
    let mut control = Connection::connect(&connector, true, Patience::Endless)?;
    check_control(&mut control)?;
    let there: Vec<String> = control.rows(TABLES)?;
    for name in names {
        // What is not there would be dropped in the binary log all the same.
        if there.contains(&name) {
            control.run(format!("DROP TABLE IF EXISTS {}", identifier(&name)))?;
        }
    }
    Ok(())
}
