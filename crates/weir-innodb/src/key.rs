//! The columns of an index key, as InnoDB stores them in a node pointer, and keys whose bytes compare as the
//! server compares them.
//!
//! Source: MySQL Internals, "InnoDB Record Structure"; `rem0rec` and `btr0btr` of both servers name the fields.

/// Length of a column in a record of a compact row format, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldLength {
    /// Always so many bytes.
    Fixed(usize),
    /// At most so many bytes: the record says how many. More than 255 take two bytes of length where needed.
    Variable {
        /// Bytes of the longest value that the column may have, without a prefix of the index.
        max: usize,
    },
}

/// A column of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Length of the column.
    pub length: FieldLength,
    /// True if it may be NULL, which comes first.
    pub is_nullable: bool,
}

/// The columns that a node pointer of an index has, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyFormat {
    /// The columns.
    pub fields: Vec<KeyField>,
    /// Columns of all records of the index that may be NULL: for a clustered index those of the table.
    pub nullable: usize,
    /// True if the bytes of all columns compare as the server compares their values. Not so for text with a collation,
    /// floating point, and descending columns.
    pub is_ordered: bool,
}

/// A key as bytes that compare like the key, if its format is ordered.
pub type Key = Vec<u8>;

/// Columns in a record whose bytes say that it may be NULL, and those that say the lengths, stand before its header,
/// backwards.
pub(crate) struct Fields<'a> {
    page: &'a [u8],
    /// The byte of the record header that is farthest to the front.
    header: usize,
    nullable: usize,
}

impl<'a> Fields<'a> {
    /// Those of the record at `origin` with a header of `header` bytes.
    pub(crate) fn before(page: &'a [u8], origin: usize, header: usize, nullable: usize) -> Self {
        Self {
            page,
            header: origin - header,
            nullable,
        }
    }

    /// The key that begins at `origin`, and the offset of what follows it; `None` if its bytes are not on the page.
    pub(crate) fn key(&self, origin: usize, format: &KeyFormat) -> Option<(Key, usize)> {
        let mut key = Vec::with_capacity(16);
        let mut at = origin;
        let mut lengths = self.header.checked_sub(1 + self.nullable.div_ceil(8))?;
        let mut null_bit = 0;
        for field in &format.fields {
            if field.is_nullable {
                let byte = self.page.get(self.header.checked_sub(1 + null_bit / 8)?)?;
                let is_null = byte >> (null_bit % 8) & 1 == 1;
                null_bit += 1;
                key.push(u8::from(!is_null));
                if is_null {
                    continue;
                }
            }
            let length = match field.length {
                FieldLength::Fixed(length) => length,
                FieldLength::Variable { max } => self.length(&mut lengths, max)?,
            };
            let bytes = self.page.get(at..at + length)?;
            at += length;
            match field.length {
                FieldLength::Fixed(_) => key.extend_from_slice(bytes),
                FieldLength::Variable { .. } => put_variable(&mut key, bytes),
            }
        }
        Some((key, at))
    }

    /// The next length, which stands at `position` and before.
    fn length(&self, position: &mut usize, max: usize) -> Option<usize> {
        let first = usize::from(*self.page.get(*position)?);
        *position = position.checked_sub(1)?;
        if max <= 255 || first & 0x80 == 0 {
            return Some(first);
        }
        let second = usize::from(*self.page.get(*position)?);
        *position = position.checked_sub(1)?;
        Some((first & 0x3f) << 8 | second)
    }
}

/// Bytes of any length that compare as they do alone, whatever follows: a zero is escaped, two zeros end it.
fn put_variable(key: &mut Key, bytes: &[u8]) {
    for &byte in bytes {
        key.push(byte);
        if byte == 0 {
            key.push(0xff);
        }
    }
    key.extend([0, 0]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn variable_columns_compare_like_their_values(
            one in proptest::collection::vec(0..3_u8, 0..6),
            other in proptest::collection::vec(0..3_u8, 0..6),
            rest in any::<(u8, u8)>(),
        ) {
            let encoded = |bytes: &[u8], next: u8| {
                let mut key = Key::new();
                put_variable(&mut key, bytes);
                key.push(next);
                key
            };
            let expected = (&one, rest.0).cmp(&(&other, rest.1));
            prop_assert_eq!(encoded(&one, rest.0).cmp(&encoded(&other, rest.1)), expected);
        }
    }

    #[test]
    fn lengths_and_nulls_stand_before_the_header() {
        // Backwards from the header: one byte of NULLs, then lengths 2 and 130.
        let mut page = vec![0; 400];
        let (origin, header) = (100, 5);
        page[origin - header - 1] = 0b10;
        page[origin - header - 2] = 2;
        page[origin - header - 3] = 0x80;
        page[origin - header - 4] = 130;
        page[origin..origin + 2].copy_from_slice(b"ab");
        page[origin + 2..origin + 132].fill(b'c');
        let variable = |max, is_nullable| KeyField {
            length: FieldLength::Variable { max },
            is_nullable,
        };
        let format = KeyFormat {
            fields: vec![
                variable(200, true),
                variable(200, true),
                variable(400, false),
            ],
            nullable: 2,
            is_ordered: true,
        };
        let fields = Fields::before(&page, origin, header, format.nullable);
        let (key, end) = fields.key(origin, &format).unwrap();
        assert_eq!(end, origin + 132);
        let expected = [&[1, b'a', b'b', 0, 0, 0], &[b'c'; 130][..], &[0, 0]].concat();
        assert_eq!(key, expected);
        assert_eq!(fields.key(399, &format), None);
    }
}
