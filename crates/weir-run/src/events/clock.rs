//! Clock that events wait for: the begin of the measurement, and the end of its load.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shared by the load and the threads of its events.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    measured_from: Option<Instant>,
    is_over: bool,
}

/// Dropping it tells that the load is over.
pub(super) struct Over<'a>(&'a Clock);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.state().is_over = true;
        self.0.changed.notify_all();
    }
}

impl Clock {
    /// The measurement begins at this moment, which may be still to come.
    pub(crate) fn begin(&self, measured_from: Instant) {
        self.state().measured_from = Some(measured_from);
        self.changed.notify_all();
    }

    pub(super) fn over_when_dropped(&self) -> Over<'_> {
        Over(self)
    }

    pub(super) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Waits until the measurement has gone on for `at`; when it began, or `None` if the load is over before.
    pub(super) fn wait_until(&self, at: Duration) -> Option<Instant> {
        let mut state = self.state();
        loop {
            if state.is_over {
                return None;
            }
            let due = state.measured_from.map(|from| (from, from + at));
            state = match due {
                Some((from, due)) if due <= Instant::now() => return Some(from),
                Some((_, due)) => self.wait(state, due.saturating_duration_since(Instant::now())),
                None => {
                    let woken = self.changed.wait(state);
                    woken.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
    }

    /// Waits for so long; whether the load was over before.
    pub(super) fn is_over_within(&self, length: Duration) -> bool {
        let until = Instant::now() + length;
        let mut state = self.state();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if state.is_over || left.is_zero() {
                return state.is_over;
            }
            state = self.wait(state, left);
        }
    }

    /// Waits until the load is over.
    pub(super) fn wait_until_over(&self) {
        let mut state = self.state();
        while !state.is_over {
            let woken = self.changed.wait(state);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, length: Duration) -> MutexGuard<'a, State> {
        let woken = self.changed.wait_timeout(state, length);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_waits_for_its_second_of_the_measurement() {
        let clock = Clock::default();
        let from = Instant::now() + Duration::from_millis(30);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                let began = clock.wait_until(Duration::from_millis(20));
                (began, Instant::now())
            });
            clock.begin(from);
            let (began, woken) = waiting.join().unwrap();
            assert_eq!(began, Some(from));
            assert!(woken >= from + Duration::from_millis(20));
        });
    }

    #[test]
    fn a_load_that_ends_ends_all_waits() {
        let clock = Clock::default();
        std::thread::scope(|scope| {
            let waits = [
                scope.spawn(|| clock.wait_until(Duration::from_mins(9)).is_none()),
                scope.spawn(|| clock.is_over_within(Duration::from_mins(9))),
                scope.spawn(|| {
                    clock.wait_until_over();
                    clock.is_over()
                }),
            ];
            drop(clock.over_when_dropped());
            for wait in waits {
                assert!(wait.join().unwrap());
            }
        });
    }
}
