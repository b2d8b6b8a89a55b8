//! Random numbers and texts as the specification has them.

use crate::{Rng, seeded};

/// Last names that there are.
pub(super) const LAST_NAMES: u32 = 1_000;
/// The constant of last names when tables are loaded.
const LAST_NAME_LOADED: u64 = 100;
/// By how much that of a run is above it: 65 to 119, and neither of two.
const DELTAS: std::ops::RangeInclusive<u64> = 65..=119;
const NO_DELTAS: [u64; 2] = [96, 112];
/// The stream of random numbers that a run's constants come from.
const CONSTANTS_STREAM: u64 = 1 << 61;

/// Constants A of the three fields (clause 2.1.6).
const LAST_NAME_A: u64 = 255;
const CUSTOMER_A: u64 = 1_023;
const ITEM_A: u64 = 8_191;

const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The constants C of a run or of a loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Constants {
    last_name: u64,
    customer: u64,
    item: u64,
}

impl Constants {
    /// Those that tables are loaded with.
    pub(super) const LOADED: Self = Self {
        last_name: LAST_NAME_LOADED,
        customer: 0,
        item: 0,
    };

    /// Those of a run of this seed, the same for all its connections (clause 2.1.6.1).
    pub fn of_run(seed: u64) -> Self {
        let mut rng = seeded(seed, CONSTANTS_STREAM);
        let deltas: Vec<_> = DELTAS.filter(|delta| !NO_DELTAS.contains(delta)).collect();
        Self {
            last_name: LAST_NAME_LOADED + deltas[rng.below(deltas.len() as u64) as usize],
            customer: rng.below(CUSTOMER_A + 1),
            item: rng.below(ITEM_A + 1),
        }
    }

    /// The number of a last name that a district of so many customers has.
    pub(super) fn last_name(&self, rng: &mut Rng, customers: u32) -> u32 {
        let last = customers.min(LAST_NAMES) - 1;
        uneven(rng, LAST_NAME_A, self.last_name, 0, last)
    }

    /// The number of a customer.
    pub(super) fn customer(&self, rng: &mut Rng, customers: u32) -> u32 {
        uneven(rng, CUSTOMER_A, self.customer, 1, customers)
    }

    /// The number of an item.
    pub(super) fn item(&self, rng: &mut Rng, items: u32) -> u32 {
        uneven(rng, ITEM_A, self.item, 1, items)
    }
}

/// The specification's `NURand(A, x, y)`.
fn uneven(rng: &mut Rng, a: u64, c: u64, first: u32, last: u32) -> u32 {
    let (x, y) = (u64::from(first), u64::from(last));
    let either = rng.below(a + 1) | between(rng, x, y);
    ((either + c) % (y - x + 1) + x) as u32
}

/// Uniform from `first` to `last`, both of which it may be.
pub(super) fn between(rng: &mut Rng, first: u64, last: u64) -> u64 {
    first + rng.below(last - first + 1)
}

/// Draws; returns true in so many of a hundred cases.
pub(super) fn happens(rng: &mut Rng, percent: u64) -> bool {
    rng.below(100) < percent
}

/// Appends letters and digits.
pub(super) fn put_letters(rng: &mut Rng, length: usize, out: &mut Vec<u8>) {
    let end = out.len() + length;
    while out.len() < end {
        let bits = rng.bits();
        // Each half of the bits is a fraction, whose first five digits to the base 62 are five letters.
        for half in [bits >> 32, bits & u64::from(u32::MAX)] {
            let mut fraction = half;
            for _ in 0..(end - out.len()).min(5) {
                fraction *= LETTERS.len() as u64;
                out.push(LETTERS[(fraction >> 32) as usize]);
                fraction &= u64::from(u32::MAX);
            }
        }
    }
}

/// Appends digits.
pub(super) fn put_digits(rng: &mut Rng, length: usize, out: &mut Vec<u8>) {
    out.extend((0..length).map(|_| b'0' + rng.below(10) as u8));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_of_runs_are_apart_from_those_of_the_tables() {
        for seed in 0..500 {
            let constants = Constants::of_run(seed);
            let delta = constants.last_name - Constants::LOADED.last_name;
            assert!(DELTAS.contains(&delta) && !NO_DELTAS.contains(&delta));
            assert!(constants.last_name <= LAST_NAME_A);
            assert!(constants.customer <= CUSTOMER_A && constants.item <= ITEM_A);
        }
        assert_eq!(Constants::of_run(7), Constants::of_run(7));
    }

    #[test]
    fn uneven_numbers_stay_in_their_range_and_are_uneven() {
        let (mut rng, constants) = (seeded(1, 0), Constants::of_run(1));
        let mut counts = vec![0_u32; 3_001];
        for _ in 0..300_000 {
            counts[constants.customer(&mut rng, 3_000) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        counts.sort_unstable();
        // Of uniform ones, a tenth of the customers would have little more than a tenth.
        let hot: u32 = counts[2_701..].iter().sum();
        assert!((60_000..250_000).contains(&hot), "{hot}");
        for customers in [20, 999, 3_000] {
            let names = (0..10_000).map(|_| constants.last_name(&mut rng, customers));
            assert!(names.max().unwrap() < customers.min(LAST_NAMES));
        }
    }

    #[test]
    fn texts_have_their_length_and_all_letters() {
        let mut rng = seeded(3, 0);
        let mut seen = [0_u32; 256];
        for length in 0..600 {
            let mut out = b"x".to_vec();
            put_letters(&mut rng, length, &mut out);
            assert_eq!(out.len(), length + 1);
            for letter in &out[1..] {
                seen[usize::from(*letter)] += 1;
            }
        }
        let counts: Vec<_> = LETTERS.iter().map(|l| seen[usize::from(*l)]).collect();
        // 2,900 with a standard deviation of 53.
        assert!(
            counts.iter().all(|n| (2_500..3_300).contains(n)),
            "{counts:?}"
        );
        assert_eq!(counts.iter().sum::<u32>(), (0..600).sum::<u32>());
    }
}
