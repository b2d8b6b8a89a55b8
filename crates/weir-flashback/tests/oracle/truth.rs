//! The content of a table as its own server has it.
//!
//! A row is a text for each column, from which the stored value follows, so that rows with equal texts are equal byte
//! for byte: bytes of texts in the column's own character set as hexadecimal, numbers of ENUM, SET and BIT members, dates
//! and times in UTC with all decimals, FLOAT and DOUBLE by their bits, which the binary protocol carries. Both servers
//! that are compared answer the same query and are of one version. Not told apart are JSON documents of one text.

use std::collections::BTreeMap;

use weir_mysql::{Connection, Value, identifier};

use crate::kinds::{Class, KINDS};

/// A column as `information_schema` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    /// Its type, its collation, and whether it may be NULL.
    pub(crate) definition: String,
    pub(crate) data_type: String,
    pub(crate) charset: String,
    pub(crate) is_virtual: bool,
}

/// A cell: exact, and as people read it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Cell {
    pub(crate) exact: Option<String>,
    pub(crate) shown: Option<String>,
}

/// A table's columns and rows; equal rows stand beside each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Column {
    pub(crate) fn class(&self) -> Class {
        match self.data_type.as_str() {
            "float" | "double" => Class::Binary,
            "bit" | "enum" | "set" => Class::Number,
            "json" => Class::Json,
            "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "year"
            | "date" | "datetime" | "timestamp" | "time" | "uuid" | "inet6" | "inet4" => {
                Class::Exact
            }
            _ => Class::Bytes,
        }
    }

    fn exact(&self) -> String {
        let name = identifier(&self.name);
        match self.class() {
            Class::Exact => format!("CAST({name} AS CHAR)"),
            Class::Binary => name,
            Class::Number => format!("CAST({name} AS UNSIGNED)"),
            Class::Bytes => format!("HEX({name})"),
            Class::Json => format!("HEX(CAST({name} AS CHAR))"),
        }
    }

    fn shown(&self) -> String {
        let name = identifier(&self.name);
        match (self.class(), self.data_type.as_str()) {
            (Class::Number, "bit") => self.exact(),
            (Class::Number | Class::Json, _) => {
                format!("CAST({name} AS CHAR CHARACTER SET utf8mb4)")
            }
            (
                Class::Bytes,
                "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext",
            ) => {
                format!("CONVERT({name} USING utf8mb4)")
            }
            _ => self.exact(),
        }
    }
}

impl Truth {
    /// None if there is no such table.
    pub(crate) fn read(connection: &mut Connection, schema: &str, table: &str) -> Option<Self> {
        Self::read_where(connection, (schema, table), "")
    }

    /// As [`Truth::read`], of the rows that `clause` selects.
    pub(crate) fn read_where(
        connection: &mut Connection,
        (schema, table): (&str, &str),
        clause: &str,
    ) -> Option<Self> {
        let query = format!(
            "SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, COALESCE(CHARACTER_SET_NAME, ''), COALESCE(COLLATION_NAME, ''), \
             IS_NULLABLE, EXTRA FROM information_schema.COLUMNS \
             WHERE BINARY TABLE_SCHEMA = '{schema}' AND BINARY TABLE_NAME = '{table}' ORDER BY ORDINAL_POSITION"
        );
        let found: Vec<(String, String, String, String, String, String, String)> =
            connection.rows(query).unwrap();
        let columns: Vec<Column> = found
            .into_iter()
            .map(
                |(name, whole, data_type, charset, collation, nullable, extra)| Column {
                    name,
                    is_virtual: extra.to_uppercase().contains("VIRTUAL"),
                    charset: charset.clone(),
                    definition: format!("{whole} {charset} {collation} {nullable}"),
                    data_type: data_type.to_ascii_lowercase(),
                },
            )
            .collect();
        if columns.is_empty() {
            return None;
        }
        connection
            .run("SET SESSION time_zone = '+00:00', sql_mode = ''")
            .unwrap();
        connection.run("SET NAMES utf8mb4").unwrap();
        let expressions = columns
            .iter()
            .flat_map(|column| [column.exact(), column.shown()]);
        let query = format!(
            "SELECT {} FROM {}.{} AS t{clause}",
            expressions.collect::<Vec<_>>().join(", "),
            identifier(schema),
            identifier(table)
        );
        let mut rows = Vec::new();
        let read = connection.execute_each(&query, &[], &mut |row| {
            let values: Vec<_> = row.unwrap().into_iter().map(text).collect();
            let cells = values.chunks(2).map(|pair| Cell {
                exact: pair[0].clone(),
                shown: pair[1].clone(),
            });
            rows.push(cells.collect());
        });
        read.unwrap_or_else(|error| panic!("{error}: {query}"));
        rows.sort();
        Some(Self { columns, rows })
    }

    /// The same rows with so many columns.
    pub(crate) fn first_columns(&self, count: usize) -> Self {
        let cut = |row: &Vec<Cell>| row[..count.min(row.len())].to_vec();
        Self {
            columns: self.columns[..count.min(self.columns.len())].to_vec(),
            rows: self.rows.iter().map(cut).collect(),
        }
    }

    /// A line about the first thing in which `found` differs from this.
    pub(crate) fn difference(&self, found: &Self) -> Option<String> {
        if self.columns != found.columns {
            return Some(format!(
                "columns {:?}, found {:?}",
                self.columns, found.columns
            ));
        }
        let lacking: Vec<_> = beside(&self.rows, &found.rows);
        let added: Vec<_> = beside(&found.rows, &self.rows);
        let (first, other) = (lacking.first(), added.first());
        if first.is_none() && other.is_none() {
            return None;
        }
        let mut cells = Vec::new();
        for (at, column) in self.columns.iter().enumerate() {
            let (one, two) = (
                first.map(|row| &row[at].exact),
                other.map(|row| &row[at].exact),
            );
            if one != two || at == 0 {
                cells.push(format!(
                    "{} ({}): {one:?}, found {two:?}",
                    column.name, column.definition
                ));
            }
        }
        Some(format!(
            "{} rows lack, {} are too many; the first: {}",
            lacking.len(),
            added.len(),
            cells.join("; ")
        ))
    }
}

/// Rows of `one` that `other` lacks.
pub(crate) fn beside<'a, T: Ord>(one: &'a [T], other: &[T]) -> Vec<&'a T> {
    let mut counts: BTreeMap<&T, i64> = BTreeMap::new();
    for row in other {
        *counts.entry(row).or_default() += 1;
    }
    let mut lacking = Vec::new();
    for row in one {
        let left = counts.entry(row).or_default();
        *left -= 1;
        if *left < 0 {
            lacking.push(row);
        }
    }
    lacking
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
        Value::Int(number) => Some(number.to_string()),
        Value::UInt(number) => Some(number.to_string()),
        // All bits: two zeros differ.
        Value::Float(number) => Some(format!("{number:?} {:08x}", number.to_bits())),
        Value::Double(number) => Some(format!("{number:?} {:016x}", number.to_bits())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_kind_of_column_has_its_class() {
    for kind in KINDS {
        let mut words = kind.sql.split(['(', ' ']);
        let column = Column {
            name: "c".to_owned(),
            definition: String::new(),
            charset: String::new(),
            data_type: words.next().unwrap().to_ascii_lowercase(),
            is_virtual: false,
        };
        // MariaDB's JSON is a LONGTEXT.
        assert!(
            column.class() == kind.class || kind.sql == "JSON",
            "{}",
            kind.sql
        );
    }
}
