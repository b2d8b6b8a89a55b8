//! Errors of this crate.

use thiserror::Error;

/// Input that has no answer.
#[derive(Debug, Error, PartialEq)]
pub enum StatsError {
    /// Nothing to estimate from.
    #[error("no pairs to compare; every pair needs a run of both levels in one repetition")]
    NoPairs,
    /// A ratio needs numbers above zero.
    #[error("cannot take the ratio of {numerator} and {denominator}; both must be above 0")]
    NotPositive {
        /// The level's value.
        numerator: f64,
        /// The baseline's value.
        denominator: f64,
    },
}
