//! Drops what [`prepare`](crate::prepare) has made.

use crate::LoadError;
use crate::plan::PreparePlan;
use crate::preflight::check_control;
use weir_mysql::{Connection, Connector, Gate, Patience, identifier};
use weir_workload::table_name;

/// Drops the tables of a workload that are there. The schema stays.
pub fn cleanup(plan: &PreparePlan, gate: &Gate) -> Result<(), LoadError> {
    let mut names: Vec<_> = if plan.workload.is_bulk() {
        (1..=plan.tables.tables).map(table_name).collect()
    } else {
        let tables = plan.all_tables()?;
        tables.into_iter().map(|table| table.name).collect()
    };
    if !plan.workload.is_on_sbtest() {
        // Tables that refer to others stand after them, and go before them.
        names.reverse();
    }
    let connector = Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?;
    let mut control = Connection::connect(&connector, true, Patience::Endless)?;
    check_control(&mut control)?;
    let there: Vec<String> = control
        .rows("SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")?;
    for name in names {
        // What is not there would be dropped in the binary log all the same.
        if there.contains(&name) {
            control.run(format!("DROP TABLE IF EXISTS {}", identifier(&name)))?;
        }
    }
    Ok(())
}
