//! Errors of this crate.

use thiserror::Error;

/// A result that cannot be read, compared or judged.
#[derive(Debug, Error)]
pub enum JudgeError {
    /// A comparison of levels that the result does not have.
    #[error("no factor `{factor}` with two levels that were measured; there are {known}")]
    NoSuchFactor {
        /// Factor that was asked for.
        factor: String,
        /// The factors of the result.
        known: String,
    },
    /// Levels that no cell has.
    #[error("no cell with {wanted}; there are {known}")]
    NoSuchCells {
        /// Level that was asked for.
        wanted: String,
        /// The factors with their levels.
        known: String,
    },
    /// A gate on a kind of statement that no comparison has.
    #[error(
        "no kind of statement of these results has `{part}` in its text; `weir report` lists them (results of replayed captures have kinds)"
    )]
    NoSuchStatement {
        /// Part of the text that was asked for.
        part: String,
    },
    /// The store.
    #[error(transparent)]
    Store(#[from] weir_store::StoreError),
    /// Statistics.
    #[error(transparent)]
    Stats(#[from] weir_stats::StatsError),
}
