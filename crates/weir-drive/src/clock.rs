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
