//! Workloads: which statements a transaction has, in which order, with which parameters, and the
//! tables that they work on.
//!
//! A workload becomes a [`Script`]: kinds of transactions with weights, each a list of steps over
//! shared [`Statement`]s, whose parameters come from [`Generator`]s. Drivers know nothing else.

mod bulk;
mod choice;
mod distribution;
mod english;
mod generator;
mod lines;
mod mix;
mod oltp;
mod part;
mod rng;
mod sbtest;
mod script;
mod statement;
mod table;
mod text;

pub use choice::Workload;
pub use distribution::Distribution;
pub use mix::Mix;

pub(crate) use bulk::BulkText;
pub(crate) use distribution::Keys;
pub(crate) use generator::{Drawer, Generator, Unique, Value};
pub(crate) use lines::Lines;
pub(crate) use part::Parts;
pub(crate) use rng::{Rng, seeded};
pub(crate) use sbtest::create_bulk_table;
pub(crate) use script::{Execution, Script, Step};
pub(crate) use statement::{Parameter, Sending, Statement};
pub(crate) use table::{RowText, Table, table_name};
pub(crate) use text::{C_BYTES, PAD_BYTES, write_groups};
