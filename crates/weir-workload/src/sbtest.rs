//! sysbench's table, with text beside it where the workload has some.

use std::sync::Arc;

use super::table::{Column, Table, table_name};
use super::{C_BYTES, Generator, Keys, Lines, PAD_BYTES};
use crate::LoadError;
use crate::plan::PreparePlan;

/// The tables of sysbench's workloads; `has_text`: with two columns of text.
pub(crate) fn tables(plan: &PreparePlan, has_text: bool) -> Result<Vec<Table>, LoadError> {
    let keys = Keys::new(plan.distribution, plan.rows)?;
    let lines = has_text
        .then(|| Lines::open(plan.text_file.as_deref()))
        .transpose()?;
    Ok((1..=plan.tables)
        .map(|number| table(plan, number, &keys, lines.as_ref()))
        .collect())
}

fn table(plan: &PreparePlan, number: u32, keys: &Keys, lines: Option<&Arc<Lines>>) -> Table {
    let mut columns = vec![
        column("id", Generator::Row),
        column("k", Generator::Key(keys.clone())),
        column("c", Generator::Groups(C_BYTES)),
        column("pad", Generator::Groups(PAD_BYTES)),
    ];
    let mut indexes = Vec::new();
    if plan.secondary_index {
        indexes.push(format!("INDEX k_{number} (k)"));
    }
    if let Some(lines) = lines {
        for name in ["data1", "data2"] {
            columns.push(column(name, Generator::Line(Arc::clone(lines))));
        }
        indexes.push(format!("INDEX data1_{number} (data1)"));
    }
    Table {
        name: table_name(number),
        number,
        create: create(plan, number, lines.is_some()),
        columns,
        rows: plan.rows,
        indexes,
    }
}

/// The statement that makes table `number`.
fn create(plan: &PreparePlan, number: u32, has_text: bool) -> String {
    let auto_increment = if plan.auto_increment {
        " AUTO_INCREMENT"
    } else {
        ""
    };
    let key = if plan.secondary_key {
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
    let options = [&plan.engine, charset, " ", &plan.table_options].concat();
    let options = options.trim_end();
    format!(
        "CREATE TABLE {name} (\
         id INTEGER NOT NULL{auto_increment}, \
         k INTEGER DEFAULT 0 NOT NULL, \
         c CHAR(120) DEFAULT '' NOT NULL, \
         pad CHAR(60) DEFAULT '' NOT NULL, \
         {text}{key}) ENGINE = {options}"
    )
}

/// Makes table `number` of `bulk_insert`, unless it exists: sysbench's is made without a choice
/// of engine.
pub(crate) fn create_bulk_table(number: u32) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {} (\
         id INTEGER NOT NULL, \
         k INTEGER DEFAULT '0' NOT NULL, \
         PRIMARY KEY (id))",
        table_name(number)
    )
}

fn column(name: &str, generator: Generator) -> Column {
    Column {
        name: name.to_owned(),
        generator,
    }
}
