//! Flushes of a device: each takes its latency, and on a volatile cache waits until the write buffer is empty.

use weir_model::{DriveProfile, Nanoseconds, WriteCache};

use super::latency::Latency;

/// The same latencies for each drive.
const SEED: u64 = 0x77d1;

/// Flushes of one device.
#[derive(Debug)]
pub(super) struct Flushes {
    latency: Latency,
    /// A flush waits until the buffer is empty.
    drains: bool,
}

impl Flushes {
    pub(super) fn new(profile: &DriveProfile) -> Self {
        let flush = &profile.flush;
        Self {
            latency: Latency::new(flush.latency_us, &flush.percentiles_us, SEED),
            drains: profile.write.cache == WriteCache::Volatile && !flush.ignored,
        }
    }

    /// Returns the completion time of a flush that comes at `now`. `drained_at`: all accepted writes are on the media.
    pub(super) fn submit(&mut self, now: Nanoseconds, drained_at: Nanoseconds) -> Nanoseconds {
        let start = if self.drains {
            now.max(drained_at)
        } else {
            now
        };
        start + self.latency.draw_ns() as Nanoseconds
    }
}
