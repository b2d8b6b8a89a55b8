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
    /// A logarithm needs a number above zero.
    #[error("cannot take the logarithm of {value}; every value must be finite and above 0")]
    NoLogarithm {
        /// The value.
        value: f64,
    },
    /// A method that would not hold its confidence with so little.
    #[error("too few {what}: {count} (the method holds from {needed}); measure more")]
    TooFew {
        /// What there is too little of.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// How many the method needs.
        needed: usize,
    },
}
