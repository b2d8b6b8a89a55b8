//! Two tables of the private server, compared byte for byte by it.

use weir_mysql::{Connection, identifier};

use crate::copy::read_expression;
use crate::{Column, FlashbackError, Table, TableName};

/// Rows that are named; more are only counted by the reader.
const ROWS_MAX: usize = 100;

/// A table, and one with the rows that it should have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) table: &'a Table,
    pub(crate) expected: &'a TableName,
}

/// Rows that differ, a line for each.
pub(crate) fn differences(
    connection: &mut Connection,
    pair: Pair<'_>,
) -> Result<Vec<String>, FlashbackError> {
    let Pair { table, expected } = pair;
    let stored = || table.columns.iter().filter(|column| !column.is_virtual);
    let changed = stored().map(|column| {
        format!(
            "IF({}, NULL, {})",
            is_same(column),
            weir_mysql::text_literal(&column.name)
        )
    });
    let changed = format!(
        "CONCAT_WS(', ', {})",
        changed.collect::<Vec<_>>().join(", ")
    );
    let key: Vec<_> = table.key.iter().map(|at| &table.columns[*at]).collect();
    let joined = key.iter().map(|column| {
        let name = identifier(&column.name);
        format!("has.{name} = wanted.{name}")
    });
    let joined = joined.collect::<Vec<_>>().join(" AND ");
    let some = identifier(&key[0].name);
    let (has, wanted) = (table.name.sql(), expected.sql());
    let mut lines = Vec::new();
    for (side, from, other, condition) in [
        (
            "has",
            format!("{has} AS has"),
            format!("{wanted} AS wanted"),
            format!("{changed} <> ''"),
        ),
        (
            "wanted",
            format!("{wanted} AS wanted"),
            format!("{has} AS has"),
            "FALSE".to_owned(),
        ),
    ] {
        let other_side = if side == "has" { "wanted" } else { "has" };
        let name = key.iter().map(|column| shown(column, side));
        let query = format!(
            "SELECT CONCAT_WS(' ', {}), {other_side}.{some} IS NULL, {changed} FROM {from} LEFT JOIN {other} ON {joined} \
             WHERE {other_side}.{some} IS NULL OR {condition} LIMIT {ROWS_MAX}",
            name.collect::<Vec<_>>().join(", ")
        );
        let found: Vec<(String, bool, String)> = connection.rows(query)?;
        lines.extend(found.into_iter().map(|(key, is_alone, changed)| {
            let what = match (is_alone, side) {
                (true, "has") => "is there, and was not".to_owned(),
                (true, _) => "is not there, and was".to_owned(),
                _ => format!("has other values than before in {changed}"),
            };
            format!("{} {key}: {what}", table.name)
        }));
    }
    Ok(lines)
}

/// A condition that both rows hold the same bytes.
fn is_same(column: &Column) -> String {
    let name = identifier(&column.name);
    let of = |side: &str| read_expression(column, &format!("{side}.{name}"));
    let (has, wanted) = (of("has"), of("wanted"));
    let bytes = format!("CAST({has} AS BINARY) <=> CAST({wanted} AS BINARY)");
    match column.data_type.as_str() {
        // Their text has fewer digits than they have.
        "float" | "double" => format!("{has} <=> {wanted} AND {bytes}"),
        _ => bytes,
    }
}

/// A part of a key for people, as text.
fn shown(column: &Column, side: &str) -> String {
    let name = format!("{side}.{}", identifier(&column.name));
    let value = match column.data_type.as_str() {
        "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob" => {
            format!("'0x', HEX({name})")
        }
        "bit" => format!("{name} + 0"),
        _ => format!("CONVERT({name} USING utf8mb4)"),
    };
    format!(
        "CONCAT({}, {value})",
        weir_mysql::text_literal(&format!("{}=", column.name))
    )
}
