//! Tables of a stock server as they were, what changed since, and the script that takes it back; from the tables and the binary log.
//! Change here: what an event of the log means: `scan.rs`; which tables can be told: `table.rs`; the algorithm: `flashback.rs`; how values are written: `render.rs`; what is taken back: `undo.rs`; the script: `script.rs`; how it is tried: `rehearsal.rs`.
//! Options and what is printed: `command/`.
//!
//! It needs neither a lock nor a backup: [`Prepared::make`] has the algorithm and why it is right.
//!
//! The user's server is only read: its tables in one consistent snapshot, its log as a replica reads it. Images of rows
//! reach the private server as row events, so that a server of the same kind reads the values that one wrote.

#[macro_use]
extern crate weir_terminal;

mod as_of;
mod branches;
mod change;
pub mod command;
mod condition;
mod copy;
mod definition;
mod diff;
mod difference;
mod error;
mod events;
mod findings;
mod flashback;
mod foreign_keys;
mod hidden_keys;
mod history;
mod images;
mod inverse;
mod log_files;
mod moment;
mod pace;
mod private;
mod rehearsal;
mod render;
mod row_events;
mod scan;
mod script;
mod settled;
mod side_table;
mod source;
mod spool;
mod statement;
mod step;
mod table;
mod triggers;
mod undo;

pub use as_of::AsOfStatement;
pub use change::{Change, Transaction};
pub use condition::only_where;
pub use diff::{Diff, DiffLine};
pub use error::FlashbackError;
pub use findings::LogFindings;
pub use flashback::{BuiltFlashback, Counts, FlashbackPlan, Options, State};
pub use history::{ColumnChange, HistoryLine, LoggedValue, line, read_key};
pub use images::{Images, KeptImage, MEMORY_BYTES};
pub use moment::{Moment, MomentRequest};
pub use private::{Private, find_like, usual_parent};
pub use rehearsal::{Rehearsal, RehearsalResult, rehearse};
pub use scan::read_log;
pub use script::{Script, head};
pub use side_table::{TableRows, into};
pub use source::Source;
pub use table::{Column, Table, TableName};
pub use triggers::Triggers;
pub use undo::{TransactionFilter, Undo};
pub use weir_server::Stop;
