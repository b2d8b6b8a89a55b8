//! The clock of a run: the system's, or one that a test moves.

use std::time::Instant;

#[cfg(test)]
use std::sync::Arc;
#[cfg(test)]
use std::sync::atomic::{AtomicU64, Ordering};

/// Nanoseconds since a run began.
#[derive(Debug, Clone)]
pub(crate) enum Clock {
    /// On the system's monotonic clock, from this instant on.
    Since(Instant),
    /// As a test says.
    #[cfg(test)]
    Told(Arc<AtomicU64>),
}

impl Clock {
    pub(super) fn now_ns(&self) -> u64 {
        match self {
            Self::Since(origin) => origin.elapsed().as_nanos() as u64,
            #[cfg(test)]
            Self::Told(now_ns) => now_ns.load(Ordering::Relaxed),
        }
    }
}
