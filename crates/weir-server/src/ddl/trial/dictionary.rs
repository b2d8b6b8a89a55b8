//! InnoDB's dictionary: a rebuilt table has another identifier, a new index one that was not there.

use std::collections::{BTreeMap, BTreeSet};

use weir_mysql::Connection;

use super::Way;
use crate::ddl::{Algorithm, DdlError, Lock, Work};
use crate::innodb_view::innodb_view;

/// Helper tables of FULLTEXT indexes have such names after their schema's.
const FULLTEXT_TABLES: &str = "/fts_";

/// Dictionary entries of the table.
pub(super) struct Dictionary {
    tables: BTreeSet<u64>,
    /// Tables of indexes, by the indexes' identifiers.
    indexes: BTreeMap<u64, u64>,
    row_versions: u64,
}

impl Dictionary {
    pub(super) fn read(connection: &mut Connection) -> Result<Self, DdlError> {
        let [tables, indexes] =
            ["TABLES", "INDEXES"].map(|what| innodb_view(connection.version(), what));
        let named: Vec<(u64, String)> =
            connection.rows(format!("SELECT TABLE_ID, NAME FROM {tables}"))?;
        let named = named.into_iter();
        let tables = named
            .filter(|(_, name)| !name.to_ascii_lowercase().contains(FULLTEXT_TABLES))
            .map(|(id, _)| id)
            .collect();
        let indexes: Vec<(u64, u64)> =
            connection.rows(format!("SELECT INDEX_ID, TABLE_ID FROM {indexes}"))?;
        Ok(Self {
            tables,
            indexes: indexes.into_iter().collect(),
            row_versions: row_versions(connection)?,
        })
    }

    /// Returns the way of one statement that ran since `before`.
    pub(super) fn way_from(
        &self,
        before: &Self,
        algorithm: Option<Algorithm>,
        lock: Option<Lock>,
        statement: String,
    ) -> Way {
        let gone = before.tables.difference(&self.tables).count();
        let come: BTreeSet<_> = self.tables.difference(&before.tables).collect();
        let is_rebuild = gone > 0 && !come.is_empty();
        let new_indexes = self.indexes.iter().filter(|(index, table)| {
            let is_of_table = before.tables.contains(table) || is_rebuild && come.contains(table);
            is_of_table && !before.indexes.contains_key(index)
        });
        let indexes_built = new_indexes.count();
        Way {
            algorithm,
            lock,
            work: match (is_rebuild, indexes_built) {
                (true, _) => Work::Rebuild,
                (false, 0) => Work::Metadata,
                (false, _) => Work::Index,
            },
            indexes_built,
            row_versions: self.row_versions.saturating_sub(before.row_versions),
            statement,
        }
    }
}

/// Of all tables together; zero where the server counts none.
fn row_versions(connection: &mut Connection) -> Result<u64, DdlError> {
    let has: Option<u64> = connection.first(
        "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'information_schema' \
         AND TABLE_NAME = 'INNODB_TABLES' AND COLUMN_NAME = 'TOTAL_ROW_VERSIONS'",
    )?;
    if has != Some(1) {
        return Ok(0);
    }
    let sum: Option<u64> = connection.first(
        "SELECT CAST(COALESCE(SUM(TOTAL_ROW_VERSIONS), 0) AS UNSIGNED) FROM information_schema.INNODB_TABLES",
    )?;
    Ok(sum.unwrap_or_default())
}
