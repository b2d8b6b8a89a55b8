//! The pace at which the log is read.

use std::time::{Duration, Instant};

use crate::Stop;

/// A limit on how fast the log is read, bytes per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    began: Instant,
    bytes_per_s: Option<u64>,
}

impl Pace {
    pub(crate) fn new(bytes_per_s: Option<u64>) -> Self {
        Self {
            began: Instant::now(),
            bytes_per_s,
        }
    }

    /// Waits until so many bytes are due.
    pub(crate) fn keep(&self, bytes: u64, stop: Stop) {
        let Some(limit) = self.bytes_per_s else {
            return;
        };
        let due = Duration::from_secs_f64(bytes as f64 / limit.max(1) as f64);
        stop.sleep(due.saturating_sub(self.began.elapsed()));
    }
}
