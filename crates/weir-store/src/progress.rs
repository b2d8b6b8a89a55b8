//! Progress of a running study: its events, its state, and the file in which others read that.
//!
//! The runner sends [`Event`]s; [`Progress`] is what they add up to: the terminal draws it, and a
//! [`ProgressFile`] beside the result tells it to other processes (`weir serve`) while the study runs;
//! docs/serve.md describes it. Nothing here touches a server.

mod error;
mod event;
mod file;
mod state;

pub use error::ProgressError;
pub use event::Event;
pub use file::{PROGRESS_FILE, ProgressFile};
pub use state::{FinishedRun, Limits, Progress, RunInProgress, Second, Step};
