//! A file on a real disk, past the page cache.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_model::Nanoseconds;

use crate::measure::MeasureError;
use crate::measure::facts::Facts;
use crate::measure::job::{Job, OperationSpan, Work};
use crate::measure::offsets::Offsets;
use crate::measure::queues::{Queues, SLOTS};
use crate::measure::scratch_file::{ScratchFile, folder_of};
use crate::measure::storage::Storage;

/// Length of the written noise, which is repeated with a number of its own in each block.
const CONTENT_BYTES: usize = 1 << 20;

/// A new file below a folder, read and written by `io_uring` with `O_DIRECT`.
#[derive(Debug)]
pub struct FileStorage<'a> {
    // Dropped before the file: the kernel ends what is under way.
    queues: Queues,
    scratch: ScratchFile,
    facts: Facts,
    offsets: Offsets,
    began: Instant,
    stamp: u64,
    stop: &'a AtomicBool,
}

impl<'a> FileStorage<'a> {
    /// A file of `file_bytes` in the folder `target`, or called so. `stop` ends a job early.
    ///
    /// # Errors
    /// If the file cannot be made, or the kernel has no `io_uring`.
    pub fn create(
        target: &Path,
        file_bytes: u64,
        stop: &'a AtomicBool,
    ) -> Result<Self, MeasureError> {
        let facts = Facts::gather(&folder_of(target));
        let scratch = ScratchFile::create(target, file_bytes)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(35);
        let mut content = vec![0; CONTENT_BYTES];
        random.fill_bytes(&mut content);
        let queues = Queues::new(scratch.file.as_raw_fd(), &content).map_err(MeasureError::Ring)?;
        Ok(Self {
            queues,
            scratch,
            facts,
            offsets: Offsets::new(file_bytes, random),
            began: Instant::now(),
            stamp: 0,
            stop,
        })
    }

    /// Bytes that can be used below `target`.
    ///
    /// # Errors
    /// If its folder cannot be looked at.
    pub fn free_bytes(target: &Path) -> Result<u64, MeasureError> {
        let folder = folder_of(target);
        let space = rustix::fs::statvfs(&folder).map_err(|error| {
            MeasureError::path("look at", &folder, "name a folder that exists")(error.into())
        })?;
        Ok(space.f_bavail * space.f_frsize)
    }

    fn failed(&self, what: &'static str, source: std::io::Error) -> MeasureError {
        MeasureError::Operation {
            what,
            path: self.scratch.path.clone(),
            source,
        }
    }

    /// Queues operation `number` of a job in `slot`.
    fn queue(&mut self, job: &Job, number: u64, slot: usize) -> Result<(), MeasureError> {
        let is_read = job.is_read(number);
        let offset = self.offsets.next(job);
        self.stamp += job.bytes;
        let queued = self
            .queues
            .transfer(is_read, slot, job.bytes as usize, offset, self.stamp);
        queued.map_err(MeasureError::Ring)
    }

    /// Waits for completions: (slot, when), the first failure as an error.
    fn wait(&mut self, job: &Job, ready: &mut Vec<usize>) -> Result<Nanoseconds, MeasureError> {
        let mut failed = None;
        let expected = job.bytes as i32;
        let waited = self.queues.wait(|slot, result| {
            ready.push(slot);
            if result != expected {
                failed = Some(result);
            }
        });
        waited.map_err(MeasureError::Ring)?;
        if let Some(result) = failed {
            let what = if job.work == Work::Read {
                "read"
            } else {
                "write"
            };
            return Err(self.failed(what, reason(result)));
        }
        Ok(self.now_ns())
    }
}

/// Returns the reason that an operation failed: an error number, or fewer bytes than asked for.
fn reason(result: i32) -> std::io::Error {
    if result < 0 {
        std::io::Error::from_raw_os_error(-result)
    } else {
        std::io::Error::other(format!("{result} bytes only"))
    }
}

impl Storage for FileStorage<'_> {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now_ns(&self) -> Nanoseconds {
        self.began.elapsed().as_nanos() as Nanoseconds
    }

    fn file_bytes(&self) -> u64 {
        self.offsets.file_bytes()
    }

    fn shrink(&mut self, file_bytes: u64) -> Result<(), MeasureError> {
        self.offsets.shrink(file_bytes);
        let cut = self.scratch.file.set_len(file_bytes);
        cut.map_err(MeasureError::path(
            "cut",
            &self.scratch.path,
            "look at the kernel's log",
        ))
    }

    fn pause(&mut self, ns: Nanoseconds) {
        // In steps, so that a stop is not kept waiting.
        let until = Instant::now() + Duration::from_nanos(ns);
        while !self.is_stopped() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
    }

    fn run(&mut self, job: &Job) -> Result<Vec<OperationSpan>, MeasureError> {
        let depth = job.depth.min(SLOTS);
        let ends_at = self.now_ns().saturating_add(job.limit.ns);
        let mut starts = vec![0; depth];
        let mut ready: Vec<usize> = (0..depth).collect();
        let mut done = Vec::new();
        let (mut begun, mut under_way) = (0, 0);
        loop {
            let may_begin = |begun: u64, now| begun < job.limit.operations && now < ends_at;
            for slot in std::mem::take(&mut ready) {
                if self.is_stopped() || !may_begin(begun, self.now_ns()) {
                    continue;
                }
                if job.gap_ns > 0 {
                    self.pause(job.gap_ns);
                }
                self.queue(job, begun, slot)?;
                starts[slot] = self.now_ns();
                begun += 1;
                under_way += 1;
            }
            if under_way == 0 {
                return Ok(done);
            }
            let end_ns = self.wait(job, &mut ready)?;
            under_way -= ready.len();
            done.extend(ready.iter().map(|&slot| OperationSpan {
                start_ns: starts[slot],
                end_ns,
            }));
        }
    }

    fn flush(&mut self) -> Result<OperationSpan, MeasureError> {
        let start_ns = self.now_ns();
        self.queues.flush().map_err(MeasureError::Ring)?;
        let mut result = 0;
        let waited = self.queues.wait(|_, code| result = code);
        waited.map_err(MeasureError::Ring)?;
        if result < 0 {
            return Err(self.failed("flush", reason(result)));
        }
        let end_ns = self.now_ns();
        Ok(OperationSpan { start_ns, end_ns })
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
