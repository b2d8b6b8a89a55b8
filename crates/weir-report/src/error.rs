//! Errors of a report.

use thiserror::Error;

/// A report that could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    /// The result holds something that JSON cannot say.
    #[error("result as JSON: {0} (a value has no JSON form); report it as a bug of weir")]
    Serialize(#[source] serde_json::Error),
    /// The page has no place for the result.
    #[error(
        "report page: no element `weir-result` (it was built from other sources); run `make web` and build again"
    )]
    NoSlot,
    /// A picture that cannot be drawn.
    #[error("cannot draw the flame graph ({0}); look whether stacks were sampled")]
    FlameGraph(#[source] std::io::Error),
}
