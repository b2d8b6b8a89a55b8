//! Random writes in the long run.

use weir_model::Nanoseconds;

use super::{BLOCK, OPERATIONS_MAX, PAGE, Session};
use crate::measure::MeasureError;
use crate::measure::job::{Limit, Order, Work};
use crate::measure::latencies::{ends_ns, per_second};
use crate::measure::samples::Curve;
use crate::measure::storage::Storage;

impl<S: Storage> Session<'_, S> {
    /// Random writes of 16 KiB, of 4 KiB, and reads beside those; each in several turns. Sizes do not
    /// alternate: a write buffer full of small writes slows large ones down, and the other way round.
    /// The first turns, which do not count, use up what a cache or spare flash takes faster.
    pub(super) fn random_writes(&mut self) -> Result<(), MeasureError> {
        let all_bytes = self.left_bytes as f64;
        for (work, bytes, share, turns) in [
            (Work::Write, BLOCK, 0.62, 12),
            (Work::Write, PAGE, 0.3, 6),
            (Work::Mixed, PAGE, 0.08, 6),
        ] {
            let turn = share / f64::from(turns);
            for _ in 0..turns {
                let most = (all_bytes * turn) as u64 / bytes;
                let mut job = self.job(work, Order::Random, bytes, 64, 1.0);
                job.limit = Limit {
                    operations: OPERATIONS_MAX.min(most),
                    ns: (self.plan.random_ns as f64 * turn) as Nanoseconds,
                };
                let done = self.run(job)?;
                self.keep(work, bytes, 64, &done);
                if work == Work::Mixed {
                    self.samples.add("mixed_per_s", per_second(&done));
                } else if !done.is_empty() {
                    let ends_ns = ends_ns(&done);
                    self.samples.random_writes.push(Curve { bytes, ends_ns });
                }
            }
        }
        Ok(())
    }
}
