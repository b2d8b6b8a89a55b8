//! Long goes: the first write of the file and many reads. They show what a drive gives only at first.

use super::{LARGE, PAGE, Session};
use crate::measure::MeasureError;
use crate::measure::cliff::cliff;
use crate::measure::job::{Limit, Order, Work};
use crate::measure::latencies::{ends_ns, per_second};
use crate::measure::samples::Curve;
use crate::measure::storage::Storage;

/// Reads of the long go at most: what is kept of each takes memory.
const READS_MAX: u64 = 1_000_000;

impl<S: Storage> Session<'_, S> {
    /// The first write of the file: what follows reads and overwrites it.
    pub(super) fn write_file(&mut self) -> Result<(), MeasureError> {
        self.left_bytes = self.plan.file_bytes;
        let mut job = self.job(Work::Write, Order::Sequential, LARGE, 16, 0.0);
        job.limit = Limit {
            operations: self.plan.file_bytes / LARGE,
            ns: self.plan.fill_ns,
        };
        let written_before = self.samples.written_bytes;
        let done = self.run(job)?;
        let written = self.samples.written_bytes - written_before;
        self.samples.first_write = Curve {
            bytes: LARGE,
            ends_ns: ends_ns(&done),
        };
        if written < self.storage.file_bytes() {
            self.storage.shrink(written.max(LARGE) / LARGE * LARGE)?;
        }
        self.samples.file_bytes = self.storage.file_bytes();
        if let Some(drop) = cliff(&self.samples.first_write) {
            self.rest_and_write(drop.after_bytes)?;
        }
        self.storage.flush()?;
        Ok(())
    }

    /// The rate dropped after `fast_bytes`: what a rest gives back tells how fast a cache is emptied.
    fn rest_and_write(&mut self, fast_bytes: f64) -> Result<(), MeasureError> {
        let rest_ns = self.plan.fill_ns / 6;
        self.storage.pause(rest_ns);
        let mut job = self.job(Work::Write, Order::Sequential, LARGE, 16, 0.0);
        job.limit.ns = self.plan.fill_ns;
        // Out of what the random writes may write.
        self.left_bytes = ((fast_bytes * 1.5) as u64).min(self.plan.random_write_bytes / 2);
        let done = self.run(job)?;
        let ends_ns = ends_ns(&done);
        let bytes = LARGE;
        self.samples.after_rest = Some((rest_ns, Curve { bytes, ends_ns }));
        // A provider's limit holds for reads, too; a full cache does not.
        let mut job = self.job(Work::Read, Order::Sequential, LARGE, 16, 0.0);
        job.limit.ns = rest_ns;
        let rate = per_second(&self.run(job)?).map(|rate| rate * LARGE as f64);
        self.samples.add("read_bytes_per_s_after_drop", rate);
        Ok(())
    }

    /// Reads until credit that a volume has saved up may be spent: the rounds' jobs are too short for that.
    pub(super) fn long_reads(&mut self) -> Result<(), MeasureError> {
        let mut job = self.job(Work::Read, Order::Random, PAGE, 64, 1.0);
        job.limit = Limit {
            operations: READS_MAX,
            ns: self.plan.long_reads_ns,
        };
        let done = self.run(job)?;
        self.samples.long_reads = Curve {
            bytes: PAGE,
            ends_ns: ends_ns(&done),
        };
        Ok(())
    }
}
