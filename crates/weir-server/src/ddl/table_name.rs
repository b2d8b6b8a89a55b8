//! A table's name as its server spells it, and conditions on that name.

use weir_mysql::{Connection, NameCase, text_literal};

use crate::ddl::DdlError;

/// Schema and name of a table, as the server spells them; `None`: it has no such table, or does not show it.
///
/// # Errors
///
/// A server that is gone.
pub(super) fn server_spelling(
    connection: &mut Connection,
    schema: &str,
    table: &str,
) -> Result<Option<(String, String)>, DdlError> {
    let case = NameCase::read(connection)?;
    let mut found: Vec<(String, String)> = connection.rows(format!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES \
         WHERE TABLE_SCHEMA = {} AND TABLE_NAME = {}",
        text_literal(&case.fold(schema)),
        text_literal(&case.fold(table))
    ))?;
    found.retain(|(known_schema, known)| {
        case.is_same(known_schema, schema) && case.is_same(known, table)
    });
    Ok(found.pop())
}

/// A condition on two columns that name a table: exactly this one.
///
/// Servers compare names in `information_schema` without case and accents, also where names that differ so are
/// names of different tables. The plain comparison stands beside the exact one: by it the server finds the table.
pub(super) fn is_table(columns: [&str; 2], schema: &str, table: &str) -> String {
    let [schema_column, table_column] = columns;
    format!(
        "{} AND {}",
        is_name(schema_column, schema),
        is_name(table_column, table)
    )
}

/// A condition on a column that holds a name: exactly this one.
pub(super) fn is_name(column: &str, name: &str) -> String {
    let name = text_literal(name);
    format!("{column} = {name} AND CAST({column} AS BINARY) = CAST({name} AS BINARY)")
}
