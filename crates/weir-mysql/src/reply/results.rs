//! All results of a statement, their values as text.

use std::fmt::Write as _;
use std::ops::Range;

use mysql_common::Value;
use mysql_common::constants::ColumnType;
use mysql_common::io::ParseBuf;
use mysql_common::packets::Column;
use mysql_common::proto::Binary;
use mysql_common::row::{Row, RowDeserializer};
use mysql_common::value::ServerSide;
use std::sync::Arc;

use super::ServerError;
use crate::packet::{Malformed, length_encoded};

/// What of a text row is NULL.
const NULL: u8 = 0xFB;

/// One result of a statement; a statement may have several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatementResult {
    /// Done, without rows.
    Done {
        /// Rows that it changed.
        affected_rows: u64,
    },
    /// Rows.
    Rows(TextRows),
    /// Refused: the last one.
    Refused(ServerError),
}

/// Rows whose values are text, as a server sends them to a query that was not prepared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextRows {
    /// Fields of each row.
    pub fields: usize,
    /// The values, one after the other.
    pub bytes: Vec<u8>,
    /// Where each value lies in `bytes`, row by row; `None` is NULL.
    pub cells: Vec<Option<Range<usize>>>,
}

impl TextRows {
    /// Takes a row of text.
    pub(super) fn text_row(&mut self, payload: &[u8]) -> Result<(), Malformed> {
        let mut rest = payload;
        for _ in 0..self.fields {
            if let Some((&NULL, after)) = rest.split_first() {
                self.cells.push(None);
                rest = after;
                continue;
            }
            let (length, taken) = length_encoded(rest)?;
            let end = usize::try_from(length).map_or(usize::MAX, |length| taken + length);
            let value = rest
                .get(taken..end)
                .ok_or(Malformed("a row is cut short"))?;
            self.push(value);
            rest = &rest[end..];
        }
        Ok(())
    }

    /// Takes a row of typed values.
    pub(super) fn typed_row(
        &mut self,
        payload: &[u8],
        columns: &Arc<[Column]>,
    ) -> Result<(), Malformed> {
        let row: Row = ParseBuf(payload)
            .parse::<RowDeserializer<ServerSide, Binary>>(Arc::clone(columns))
            .map_err(|_| Malformed("a row is cut short"))?
            .into();
        let mut text = String::new();
        for (value, column) in row.unwrap().into_iter().zip(columns.iter()) {
            match value {
                Value::NULL => self.cells.push(None),
                Value::Bytes(bytes) => self.push(&bytes),
                other => {
                    text.clear();
                    write_text(&mut text, &other, column);
                    self.push(text.as_bytes());
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.cells.push(Some(start..self.bytes.len()));
    }
}

/// A typed value as the server would write it.
fn write_text(text: &mut String, value: &Value, column: &Column) {
    let digits = usize::from(column.decimals()).min(6);
    // Writing into a string cannot fail.
    let _ = match value {
        Value::Int(number) => write!(text, "{number}"),
        Value::UInt(number) => write!(text, "{number}"),
        Value::Float(number) => write!(text, "{number}"),
        Value::Double(number) => write!(text, "{number}"),
        Value::Date(year, month, day, hour, minute, second, micros) => {
            let _ = write!(text, "{year:04}-{month:02}-{day:02}");
            if column.column_type() == ColumnType::MYSQL_TYPE_DATE {
                return;
            }
            let _ = write!(text, " {hour:02}:{minute:02}:{second:02}");
            write_fraction(text, *micros, digits)
        }
        Value::Time(is_negative, days, hours, minutes, seconds, micros) => {
            let sign = if *is_negative { "-" } else { "" };
            let hours = days * 24 + u32::from(*hours);
            let _ = write!(text, "{sign}{hours:02}:{minutes:02}:{seconds:02}");
            write_fraction(text, *micros, digits)
        }
        Value::NULL | Value::Bytes(_) => Ok(()),
    };
}

fn write_fraction(text: &mut String, micros: u32, digits: usize) -> std::fmt::Result {
    if digits == 0 {
        return Ok(());
    }
    let fraction = format!("{micros:06}");
    write!(text, ".{}", &fraction[..digits])
}

#[cfg(test)]
mod tests {
    use super::*;
    use ColumnType::{MYSQL_TYPE_DATE, MYSQL_TYPE_DATETIME, MYSQL_TYPE_DOUBLE, MYSQL_TYPE_TIME};

    #[test]
    fn a_row_of_text_is_kept_as_it_comes() {
        let mut rows = TextRows {
            fields: 3,
            ..TextRows::default()
        };
        rows.text_row(&[1, b'7', NULL, 0]).unwrap();
        assert_eq!(rows.cells, [Some(0..1), None, Some(1..1)]);
        assert!(rows.text_row(&[9, b'7']).is_err());
    }

    #[test]
    fn typed_values_are_written_as_a_server_writes_them() {
        let text = |value, column_type, decimals| {
            let column = Column::new(column_type).with_decimals(decimals);
            let mut text = String::new();
            write_text(&mut text, &value, &column);
            text
        };
        let date = Value::Date(2026, 1, 2, 3, 4, 5, 600_000);
        assert_eq!(text(date.clone(), MYSQL_TYPE_DATE, 0), "2026-01-02");
        assert_eq!(
            text(date.clone(), MYSQL_TYPE_DATETIME, 0),
            "2026-01-02 03:04:05"
        );
        assert_eq!(
            text(date, MYSQL_TYPE_DATETIME, 3),
            "2026-01-02 03:04:05.600"
        );
        let time = Value::Time(true, 1, 2, 3, 4, 0);
        assert_eq!(text(time, MYSQL_TYPE_TIME, 0), "-26:03:04");
        assert_eq!(text(Value::Double(1.5), MYSQL_TYPE_DOUBLE, 31), "1.5");
    }
}
