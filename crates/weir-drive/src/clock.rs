//! The drive's clock: nanoseconds since its process mounted it.

use std::time::{Duration, Instant};

use weir_model::Nanoseconds;

/// Monotonic time since it was started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    started: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            started: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> Nanoseconds {
        self.started.elapsed().as_nanos() as Nanoseconds
    }

    /// Burns time until `deadline`; for waits shorter than what a sleep and its wake-up take.
    pub(crate) fn spin_until(&self, deadline: Nanoseconds) {
        while self.now() < deadline {
            std::hint::spin_loop();
        }
    }

    /// The moment `time` on this clock, `None` if it has passed.
    pub(crate) fn remaining(&self, time: Nanoseconds) -> Option<Duration> {
        let left = time.saturating_sub(self.now());
        (left > 0).then(|| Duration::from_nanos(left))
    }
}

/// `CLOCK_MONOTONIC`, nanoseconds: the same for all processes of the machine, and the clock behind
/// [`Instant`] on Linux.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
