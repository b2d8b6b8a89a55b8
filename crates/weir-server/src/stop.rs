//! Stopping in order, whatever is waited for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use thiserror::Error;

/// Between two looks at the flag.
const LOOK: Duration = Duration::from_millis(50);

/// The user wants the answer no more.
#[derive(Debug, Error)]
#[error("stopped before the end")]
pub struct StopRequested;

/// A flag that asks to stop: the user wants the answer no more.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stop(Option<&'static AtomicBool>);

impl Stop {
    /// Once `flag` is true.
    pub fn when(flag: &'static AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// Returns true if a stop was asked for.
    pub fn is_asked(self) -> bool {
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// An error if so.
    ///
    /// # Errors
    ///
    /// Stopping is asked for.
    pub fn check(self) -> Result<(), StopRequested> {
        if self.is_asked() {
            return Err(StopRequested);
        }
        Ok(())
    }

    /// Sleeps, but not beyond the moment when stopping is asked for.
    pub fn sleep(self, time: Duration) {
        let mut left = time;
        while !left.is_zero() && !self.is_asked() {
            let step = left.min(LOOK);
            thread::sleep(step);
            left -= step;
        }
    }

    /// Does `work`, which waits for a server. Once stopping is asked for, another thread calls `end`, which makes it
    /// fail.
    pub fn during<T>(self, end: impl FnOnce() + Send, work: impl FnOnce() -> T) -> T {
        if self.0.is_none() {
            return work();
        }
        let is_done = AtomicBool::new(false);
        thread::scope(|scope| {
            let watch = scope.spawn(|| {
                while !is_done.load(Ordering::Acquire) {
                    if self.is_asked() {
                        end();
                        return;
                    }
                    thread::park_timeout(LOOK);
                }
            });
            let done = EndSignal(&is_done);
            let result = work();
            drop(done);
            watch.thread().unpark();
            result
        })
    }
}

/// Tells the watching thread that the work has ended, also by a panic.
struct EndSignal<'a>(&'a AtomicBool);

impl Drop for EndSignal<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn work_that_waits_is_ended_and_work_that_does_not_is_left_alone() {
        static STOP: AtomicBool = AtomicBool::new(false);
        let stop = Stop::when(&STOP);
        let done = stop.during(|| panic!("no stop was asked for"), || 7);
        assert_eq!(done, 7);
        let (sender, ends) = channel();
        STOP.store(true, Ordering::Relaxed);
        stop.during(move || sender.send(()).unwrap(), || ends.recv().unwrap());
        assert!(matches!(stop.check(), Err(StopRequested)));
    }
}
