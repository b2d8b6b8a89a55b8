//! Rows as the server takes them: multi-row inserts, as text or prepared, or lines of `LOAD DATA`.

use crate::order_entry::Cursor;
use crate::table::RowSource;
use crate::{Rng, Table, Value, ValueKind, put_integer};

/// Writes a table's rows, one after the other.
#[derive(Debug)]
pub struct RowWriter<'a> {
    table: &'a Table,
    seed: u64,
    scratch: Vec<u8>,
    cursor: Cursor,
}

impl<'a> RowWriter<'a> {
    /// Rows of `table`.
    pub fn new(table: &'a Table, seed: u64) -> Self {
        Self {
            table,
            seed,
            scratch: Vec::new(),
            cursor: Cursor::new(seed),
        }
    }

    /// Makes `out` an insert of the rows from `first` to `last`, as far as `bytes_max` go; the last
    /// row that it has. It has at least one.
    pub fn insert(&mut self, first: u64, last: u64, bytes_max: usize, out: &mut Vec<u8>) -> u64 {
        out.clear();
        let (name, columns) = (self.table.identifier(), self.table.column_list());
        out.extend_from_slice(format!("INSERT INTO {name} ({columns}) VALUES").as_bytes());
        let mut row = first;
        loop {
            self.values(row, |position, value| {
                out.push(if position == 0 { b'(' } else { b',' });
                match value {
                    Some(value) => value.put_literal(out),
                    None => out.extend_from_slice(b"NULL"),
                }
            });
            out.push(b')');
            if row == last || out.len() >= bytes_max {
                return row;
            }
            out.push(b',');
            row += 1;
        }
    }

    /// The statement that takes so many rows as parameters.
    pub fn batch_statement(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.table.columns.len()].join(","));
        format!(
            "INSERT INTO {} ({}) VALUES{}",
            self.table.identifier(),
            self.table.column_list(),
            vec![row; rows].join(",")
        )
    }

    /// Of what kind the parameters of a row are. The first row has no NULL.
    pub fn kinds(&mut self) -> Vec<ValueKind> {
        let mut kinds = Vec::new();
        self.values(1, |_, value| {
            kinds.push(match value {
                Some(Value::Integer(_)) => ValueKind::BigInteger,
                Some(Value::Text(_)) | None => ValueKind::Text,
            });
        });
        kinds
    }

    /// The statement that takes lines of rows: what is between is written so that every `sql_mode` reads it alike.
    pub fn load_statement(&self) -> String {
        format!(
            "LOAD DATA LOCAL INFILE 'rows' INTO TABLE {} CHARACTER SET utf8mb4 \
             FIELDS TERMINATED BY 0x09 ESCAPED BY 0x5C LINES TERMINATED BY 0x0A ({})",
            self.table.identifier(),
            self.table.column_list()
        )
    }

    /// Appends a row as a line.
    pub fn line(&mut self, row: u64, out: &mut Vec<u8>) {
        self.values(row, |position, value| {
            if position > 0 {
                out.push(b'\t');
            }
            match value {
                Some(Value::Integer(number)) => put_integer(out, number),
                Some(Value::Text(text)) => put_escaped(out, text),
                None => out.extend_from_slice(b"\\N"),
            }
        });
        out.push(b'\n');
    }

    /// Gives a row's values to `take`, each with the position of its column; `None` is NULL.
    pub fn values(&mut self, row: u64, mut take: impl FnMut(usize, Option<Value<'_>>)) {
        let mut rng: Rng = self.table.rng_of_row(self.seed, row);
        match &self.table.filling {
            RowSource::Drawn(generators) => {
                for (position, generator) in generators.iter().enumerate() {
                    let drawer = Table::drawer(row);
                    let value = generator.draw(drawer, &mut rng, &mut self.scratch);
                    take(position, Some(value));
                }
            }
            RowSource::OrderEntry(maker) => {
                let scratch = &mut self.scratch;
                maker.row(row, &mut self.cursor, rng, scratch, &mut take);
            }
        }
    }
}

/// Appends a field of a line.
fn put_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let is_special = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\\');
    if !text.iter().any(is_special) {
        return out.extend_from_slice(text);
    }
    for byte in text {
        if is_special(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::table;

    #[test]
    fn an_insert_holds_the_rows_that_were_asked_for_as_far_as_they_fit() {
        let table = table(100);
        let mut writer = RowWriter::new(&table, 1);
        let mut out = Vec::new();
        assert_eq!(writer.insert(7, 9, usize::MAX, &mut out), 9);
        let sql = String::from_utf8(out.clone()).unwrap();
        assert!(
            sql.starts_with("INSERT INTO `sbtest1` (`id`, `k`, `c`, `pad`) VALUES(7,"),
            "{sql}"
        );
        assert_eq!(sql.matches("),(").count(), 2, "{sql}");
        assert_eq!(
            writer.insert(7, 90, 300, &mut out),
            8,
            "one row is 200 bytes"
        );
    }

    #[test]
    fn a_row_is_the_same_whoever_makes_it_and_however_it_is_sent() {
        let table = table(100);
        let (mut line, mut insert) = (Vec::new(), Vec::new());
        RowWriter::new(&table, 5).line(42, &mut line);
        let mut other = RowWriter::new(&table, 5);
        other.line(41, &mut Vec::new());
        other.insert(42, 42, 1, &mut insert);
        let line = String::from_utf8(line).unwrap();
        let fields: Vec<_> = line.trim_end().split('\t').collect();
        let literals = format!(
            "VALUES({},{},'{}','{}')",
            fields[0], fields[1], fields[2], fields[3]
        );
        let insert = String::from_utf8(insert).unwrap();
        assert!(insert.ends_with(&literals), "{insert} {literals}");
        let mut another_seed = Vec::new();
        RowWriter::new(&table, 6).line(42, &mut another_seed);
        assert_ne!(line.as_bytes(), another_seed);
    }

    #[test]
    fn what_separates_fields_is_escaped_in_them() {
        let mut out = Vec::new();
        put_escaped(&mut out, b"a\tb\\c\nd");
        assert_eq!(out, b"a\\\tb\\\\c\\\nd");
    }
}
