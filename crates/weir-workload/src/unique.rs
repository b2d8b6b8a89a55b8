//! Numbers of a range, none twice, in no order.

use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers `first..first + span`, none twice, in an order that is the same for every run.
///
/// An index through a bijection of as many bits as the span needs. Xor-shifts and multiplications by odd
/// numbers can be undone, so two indexes never give the same number. (This is the mixing of `SplitMix`:
/// Steele, Lea and Flood 2014.) A number outside the span goes through it again, which
/// ends within the span ("cycle walking": Black and Rogaway 2002).
///
/// As the order is the same, runs that begin at different indexes do not meet until one of them reaches the
/// other's beginning. Runs begin at one of [`Self::arcs`] places, so that a later one can look which are taken.
#[derive(Debug)]
pub struct Unique {
    first: i64,
    span: u64,
    mask: u64,
    /// Numbers below are passed over.
    least: i64,
    seed: u64,
    index: AtomicU64,
}

impl Unique {
    /// Places where a run may begin, where there are enough numbers.
    const ARCS: u64 = 64;
    /// Numbers that an arc has at least.
    const ARC_MIN: u64 = 1_024;

    /// Numbers of `first..first + span`; after `span` of them they repeat. The seed decides where they begin.
    pub fn new(first: i64, span: u64, seed: u64) -> Self {
        let span = span.max(1);
        let mask = span
            .checked_next_power_of_two()
            .unwrap_or(0)
            .wrapping_sub(1);
        let unique = Self {
            first,
            span,
            mask,
            least: first,
            seed,
            index: AtomicU64::new(0),
        };
        unique.begin_at(unique.arc_start(unique.arc_of(0)));
        unique
    }

    /// The same without those that are less than `least`; at least one must be left.
    pub(crate) fn from(self, least: i64) -> Self {
        Self { least, ..self }
    }

    /// Returns the number of places to begin at.
    pub fn arcs(&self) -> u64 {
        if self.span >= Self::ARCS * Self::ARC_MIN {
            Self::ARCS
        } else {
            1
        }
    }

    /// Indexes of an arc.
    pub fn arc_length(&self) -> u64 {
        self.span / self.arcs()
    }

    /// The index at which an arc begins.
    pub fn arc_start(&self, arc: u64) -> u64 {
        arc % self.arcs() * self.arc_length()
    }

    /// The arc that a run tries as its `turn`-th, from 0. Arcs of neighbouring turns lie far apart.
    pub fn arc_of(&self, turn: u64) -> u64 {
        let arcs = self.arcs();
        let turn = self.seed.wrapping_add(turn) % arcs;
        // Its bits in reverse, as many as arcs need.
        (turn.reverse_bits() >> 1) >> (u64::BITS - 1 - arcs.trailing_zeros())
    }

    /// Goes on with the number at `index`.
    pub fn begin_at(&self, index: u64) {
        self.index.store(index, Ordering::Relaxed);
    }

    /// The number at an index; `None` if it is passed over.
    pub fn number(&self, index: u64) -> Option<i64> {
        let mut number = self.mix(index % self.span);
        while number >= self.span {
            number = self.mix(number);
        }
        let number = self.first.wrapping_add(number.cast_signed());
        (number >= self.least).then_some(number)
    }

    /// The next number.
    pub(crate) fn next(&self) -> i64 {
        loop {
            let index = self.index.fetch_add(1, Ordering::Relaxed);
            if let Some(number) = self.number(index) {
                return number;
            }
        }
    }

    fn mix(&self, number: u64) -> u64 {
        let half = (u64::BITS - self.mask.leading_zeros()) / 2 + 1;
        [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB]
            .iter()
            .fold(number ^ (KEY & self.mask), |number, multiplier| {
                let product = number.wrapping_mul(*multiplier) & self.mask;
                product ^ (product >> half)
            })
    }
}

/// Without it the first number would be the least.
const KEY: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn unique_numbers_are_unique_and_in_range_whatever_the_seed() {
        for (seed, span) in [
            (0, 200_000),
            (1, 300_001),
            (u64::MAX, 1 << 31),
            (7, u64::MAX),
        ] {
            let unique = Unique::new(100, span, seed);
            let numbers: Vec<_> = (0..200_000).map(|_| unique.next()).collect();
            let different: HashSet<_> = numbers.iter().copied().collect();
            assert_eq!(different.len(), numbers.len(), "seed {seed}");
            let offsets = numbers.iter().map(|n| n.wrapping_sub(100).cast_unsigned());
            assert!(offsets.max().unwrap() < span, "seed {seed}");
            // In no order: neighbours ascend about as often as they descend.
            let ascents = numbers.windows(2).filter(|pair| pair[0] < pair[1]).count();
            assert!(
                (80_000..120_000).contains(&ascents),
                "seed {seed}: {ascents}"
            );
        }
        let of_one = Unique::new(5, 1, 3);
        assert_eq!((of_one.next(), of_one.next()), (5, 5));
    }

    #[test]
    fn runs_that_begin_at_different_arcs_do_not_meet() {
        let span = 64 * 1_024;
        let unique = Unique::new(0, span, 9).from(1_000);
        let arcs: HashSet<_> = (0..unique.arcs()).map(|turn| unique.arc_of(turn)).collect();
        assert_eq!((arcs.len(), unique.arcs()), (64, 64));
        let mut seen = HashSet::new();
        for arc in arcs {
            unique.begin_at(unique.arc_start(arc));
            let end = unique.arc_start(arc) + unique.arc_length();
            while unique.index.load(Ordering::Relaxed) < end - 100 {
                let number = unique.next();
                assert!(seen.insert(number) && (1_000..span.cast_signed()).contains(&number));
            }
        }
        assert_eq!(Unique::new(0, 1_000, 9).arcs(), 1);
        // Neighbouring turns leave each other much room.
        let distance = unique.arc_of(0).abs_diff(unique.arc_of(1));
        assert!(distance >= 16, "{distance}");
    }
}
