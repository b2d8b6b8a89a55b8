//! The drive's clock: nanoseconds since its process mounted it.

use rustix::time::Timespec;
use weir_model::Nanoseconds;

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
    pub(crate) fn monotonic(self, time: Nanoseconds) -> Timespec {
        let at = self.started_ns.saturating_add(time);
        Timespec {
            tv_sec: (at / 1_000_000_000).cast_signed(),
            tv_nsec: (at % 1_000_000_000).cast_signed(),
        }
    }
}

/// `CLOCK_MONOTONIC`, nanoseconds: the same for all processes of the machine, and the clock behind
/// [`Instant`] on Linux.
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
