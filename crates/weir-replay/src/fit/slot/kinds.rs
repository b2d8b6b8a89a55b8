//! Kind of a slot's values, if all of them are of one kind.

use crate::fit::datum::{Datum, TextDatum};

/// The least and the greatest.
pub(super) fn ends(numbers: &[i64]) -> (i64, i64) {
    let least = numbers.iter().min().copied().unwrap_or(0);
    (least, numbers.iter().max().copied().unwrap_or(0))
}

pub(super) fn integer(datum: &Datum) -> Option<i64> {
    match datum {
        Datum::Integer(number) => Some(*number),
        _ => None,
    }
}

pub(super) fn moment(datum: &Datum) -> Option<i64> {
    match datum {
        Datum::Moment(moment) => Some(*moment),
        _ => None,
    }
}

pub(super) fn text(datum: &Datum) -> Option<TextDatum> {
    match datum {
        Datum::Text(text) => Some(*text),
        _ => None,
    }
}

pub(super) fn decimal_scale(datum: &Datum) -> Option<u8> {
    match datum {
        Datum::Decimal { scale, .. } => Some(*scale),
        _ => None,
    }
}

/// A number as so many parts of one.
pub(super) fn scaled(datum: &Datum, to: u8) -> Option<i64> {
    let (units, scale) = match datum {
        Datum::Decimal { units, scale } => (*units, *scale),
        Datum::Integer(number) => (*number, 0),
        _ => return None,
    };
    units.checked_mul(10_i64.pow(u32::from(to.saturating_sub(scale))))
}
