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
        /// Kind of values of which there are too few.
        what: &'static str,
        /// Number of values.
        count: usize,
        /// Number of values that the method needs.
        needed: usize,
    },
    /// A slope needs two different sizes, a curve sizes that rise.
    #[error("sizes do not rise; give every size once, from the smallest to the largest")]
    SizesDoNotRise,
    /// A curve that must rise falls by more than its noise.
    #[error(
        "the curve falls from {from} to {to} by more than its noise; measure what else changed"
    )]
    Falls {
        /// Size before the fall.
        from: f64,
        /// Size after it.
        to: f64,
    },
    /// A question about what was not measured.
    #[error(
        "{} was not measured (the range is {} to {}); extend the sweep",
        rounded(*value),
        rounded(*low),
        rounded(*high)
    )]
    OutsideMeasured {
        /// Value that was asked for.
        value: f64,
        /// Lowest value measured.
        low: f64,
        /// Highest value measured.
        high: f64,
    },
    /// A search over nothing.
    #[error("cannot search from {low} to {high}; the range must start above 0 and rise")]
    EmptyRange {
        /// Smallest value allowed.
        low: u64,
        /// Largest value allowed.
        high: u64,
    },
    /// A search that would not end or never measure.
    #[error("cannot search with tolerance {tolerance} and {repeats} repeats; both must be above 0")]
    EndlessSearch {
        /// Relative distance at which to stop.
        tolerance: f64,
        /// Runs per place.
        repeats: usize,
    },
}

/// With three digits, and all of those before the point.
fn rounded(value: f64) -> String {
    let digits = 2 - value.abs().max(f64::MIN_POSITIVE).log10().floor() as i32;
    let text = format!("{value:.*}", digits.clamp(0, 9) as usize);
    let whole = text.trim_end_matches('0').trim_end_matches('.');
    if text.contains('.') {
        whole.to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_message_are_rounded() {
        assert_eq!(rounded(4_111.893_038_530_655), "4112");
        assert_eq!(rounded(0.012_345), "0.0123");
        assert_eq!(
            (rounded(128.0), rounded(1.5), rounded(0.0)),
            ("128".into(), "1.5".into(), "0".into())
        );
    }
}
