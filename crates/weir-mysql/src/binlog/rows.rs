//! Rows as they were and became, taken apart by the lengths of their values.

use crate::binlog::bytes::Bytes;
use crate::binlog::value_length::{JSON, take};
use crate::binlog::{ColumnFormat, MalformedEvent, TableMap, kind};

/// A bit of an after-image's options: its JSON values are written as differences.
const PARTIAL_JSON: u64 = 1;

/// Kind of change to the rows of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsKind {
    /// They were inserted.
    Insert,
    /// They were changed.
    Update,
    /// They were deleted.
    Delete,
}

impl RowsKind {
    /// Of an event's kind, if its rows are plain.
    pub fn from_event_kind(event_kind: u8) -> Option<Self> {
        Some(match event_kind {
            kind::WRITE_ROWS | kind::WRITE_ROWS_V1 => Self::Insert,
            kind::UPDATE_ROWS | kind::UPDATE_ROWS_V1 | kind::PARTIAL_UPDATE_ROWS => Self::Update,
            kind::DELETE_ROWS | kind::DELETE_ROWS_V1 => Self::Delete,
            _ => return None,
        })
    }
}

/// An event with rows.
#[derive(Debug, Clone, Copy)]
pub struct RowsEvent<'a> {
    /// Kind of change to the rows.
    pub kind: RowsKind,
    /// Their table's number.
    pub table_id: u64,
    width: usize,
    is_partial: bool,
    first: &'a [u8],
    second: &'a [u8],
    rows: &'a [u8],
}

/// A row before or after an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowImage<'a> {
    /// A bit for each column: whether the image has it.
    pub present: &'a [u8],
    /// A bit for each column that the image has: whether it is NULL; then the values.
    pub bytes: &'a [u8],
    /// Some JSON value is written as a difference.
    pub is_partial: bool,
}

/// Change of one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowChange<'a> {
    /// The row before; none if it was inserted.
    pub before: Option<RowImage<'a>>,
    /// The row after; none if it was deleted.
    pub after: Option<RowImage<'a>>,
}

/// Content of an image for a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field<'a> {
    /// Nothing.
    Absent,
    /// NULL.
    Null,
    /// A value, as the log writes it.
    Value(&'a [u8]),
}

impl<'a> RowsEvent<'a> {
    /// The number of the table alone.
    ///
    /// # Errors
    ///
    /// Bytes that are no such event.
    pub fn table_id(body: &[u8]) -> Result<u64, MalformedEvent> {
        Bytes(body).uint(6)
    }

    /// Reads the body of an event for which [`RowsKind::from_event_kind`] says something.
    ///
    /// # Errors
    ///
    /// Bytes that are no such event.
    pub fn read(event_kind: u8, body: &'a [u8]) -> Result<Self, MalformedEvent> {
        let rows_kind =
            RowsKind::from_event_kind(event_kind).ok_or(MalformedEvent("it holds no rows"))?;
        let mut bytes = Bytes(body);
        let table_id = bytes.uint(6)?;
        bytes.u16()?;
        if !matches!(
            event_kind,
            kind::WRITE_ROWS_V1 | kind::UPDATE_ROWS_V1 | kind::DELETE_ROWS_V1
        ) {
            let extra = usize::from(bytes.u16()?);
            bytes.take(extra.saturating_sub(2))?;
        }
        let width = usize::try_from(bytes.length_encoded()?).unwrap_or(usize::MAX);
        let first = bytes.take(width.div_ceil(8))?;
        let second = match rows_kind {
            RowsKind::Update => bytes.take(width.div_ceil(8))?,
            RowsKind::Insert | RowsKind::Delete => first,
        };
        Ok(Self {
            kind: rows_kind,
            table_id,
            width,
            is_partial: event_kind == kind::PARTIAL_UPDATE_ROWS,
            first,
            second,
            rows: bytes.0,
        })
    }

    /// Calls `each` with every row, in the log's order.
    ///
    /// # Errors
    ///
    /// Rows that are not those of the table, or the error of `each`, which ends the reading.
    pub fn each<E: From<MalformedEvent>>(
        &self,
        table: &TableMap,
        mut each: impl FnMut(RowChange<'a>) -> Result<(), E>,
    ) -> Result<(), E> {
        if table.columns.len() != self.width {
            return Err(MalformedEvent("its rows have other columns than their table").into());
        }
        let columns = &table.columns;
        let mut bytes = Bytes(self.rows);
        while !bytes.0.is_empty() {
            let left = bytes.0.len();
            let first = image(columns, self.first, &mut bytes)?;
            let change = match self.kind {
                RowsKind::Insert => RowChange {
                    before: None,
                    after: Some(first),
                },
                RowsKind::Delete => RowChange {
                    before: Some(first),
                    after: None,
                },
                RowsKind::Update => {
                    let is_partial = self.is_partial && partial(columns, &mut bytes)?;
                    let after = image(columns, self.second, &mut bytes)?;
                    RowChange {
                        before: Some(first),
                        after: Some(RowImage {
                            is_partial,
                            ..after
                        }),
                    }
                }
            };
            if bytes.0.len() == left {
                return Err(MalformedEvent("its rows have no columns").into());
            }
            each(change)?;
        }
        Ok(())
    }
}

/// Passes over the options of an after-image; whether it has differences.
fn partial(columns: &[ColumnFormat], bytes: &mut Bytes<'_>) -> Result<bool, MalformedEvent> {
    if bytes.length_encoded()? & PARTIAL_JSON == 0 {
        return Ok(false);
    }
    let json = columns.iter().filter(|column| column.column_type == JSON);
    let bits = bytes.take(json.count().div_ceil(8))?;
    Ok(bits.iter().any(|byte| *byte != 0))
}

/// Takes one image from the front.
fn image<'a>(
    columns: &[ColumnFormat],
    present: &'a [u8],
    bytes: &mut Bytes<'a>,
) -> Result<RowImage<'a>, MalformedEvent> {
    let all = bytes.0;
    walk(columns, present, bytes, &mut |_, _| {})?;
    Ok(RowImage {
        present,
        bytes: &all[..all.len() - bytes.0.len()],
        is_partial: false,
    })
}

/// Calls `each` with every column and what the image says of it.
fn walk<'a>(
    columns: &[ColumnFormat],
    present: &[u8],
    bytes: &mut Bytes<'a>,
    each: &mut dyn FnMut(usize, Field<'a>),
) -> Result<(), MalformedEvent> {
    let has = |at: usize| is_set(present, at);
    let count = (0..columns.len()).filter(|at| has(*at)).count();
    let nulls = bytes.take(count.div_ceil(8))?;
    let mut seen = 0;
    for (at, column) in columns.iter().enumerate() {
        if !has(at) {
            each(at, Field::Absent);
            continue;
        }
        if is_set(nulls, seen) {
            each(at, Field::Null);
        } else {
            each(at, Field::Value(take(*column, bytes)?));
        }
        seen += 1;
    }
    Ok(())
}

fn is_set(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8)
        .is_some_and(|byte| byte & (1 << (at % 8)) != 0)
}

impl<'a> RowImage<'a> {
    /// Returns true if the image has all columns.
    pub fn is_full(&self, columns: usize) -> bool {
        (0..columns).all(|at| is_set(self.present, at))
    }

    /// Returns the content of the image for each column.
    ///
    /// # Errors
    ///
    /// A row that is not one of the table.
    pub fn fields(&self, table: &TableMap) -> Result<Vec<Field<'a>>, MalformedEvent> {
        let mut fields = Vec::with_capacity(table.columns.len());
        let mut bytes = Bytes(self.bytes);
        walk(&table.columns, self.present, &mut bytes, &mut |_, field| {
            fields.push(field);
        })?;
        Ok(fields)
    }

    /// Appends the bytes of these columns, each with a mark of whether it is NULL and with its length: equal keys have
    /// equal bytes. Returns whether the image has them all; if not, nothing is appended.
    ///
    /// # Errors
    ///
    /// A row that is not one of the table.
    pub fn key(
        &self,
        table: &TableMap,
        columns: &[usize],
        key: &mut Vec<u8>,
    ) -> Result<bool, MalformedEvent> {
        let mut bytes = Bytes(self.bytes);
        let mut is_whole = true;
        let start = key.len();
        walk(
            &table.columns,
            self.present,
            &mut bytes,
            &mut |at, field| {
                if columns.contains(&at) {
                    is_whole &= field.append_to(key);
                }
            },
        )?;
        if !is_whole {
            key.truncate(start);
        }
        Ok(is_whole)
    }
}

impl Field<'_> {
    /// Appends a mark of whether it is NULL, its length and its bytes; whether there is something to append.
    pub fn append_to(&self, key: &mut Vec<u8>) -> bool {
        match self {
            Self::Absent => return false,
            Self::Null => key.push(0),
            Self::Value(value) => {
                key.push(1);
                key.extend((value.len() as u32).to_le_bytes());
                key.extend_from_slice(value);
            }
        }
        true
    }
}
