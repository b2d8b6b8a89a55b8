//! Rows of a query, printed as they come.

use std::fmt::Write as _;

use anyhow::bail;
use serde_json::{Map, Number, Value as Json};
use weir_mysql::{Column, ColumnType, Connection, Row, Value};
use weir_terminal::output;

/// Prints the rows: as JSON an object on each line, else tab-separated with a header, as `mysql --batch` does.
pub(super) fn print(connection: &mut Connection, sql: &str, is_json: bool) -> anyhow::Result<()> {
    let mut has_header = is_json;
    let mut failed = Ok(());
    connection.each(sql, |row: Row| {
        if !has_header && failed.is_ok() {
            has_header = true;
            let columns = row.columns_ref().iter();
            let names: Vec<_> = columns
                .map(|column| column.name_str().into_owned())
                .collect();
            failed = output::line(names.join("\t"));
        }
        if failed.is_ok() {
            failed = if is_json {
                object(row).and_then(output::line)
            } else {
                let cells: Vec<_> = row.unwrap().iter().map(cell).collect();
                output::line(cells.join("\t"))
            };
        }
    })?;
    failed
}

fn cell(value: &Value) -> String {
    match value {
        Value::NULL => "NULL".to_owned(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes)
            .replace('\\', "\\\\")
            .replace('\t', "\\t")
            .replace('\n', "\\n")
            .replace('\0', "\\0"),
        other => other.as_sql(true),
    }
}

fn object(row: Row) -> anyhow::Result<Json> {
    let columns = row.columns();
    let mut object = Map::new();
    for (column, value) in columns.iter().zip(row.unwrap()) {
        let name = column.name_str().into_owned();
        if object.contains_key(&name) {
            bail!(
                "flashback: two columns are called `{name}`; name one otherwise (AS), or leave --json out"
            );
        }
        object.insert(name, in_json(column, value));
    }
    Ok(object.into())
}

/// Whole and floating numbers are numbers. A DECIMAL is a text, for which a number of JSON has too few digits; bytes
/// that are no text are hexadecimal.
fn in_json(column: &Column, value: Value) -> Json {
    let bytes = match value {
        Value::NULL => return Json::Null,
        Value::Bytes(bytes) => bytes,
        other => return other.as_sql(true).into(),
    };
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => return hexadecimal(error.as_bytes()).into(),
    };
    let number = match column.column_type() {
        ColumnType::MYSQL_TYPE_FLOAT | ColumnType::MYSQL_TYPE_DOUBLE => {
            text.parse().ok().and_then(Number::from_f64)
        }
        ColumnType::MYSQL_TYPE_NEWDECIMAL | ColumnType::MYSQL_TYPE_DECIMAL => None,
        other if other.is_numeric_type() => {
            let signed = text.parse::<i64>().map(Number::from);
            signed
                .or_else(|_| text.parse::<u64>().map(Number::from))
                .ok()
        }
        _ => None,
    };
    number.map_or_else(|| text.into(), Json::Number)
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::from("0x");
    for byte in bytes {
        let _ = write!(digits, "{byte:02X}");
    }
    digits
}
