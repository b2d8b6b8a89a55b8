//! Encoding of a column's values, read from its definition without its names.

use crate::packet::{MalformedPacket, length_encoded};

/// The flag of columns without negative values.
pub(super) const UNSIGNED: u16 = 1 << 5;
/// Texts at the beginning of a definition: schema, table, name and the like.
const TEXTS: usize = 6;
/// Offset of the type in the bytes after them: after a length, a character set and a width.
const TYPE: usize = 7;

/// Encoding of a column's values.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnForm {
    /// The protocol's number of its type.
    pub(super) code: u8,
    pub(super) flags: u16,
    /// Digits after the point; of times those of the second.
    pub(super) decimals: u8,
}

impl ColumnForm {
    /// Reads a column's definition.
    pub(super) fn read(payload: &[u8]) -> Result<Self, MalformedPacket> {
        let cut = MalformedPacket("a column definition is cut short");
        let mut rest = payload;
        for _ in 0..TEXTS {
            let (length, taken) = length_encoded(rest)?;
            let length = usize::try_from(length).map_err(|_| cut)?;
            rest = rest[taken..].get(length..).ok_or(cut)?;
        }
        let &[code, low, high, decimals] = rest
            .get(TYPE..)
            .and_then(<[u8]>::first_chunk::<4>)
            .ok_or(cut)?;
        Ok(Self {
            code,
            flags: u16::from_le_bytes([low, high]),
            decimals,
        })
    }

    pub(super) fn is_unsigned(self) -> bool {
        self.flags & UNSIGNED != 0
    }
}

/// Bits of the columns of a typed row that are NULL. The row begins with a zero and a bit for each column, from the
/// third on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nulls<'a>(&'a [u8]);

impl<'a> Nulls<'a> {
    /// Those of a row, and its values; a row that is cut has the bits that are there.
    pub(super) fn split(payload: &'a [u8], columns: usize) -> (Self, &'a [u8]) {
        let head = 1 + (columns + 9) / 8;
        let (head, values) = payload.split_at(head.min(payload.len()));
        (Self(head.get(1..).unwrap_or_default()), values)
    }

    /// Returns true if the column at `index` is NULL; nothing in a row that is cut before that.
    pub(super) fn has(self, index: usize) -> Option<bool> {
        let bit = index + 2;
        Some(self.0.get(bit / 8)? & (1 << (bit % 8)) != 0)
    }
}
