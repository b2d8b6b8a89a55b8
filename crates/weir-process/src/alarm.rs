//! Nanoseconds of the monotonic clock, and an alarm on it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};

/// `CLOCK_MONOTONIC`, nanoseconds: the same for all processes of the machine, and the clock behind
/// [`Instant`](std::time::Instant) on Linux.
pub fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// The instant at which the monotonic clock shows `ns`.
pub fn instant_at(ns: u64) -> Instant {
    // Instants are of the same clock (Linux); the clock is read between two of them.
    let (now, shown) = (Instant::now(), monotonic_ns());
    if ns >= shown {
        now + Duration::from_nanos(ns - shown)
    } else {
        now.checked_sub(Duration::from_nanos(shown - ns))
            .unwrap_or(now)
    }
}

/// Returns the time of the monotonic clock at `instant`, nanoseconds.
pub fn ns_at(instant: Instant) -> u64 {
    let (now, shown) = (Instant::now(), monotonic_ns());
    let ahead = instant.saturating_duration_since(now).as_nanos() as u64;
    let ago = now.saturating_duration_since(instant).as_nanos() as u64;
    (shown + ahead).saturating_sub(ago)
}

/// A timerfd(2): it ends a sleep at a time that any thread may set, without waking the one that sleeps. In a poll its
/// descriptor becomes readable, each time it is set, so it need not be read.
#[derive(Debug)]
pub struct Alarm(OwnedFd);

impl Alarm {
    /// An alarm that is not set.
    ///
    /// # Errors
    ///
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        let descriptor = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC)?;
        Ok(Self(descriptor))
    }

    /// The sleep ends at `monotonic_ns`, or at once if that has passed, and not at the time that was set before.
    pub fn set(&self, monotonic_ns: u64) {
        const NEVER: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // The very beginning would stand for "never".
        let at_ns = monotonic_ns.max(1);
        let time = Itimerspec {
            it_interval: NEVER,
            it_value: Timespec {
                tv_sec: (at_ns / 1_000_000_000).cast_signed(),
                tv_nsec: (at_ns % 1_000_000_000).cast_signed(),
            },
        };
        // It fails on wrong arguments only.
        let set = timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &time);
        debug_assert!(set.is_ok(), "{set:?}");
    }

    /// Sleeps until the time that is set when it comes; for ever if none is.
    pub fn sleep(&self) {
        let mut expirations = [0; 8];
        while rustix::io::read(&self.0, &mut expirations) == Err(Errno::INTR) {}
    }
}

impl AsFd for Alarm {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR_NS: u64 = 3_600_000_000_000;

    #[test]
    fn a_sleep_ends_at_the_time_that_was_set_last() {
        let alarm = Alarm::new().unwrap();
        let from = monotonic_ns();
        alarm.set(from + HOUR_NS);
        alarm.set(from + 2_000_000);
        alarm.sleep();
        assert!(monotonic_ns() >= from + 2_000_000);
        for past in [from, 0] {
            alarm.set(past);
            alarm.sleep();
        }
    }

    #[test]
    fn instants_are_of_the_same_clock() {
        let ahead_ns = monotonic_ns() + 50_000_000;
        let at = instant_at(ahead_ns);
        let left = at.saturating_duration_since(Instant::now());
        assert!(
            left <= Duration::from_millis(50) && left > Duration::from_millis(1),
            "{left:?}"
        );
        // Each reads the clock twice, one after the other.
        assert!(ns_at(at).abs_diff(ahead_ns) < 20_000_000);
        let past_ns = monotonic_ns() - 50_000_000;
        assert!(ns_at(instant_at(past_ns)).abs_diff(past_ns) < 20_000_000);
    }

    #[test]
    fn another_thread_ends_a_sleep() {
        let alarm = Alarm::new().unwrap();
        alarm.set(monotonic_ns() + HOUR_NS);
        std::thread::scope(|scope| {
            let asleep = scope.spawn(|| alarm.sleep());
            alarm.set(monotonic_ns());
            asleep.join().unwrap();
        });
    }
}
