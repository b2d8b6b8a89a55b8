//! A capture, sent again.
//!
//! [`Survey`] reads a capture once: how many sessions there are at a time, which statements, in which schema. [`replay`]
//! sends it to a server by the load engine: sessions open and close as captured, each statement is due when it was,
//! and one thread reads the file ahead of them. What came of each is compared with what came of it before.

mod error;
mod feed;
mod feeding;
mod item;
mod options;
mod outcome;
mod run;
mod session;
mod slot;
mod survey;
mod tally;
mod window;

pub use error::ReplayError;
pub use options::{Pace, ReplayOptions};
pub use outcome::{Fidelity, FingerprintOutcome, LatenessUs, NotSent, ReplayOutcome};
pub use run::replay;
pub use survey::Survey;
