//! Workloads: which statements a transaction has, in which order, with which parameters.
//!
//! Schema, statements, their order and their choice of tables are those that a server's general
//! log shows of sysbench 1.0.20; the text was written from that and from its documented options.

mod bulk;
mod distribution;
mod rng;
mod rows;
mod schema;
mod script;
mod statement;
mod text;

pub use distribution::Distribution;
pub use script::Mix;

pub(crate) use bulk::{BulkText, put_decimal};
pub(crate) use distribution::Keys;
pub(crate) use rng::{Rng, seeded};
pub(crate) use rows::Rows;
pub(crate) use schema::{RowText, create_bulk_table, create_index, create_table, table_name};
pub(crate) use script::{Script, Step};
pub(crate) use statement::Statement;
pub(crate) use text::{C_BYTES, PAD_BYTES, write_groups};
