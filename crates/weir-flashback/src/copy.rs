//! Rows from one server to another, by the binary protocol: each value keeps its type and its bytes.

use weir_model::Flavor;
use weir_mysql::{ClientError, Connection, Row, Value, identifier};

use crate::{Column, FlashbackError, Table, TableName};

/// Values of one statement: servers take 65,535 parameters.
const VALUES_MAX: usize = 4_000;
/// Bytes of one statement; a longer row goes alone.
const BYTES_MAX: usize = 1 << 20;

/// Settings of a session from which rows are read as they are stored.
pub(crate) const READS_BYTES: &str =
    "SET SESSION time_zone = '+00:00', character_set_results = NULL";

/// Returns the expression that reads a column so that its value comes back the same when it is written.
pub(crate) fn read_expression(column: &Column, name: &str) -> String {
    match column.data_type.as_str() {
        // Members by number: a text may be of no member, and the empty one is. A sum would be a DOUBLE, which has not all
        // 64 members of a SET.
        "enum" | "set" => format!("CAST({name} AS UNSIGNED)"),
        // These print themselves; their bytes are what is stored.
        "uuid" | "inet6" => format!("CAST({name} AS BINARY(16))"),
        "inet4" => format!("CAST({name} AS BINARY(4))"),
        _ => name.to_owned(),
    }
}

/// Returns the expression that writes a value.
fn write_expression(column: &Column, flavor: Flavor) -> &'static str {
    match (column.data_type.as_str(), flavor) {
        // A document is a text in UTF-8, of which the connection says nothing.
        ("json", Flavor::Mysql) => "CONVERT(? USING utf8mb4)",
        _ => "?",
    }
}

/// The query that reads the stored columns of a table.
pub(crate) fn select(table: &Table, clause: &str) -> String {
    let columns = table.stored();
    let columns: Vec<_> = columns
        .map(|column| read_expression(column, &identifier(&column.name)))
        .collect();
    format!(
        "SELECT {} FROM {}{clause}",
        columns.join(", "),
        table.name.sql()
    )
}

/// Writes rows into a table in statements of many.
pub(crate) struct RowsWriter<'a> {
    connection: &'a mut Connection,
    head: String,
    tuple: String,
    width: usize,
    rows_max: usize,
    values: Vec<Value>,
    bytes: usize,
    failed: Option<ClientError>,
    /// Rows that were written.
    pub(crate) rows: u64,
}

impl<'a> RowsWriter<'a> {
    pub(crate) fn new(
        connection: &'a mut Connection,
        table: &Table,
        target: &TableName,
        flavor: Flavor,
    ) -> Self {
        let names: Vec<_> = table.stored().map(|c| identifier(&c.name)).collect();
        let marks: Vec<_> = table
            .stored()
            .map(|c| write_expression(c, flavor))
            .collect();
        let width = names.len().max(1);
        Self {
            connection,
            head: format!(
                "INSERT INTO {} ({}) VALUES ",
                target.sql(),
                names.join(", ")
            ),
            tuple: format!("({})", marks.join(", ")),
            width,
            rows_max: (VALUES_MAX / width).max(1),
            values: Vec::new(),
            bytes: 0,
            failed: None,
            rows: 0,
        }
    }

    /// Takes a row. After a failure nothing is written any more; [`RowsWriter::finish`] tells it.
    pub(crate) fn take(&mut self, row: Row) {
        if self.failed.is_some() {
            return;
        }
        for value in row.unwrap_raw() {
            let value = value.unwrap_or(Value::NULL);
            self.bytes += value.bin_len() as usize;
            self.values.push(value);
        }
        self.rows += 1;
        if self.values.len() >= self.rows_max * self.width || self.bytes >= BYTES_MAX {
            self.write();
        }
    }

    fn write(&mut self) {
        let rows = self.values.len() / self.width;
        if rows == 0 {
            return;
        }
        // Few lengths of statements, so that few are prepared.
        let mut start = 0;
        while start < rows {
            let count = if rows - start == self.rows_max {
                self.rows_max
            } else {
                1 << (rows - start).ilog2()
            };
            let tuples = vec![self.tuple.as_str(); count];
            let sql = format!("{}{}", self.head, tuples.join(", "));
            let values = &self.values[start * self.width..(start + count) * self.width];
            let done = self.connection.execute_each(&sql, values, &mut |_| {});
            if let Err(error) = done {
                self.failed = Some(error);
                return;
            }
            start += count;
        }
        self.values.clear();
        self.bytes = 0;
    }

    /// Writes the remaining rows; the number of all rows.
    pub(crate) fn finish(mut self) -> Result<u64, ClientError> {
        self.write();
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.rows),
        }
    }
}

/// Copies what `query` returns of `table` into `target`.
pub(crate) fn copy(
    from: &mut Connection,
    query: &str,
    writer: RowsWriter<'_>,
    refused: &dyn Fn(ClientError) -> FlashbackError,
) -> Result<u64, FlashbackError> {
    let mut writer = writer;
    from.execute_each(query, &[], &mut |row| writer.take(row))?;
    writer.finish().map_err(refused)
}
