//! Tenths of a second, kept around events: a stall of a table is often shorter than an interval.
//!
//! Each has a slot for each of its milliseconds, which says whether a statement was completed in it. So the longest
//! pause of all reactors together is known to a millisecond or two, also where it spans many tenths.

use serde::{Deserialize, Serialize};

/// Length of a short interval, nanoseconds.
pub(crate) const SHORT_NS: u64 = 100_000_000;
/// Slots of a short interval.
pub(crate) const SLOTS: u64 = 100;
/// Length of a slot, nanoseconds.
const SLOT_NS: u64 = SHORT_NS / SLOTS;

/// Counts of one reporter in one short interval.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ShortTally {
    /// Number of the interval, from 0 at the beginning of the measurement.
    pub(crate) number: u64,
    pub(crate) transactions: u64,
    pub(crate) statements: u64,
    /// Bit n: a statement was completed in slot n.
    pub(crate) slots: u128,
    /// Latencies of the transactions, microseconds.
    pub(crate) latencies_us: Vec<u32>,
}

impl ShortTally {
    /// Adds another reporter's counts of the same short interval.
    pub(crate) fn add(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.statements += other.statements;
        self.slots |= other.slots;
        self.latencies_us.extend_from_slice(&other.latencies_us);
    }
}

/// Those of one frame. Cleared, they keep their memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct ShortTallies {
    tallies: Vec<ShortTally>,
    used: usize,
}

impl ShortTallies {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &ShortTally> {
        self.tallies.iter().take(self.used)
    }

    pub(crate) fn clear(&mut self) {
        self.used = 0;
    }

    /// Counts a statement that was completed so long after the beginning of the measurement.
    pub(crate) fn statement(&mut self, at_ns: u64) {
        let tally = self.at(at_ns / SHORT_NS);
        tally.statements += 1;
        tally.slots |= 1 << (at_ns % SHORT_NS / SLOT_NS);
    }

    /// Counts transactions that were completed then.
    pub(crate) fn transactions(&mut self, at_ns: u64, count: u64, latency_ns: u64) {
        let tally = self.at(at_ns / SHORT_NS);
        tally.transactions += count;
        let latency_us = u32::try_from(latency_ns / 1_000).unwrap_or(u32::MAX);
        tally.latencies_us.push(latency_us);
    }

    fn at(&mut self, number: u64) -> &mut ShortTally {
        let known = self.tallies[..self.used].iter();
        let position = known.rev().position(|tally| tally.number == number);
        let place = match position {
            Some(from_end) => self.used - 1 - from_end,
            None => self.begin(number),
        };
        &mut self.tallies[place]
    }

    /// An empty one; its place.
    fn begin(&mut self, number: u64) -> usize {
        let place = self.used;
        self.used += 1;
        match self.tallies.get_mut(place) {
            Some(tally) => {
                tally.latencies_us.clear();
                let latencies_us = std::mem::take(&mut tally.latencies_us);
                *tally = ShortTally {
                    number,
                    latencies_us,
                    ..ShortTally::default()
                };
            }
            None => self.tallies.push(ShortTally {
                number,
                ..ShortTally::default()
            }),
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_completed_is_in_its_tenth_and_its_millisecond() {
        let mut tallies = ShortTallies::default();
        for at_ms in [5, 99, 100, 101, 98] {
            tallies.statement(at_ms * 1_000_000);
        }
        tallies.transactions(99_000_000, 2, 3_000_000);
        let all: Vec<_> = tallies.iter().collect();
        assert_eq!((all[0].number, all[0].statements), (0, 3));
        assert_eq!(all[0].slots, 1 << 5 | 1 << 98 | 1 << 99);
        assert_eq!(
            (all[0].transactions, &all[0].latencies_us[..]),
            (2, &[3_000][..])
        );
        assert_eq!((all[1].number, all[1].slots), (1, 0b11));
        tallies.clear();
        tallies.statement(100_000_000);
        let again: Vec<_> = tallies.iter().map(|tally| tally.statements).collect();
        assert_eq!(again, [1]);
    }
}
