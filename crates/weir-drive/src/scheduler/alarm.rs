//! What the timer thread sleeps on: a timerfd(2), which another thread can set without waking it.

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};
use weir_model::Nanoseconds;

use crate::clock::Clock;

/// Ends one sleep at a time, on the drive's clock.
#[derive(Debug)]
pub(super) struct Alarm {
    descriptor: OwnedFd,
    clock: Clock,
}

impl Alarm {
    pub(super) fn new(clock: Clock) -> std::io::Result<Self> {
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        Ok(Self { descriptor, clock })
    }

    /// The sleep ends at `at`, or at once if that has passed, and not at the time that was set before.
    pub(super) fn set(&self, at: Nanoseconds) {
        const NEVER: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let time = Itimerspec {
            it_interval: NEVER,
            it_value: self.clock.monotonic(at),
        };
        // It fails on wrong arguments only.
        let set = timerfd_settime(&self.descriptor, TimerfdTimerFlags::ABSTIME, &time);
        debug_assert!(set.is_ok(), "{set:?}");
    }

    /// Sleeps until the time that is set when it comes; for ever if none is.
    pub(super) fn sleep(&self) {
        let mut expirations = [0; 8];
        while rustix::io::read(&self.descriptor, &mut expirations) == Err(Errno::INTR) {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_ends_at_the_time_that_was_set_last() {
        let clock = Clock::start();
        let alarm = Alarm::new(clock).unwrap();
        let from = clock.now();
        alarm.set(from + 3_600_000_000_000);
        alarm.set(from + 2_000_000);
        alarm.sleep();
        assert!(clock.now() >= from + 2_000_000);
        // Past, and the very beginning, which timerfd(2) would take for "never".
        for past in [from, 0] {
            alarm.set(past);
            alarm.sleep();
        }
    }

    #[test]
    fn another_thread_ends_a_sleep() {
        let clock = Clock::start();
        let alarm = Alarm::new(clock).unwrap();
        alarm.set(clock.now() + 3_600_000_000_000);
        std::thread::scope(|scope| {
            let asleep = scope.spawn(|| alarm.sleep());
            alarm.set(clock.now());
            asleep.join().unwrap();
        });
    }
}
