//! A capture, sent again, and how faithful that was; a workload file that is fitted to a capture.
//! Change here: when a statement is sent: `session.rs`, `options.rs`; what of a capture is sent: `feeding.rs`; settings of a session: `settings.rs`; figures at the end: `outcome.rs`; reasons of other outcomes: `difference.rs`, of those in the data: `data_sources.rs`; a workload from a capture: `fit/`.
//!
//! [`Survey`] reads a capture once: how many sessions there are at a time, which statements, in which schema. [`replay`]
//! sends it to a server by the load engine: sessions open and close as captured, each statement is due when it was,
//! and one thread reads the file ahead of them. What came of each is compared with what came of it before.

mod absence;
mod charsets;
mod commits;
mod data_sources;
mod difference;
mod error;
mod example;
mod executed;
mod feed;
mod feeding;
pub mod fit;
mod item;
mod options;
mod order;
mod outcome;
mod run;
mod session;
mod session_schema;
mod settings;
mod slot;
mod survey;
mod tally;
mod transaction;
mod window;
mod writers;

pub use difference::{KindDifference, outcome_differences, table_differences};
pub use error::ReplayError;
pub use example::Example;
pub use options::ReplayOptions;
pub use outcome::ReplayOutcome;
pub use run::{CapturePart, replay};
pub use survey::Survey;
