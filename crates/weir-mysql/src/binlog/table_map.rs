//! Which table the rows that follow are of, and how they are laid out.

use crate::binlog::bytes::Bytes;
use crate::binlog::value_length::metadata_bytes;
use crate::binlog::{BinlogError, ColumnFormat, MalformedEvent, Place};

/// Most columns of a table.
const COLUMNS_MAX: u64 = 4096;

/// A table as the rows that follow are laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMap {
    /// The number by which rows events name it.
    pub table_id: u64,
    /// Schema of the table.
    pub schema: String,
    /// Name of the table.
    pub table: String,
    /// Columns of the table.
    pub columns: Vec<ColumnFormat>,
    /// The whole body, to be sent to another server.
    pub body: Vec<u8>,
}

impl TableMap {
    /// Only the schema and the table, for a search of other tables.
    ///
    /// # Errors
    ///
    /// Bytes that are no such event.
    pub fn names(body: &[u8]) -> Result<(u64, &[u8], &[u8]), MalformedEvent> {
        let mut bytes = Bytes(body);
        let table_id = bytes.uint(6)?;
        bytes.u16()?;
        let schema = name(&mut bytes)?;
        let table = name(&mut bytes)?;
        Ok((table_id, schema, table))
    }

    /// The same layout for the table of another name; names are at most 255 bytes long.
    #[must_use]
    pub fn redirected(&self, schema: &str, table: &str) -> Self {
        let skipped = 8 + (1 + self.name_bytes(8) + 1);
        let rest = skipped + 1 + self.name_bytes(skipped) + 1;
        let mut body = self.body[..8].to_vec();
        for name in [schema, table] {
            body.push(name.len() as u8);
            body.extend(name.as_bytes());
            body.push(0);
        }
        body.extend(&self.body[rest..]);
        Self {
            table_id: self.table_id,
            schema: schema.to_owned(),
            table: table.to_owned(),
            columns: self.columns.clone(),
            body,
        }
    }

    /// The length of the name at a place in the body.
    fn name_bytes(&self, at: usize) -> usize {
        usize::from(self.body[at])
    }

    /// Reads the body of an event of the kind `TABLE_MAP`.
    ///
    /// # Errors
    ///
    /// Bytes that are no such event.
    pub fn read(body: &[u8]) -> Result<Self, MalformedEvent> {
        let (table_id, schema, table) = Self::names(body)?;
        let mut bytes = Bytes(body);
        bytes.take(8)?;
        name(&mut bytes)?;
        name(&mut bytes)?;
        let count = bytes.length_encoded()?;
        if count > COLUMNS_MAX {
            return Err(MalformedEvent("a table has too many columns"));
        }
        let types = bytes.take(count as usize)?;
        let mut metadata = Bytes(bytes.length_prefixed()?);
        let columns = types
            .iter()
            .map(|column_type| {
                let given = metadata.take(metadata_bytes(*column_type)?)?;
                let mut both = [0; 2];
                both[..given.len()].copy_from_slice(given);
                Ok(ColumnFormat {
                    column_type: *column_type,
                    metadata: both,
                })
            })
            .collect::<Result<_, MalformedEvent>>()?;
        Ok(Self {
            table_id,
            schema: String::from_utf8_lossy(schema).into_owned(),
            table: String::from_utf8_lossy(table).into_owned(),
            columns,
            body: body.to_vec(),
        })
    }

    /// For `map_err`: something is wrong at `place`.
    pub fn malformed(place: Place) -> impl FnOnce(MalformedEvent) -> BinlogError {
        move |malformed| BinlogError::Malformed {
            place,
            why: malformed.to_string(),
        }
    }
}

/// A name with its length before it and a zero byte after it.
fn name<'a>(bytes: &mut Bytes<'a>) -> Result<&'a [u8], MalformedEvent> {
    let length = usize::from(bytes.u8()?);
    let name = bytes.take(length)?;
    bytes.u8()?;
    Ok(name)
}
