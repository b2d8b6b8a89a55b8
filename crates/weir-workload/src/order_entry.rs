//! Order entry: the wholesale supplier of the public specification of TPC-C (revision 5.11).
//!
//! Nine tables, five transactions, their values and their mix. Written from the specification, and
//! derived from it: nothing here was audited, and results are not comparable with those that were.
//! What differs from it is in docs/order-entry.md.

mod decimal;
mod inputs;
mod last_name;
mod queries;
mod random;
mod rows;
mod schema;
mod sizes;

use weir_model::{OrderEntryWorkload, TableSize};

use crate::{Script, Table};

pub use decimal::{put_decimal, read_decimal};
pub use inputs::{
    Delivery, LINES_MAX, Line, NewOrder, OrderStatus, Payment, StockLevel, Terminal,
    TransactionKind, Who,
};
pub use last_name::{LAST_NAME_BYTES_MAX, put_last_name};
pub use queries::Query;
pub use random::Constants;
pub use rows::Maker;
pub use sizes::{DISTRICTS, Sizes};

pub(crate) use rows::Cursor;

/// The tables, those that others refer to before them.
pub(crate) fn tables(workload: &OrderEntryWorkload) -> Vec<Table> {
    schema::tables(workload)
}

/// The sizes of the tables when they are loaded.
pub(crate) fn table_sizes(workload: &OrderEntryWorkload) -> Vec<TableSize> {
    let tables = tables(workload).into_iter();
    let size = |table: Table| TableSize {
        name: table.name,
        rows: table.rows,
    };
    tables.map(size).collect()
}

/// Returns its statements, as a script without transactions: their requests depend on earlier
/// answers.
pub(crate) fn script() -> Script {
    Script::of_statements(queries::statements())
}
