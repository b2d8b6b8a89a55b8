//! Rows of a reply as they came, to be read in place: nothing is allocated for a reply.

use super::column::{ColumnForm, Nulls};
use crate::packet::{MalformedPacket, length_encoded};

const TYPE_TINY: u8 = 0x01;
const TYPE_SHORT: u8 = 0x02;
const TYPE_LONG: u8 = 0x03;
const TYPE_FLOAT: u8 = 0x04;
const TYPE_DOUBLE: u8 = 0x05;
const TYPE_TIMESTAMP: u8 = 0x07;
const TYPE_LONGLONG: u8 = 0x08;
const TYPE_INT24: u8 = 0x09;
const TYPE_DATE: u8 = 0x0A;
const TYPE_TIME: u8 = 0x0B;
const TYPE_DATETIME: u8 = 0x0C;
const TYPE_YEAR: u8 = 0x0D;
/// In rows of text, what stands for NULL.
const NULL: u8 = 0xFB;

/// The rows of a reply.
#[derive(Debug, Default)]
pub struct WireRows {
    bytes: Vec<u8>,
    /// End of each row.
    ends: Vec<usize>,
    columns: Vec<ColumnForm>,
    is_typed: bool,
}

impl WireRows {
    /// Returns the number of rows.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The row at `index`, from 0.
    pub fn row(&self, index: usize) -> Option<WireRow<'_>> {
        let end = *self.ends.get(index)?;
        let start = match index {
            0 => 0,
            _ => self.ends[index - 1],
        };
        Some(WireRow::new(&self.bytes[start..end], self))
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.columns.clear();
    }

    /// Takes the definition of a column.
    pub(super) fn column(&mut self, payload: &[u8]) -> Result<(), MalformedPacket> {
        self.columns.push(ColumnForm::read(payload)?);
        Ok(())
    }

    /// Takes a row.
    pub(super) fn take(&mut self, payload: &[u8], is_typed: bool) {
        self.is_typed = is_typed;
        self.bytes.extend_from_slice(payload);
        self.ends.push(self.bytes.len());
    }
}

/// A row, whose values are read from the first on.
#[derive(Debug, Clone)]
pub struct WireRow<'a> {
    rest: &'a [u8],
    columns: &'a [ColumnForm],
    /// Bits of the columns that are NULL, in typed rows.
    nulls: Nulls<'a>,
    position: usize,
    is_typed: bool,
}

/// A value as it is written.
#[derive(Debug, Clone, Copy)]
enum WireValue<'a> {
    Null,
    Integer(i64),
    Bytes(&'a [u8]),
}

impl<'a> WireRow<'a> {
    fn new(payload: &'a [u8], rows: &'a WireRows) -> Self {
        let (nulls, values) = Nulls::split(payload, rows.columns.len());
        Self {
            rest: if rows.is_typed { values } else { payload },
            columns: &rows.columns,
            nulls,
            position: 0,
            is_typed: rows.is_typed,
        }
    }

    /// The next value as a whole number; `None` if it is NULL or no number.
    pub fn integer(&mut self) -> Option<i64> {
        match self.next()? {
            WireValue::Integer(number) => Some(number),
            WireValue::Bytes(text) => std::str::from_utf8(text).ok()?.parse().ok(),
            WireValue::Null => None,
        }
    }

    /// The next value as text, as which also decimals are written; `None` if it is NULL or a number.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        match self.next()? {
            WireValue::Bytes(text) => Some(text),
            WireValue::Integer(_) | WireValue::Null => None,
        }
    }

    /// Skips a value; whether it was there and not NULL.
    pub fn skip(&mut self) -> bool {
        matches!(
            self.next(),
            Some(WireValue::Integer(_) | WireValue::Bytes(_))
        )
    }

    fn next(&mut self) -> Option<WireValue<'a>> {
        let column = *self.columns.get(self.position)?;
        let index = self.position;
        self.position += 1;
        if !self.is_typed {
            if self.rest.first() == Some(&NULL) {
                self.rest = &self.rest[1..];
                return Some(WireValue::Null);
            }
            return self.bytes();
        }
        if self.nulls.has(index)? {
            return Some(WireValue::Null);
        }
        self.typed(column)
    }

    fn typed(&mut self, column: ColumnForm) -> Option<WireValue<'a>> {
        let width = match column.code {
            TYPE_TINY => 1,
            TYPE_SHORT | TYPE_YEAR => 2,
            TYPE_LONG | TYPE_INT24 => 4,
            TYPE_LONGLONG => 8,
            TYPE_FLOAT => return self.taken(4).map(WireValue::Bytes),
            TYPE_DOUBLE => return self.taken(8).map(WireValue::Bytes),
            TYPE_DATE | TYPE_TIME | TYPE_DATETIME | TYPE_TIMESTAMP => {
                let length = usize::from(self.taken(1)?[0]);
                return self.taken(length).map(WireValue::Bytes);
            }
            _ => return self.bytes(),
        };
        let digits = self.taken(width)?;
        let is_negative = !column.is_unsigned() && digits[width - 1] & 0x80 != 0;
        let mut number = [if is_negative { 0xFF } else { 0 }; 8];
        number[..width].copy_from_slice(digits);
        Some(WireValue::Integer(i64::from_le_bytes(number)))
    }

    fn bytes(&mut self) -> Option<WireValue<'a>> {
        let (length, taken) = length_encoded(self.rest).ok()?;
        self.taken(taken)?;
        self.taken(length as usize).map(WireValue::Bytes)
    }

    fn taken(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::super::column::UNSIGNED;
    use super::*;

    const TYPE_STRING: u8 = 0xFE;

    fn rows(columns: &[(u8, u16)], payload: &[u8], is_typed: bool) -> WireRows {
        let mut rows = WireRows::default();
        for (code, flags) in columns {
            let mut definition = b"\x03def\0\0\0\x01c\0\x0c\x3f\0\x15\0\0\0".to_vec();
            definition.push(*code);
            definition.extend_from_slice(&flags.to_le_bytes());
            definition.extend_from_slice(&[0, 0, 0]);
            rows.column(&definition).unwrap();
        }
        rows.take(payload, is_typed);
        rows
    }

    #[test]
    fn typed_values_are_read_by_the_types_of_their_columns() {
        let columns = [
            (TYPE_TINY, 0),
            (TYPE_TINY, UNSIGNED),
            (TYPE_SHORT, 0),
            (TYPE_STRING, 0),
            (TYPE_DATETIME, 0),
            (TYPE_LONGLONG, 0),
            (0xF6, 0),
        ];
        // The value before the last is NULL.
        let mut payload = vec![0, 1 << 7, 0, 0xFF, 0xFF, 0xFE, 0xFF, 2];
        payload.extend_from_slice(b"ab\x04\xE8\x07\x01\x01");
        payload.extend_from_slice(b"\x052.500");
        let rows = rows(&columns, &payload, true);
        let mut row = rows.row(0).unwrap();
        assert_eq!(row.integer(), Some(-1));
        assert_eq!(row.integer(), Some(255));
        assert_eq!(row.integer(), Some(-2));
        assert_eq!(row.text(), Some(&b"ab"[..]));
        assert!(row.skip());
        assert_eq!(row.integer(), None);
        assert_eq!(row.text(), Some(&b"2.500"[..]));
        assert_eq!(row.integer(), None, "there is no further column");
        assert!(rows.row(1).is_none());
    }

    #[test]
    fn texts_are_read_as_they_are_and_as_numbers() {
        let columns = [(TYPE_LONG, 0), (TYPE_STRING, 0), (TYPE_STRING, 0)];
        let rows = rows(&columns, b"\x03-42\xfb\x02it", false);
        let mut row = rows.row(0).unwrap();
        assert_eq!(row.integer(), Some(-42));
        assert!(!row.skip());
        assert_eq!(row.text(), Some(&b"it"[..]));
    }

    #[test]
    fn rows_that_are_cut_have_no_values() {
        let whole = rows(&[(TYPE_LONG, 0)], b"\0\0\x01\x02", true);
        assert_eq!(whole.row(0).unwrap().integer(), None);
        let empty = rows(&[(TYPE_LONG, 0)], b"", true);
        assert_eq!(empty.row(0).unwrap().integer(), None);
        assert!(WireRows::default().column(b"\x03de").is_err());
    }
}
