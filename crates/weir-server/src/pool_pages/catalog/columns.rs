//! Columns of indexes, as the standard catalogue describes them, and the bytes that InnoDB keeps of each.

use std::collections::HashMap;

use crate::Session;
use weir_innodb::{FieldLength, KeyField};

use super::ACTION;
use crate::pool_pages::PoolError;

const SYSTEM: &str = "('mysql', 'sys', 'information_schema', 'performance_schema')";

/// A schema and a table.
type Table = (String, String);

/// Columns of all tables.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// Columns by table and name.
    columns: HashMap<Table, HashMap<String, Column>>,
    /// Columns of each index, in order.
    indexes: HashMap<(Table, String), Vec<InIndex>>,
}

/// A column of a table.
#[derive(Debug, Clone, Default, PartialEq)]
struct Column {
    kind: String,
    /// The type in full, with the members of an ENUM.
    full_kind: String,
    characters: Option<u64>,
    octets: Option<u64>,
    precision: Option<u64>,
    scale: Option<u64>,
    collation: Option<String>,
    is_nullable: bool,
    is_virtual: bool,
}

#[derive(Debug)]
struct InIndex {
    /// `None`: an expression.
    column: Option<String>,
    prefix: Option<u64>,
    is_descending: bool,
}

/// A column of an index, as it is in a node pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IndexColumn {
    pub(super) name: String,
    pub(super) field: KeyField,
    /// Only its beginning is in the index.
    pub(super) is_prefix: bool,
    /// True if its bytes compare as the server compares its values.
    pub(super) is_ordered: bool,
}

type ColumnRow = (
    String,
    String,
    String,
    String,
    String,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<String>,
    u8,
    u8,
);
type IndexRow = (
    String,
    String,
    String,
    Option<String>,
    Option<u64>,
    Option<String>,
);

impl Columns {
    pub(super) fn read(session: &mut Session) -> Result<Self, PoolError> {
        let mut all = Self::default();
        let query = format!(
            "SELECT table_schema, table_name, column_name, LOWER(data_type), column_type, character_maximum_length, \
             character_octet_length, COALESCE(datetime_precision, numeric_precision), numeric_scale, collation_name, \
             is_nullable = 'YES', extra LIKE '%VIRTUAL%' FROM information_schema.columns WHERE table_schema NOT IN {SYSTEM}"
        );
        for row in session.rows::<ColumnRow>(ACTION, &query)? {
            let (schema, table, name, kind, full_kind, characters, octets, precision, scale, ..) =
                row;
            let (collation, is_nullable, is_virtual) = (row.9, row.10, row.11);
            let column = Column {
                kind,
                full_kind,
                characters,
                octets,
                precision,
                scale,
                collation,
                is_nullable: is_nullable == 1,
                is_virtual: is_virtual == 1,
            };
            let columns = all.columns.entry((schema, table)).or_default();
            columns.insert(name, column);
        }
        let query = format!(
            "SELECT table_schema, table_name, index_name, column_name, sub_part, collation FROM information_schema.statistics \
             WHERE table_schema NOT IN {SYSTEM} ORDER BY table_schema, table_name, index_name, seq_in_index"
        );
        for (schema, table, index, column, prefix, direction) in
            session.rows::<IndexRow>(ACTION, &query)?
        {
            let columns = all.indexes.entry(((schema, table), index)).or_default();
            columns.push(InIndex {
                column,
                prefix,
                is_descending: direction.as_deref() == Some("D"),
            });
        }
        Ok(all)
    }

    /// Columns of a table that may be NULL and are stored.
    pub(super) fn nullable(&self, table: &Table) -> usize {
        let columns = self
            .columns
            .get(table)
            .into_iter()
            .flat_map(HashMap::values);
        columns
            .filter(|column| column.is_nullable && !column.is_virtual)
            .count()
    }

    /// The first column of an index, if it is an integer in ascending order.
    pub(super) fn range_column(&self, table: &Table, index: &str) -> Option<RangeColumn> {
        let part = self
            .indexes
            .get(&(table.clone(), index.to_owned()))?
            .first()?;
        let name = part.column.as_ref().filter(|_| !part.is_descending)?;
        let column = self.columns.get(table)?.get(name)?;
        let bytes = match column.kind.as_str() {
            "tinyint" => 1,
            "smallint" => 2,
            "mediumint" => 3,
            "int" => 4,
            "bigint" => 8,
            _ => return None,
        };
        Some(RangeColumn {
            name: name.clone(),
            bytes,
            is_unsigned: column.full_kind.contains("unsigned"),
            is_nullable: column.is_nullable,
        })
    }

    /// The columns of an index; `None` if one is of a kind that is not read.
    pub(super) fn of_index(&self, table: &Table, index: &str) -> Option<Vec<IndexColumn>> {
        let columns = self.columns.get(table)?;
        let parts = self.indexes.get(&(table.clone(), index.to_owned()))?;
        let parts = parts.iter().map(|part| {
            let name = part.column.as_ref()?;
            let column = columns.get(name)?;
            let (length, is_ordered) = column.stored(part.prefix)?;
            Some(IndexColumn {
                name: name.clone(),
                field: KeyField {
                    length,
                    is_nullable: column.is_nullable,
                },
                is_prefix: part.prefix.is_some(),
                is_ordered: is_ordered && !part.is_descending,
            })
        });
        parts.collect()
    }
}

/// The first column of an index, which is an integer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeColumn {
    /// Name of the column.
    pub name: String,
    bytes: usize,
    is_unsigned: bool,
    is_nullable: bool,
}

impl RangeColumn {
    /// Returns the value in a key; `None`: NULL, or below all keys.
    pub(crate) fn value(&self, key: &[u8]) -> Option<i128> {
        let key = if self.is_nullable {
            key.strip_prefix(&[1])?
        } else {
            key
        };
        let bytes = key.get(..self.bytes)?;
        let stored = bytes
            .iter()
            .fold(0_i128, |sum, byte| sum << 8 | i128::from(*byte));
        // A signed number is stored with its sign turned, so that bytes compare like numbers.
        let half = 1_i128 << (self.bytes * 8 - 1);
        Some(if self.is_unsigned {
            stored
        } else {
            stored - half
        })
    }
}

impl Column {
    /// Returns the number of bytes that InnoDB keeps, and true if they compare like the value. MySQL manual, "Data
    /// Type Storage Requirements".
    #[allow(
        clippy::match_same_arms,
        reason = "types stand in the order of the manual"
    )]
    fn stored(&self, prefix: Option<u64>) -> Option<(FieldLength, bool)> {
        let number = |value: Option<u64>| usize::try_from(value.unwrap_or(0)).unwrap_or(usize::MAX);
        let fraction = number(self.precision).div_ceil(2);
        let ordered = |bytes: usize| Some((FieldLength::Fixed(bytes), true));
        match self.kind.as_str() {
            "tinyint" | "year" => ordered(1),
            "smallint" => ordered(2),
            "mediumint" | "date" => ordered(3),
            "int" => ordered(4),
            "bigint" => ordered(8),
            "time" => ordered(3 + fraction),
            "timestamp" => ordered(4 + fraction),
            "datetime" => ordered(5 + fraction),
            "decimal" => ordered(decimal_bytes(number(self.precision), number(self.scale))),
            "bit" => ordered(number(self.precision).div_ceil(8)),
            "enum" if self.members() < 256 => ordered(1),
            "enum" => ordered(2),
            "set" => ordered(match self.members().div_ceil(8) {
                bytes @ 0..=4 => bytes,
                _ => 8,
            }),
            "float" => Some((FieldLength::Fixed(4), false)),
            "double" => Some((FieldLength::Fixed(8), false)),
            "binary" => ordered(number(prefix.or(self.octets))),
            "char" if self.octets == self.characters => {
                let length = FieldLength::Fixed(number(prefix.or(self.octets)));
                Some((length, self.has_binary_order()))
            }
            "char" | "varchar" | "text" | "tinytext" | "mediumtext" | "longtext" | "varbinary"
            | "blob" | "tinyblob" | "mediumblob" | "longblob" => {
                let max = number(self.octets);
                Some((FieldLength::Variable { max }, self.has_binary_order()))
            }
            "inet6" => ordered(16),
            "inet4" => ordered(4),
            _ => None,
        }
    }

    /// Bytes without a collation, or with one that compares them as they are.
    fn has_binary_order(&self) -> bool {
        self.collation
            .as_ref()
            .is_none_or(|name| name == "binary" || name.ends_with("_bin"))
    }

    /// Members of an ENUM or SET.
    fn members(&self) -> usize {
        self.full_kind.matches("','").count() + 1
    }
}

/// Nine digits take four bytes, fewer take fewer, before and after the point.
fn decimal_bytes(precision: usize, scale: usize) -> usize {
    const BYTES: [usize; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];
    let of = |digits: usize| digits / 9 * 4 + BYTES[digits % 9];
    of(precision.saturating_sub(scale)) + of(scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(kind: &str, column: Column, prefix: Option<u64>) -> Option<(FieldLength, bool)> {
        let kind = kind.to_owned();
        Column { kind, ..column }.stored(prefix)
    }

    #[test]
    fn integers_are_read_from_keys() {
        let column = |bytes, is_unsigned, is_nullable| RangeColumn {
            name: "k".to_owned(),
            bytes,
            is_unsigned,
            is_nullable,
        };
        assert_eq!(
            column(4, false, false).value(&[0x7f, 255, 255, 254, 9]),
            Some(-2)
        );
        assert_eq!(column(2, true, true).value(&[1, 1, 0]), Some(256));
        assert_eq!(column(2, true, true).value(&[0]), None);
        assert_eq!(column(8, false, false).value(&[]), None);
    }

    #[test]
    fn types_have_the_bytes_of_the_manual() {
        let precise = |precision, scale| Column {
            precision: Some(precision),
            scale: Some(scale),
            ..Column::default()
        };
        let fixed = |bytes| Some((FieldLength::Fixed(bytes), true));
        assert_eq!(stored("decimal", precise(10, 2), None), fixed(5));
        assert_eq!(stored("decimal", precise(18, 9), None), fixed(8));
        assert_eq!(stored("datetime", precise(3, 0), None), fixed(7));
        assert_eq!(stored("bit", precise(9, 0), None), fixed(2));
        let letters = "enum('a','b')".to_owned();
        let letters = Column {
            full_kind: letters,
            ..Column::default()
        };
        assert_eq!(stored("enum", letters, None), fixed(1));
        let text = |octets, collation: &str| Column {
            characters: Some(40),
            octets: Some(octets),
            collation: Some(collation.to_owned()),
            ..Column::default()
        };
        let latin = stored("char", text(40, "latin1_swedish_ci"), Some(8));
        assert_eq!(latin, Some((FieldLength::Fixed(8), false)));
        let wide = stored("char", text(160, "utf8mb4_bin"), None);
        assert_eq!(wide, Some((FieldLength::Variable { max: 160 }, true)));
        assert_eq!(stored("geometry", Column::default(), None), None);
    }
}
