//! Effects of an `ALTER TABLE` on a table and on the load beside it.
//!
//! [`Facts`] are a table of statements: algorithm, lock and rebuild by flavour and version. [`TrialServer`] tries
//! statements on empty tables of a private server, and so checks each row. [`Advisor`] tries a statement on an empty
//! copy of a user's table, and reads from the user's server what may stand in its way.

mod advise;
mod algorithm;
mod alter;
mod copy;
mod error;
mod facts;
mod own_tool;
mod schema_objects;
mod table_name;
mod trial;
mod trial_server;

pub use advise::{Advice, AdviceOptions, Advisor, Obstacle, Severity, Space};
pub use algorithm::{Algorithm, Lock, Work};
pub use alter::AlterStatement;
pub use copy::{CopySummary, TableCopier, leftovers, remove_leftovers};
pub use error::DdlError;
pub use facts::{DocumentedBehavior, FactCheck, Facts, Operation};
pub use own_tool::{OwnTool, ToolRun};
pub use schema_objects::Leftover;
pub use trial::{EmptyTable, EmptyTables, RefusedTry, Trial, Way};
pub use trial_server::TrialServer;
