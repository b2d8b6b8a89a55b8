//! Workloads: which statements a transaction has, in which order, with which parameters, and the tables that they work on.
//! Change here: a key of the workload file: `file/`; a distribution: `distribution.rs` and its name in `weir-model/src/spec/workload`; sysbench's workloads: `oltp.rs`; order entry: `order_entry/`.
//!
//! A [`Workload`] is a workload's description that holds together. It becomes a [`Script`]: kinds of
//! transactions with weights, each a list of steps over shared [`Statement`]s, whose parameters come
//! from [`Generator`]s; and [`Table`]s, whose rows come from the same. Nothing here knows a server or
//! a connection: the load engine sends what a script says, predictions and rules read it.

mod bulk;
mod choice;
mod columns;
mod distribution;
mod drawn;
mod english;
mod error;
mod file;
mod generator;
mod lines;
mod new_number;
mod oltp;
pub mod order_entry;
mod part;
mod pattern;
mod rng;
mod rows;
mod sbtest;
mod script;
mod script_inputs;
mod sequence;
mod statement;
mod table;
mod text;
mod unique;

pub use bulk::BulkText;
pub use choice::{Workload, read_spec};
pub use columns::{MarkUse, Purpose, mark_uses, tables_of};
pub use distribution::{KeyOrder, KeyStream, Keys, share_up_to};
pub use drawn::{DrawnStatement, DrawnValue};
pub use error::WorkloadError;
pub use generator::{Drawer, Generator, Value, ValueKind, put_integer};
pub use new_number::{NewNumber, NumberSource};
pub use oltp::STATEMENTS_PER_TABLE_MAX;
pub use rng::{Rng, seeded};
pub use rows::RowWriter;
pub use sbtest::{TableOptions, create_bulk_table};
pub use script::{Execution, Script, Step, Transaction};
pub use script_inputs::ScriptInputs;
pub use sequence::Sequence;
pub use statement::{Parameter, Statement, StatementProtocol};
pub use table::{Slice, Table, table_name};
pub use text::{C_BYTES, PAD_BYTES};
pub use unique::Unique;

use lines::Lines;
use part::Parts;
use pattern::Pattern;
use text::write_groups;

/// Helpers of tests of other modules.
#[cfg(test)]
mod testing {
    use weir_model::WorkloadName;

    use super::{Table, TableOptions, Workload};

    /// sysbench's first table with so many rows.
    pub(crate) fn table(rows: u64) -> Table {
        let options = TableOptions {
            rows,
            ..TableOptions::default()
        };
        let workload = Workload::from(WorkloadName::OltpReadWrite);
        workload.tables(&options).unwrap().remove(0)
    }
}
