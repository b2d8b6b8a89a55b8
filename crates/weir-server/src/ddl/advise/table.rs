//! A table of the user's, as a statement that makes it, with the tables that foreign keys bind it to.

use weir_mysql::{Connection, Row, SqlWord, identifier, is_system_schema, sql_words};

use super::tablespace;
use crate::ddl::table_name::{is_table, server_spelling};
use crate::ddl::{AlterStatement, DdlError, EmptyTable, EmptyTables};

/// Engine and sizes of a table as `information_schema.TABLES` has them.
type Sizes = (
    String,
    Option<String>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
);

/// A table, as its server describes it.
#[derive(Debug)]
pub(super) struct TableCopy {
    schema: String,
    table: String,
    create: String,
    pub(super) rows: u64,
    pub(super) row_bytes: u64,
    pub(super) data_bytes: u64,
    pub(super) index_bytes: u64,
    /// Rows and indexes by the size of its files, where the statistics are older than its rows.
    pub(super) newer_bytes: Option<u64>,
    /// Tables that its foreign keys refer to: `SCHEMA.TABLE`.
    pub(super) parents: Vec<(String, String)>,
    /// Tables whose foreign keys refer to it.
    pub(super) children: Vec<(String, String)>,
}

impl TableCopy {
    pub(super) fn read(
        connection: &mut Connection,
        alter: &AlterStatement,
    ) -> Result<Self, DdlError> {
        let AlterStatement { schema, table, .. } = alter;
        let refused = |why: &str, remedy| DdlError::Table {
            table: format!("{schema}.{table}"),
            why: why.to_owned(),
            remedy,
        };
        if is_system_schema(schema) {
            return Err(refused(
                "it is the server's own",
                "name a table of a schema of yours",
            ));
        }
        let of_table = is_table(["TABLE_SCHEMA", "TABLE_NAME"], schema, table);
        let referred = is_table(
            ["REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME"],
            schema,
            table,
        );
        let found: Option<Sizes> = connection.first(format!(
            "SELECT TABLE_TYPE, ENGINE, TABLE_ROWS, AVG_ROW_LENGTH, DATA_LENGTH, INDEX_LENGTH, DATA_FREE \
             FROM information_schema.TABLES WHERE {of_table}"
        ))?;
        let missing = "it is not there, or the account has no privilege on it";
        let (kind, engine, rows, row_bytes, data, indexes, free) = found.ok_or_else(|| {
            refused(
                missing,
                "write SCHEMA.TABLE, or put the schema into the URL",
            )
        })?;
        if kind == "VIEW" || engine.as_deref() != Some("InnoDB") {
            let what =
                engine.map_or_else(|| kind.to_lowercase(), |engine| format!("engine {engine}"));
            return Err(refused(&what, "only InnoDB's tables are tried"));
        }
        let [data_bytes, index_bytes, free] = [data, indexes, free].map(Option::unwrap_or_default);
        let files = tablespace::file_bytes(connection, alter);
        Ok(Self {
            schema: schema.clone(),
            table: table.clone(),
            create: create(connection, schema, table)?,
            rows: rows.unwrap_or_default(),
            row_bytes: row_bytes.unwrap_or_default(),
            data_bytes,
            index_bytes,
            newer_bytes: tablespace::newer_bytes(files, free, data_bytes + index_bytes),
            parents: connection.rows(format!(
                "SELECT DISTINCT REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE \
                 WHERE {of_table} AND REFERENCED_TABLE_NAME IS NOT NULL"
            ))?,
            children: connection.rows(format!(
                "SELECT DISTINCT TABLE_SCHEMA, TABLE_NAME FROM information_schema.KEY_COLUMN_USAGE \
                 WHERE {referred}"
            ))?,
        })
    }

    /// Rows and indexes now, bytes: by the statistics, or by the files if those are newer.
    pub(super) fn bytes_now(&self) -> u64 {
        self.newer_bytes
            .unwrap_or(self.data_bytes + self.index_bytes)
    }

    /// Entries of an index of all columns, bytes, without what they have beside the columns.
    pub(super) fn column_bytes(&self) -> u64 {
        self.newer_bytes
            .map_or(self.rows * self.row_bytes, |bytes| {
                bytes - self.index_bytes.min(bytes)
            })
    }

    /// The table and those that foreign keys bind it to, also those of the statement.
    pub(super) fn with_relatives(
        &self,
        connection: &mut Connection,
        alter: &AlterStatement,
    ) -> Result<EmptyTables, DdlError> {
        let own = (self.schema.clone(), self.table.clone());
        let mut names: Vec<_> = self.parents.iter().chain(&self.children).cloned().collect();
        for (schema, table) in referred(&alter.changes(), &self.schema) {
            let spelled = server_spelling(connection, &schema, &table)?;
            names.push(spelled.unwrap_or((schema, table)));
        }
        names.retain(|name| *name != own);
        names.sort();
        names.dedup();
        let mut tables = Vec::new();
        for (schema, table) in names {
            tables.push(EmptyTable {
                create: create(connection, &schema, &table)?,
                schema,
            });
        }
        tables.push(EmptyTable {
            schema: self.schema.clone(),
            create: self.create.clone(),
        });
        Ok(EmptyTables(tables))
    }
}

fn create(connection: &mut Connection, schema: &str, table: &str) -> Result<String, DdlError> {
    let query = format!(
        "SHOW CREATE TABLE {}.{}",
        identifier(schema),
        identifier(table)
    );
    let row: Option<Row> = connection.first(&query)?;
    let text = row.and_then(|row| row.get::<String, _>(1));
    text.ok_or_else(|| DdlError::Table {
        table: format!("{schema}.{table}"),
        why: "the server does not say how it is made".to_owned(),
        remedy: "look at SHOW CREATE TABLE",
    })
}

/// Tables after REFERENCES.
fn referred(changes: &str, usual: &str) -> Vec<(String, String)> {
    let words = sql_words(changes);
    let after = words
        .iter()
        .enumerate()
        .filter(|(_, word)| word.is("REFERENCES"));
    let name = |at: usize| words.get(at).and_then(SqlWord::name);
    after
        .filter_map(|(at, _)| {
            let first = name(at + 1)?;
            match words.get(at + 2) {
                Some(dot) if dot.is_sign('.') => Some((first, name(at + 3)?)),
                _ => Some((usual.to_owned(), first)),
            }
        })
        .collect()
}
