//! Columns that a copy has, and tables that cannot be copied so.

use weir_model::CopyWay;
use weir_mysql::{Connection, NameCase, identifier, sql_words};

use super::leftover::Names;
use crate::ddl::table_name::is_table;
use crate::ddl::{AlterStatement, DdlError};

/// Types of a key.
const WHOLE_NUMBERS: [&str; 5] = ["tinyint", "smallint", "mediumint", "int", "bigint"];

/// Columns and key of the table that is copied.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) schema: String,
    pub(super) table: String,
    /// The primary key's column, in SQL.
    pub(super) key: String,
    /// Number of the key among the table's columns, from 0.
    pub(super) key_at: usize,
    pub(super) is_unsigned: bool,
    /// Columns that both tables have and that are stored as given, in SQL.
    pub(super) columns: Vec<String>,
}

fn refused(alter: &AlterStatement, why: impl Into<String>, remedy: &'static str) -> DdlError {
    DdlError::Table {
        table: format!("{}.{}", alter.schema, alter.table),
        why: why.into(),
        remedy,
    }
}

/// Refuses tables for which a copy would lose something.
pub(super) fn check_table(
    connection: &mut Connection,
    alter: &AlterStatement,
    way: CopyWay,
) -> Result<(), DdlError> {
    let is_table = |columns| is_table(columns, &alter.schema, &alter.table);
    let mut count = |query: String| {
        connection
            .first::<u64>(query)
            .map(Option::unwrap_or_default)
    };
    let triggers = count(format!(
        "SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE {}",
        is_table(["EVENT_OBJECT_SCHEMA", "EVENT_OBJECT_TABLE"])
    ))?;
    if triggers > 0 {
        return Err(refused(
            alter,
            "it has triggers, which a copy would lose",
            "take another table",
        ));
    }
    let foreign_keys = count(format!(
        "SELECT COUNT(*) FROM information_schema.KEY_COLUMN_USAGE WHERE REFERENCED_TABLE_NAME IS NOT NULL AND \
         (({}) OR ({}))",
        is_table(["TABLE_SCHEMA", "TABLE_NAME"]),
        is_table(["REFERENCED_TABLE_SCHEMA", "REFERENCED_TABLE_NAME"])
    ))?;
    if foreign_keys > 0 {
        return Err(refused(
            alter,
            "it has foreign keys, which a copy would lose",
            "take another table",
        ));
    }
    let words = sql_words(&alter.changes())
        .into_iter()
        .any(|word| word.is_any(&["RENAME", "CHANGE"]));
    if words {
        return Err(refused(
            alter,
            "a copy would lose what is renamed",
            "leave RENAME and CHANGE out",
        ));
    }
    if way == CopyWay::Log {
        check_log(connection, alter)?;
    }
    Ok(())
}

fn check_log(connection: &mut Connection, alter: &AlterStatement) -> Result<(), DdlError> {
    let log: Option<(u64, String)> =
        connection.first("SELECT @@GLOBAL.log_bin, @@GLOBAL.binlog_format")?;
    match log {
        Some((1, format)) if format == "ROW" => Ok(()),
        Some((1, format)) => Err(refused(
            alter,
            format!("binlog_format is {format}"),
            "set binlog_format = \"ROW\" in [server.config]",
        )),
        _ => Err(refused(
            alter,
            "the server has no binary log",
            "set log_bin = \"binlog\" and binlog_format = \"ROW\" in [server.config]",
        )),
    }
}

type ColumnRow = (String, String, String, String, String);

impl Layout {
    pub(super) fn read(
        connection: &mut Connection,
        alter: &AlterStatement,
        names: &Names,
    ) -> Result<Self, DdlError> {
        let new = names.new_plain();
        let old = columns(connection, &alter.schema, &alter.table)?;
        let new = columns(connection, &alter.schema, &new)?;
        let keys: Vec<_> = old
            .iter()
            .enumerate()
            .filter(|(_, column)| column.3 == "PRI")
            .collect();
        let whole = |kind: &String| WHOLE_NUMBERS.contains(&&*kind.to_ascii_lowercase());
        let [(key_at, (key, kind, whole_type, _, _))] = keys.as_slice() else {
            return Err(refused(
                alter,
                "it has no primary key of one column",
                "take another table",
            ));
        };
        if !whole(kind) {
            return Err(refused(
                alter,
                "its primary key is no whole number",
                "take another table",
            ));
        }
        // Names of columns differ in no server by their case alone.
        let is_same = |one: &str, other: &str| NameCase::Folded.is_same(one, other);
        let is_stored = |column: &&ColumnRow| !column.4.contains("GENERATED");
        let is_shared = |column: &&ColumnRow| {
            new.iter()
                .filter(is_stored)
                .any(|other| is_same(&other.0, &column.0))
        };
        let shared = old.iter().filter(is_stored).filter(is_shared);
        if !new
            .iter()
            .any(|column| is_same(&column.0, key) && column.3 == "PRI")
        {
            return Err(refused(
                alter,
                "the new table has another primary key",
                "take another change",
            ));
        }
        Ok(Self {
            schema: alter.schema.clone(),
            table: alter.table.clone(),
            key: identifier(key),
            key_at: *key_at,
            is_unsigned: whole_type.contains("unsigned"),
            columns: shared.map(|column| identifier(&column.0)).collect(),
        })
    }
}

/// Name, type, whole type, key and further properties, in their order.
fn columns(
    connection: &mut Connection,
    schema: &str,
    table: &str,
) -> Result<Vec<ColumnRow>, DdlError> {
    Ok(connection.rows(format!(
        "SELECT COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, COLUMN_KEY, EXTRA FROM information_schema.COLUMNS \
         WHERE {} ORDER BY ORDINAL_POSITION",
        is_table(["TABLE_SCHEMA", "TABLE_NAME"], schema, table)
    ))?)
}
