//! Rehearsal of a load on a server of the user's: statements are listed instead of sent.
//!
//! The server is read all the same: what is there already would not be made.

use weir_mysql::{Connection, Connector, Deadline, Gate, Patience, text_literal};

use crate::connect::Servers;
use crate::plan::{BinaryLog, LoadPlan, PreparePlan};
use crate::schema::make_schema;
use crate::session::Work;
use crate::{LoadError, preflight};
use weir_workload::Table;

/// Notes in `gate` what [`prepare`](crate::prepare) would send.
///
/// # Errors
///
/// A server that cannot be asked, a statement that may not be sent to it.
pub(crate) fn rehearse_prepare(
    plan: &PreparePlan,
    gate: &Gate,
    tables: &[Table],
) -> Result<(), LoadError> {
    let connector = Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?;
    // The schema may not be there.
    let mut control = Connection::connect(&connector, false, Patience::Endless)?;
    let schema = &plan.endpoint.database;
    let literal = text_literal(schema);
    let count = |sql: String, control: &mut Connection| -> Result<bool, LoadError> {
        Ok(control.first::<u64>(&sql)? != Some(0))
    };
    make_schema(&mut control, schema)?;
    let names = tables.iter().map(|table| table.name.clone()).collect();
    preflight::check_reach(&names, &connector, &mut control)?;
    if plan.binary_log == BinaryLog::Off {
        gate.note("SET SESSION sql_log_bin = 0".to_owned());
    }
    for table in tables {
        let exists = format!(
            "SELECT COUNT(*) FROM information_schema.tables \
             WHERE table_schema = {literal} AND table_name = {}",
            text_literal(&table.name)
        );
        if count(exists, &mut control)? {
            gate.note(format!(
                "-- {schema}.{} is there: it is left as it is if its rows are as many as asked for",
                table.name
            ));
            continue;
        }
        control.run(&table.create)?;
        gate.note(format!(
            "INSERT INTO {} ({}) ... -- {} rows, or LOAD DATA LOCAL where the server takes it",
            table.identifier(),
            table.column_list(),
            table.rows
        ));
        let indexes: Vec<_> = table.indexes.iter().map(|i| format!("ADD {i}")).collect();
        if !indexes.is_empty() {
            control.run(format!(
                "ALTER TABLE {} {}",
                table.identifier(),
                indexes.join(", ")
            ))?;
        }
    }
    Ok(())
}

/// The statements of a load's transactions, on its first table; values are `?`.
///
/// # Errors
///
/// A plan that no load can have.
pub fn statements(plan: &LoadPlan) -> Result<Vec<String>, LoadError> {
    let script = plan.script()?;
    let statements = script.statements.iter();
    Ok(statements.map(|statement| statement.sql(0)).collect())
}

/// Notes in `gate`, a rehearsal's, which changes [`run`](crate::run) would send.
///
/// # Errors
///
/// As of [`run`](crate::run) before its first connection.
pub fn rehearse_run(plan: &LoadPlan, gate: &Gate) -> Result<(), LoadError> {
    debug_assert!(gate.is_rehearsal());
    plan.check()?;
    let work = Work::of_plan(plan)?;
    let servers = Servers::new(plan, gate)?;
    let deadline = Deadline::after(plan.init_timeout);
    preflight::check(plan, &servers, &work, deadline).map(drop)
}
