//! sysbench's table, with text beside it where the workload has some.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use weir_model::{Distribution, SysbenchWorkload, WorkloadName};

use crate::table::{RowSource, Table, table_name};
use crate::{C_BYTES, Generator, Keys, Lines, PAD_BYTES, WorkloadError};

/// Options of sysbench's tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TableOptions {
    /// Number of tables.
    pub tables: u32,
    /// Rows of each table.
    pub rows: u64,
    /// Distribution of column `k`.
    pub distribution: Distribution,
    /// Make the index on `k`.
    pub secondary_index: bool,
    /// Storage engine.
    pub engine: String,
    /// The tables choose the keys of new rows themselves.
    pub auto_increment: bool,
    /// An ordinary index on `id` in place of the primary key.
    pub secondary_key: bool,
    /// Text at the end of the statement that makes a table.
    pub table_options: String,
}

impl Default for TableOptions {
    /// sysbench's: one table of 10,000 rows.
    fn default() -> Self {
        Self {
            tables: 1,
            rows: 10_000,
            distribution: Distribution::default(),
            secondary_index: true,
            engine: "innodb".to_owned(),
            auto_increment: true,
            secondary_key: false,
            table_options: String::new(),
        }
    }
}

/// The tables of sysbench's workloads, with two columns of text where one of them wants text.
pub(crate) fn tables(
    workload: &SysbenchWorkload,
    options: &TableOptions,
) -> Result<Vec<Table>, WorkloadError> {
    let keys = Keys::new(options.distribution, options.rows.max(1))?;
    let has_text = workload.shares.any(WorkloadName::has_text);
    let lines = has_text
        .then(|| Lines::open(workload.text_file.as_deref()))
        .transpose()?;
    Ok((1..=options.tables)
        .map(|number| table(options, number, &keys, lines.as_ref()))
        .collect())
}

fn table(options: &TableOptions, number: u32, keys: &Keys, lines: Option<&Arc<Lines>>) -> Table {
    let mut columns = vec![
        column("id", Generator::Row),
        column("k", Generator::Key(keys.clone())),
        column("c", Generator::Groups(C_BYTES)),
        column("pad", Generator::Groups(PAD_BYTES)),
    ];
    let mut indexes = Vec::new();
    if options.secondary_index {
        indexes.push(format!("INDEX k_{number} (k)"));
    }
    if let Some(lines) = lines {
        for name in ["data1", "data2"] {
            columns.push(column(name, Generator::Line(Arc::clone(lines))));
        }
        indexes.push(format!("INDEX data1_{number} (data1)"));
    }
    let (columns, generators) = columns.into_iter().unzip();
    Table {
        name: table_name(number),
        number,
        create: create(options, number, lines.is_some()),
        columns,
        filling: RowSource::Drawn(generators),
        rows: options.rows,
        indexes,
        slices: Vec::new(),
    }
}

/// The statement that makes table `number`.
fn create(options: &TableOptions, number: u32, has_text: bool) -> String {
    let auto_increment = if options.auto_increment {
        " AUTO_INCREMENT"
    } else {
        ""
    };
    let key = if options.secondary_key {
        "KEY xid (id)"
    } else {
        "PRIMARY KEY (id)"
    };
    let (text, charset) = if has_text {
        (
            "data1 VARCHAR(255) DEFAULT '' NOT NULL, data2 VARCHAR(255) DEFAULT '' NOT NULL, ",
            " DEFAULT CHARSET = utf8mb4",
        )
    } else {
        ("", "")
    };
    let name = table_name(number);
    let end = [&options.engine, charset, " ", &options.table_options].concat();
    let end = end.trim_end();
    format!(
        "CREATE TABLE {name} (\
         id INTEGER NOT NULL{auto_increment}, \
         k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, \
         pad CHAR(60) DEFAULT '' NOT NULL, \
         {text}{key}) ENGINE = {end}"
    )
}

/// Makes table `number` of `bulk_insert`, unless it exists: sysbench's is made without a choice
/// of engine.
pub fn create_bulk_table(number: u32) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {} (\
         id INTEGER NOT NULL, \
         k INTEGER DEFAULT '0' NOT NULL, \
         PRIMARY KEY (id))",
        table_name(number)
    )
}

fn column(name: &str, generator: Generator) -> (String, Generator) {
    (name.to_owned(), generator)
}
