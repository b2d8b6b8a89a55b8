//! The measurement: the file is written, then one long go of reads, rounds of short jobs, random writes.
//!
//! Each round measures everything once, spread over the whole time, so that an interval over the
//! rounds contains what changes from minute to minute.

mod long_goes;
mod random_writes;

use weir_model::Nanoseconds;

use crate::measure::MeasureError;
use crate::measure::job::{Job, Limit, OperationSpan, Order, Work};
use crate::measure::latencies::{ends_ns, mean_us, per_second, percentile};
use crate::measure::plan::Plan;
use crate::measure::samples::Samples;
use crate::measure::storage::Storage;
use crate::measure::write_buffer::fill;

pub(crate) const PAGE: u64 = 4096;
pub(crate) const BLOCK: u64 = 16_384;
pub(crate) const LARGE: u64 = 131_072;

/// Sizes of single reads beside 4 KiB.
pub(crate) const SIZES: [u64; 3] = [BLOCK, 65_536, LARGE];
/// Depths of 4 KiB reads.
const DEPTHS: [usize; 8] = [2, 4, 8, 16, 32, 64, 128, 256];
/// Operations that no job exceeds.
const OPERATIONS_MAX: u64 = 200_000;
/// The drive is left alone so long before a write that is to find it idle.
const GAP_NS: Nanoseconds = 4_000_000;
/// Bytes that are written before a flush that may have to empty a cache.
pub(crate) const CACHE_BYTES: u64 = 8 << 20;

/// Runs the plan on `storage`; calls `say` at each step. A stop ends it with the figures so far.
///
/// # Errors
/// If an operation fails.
pub fn measure(
    storage: &mut impl Storage,
    plan: &Plan,
    say: &mut impl FnMut(&str),
) -> Result<Samples, MeasureError> {
    let mut session = Session {
        storage,
        samples: Samples::default(),
        plan: *plan,
        left_bytes: 0,
    };
    say("writing the file");
    session.write_file()?;
    if !session.storage.is_stopped() {
        say("one long go of reads");
        session.long_reads()?;
    }
    for round in 1..=plan.rounds {
        if session.storage.is_stopped() {
            break;
        }
        say(&format!("round {round} of {}", plan.rounds));
        session.left_bytes = plan.round_write_bytes;
        session.round()?;
    }
    if !session.storage.is_stopped() {
        say("random writes");
        // All that the parts before have left.
        session.left_bytes = plan
            .write_bytes_max()
            .saturating_sub(session.samples.written_bytes);
        session.random_writes()?;
    }
    session.samples.is_cut_short = session.storage.is_stopped();
    Ok(session.samples)
}

struct Session<'a, S> {
    storage: &'a mut S,
    samples: Samples,
    plan: Plan,
    /// Bytes that may still be written in this part.
    left_bytes: u64,
}

impl<S: Storage> Session<'_, S> {
    /// A job of so many bytes and depth that takes `share` of a round.
    fn job(&self, work: Work, order: Order, bytes: u64, depth: usize, share: f64) -> Job {
        Job {
            work,
            bytes,
            depth,
            order,
            gap_ns: 0,
            limit: Limit {
                operations: OPERATIONS_MAX,
                ns: (self.plan.round_ns as f64 * share) as Nanoseconds,
            },
        }
    }

    /// Runs a job within what may still be written; nothing where a stop cut it short.
    fn run(&mut self, mut job: Job) -> Result<Vec<OperationSpan>, MeasureError> {
        if job.work != Work::Read {
            job.limit.operations = job.limit.operations.min(self.left_bytes / job.bytes);
        }
        if self.storage.is_stopped() || job.limit.operations == 0 {
            return Ok(Vec::new());
        }
        let done = self.storage.run(&job)?;
        let written = match job.work {
            Work::Read => 0,
            Work::Write => done.len() as u64,
            Work::Mixed => done.len() as u64 / 2,
        } * job.bytes;
        self.samples.written_bytes += written;
        self.left_bytes = self.left_bytes.saturating_sub(written);
        Ok(if self.storage.is_stopped() {
            Vec::new()
        } else {
            done
        })
    }

    fn round(&mut self) -> Result<(), MeasureError> {
        self.settle();
        self.single_reads()?;
        self.reads_by_depth()?;
        self.read_bandwidth()?;
        self.small_writes()?;
        self.flushes()?;
        self.write_bandwidth()?;
        if !self.storage.is_stopped() {
            self.samples.rounds += 1;
        }
        Ok(())
    }

    /// Lets the write buffer empty itself.
    fn settle(&mut self) {
        self.storage.pause(self.plan.round_ns / 12);
    }

    fn single_reads(&mut self) -> Result<(), MeasureError> {
        let done = self.run(self.job(Work::Read, Order::Random, PAGE, 1, 0.14))?;
        self.samples.add("read_us", mean_us(&done));
        self.keep(Work::Read, PAGE, 1, &done);
        self.samples
            .read_us
            .extend(done.iter().map(OperationSpan::latency_us));
        for bytes in SIZES {
            let done = self.run(self.job(Work::Read, Order::Random, bytes, 1, 0.03))?;
            self.keep(Work::Read, bytes, 1, &done);
        }
        // Arms that are where they have to be.
        let done = self.run(self.job(Work::Read, Order::Sequential, PAGE, 1, 0.02))?;
        self.samples.add("read_on_us", mean_us(&done));
        Ok(())
    }

    fn reads_by_depth(&mut self) -> Result<(), MeasureError> {
        for depth in DEPTHS {
            let done = self.run(self.job(Work::Read, Order::Random, PAGE, depth, 0.03))?;
            self.keep(Work::Read, PAGE, depth, &done);
        }
        let done = self.run(self.job(Work::Read, Order::Random, BLOCK, 64, 0.02))?;
        self.keep(Work::Read, BLOCK, 64, &done);
        Ok(())
    }

    fn read_bandwidth(&mut self) -> Result<(), MeasureError> {
        let done = self.run(self.job(Work::Read, Order::Sequential, LARGE, 32, 0.06))?;
        let rate = per_second(&done).map(|rate| rate * LARGE as f64);
        self.samples.add("read_bytes_per_s", rate);
        self.keep(Work::Read, LARGE, 32, &done);
        Ok(())
    }

    /// Writes that find an idle drive, and small writes as fast as the controller takes them.
    fn small_writes(&mut self) -> Result<(), MeasureError> {
        let mut job = self.job(Work::Write, Order::Random, PAGE, 1, 0.08);
        job.gap_ns = GAP_NS;
        let done = self.run(job)?;
        self.samples.add("write_us", mean_us(&done));
        self.keep(Work::Write, PAGE, 1, &done);
        self.samples
            .write_us
            .extend(done.iter().map(OperationSpan::latency_us));
        let mut job = self.job(Work::Write, Order::Sequential, PAGE, 256, 0.06);
        job.limit.operations = job.limit.operations.min(self.left_bytes / 8 / PAGE);
        let done = self.run(job)?;
        self.samples.add("writes_per_s", first_rate(&done));
        self.storage.flush()?;
        self.settle();
        Ok(())
    }

    /// Flushes of a drive that has next to nothing to flush, and one of a drive that has much.
    fn flushes(&mut self) -> Result<(), MeasureError> {
        let until = self.storage.now_ns() + self.plan.round_ns / 20;
        let mut latencies = Vec::new();
        while self.storage.now_ns() < until && latencies.len() < 1000 {
            let mut job = self.job(Work::Write, Order::Random, PAGE, 1, 1.0);
            job.limit.operations = 1;
            if self.run(job)?.is_empty() {
                break;
            }
            self.storage.pause(GAP_NS / 4);
            latencies.push(self.storage.flush()?.latency_us());
        }
        self.samples
            .add("flush_us", crate::measure::samples::mean(&latencies));
        self.samples.flush_us.extend(latencies);
        let mut job = self.job(Work::Write, Order::Random, BLOCK, 32, 1.0);
        job.limit.operations = CACHE_BYTES / BLOCK;
        if !self.run(job)?.is_empty() {
            let full = self.storage.flush()?.latency_us();
            self.samples.add("flush_full_us", Some(full));
        }
        self.settle();
        Ok(())
    }

    fn write_bandwidth(&mut self) -> Result<(), MeasureError> {
        let job = self.job(Work::Write, Order::Sequential, LARGE, 32, 0.16);
        let done = self.run(job)?;
        self.keep(Work::Write, LARGE, 32, &done);
        // The fastest found room at once.
        let latencies = done
            .iter()
            .map(|operation| operation.end_ns - operation.start_ns);
        let latency_ns = latencies.min().unwrap_or(0);
        let Some(found) = fill(&ends_ns(&done), LARGE, latency_ns) else {
            return Ok(());
        };
        self.samples
            .add("write_bytes_per_s", Some(found.bytes_per_s));
        self.samples.add("buffer_bytes", found.buffer_bytes);
        self.storage.flush()?;
        self.settle();
        Ok(())
    }

    fn keep(&mut self, work: Work, bytes: u64, depth: usize, done: &[OperationSpan]) {
        let latencies: Vec<f64> = done.iter().map(OperationSpan::latency_us).collect();
        let (rate, mean) = (per_second(done), mean_us(done));
        let p99 = percentile(&latencies, 99.0);
        let cell = self.samples.cell(work, bytes, depth);
        cell.per_second.extend(rate);
        cell.mean_us.extend(mean);
        cell.p99_us.extend(p99);
    }
}

/// Operations a second before a buffer is full: the fastest of a few parts near the start.
fn first_rate(done: &[OperationSpan]) -> Option<f64> {
    const PARTS: usize = 8;
    let ends = ends_ns(done);
    let part = (ends.len() / PARTS).min(2048);
    if part < 64 {
        return None;
    }
    let rate = |from: usize| part as f64 / ((ends[from + part] - ends[from]) as f64 / 1e9);
    let starts = (0..ends.len() - part).step_by(part).take(PARTS);
    starts.map(rate).max_by(f64::total_cmp)
}
