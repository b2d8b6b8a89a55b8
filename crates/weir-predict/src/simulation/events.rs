//! Events by time, and random numbers.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use weir_model::Nanoseconds;

/// Worker that takes a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Worker {
    /// A connection.
    Client(u32),
    /// The drive, if it is an emulated one: no transaction waits for it to leave the core.
    Drive,
}

/// Something that is over; the number is that of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Event {
    SliceOver(Worker),
    ReadOver(u32),
    TurnOver(u32),
    WaitOver(u32),
    LogTaken,
    LogWritten,
    CopiesWritten,
    BatchPageWritten,
    PageWritten,
}

/// Events in the order of their times; those of one time in the order in which they were added.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    events: BinaryHeap<Reverse<(Nanoseconds, u64, Event)>>,
    added: u64,
}

impl Agenda {
    pub(super) fn add(&mut self, at: Nanoseconds, event: Event) {
        self.events.push(Reverse((at, self.added, event)));
        self.added += 1;
    }

    pub(super) fn next(&mut self) -> Option<(Nanoseconds, Event)> {
        self.events.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

/// Random numbers.
#[derive(Debug)]
pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(super) fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws; returns true if one of `these` is drawn from these and `others`.
    pub(super) fn chooses(&mut self, these: u32, others: u32) -> bool {
        self.below(u64::from(these) + u64::from(others)) < u64::from(these)
    }

    /// Draws; returns true in this share of the cases.
    pub(super) fn happens(&mut self, share: f64) -> bool {
        self.unit() <= share
    }

    /// In (0, 1].
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    pub(super) fn exponential_ns(&mut self, mean_s: f64) -> Nanoseconds {
        (-self.unit().ln() * mean_s * 1e9) as Nanoseconds
    }

    /// A number of independent events of this mean: steps of a Poisson process (Knuth, volume 2,
    /// 3.4.1).
    pub(super) fn poisson(&mut self, mean: f64) -> u32 {
        let mut count = 0;
        let mut sum = -self.unit().ln();
        while sum < mean {
            count += 1;
            sum -= self.unit().ln();
        }
        count
    }
}
