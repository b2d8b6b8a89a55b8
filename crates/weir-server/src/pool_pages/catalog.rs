//! The indexes of all InnoDB tables of a server: names, tablespaces, root pages, and the columns of their keys.

mod columns;

use std::collections::{BTreeMap, HashMap};

use weir_innodb::{FieldLength, IndexRoot, KeyField, KeyFormat};
use weir_mysql::NameCase;

use crate::Session;
use crate::innodb_view::innodb_view;
use crate::pool_pages::{PoolError, PoolServer};
pub use columns::RangeColumn;
use columns::{Columns, IndexColumn};

const ACTION: &str = "ask for the indexes";
/// `TYPE` of an index in the catalogues: the clustered ones have this bit.
const CLUSTERED: u32 = 1;
/// Those that are no B-tree of columns: FULLTEXT, SPATIAL, virtual.
const OTHERS: u32 = 32 | 64 | 128;
/// The key of a table without one: a number of the row, which no other server knows.
const ROW_NUMBER: &str = "GEN_CLUST_INDEX";
const ROW_NUMBER_BYTES: usize = 6;

/// An index of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexInfo {
    /// The table as InnoDB names it: `schema/table`, partitions with `#p#`.
    pub table: String,
    /// Name of the index.
    pub name: String,
    /// The tablespace that it is in.
    pub space: u32,
    /// Root page of the index.
    pub root: IndexRoot,
    /// First column, if it is an integer: queries can name ranges of it.
    pub range_column: Option<RangeColumn>,
    /// The columns of its node pointers; `None`: they are of a kind that is not read.
    pub format: Option<KeyFormat>,
}

/// The indexes of a server's own tables, without the system's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Catalog {
    /// All of them.
    pub indexes: Vec<IndexInfo>,
    /// The tablespace of each table, by InnoDB's name.
    pub spaces: BTreeMap<String, u32>,
    /// Comparison of names that the server makes.
    pub case: NameCase,
}

/// Row of the server's catalogue for an index.
type Row = (String, String, u32, u64, u32, u32);

impl PoolServer {
    /// The indexes of the server's tables now.
    ///
    /// # Errors
    ///
    /// What the server says.
    pub fn catalog(&self) -> Result<Catalog, PoolError> {
        let mut session = self.session()?;
        let rows = indexes(&mut session)?;
        let columns = Columns::read(&mut session)?;
        let mut catalog = Catalog::new(rows, &columns);
        let case = session.variable("lower_case_table_names")?;
        catalog.case = NameCase::parse(&case.unwrap_or_default());
        Ok(catalog)
    }
}

fn indexes(session: &mut Session) -> Result<Vec<Row>, PoolError> {
    let [tables, indexes] = ["TABLES", "INDEXES"].map(|what| innodb_view(session.greeting(), what));
    let query = format!(
        "SELECT CAST(t.NAME AS CHAR), CAST(i.NAME AS CHAR), i.PAGE_NO, i.INDEX_ID, i.SPACE, i.TYPE \
         FROM {indexes} i JOIN {tables} t ON t.TABLE_ID = i.TABLE_ID \
         WHERE t.NAME LIKE '%/%' AND t.NAME NOT LIKE 'mysql/%' AND t.NAME NOT LIKE 'sys/%' \
         AND t.NAME NOT LIKE '%/FTS\\_%' AND i.SPACE <> 0"
    );
    Ok(session.rows(ACTION, &query)?)
}

impl Catalog {
    fn new(rows: Vec<Row>, columns: &Columns) -> Self {
        let clustered: HashMap<String, String> = rows
            .iter()
            .filter(|row| row.5 & OTHERS == 0 && row.5 & CLUSTERED != 0)
            .map(|row| (row.0.clone(), row.1.clone()))
            .collect();
        let mut catalog = Self::default();
        for (table, name, page, id, space, kind) in rows {
            let range_column = columns.range_column(&sql_names(&table), &name);
            let format = match clustered.get(&table) {
                Some(own) if kind & OTHERS == 0 => format(&table, &name, own, columns),
                _ => None,
            };
            catalog.spaces.insert(table.clone(), space);
            catalog.indexes.push(IndexInfo {
                table,
                name,
                space,
                root: IndexRoot { page, id },
                range_column,
                format,
            });
        }
        catalog
    }
}

/// The columns of the node pointers of the index `name`: of the table's clustered index its own, of others
/// theirs and those of the clustered one that they do not have.
fn format(table: &str, name: &str, clustered: &str, columns: &Columns) -> Option<KeyFormat> {
    let table = sql_names(table);
    let of = |index: &str| -> Option<Vec<IndexColumn>> {
        if index == ROW_NUMBER {
            return Some(vec![IndexColumn::row_number(ROW_NUMBER_BYTES)]);
        }
        columns.of_index(&table, index)
    };
    let mut all = of(name)?;
    let is_clustered = name == clustered;
    if !is_clustered {
        for column in of(clustered)? {
            let has_it = |known: &IndexColumn| known.name == column.name && !known.is_prefix;
            if !all.iter().any(has_it) {
                all.push(column);
            }
        }
    }
    let fields: Vec<KeyField> = all.iter().map(|column| column.field).collect();
    let nullable = if is_clustered {
        columns.nullable(&table)
    } else {
        fields.iter().filter(|field| field.is_nullable).count()
    };
    Some(KeyFormat {
        nullable,
        is_ordered: all.iter().all(|column| column.is_ordered),
        fields,
    })
}

impl IndexInfo {
    /// Schema and table as SQL names them.
    pub(crate) fn sql_names(&self) -> (String, String) {
        sql_names(&self.table)
    }
}

/// Schema and table of InnoDB's name of a table or of a partition.
fn sql_names(table: &str) -> (String, String) {
    let (schema, table) = table.split_once('/').unwrap_or(("", table));
    let table = table.split('#').next().unwrap_or(table);
    (decoded(schema), decoded(table))
}

/// A name as InnoDB writes it in file names, `@002d` for what is no letter, as it is in SQL.
fn decoded(name: &str) -> String {
    let mut decoded = String::new();
    let mut rest = name;
    while let Some((before, after)) = rest.split_once('@') {
        decoded.push_str(before);
        let code = after.get(..4);
        let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
        if let Some(letter) = code.and_then(char::from_u32) {
            decoded.push(letter);
            rest = &after[4..];
        } else {
            decoded.push('@');
            rest = after;
        }
    }
    decoded + rest
}

impl IndexColumn {
    fn row_number(bytes: usize) -> Self {
        Self {
            name: String::new(),
            field: KeyField {
                length: FieldLength::Fixed(bytes),
                is_nullable: false,
            },
            is_prefix: false,
            is_ordered: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn names_of_files_are_names_of_sql() {
        assert_eq!(decoded("my@002dshop"), "my-shop");
        assert_eq!(decoded("plain_1"), "plain_1");
        assert_eq!(decoded("a@1"), "a@1");
    }
}
