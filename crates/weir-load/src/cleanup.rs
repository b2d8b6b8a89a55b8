//! Drops what [`prepare`](crate::prepare) has made.

use crate::LoadError;
use crate::plan::PreparePlan;
use crate::workload::table_name;
use weir_mysql::{Connection, Connector, Gate, Patience};

/// Drops the tables of a workload; one that does not exist is no error. The schema stays.
pub fn cleanup(plan: &PreparePlan, gate: &Gate) -> Result<(), LoadError> {
    let names: Vec<_> = if plan.workload.is_bulk() {
        (1..=plan.tables).map(table_name).collect()
    } else {
        let tables = plan.workload.tables(plan)?;
        tables.into_iter().map(|table| table.name).collect()
    };
    let connector = Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?;
    let mut control = Connection::connect(&connector, true, Patience::Endless)?;
    for name in names {
        control.run(format!("DROP TABLE IF EXISTS {name}"))?;
    }
    Ok(())
}
