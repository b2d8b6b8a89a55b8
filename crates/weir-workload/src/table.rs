//! Tables: what makes them and where the values of their rows come from.

use weir_mysql::identifier;

use super::generator::Drawer;
use super::order_entry::Maker;
use super::{Generator, Rng, seeded};

/// Name of sysbench's table `number`, counted from 1.
pub fn table_name(number: u32) -> String {
    format!("sbtest{number}")
}

/// A table that is made and filled.
#[derive(Debug, Clone)]
pub struct Table {
    /// Name of the table.
    pub name: String,
    /// Number in its workload, from 1: tables of one workload differ in their rows.
    pub number: u32,
    /// Makes it, without what is built after the rows.
    pub create: String,
    /// Names of the columns that are filled, in order.
    pub columns: Vec<String>,
    /// Source of the values.
    pub filling: RowSource,
    /// Number of rows that it is filled with.
    pub rows: u64,
    /// Secondary indexes, which are built after the rows: what stands after `ADD` in
    /// `ALTER TABLE t ADD INDEX name (columns)`.
    pub indexes: Vec<String>,
    /// Rows that can be loaded beside each other; none: they are loaded one after the other.
    pub slices: Vec<Slice>,
}

/// Source of the values of a table's rows.
#[derive(Debug, Clone)]
pub enum RowSource {
    /// Each column draws its own.
    Drawn(Vec<Generator>),
    /// Rows of order entry, whose values belong together.
    OrderEntry(Maker),
}

/// Rows of a table that follow each other by their numbers and that a condition finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slice {
    /// The number of its first row.
    pub first: u64,
    /// Number of rows.
    pub rows: u64,
    /// Condition after `WHERE` to find them.
    pub condition: String,
}

impl Table {
    /// Returns its name in a statement.
    pub fn identifier(&self) -> String {
        identifier(&self.name)
    }

    /// The names of its columns, for a statement that fills it.
    pub fn column_list(&self) -> String {
        let names: Vec<_> = self.columns.iter().map(|name| identifier(name)).collect();
        names.join(", ")
    }

    /// The random numbers of one row: a function of the seed, the table and the row. So rows can be made in
    /// any order, also by a process that continues an interrupted load.
    pub fn rng_of_row(&self, seed: u64, row: u64) -> Rng {
        seeded(seed, (u64::from(self.number) << 32) + row)
    }

    /// Returns the drawer of a row's values.
    pub fn drawer(row: u64) -> Drawer {
        Drawer { connection: 0, row }
    }
}
