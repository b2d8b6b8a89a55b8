//! All results of a statement, their values as text.

use std::io::{self, Write as _};
use std::ops::Range;

use mysql_common::Value;
use mysql_common::constants::{ColumnFlags, ColumnType};
use mysql_common::io::ParseBuf;
use mysql_common::value::{BinValue, ValueDeserializer};

use super::ServerError;
use super::column::{ColumnForm, Nulls};
use crate::packet::{MalformedPacket, length_encoded};

/// Byte for NULL in a text row.
const NULL: u8 = 0xFB;
const CUT: MalformedPacket = MalformedPacket("a row is cut short");

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
    /// Range of each value in `bytes`, row by row; `None` is NULL.
    pub cells: Vec<Option<Range<usize>>>,
}

impl TextRows {
    /// Takes a row of text.
    pub(super) fn text_row(&mut self, payload: &[u8]) -> Result<(), MalformedPacket> {
        let mut rest = payload;
        for _ in 0..self.fields {
            if let Some((&NULL, after)) = rest.split_first() {
                self.cells.push(None);
                rest = after;
                continue;
            }
            rest = self.bytes(rest)?;
        }
        Ok(())
    }

    /// Takes a row of typed values.
    pub(super) fn typed_row(
        &mut self,
        payload: &[u8],
        columns: &[ColumnForm],
    ) -> Result<(), MalformedPacket> {
        let (nulls, mut rest) = Nulls::split(payload, columns.len());
        for (index, column) in columns.iter().enumerate() {
            if nulls.has(index).ok_or(CUT)? {
                self.cells.push(None);
                continue;
            }
            rest = match number_or_time(column.code) {
                Some(column_type) => self.typed(rest, column_type, *column)?,
                None => self.bytes(rest)?,
            };
        }
        Ok(())
    }

    /// Takes a number or a time; what comes after it.
    fn typed<'a>(
        &mut self,
        rest: &'a [u8],
        column_type: ColumnType,
        column: ColumnForm,
    ) -> Result<&'a [u8], MalformedPacket> {
        let mut buffer = ParseBuf(rest);
        let form = (column_type, ColumnFlags::from_bits_truncate(column.flags));
        let value: ValueDeserializer<BinValue> = buffer.parse(form).map_err(|_| CUT)?;
        let start = self.bytes.len();
        write_text(&mut self.bytes, &value.0, column_type, column.decimals);
        self.cells.push(Some(start..self.bytes.len()));
        Ok(buffer.0)
    }

    /// Takes a value that is written with its length; what comes after it.
    fn bytes<'a>(&mut self, rest: &'a [u8]) -> Result<&'a [u8], MalformedPacket> {
        let (length, taken) = length_encoded(rest)?;
        let length = usize::try_from(length).map_err(|_| CUT)?;
        let (value, rest) = rest[taken..].split_at_checked(length).ok_or(CUT)?;
        self.push(value);
        Ok(rest)
    }

    fn push(&mut self, value: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.cells.push(Some(start..self.bytes.len()));
    }
}

/// The type of a column whose values are no bytes with their length.
fn number_or_time(code: u8) -> Option<ColumnType> {
    use ColumnType as Type;
    let column_type = Type::try_from(code).ok()?;
    matches!(
        column_type,
        Type::MYSQL_TYPE_TINY
            | Type::MYSQL_TYPE_SHORT
            | Type::MYSQL_TYPE_YEAR
            | Type::MYSQL_TYPE_LONG
            | Type::MYSQL_TYPE_INT24
            | Type::MYSQL_TYPE_LONGLONG
            | Type::MYSQL_TYPE_FLOAT
            | Type::MYSQL_TYPE_DOUBLE
            | Type::MYSQL_TYPE_TIMESTAMP
            | Type::MYSQL_TYPE_DATE
            | Type::MYSQL_TYPE_DATETIME
            | Type::MYSQL_TYPE_TIME
    )
    .then_some(column_type)
}

/// A typed value as the server would write it.
fn write_text(text: &mut Vec<u8>, value: &Value, column_type: ColumnType, decimals: u8) {
    let digits = usize::from(decimals).min(6);
    // Writing into memory cannot fail.
    let _ = match value {
        Value::Int(number) => write!(text, "{number}"),
        Value::UInt(number) => write!(text, "{number}"),
        Value::Float(number) => write!(text, "{number}"),
        Value::Double(number) => write!(text, "{number}"),
        Value::Date(year, month, day, hour, minute, second, micros) => {
            let _ = write!(text, "{year:04}-{month:02}-{day:02}");
            if column_type == ColumnType::MYSQL_TYPE_DATE {
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

fn write_fraction(text: &mut Vec<u8>, micros: u32, digits: usize) -> io::Result<()> {
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
            let mut text = Vec::new();
            write_text(&mut text, &value, column_type, decimals);
            String::from_utf8(text).unwrap()
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

    /// NULL, a negative and an unsigned number, a text, a date, and a text that is cut.
    #[test]
    fn a_typed_row_is_kept_as_text() {
        let column = |column_type: ColumnType, flags| ColumnForm {
            code: column_type as u8,
            flags,
            decimals: 0,
        };
        let columns = [
            column(ColumnType::MYSQL_TYPE_LONG, 0),
            column(ColumnType::MYSQL_TYPE_TINY, 0),
            column(ColumnType::MYSQL_TYPE_TINY, super::super::column::UNSIGNED),
            column(ColumnType::MYSQL_TYPE_STRING, 0),
            column(MYSQL_TYPE_DATE, 0),
        ];
        let mut payload = vec![0, 1 << 2, 0xFF, 0xFF, 2];
        payload.extend_from_slice(b"ab\x04\xE8\x07\x01\x02");
        let mut rows = TextRows {
            fields: 5,
            ..TextRows::default()
        };
        rows.typed_row(&payload, &columns).unwrap();
        let texts: Vec<_> = rows
            .cells
            .iter()
            .map(|cell| cell.clone().map(|range| rows.bytes[range].to_vec()))
            .collect();
        let some = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(
            texts,
            [
                None,
                some("-1"),
                some("255"),
                some("ab"),
                some("2024-01-02")
            ]
        );
        for end in 0..payload.len() {
            assert!(rows.typed_row(&payload[..end], &columns).is_err(), "{end}");
        }
    }
}
