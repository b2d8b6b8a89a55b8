//! The drive's clock: nanoseconds since its process mounted it.

use weir_model::Nanoseconds;
use weir_process::monotonic_ns;

/// Monotonic time since it was started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    /// On `CLOCK_MONOTONIC`.
    started_ns: Nanoseconds,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            started_ns: monotonic_ns(),
        }
    }

    pub(crate) fn now(self) -> Nanoseconds {
        monotonic_ns() - self.started_ns
    }

    /// Burns time until `deadline`; for waits shorter than what a sleep and its wake-up take.
    pub(crate) fn spin_until(self, deadline: Nanoseconds) {
        while self.now() < deadline {
            std::hint::spin_loop();
        }
    }

    /// The moment `time` on `CLOCK_MONOTONIC`.
    pub(crate) fn monotonic_ns(self, time: Nanoseconds) -> Nanoseconds {
        self.started_ns.saturating_add(time)
    }
}
