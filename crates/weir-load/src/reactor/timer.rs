//! A timer of nanoseconds for a poll of milliseconds.
//!
//! `epoll_wait(2)` takes milliseconds, which would make every scheduled request up to 1 ms late. A
//! timerfd(2) among the descriptors wakes it in time.

use std::os::fd::{AsFd as _, AsRawFd as _};

use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use weir_process::{Alarm, monotonic_ns};

/// A timer on the meter's clock.
#[derive(Debug)]
pub(super) struct Timer {
    alarm: Alarm,
    /// The meter's zero on the system's monotonic clock.
    zero_ns: u64,
    set_ns: u64,
}

impl Timer {
    /// A timer that wakes `registry`'s poll with `token`. `now_ns`: the meter's clock.
    pub(super) fn new(registry: &Registry, token: Token, now_ns: u64) -> std::io::Result<Self> {
        let alarm = Alarm::new()?;
        let descriptor = alarm.as_fd().as_raw_fd();
        registry.register(&mut SourceFd(&descriptor), token, Interest::READABLE)?;
        Ok(Self {
            alarm,
            zero_ns: monotonic_ns() - now_ns,
            set_ns: u64::MAX,
        })
    }

    /// Wakes at `at_ns` and no other time.
    pub(super) fn set(&mut self, at_ns: u64) {
        if at_ns != self.set_ns {
            self.set_ns = at_ns;
            self.alarm.set(self.zero_ns.saturating_add(at_ns));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use mio::{Events, Poll};

    use super::*;

    #[test]
    fn it_wakes_a_poll_each_time_it_is_set() {
        let mut poll = Poll::new().unwrap();
        let zero = Instant::now();
        let mut timer = Timer::new(poll.registry(), Token(7), 0).unwrap();
        let mut events = Events::with_capacity(4);
        for wanted_us in [500, 1_100, 1_700] {
            timer.set(wanted_us * 1_000);
            poll.poll(&mut events, Some(Duration::from_secs(10)))
                .unwrap();
            let token = events.iter().next().unwrap().token();
            assert_eq!(token, Token(7));
            // The two clocks were read one after the other.
            assert!(zero.elapsed() >= Duration::from_micros(wanted_us - 100));
            assert!(
                zero.elapsed() < Duration::from_secs(9),
                "woken by the timer"
            );
        }
    }
}
