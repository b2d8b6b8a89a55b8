//! Delays of replies, and the one that is due next.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use weir_workload::{Rng, seeded};

/// Distribution of the delays of a null server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DelayKind {
    /// All the same.
    #[default]
    Constant,
    /// Exponentially: most are shorter than the mean, one in a thousand is seven times as long.
    Exponential,
}

/// A source of delays.
#[derive(Debug)]
pub(super) struct Delays {
    kind: DelayKind,
    mean: Duration,
    rng: Rng,
}

impl Delays {
    /// The same delays each time, in the order of the statements.
    pub(super) fn new(kind: DelayKind, mean: Duration) -> Self {
        Self {
            kind,
            mean,
            rng: seeded(1, 0),
        }
    }

    pub(super) fn next(&mut self) -> Duration {
        match self.kind {
            DelayKind::Constant => self.mean,
            // The inverse of the distribution; the argument is in (0, 1].
            DelayKind::Exponential => self.mean.mul_f64(-(1.0 - self.rng.unit()).ln()),
        }
    }
}

/// A reply that is to be sent; the earliest is the greatest, as heaps want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) at: Instant,
    pub(super) index: usize,
    /// Time at which the statement was read.
    pub(super) asked: Instant,
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.index).cmp(&(self.at, self.index))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
