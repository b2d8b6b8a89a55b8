//! Which numbers a column of the fitted tables has, and where those of the capture lie among them.

use crate::fit::schema::{ColumnFacts, TableFacts};

/// Numbers up to this are kinds and counts, and stay as they are.
const PLAIN_MAX: i64 = 9_999;
/// So many of them at most.
const PLAIN_SPAN: i64 = 200;
/// Bounds of fewer numbers are not rounded.
const TOLD_SPAN: i128 = 101;
/// Values are dense if at least every so many-th number of their range is one.
const DENSE: u64 = 3;

/// A range of real numbers and the range that stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Domain {
    /// Least and greatest real number.
    real: (i64, i64),
    /// The first number that stands for them, and how many there are.
    pub(crate) first: i64,
    pub(crate) count: u64,
}

impl Domain {
    /// Real numbers that stand for themselves, as far as their bounds are not given away: these are rounded outwards
    /// to two digits of the range. A range that is too narrow for that is moved.
    pub(crate) fn rounded(least: i64, most: i64) -> Self {
        let (first, last) = if is_plain(least, most) {
            (least, most)
        } else {
            rounded_out(least, most)
        };
        let span = i128::from(last) - i128::from(first) + 1;
        let is_told = span < TOLD_SPAN && !is_plain(least, most);
        Self {
            real: (first, last),
            first: if is_told { two_digits(first) } else { first },
            count: u64::try_from(span)
                .unwrap_or(u64::MAX)
                .clamp(1, i32::MAX as u64),
        }
    }

    /// The rows of a table, by its integer key.
    pub(crate) fn of_key(table: &TableFacts, column: &ColumnFacts) -> Self {
        let (least, most) = column.range.unwrap_or((1, 1));
        Self {
            real: (least, most),
            first: 1,
            count: table.rows.clamp(1, i32::MAX as u64),
        }
    }

    /// The numbers of an integer column that is no key.
    pub(crate) fn of_column(column: &ColumnFacts) -> Self {
        if let Some(key) = column.referenced {
            return Self {
                real: key.range,
                first: 1,
                count: key.rows.clamp(1, i32::MAX as u64),
            };
        }
        let (least, most) = column.range.unwrap_or((1, 1));
        if is_plain(least, most) {
            return Self::rounded(least, most);
        }
        let span = u64::try_from(i128::from(most) - i128::from(least) + 1).unwrap_or(u64::MAX);
        let is_dense = column.distinct.saturating_mul(DENSE) >= span;
        let count = if is_dense { span } else { column.distinct };
        Self {
            real: (least, most),
            first: 1,
            count: count.clamp(1, i32::MAX as u64),
        }
    }

    /// The last number that stands for a real one.
    pub(crate) fn last(&self) -> i64 {
        self.first.saturating_add_unsigned(self.count - 1)
    }

    /// Which of the numbers, from 1, stands for a real one.
    pub(crate) fn key(&self, real: i64) -> u32 {
        let (least, most) = self.real;
        let span = i128::from(most) - i128::from(least) + 1;
        let offset = (i128::from(real) - i128::from(least)).clamp(0, span - 1);
        let key = offset * i128::from(self.count) / span;
        1 + key as u32
    }

    /// Returns true if a number is one of the real ones.
    pub(crate) fn has(&self, real: i64) -> bool {
        (self.real.0..=self.real.1).contains(&real)
    }
}

fn is_plain(least: i64, most: i64) -> bool {
    least >= -PLAIN_MAX && most <= PLAIN_MAX && most - least <= PLAIN_SPAN
}

fn rounded_out(least: i64, most: i64) -> (i64, i64) {
    let span = i128::from(most) - i128::from(least) + 1;
    let mut step: i128 = 1;
    while step * 100 < span {
        step *= 10;
    }
    let down = i128::from(least).div_euclid(step) * step;
    let up = (i128::from(most).div_euclid(step) + 1) * step;
    // Numbers from 1 on do not begin at 0.
    let down = if down == 0 && least > 0 { 1 } else { down };
    let clamp = |number: i128| number.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    (clamp(down), clamp(up))
}

/// The first two digits, and zeros.
fn two_digits(number: i64) -> i64 {
    let mut step = 1;
    while number / step >= 100 || number / step <= -100 {
        step *= 10;
    }
    number.div_euclid(step) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_rounded_outwards_and_places_stay() {
        let domain = Domain::rounded(3, 98_765);
        assert_eq!((domain.first, domain.last()), (1, 99_000));
        assert_eq!((domain.key(1), domain.key(98_765)), (1, 98_765));
        let few = Domain::rounded(1, 5);
        assert_eq!((few.first, few.count, few.key(5)), (1, 5, 5));
        let narrow = Domain::rounded(314_159_265, 314_159_270);
        assert_eq!((narrow.first, narrow.key(314_159_270)), (310_000_000, 6));
        let wide = Domain::rounded(i64::MIN, i64::MAX);
        assert_eq!(wide.count, i32::MAX as u64);
        assert!(u64::from(wide.key(i64::MAX)) <= wide.count);
        let sparse = ColumnFacts {
            range: Some((1_000_000, 9_000_000)),
            distinct: 500,
            ..ColumnFacts::default()
        };
        let domain = Domain::of_column(&sparse);
        assert_eq!(
            (domain.first, domain.last(), domain.key(9_000_000)),
            (1, 500, 500)
        );
    }
}
