//! Tables: what makes them and where the values of their rows come from.

use super::generator::Drawer;
use super::{Generator, Rng, seeded};

/// Name of sysbench's table `number`, counted from 1.
pub(crate) fn table_name(number: u32) -> String {
    format!("sbtest{number}")
}

/// A table that is made and filled.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// Its number in its workload, from 1: tables of one workload differ in their rows.
    pub(crate) number: u32,
    /// Makes it, without what is built after the rows.
    pub(crate) create: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: u64,
    /// Secondary indexes, which are built after the rows: what stands after `ADD` in
    /// `ALTER TABLE t ADD INDEX name (columns)`.
    pub(crate) indexes: Vec<String>,
}

/// A column that is filled.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) generator: Generator,
}

impl Table {
    /// The names of its columns, for a statement that fills it.
    pub(crate) fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|c| c.name.as_str()).collect();
        names.join(", ")
    }

    /// The random numbers of one row: a function of the seed, the table and the row, so that rows
    /// can be made in any order and by whoever goes on with a load that was interrupted.
    pub(crate) fn rng_of_row(&self, seed: u64, row: u64) -> Rng {
        seeded(seed, (u64::from(self.number) << 32) + row)
    }

    /// Who draws the values of a row.
    pub(crate) fn drawer(row: u64) -> Drawer {
        Drawer { connection: 0, row }
    }
}

/// Builds multi-row inserts.
#[derive(Debug)]
pub(crate) struct RowText<'a> {
    table: &'a Table,
    seed: u64,
    sql: Vec<u8>,
    prefix_bytes: usize,
    scratch: Vec<u8>,
}

impl<'a> RowText<'a> {
    /// Inserts into `table`.
    pub(crate) fn new(table: &'a Table, seed: u64) -> Self {
        let prefix = format!(
            "INSERT INTO {} ({}) VALUES",
            table.name,
            table.column_list()
        );
        Self {
            table,
            seed,
            prefix_bytes: prefix.len(),
            sql: prefix.into_bytes(),
            scratch: Vec::new(),
        }
    }

    /// The statement for the rows from `first` to `last`, as far as `bytes_max` go, and the last
    /// row that it has. It has at least one.
    pub(crate) fn rows(&mut self, first: u64, last: u64, bytes_max: usize) -> (&str, u64) {
        self.sql.truncate(self.prefix_bytes);
        let mut row = first;
        loop {
            self.row(row);
            if row == last || self.sql.len() >= bytes_max {
                break;
            }
            self.sql.push(b',');
            row += 1;
        }
        let sql = std::str::from_utf8(&self.sql);
        (sql.expect("invariant: names and values are UTF-8"), row)
    }

    fn row(&mut self, row: u64) {
        let mut rng = self.table.rng_of_row(self.seed, row);
        for (position, column) in self.table.columns.iter().enumerate() {
            self.sql.push(if position == 0 { b'(' } else { b',' });
            column
                .generator
                .draw(Table::drawer(row), &mut rng, &mut self.scratch)
                .put_literal(&mut self.sql);
        }
        self.sql.push(b')');
    }
}
