//! A table as it was, put beside the table as it is, on the user's own server.

use weir_model::{Endpoint, Flavor};
use weir_mysql::{Connection, Connector, Gate, Patience, identifier};

use crate::copy::{READS_BYTES, RowsWriter, copy, select};
use crate::definition::definition_text;
use crate::private::{Private, TAKES_ALL};
use crate::{FlashbackError, Stop, Table, TableName};

/// The name of a copy without foreign keys on the private server.
const PATTERN: &str = "weir_side_table";

/// Rows of a table on the private server.
#[derive(Debug, Clone, Copy)]
pub struct TableRows<'a> {
    /// The table.
    pub table: &'a Table,
    /// Follows the table's name in the query: which of its rows; empty for all.
    pub clause: &'a str,
}

/// Copies rows of the private server into the new table `target` of the server at `endpoint`, and returns their number. The gate of `endpoint` has to let its schema be changed.
///
/// # Errors
///
/// A table that is there already; what the server refuses. Nothing is left of it then.
pub fn into(
    private: &Private,
    source: TableRows<'_>,
    target: &TableName,
    endpoint: &Endpoint,
    gate: &Gate,
    stop: Stop,
) -> Result<u64, FlashbackError> {
    let mut from = private.connect(Some(&source.table.name.schema))?;
    let flavor = private.flavor();
    // A copy of the definition has no foreign keys, whose names a schema has once.
    from.run(format!(
        "CREATE TABLE {} LIKE {}",
        identifier(PATTERN),
        source.table.name.sql()
    ))?;
    let create: Option<(String, Vec<u8>)> =
        from.first(format!("SHOW CREATE TABLE {}", identifier(PATTERN)))?;
    let create = create.map_or_else(String::new, |(_, create)| definition_text(&create));
    let create = create.replacen(&identifier(PATTERN), &target.sql(), 1);
    from.run(READS_BYTES)?;

    let connector = Connector::new(endpoint.clone(), None, gate.clone())?;
    let mut to = Connection::connect(&connector, false, Patience::Endless)?;
    to.run(format!(
        "CREATE DATABASE IF NOT EXISTS {}",
        identifier(&target.schema)
    ))?;
    to.run(TAKES_ALL)?;
    to.run(create)?;
    let reading = from.id();
    let copied = stop.during(
        || private.end(reading),
        || rows(&mut from, &mut to, source, target, flavor),
    );
    if copied.is_err() {
        to.run("ROLLBACK")?;
        to.run(format!("DROP TABLE {}", target.sql()))?;
        stop.check()?;
    }
    copied
}

fn rows(
    from: &mut Connection,
    to: &mut Connection,
    source: TableRows<'_>,
    target: &TableName,
    flavor: Flavor,
) -> Result<u64, FlashbackError> {
    let TableRows { table, clause } = source;
    let table = &table.with_plain_columns();
    to.run("SET NAMES binary")?;
    to.run("START TRANSACTION")?;
    let writer = RowsWriter::new(to, table, target, flavor);
    let rows = copy(from, &select(table, clause), writer, &FlashbackError::from)?;
    to.run("COMMIT")?;
    Ok(rows)
}
