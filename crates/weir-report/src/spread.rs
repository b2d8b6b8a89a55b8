//! Spread of the repetitions of a combination, and their common value.

use serde::Serialize;
use weir_stats::median;

use crate::number::RoundedNumber;

/// A value with the lowest and the highest repetition; written as a list of three.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Spread(RoundedNumber, RoundedNumber, RoundedNumber);

impl Spread {
    /// `value`, which stands for all repetitions, to `digits` significant digits; `None` if it is not
    /// finite. Repetitions that are not finite (0 / 0: no operation) count for nothing.
    pub(crate) fn around(value: f64, repetitions: &[f64], digits: i32) -> Option<Self> {
        let finite = || repetitions.iter().copied().filter(|one| one.is_finite());
        let low = finite().fold(value, f64::min);
        let high = finite().fold(value, f64::max);
        let rounded = |value| RoundedNumber::new(value, digits);
        Some(Self(rounded(value)?, rounded(low)?, rounded(high)?))
    }

    /// The median of `repetitions`.
    pub(crate) fn of_median(repetitions: &[f64], digits: i32) -> Option<Self> {
        Self::around(median(repetitions)?, repetitions, digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(spread: Option<Spread>) -> String {
        serde_json::to_string(&spread).unwrap()
    }

    #[test]
    fn a_value_stands_between_its_lowest_and_highest_repetition() {
        let three = Spread::of_median(&[30.0, 10.0, 20.04], 3);
        assert_eq!(written(three), "[20,10,30]");
        assert_eq!(written(Spread::of_median(&[7.0], 3)), "[7,7,7]");
        let unknown = Spread::around(5.0, &[f64::NAN, 4.0], 3);
        assert_eq!(written(unknown), "[5,4,5]");
        assert_eq!(Spread::around(f64::NAN, &[1.0], 3), None);
        assert_eq!(Spread::of_median(&[], 3), None);
    }
}
