//! Triggers that repeat the load's changes on the new table, within its transactions.

use weir_mysql::Connection;

use super::layout::Layout;
use super::leftover::Names;
use super::persist;
use crate::ddl::DdlError;

/// Makes the three triggers.
pub(super) fn create(
    connection: &mut Connection,
    names: &Names,
    layout: &Layout,
) -> Result<(), DdlError> {
    let Layout { key, columns, .. } = layout;
    let values: Vec<_> = columns
        .iter()
        .map(|column| format!("NEW.{column}"))
        .collect();
    let (columns, values) = (columns.join(", "), values.join(", "));
    let new = &names.new;
    let replace = format!("REPLACE INTO {new} ({columns}) VALUES ({values})");
    let delete = format!("DELETE IGNORE FROM {new} WHERE {key} = OLD.{key}");
    let bodies = [
        ("INSERT", replace.clone()),
        // A row with another key leaves its old one.
        (
            "UPDATE",
            format!("BEGIN {delete} AND OLD.{key} <> NEW.{key}; {replace}; END"),
        ),
        ("DELETE", delete),
    ];
    for (number, (event, body)) in bodies.iter().enumerate() {
        let statement = format!(
            "CREATE TRIGGER {} AFTER {event} ON {} FOR EACH ROW {body}",
            names.trigger(number),
            names.table
        );
        persist(|| connection.run(&statement))?;
    }
    Ok(())
}
