//! End of a wait.

use std::io;
use std::time::{Duration, Instant};

/// The end of a limited time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    at: Instant,
    limit: Duration,
}

impl Deadline {
    /// The end of a time that begins now.
    pub fn after(limit: Duration) -> Self {
        Self {
            at: Instant::now() + limit,
            limit,
        }
    }

    /// Returns the rest of the time; an error when there is none.
    ///
    /// # Errors
    ///
    /// Nothing is left.
    pub fn remaining(self) -> io::Result<Duration> {
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(left)
    }

    /// The whole time.
    pub fn limit(self) -> Duration {
        self.limit
    }
}
