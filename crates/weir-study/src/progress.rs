//! Where a running study is: one state, folded from its events. The terminal draws it, and a file
//! beside the result tells it to whoever else watches (`weir serve`); docs/serve.md describes it.

mod file;
mod state;

pub use file::{PROGRESS_FILE, ProgressFile};
pub use state::{FinishedRun, Limits, Progress, RunInProgress, Second, Step};
