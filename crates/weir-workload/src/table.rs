//! Tables: what makes them and where the values of their rows come from.

use weir_mysql::identifier;

use super::generator::Drawer;
use super::{Generator, Rng, seeded};

/// Name of sysbench's table `number`, counted from 1.
pub fn table_name(number: u32) -> String {
    format!("sbtest{number}")
}

/// A table that is made and filled.
#[derive(Debug, Clone)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its number in its workload, from 1: tables of one workload differ in their rows.
    pub number: u32,
    /// Makes it, without what is built after the rows.
    pub create: String,
    /// Those that are filled, in order.
    pub columns: Vec<Column>,
    /// How many it is filled with.
    pub rows: u64,
    /// Secondary indexes, which are built after the rows: what stands after `ADD` in
    /// `ALTER TABLE t ADD INDEX name (columns)`.
    pub indexes: Vec<String>,
}

/// A column that is filled.
#[derive(Debug, Clone)]
pub struct Column {
    pub name: String,
    pub generator: Generator,
}

impl Table {
    /// Its name in a statement.
    pub fn identifier(&self) -> String {
        identifier(&self.name)
    }

    /// The names of its columns, for a statement that fills it.
    pub fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|c| identifier(&c.name)).collect();
        names.join(", ")
    }

    /// The random numbers of one row: a function of the seed, the table and the row, so that rows
    /// can be made in any order and by whoever goes on with a load that was interrupted.
    pub fn rng_of_row(&self, seed: u64, row: u64) -> Rng {
        seeded(seed, (u64::from(self.number) << 32) + row)
    }

    /// Who draws the values of a row.
    pub fn drawer(row: u64) -> Drawer {
        Drawer { connection: 0, row }
    }
}
