//! Operations on a storage, and their times.

use weir_model::Nanoseconds;

/// Kind of a job's operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes in turn.
    Mixed,
}

/// Order of a job's operations in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Anywhere in the file, each place as likely as any other.
    Random,
    /// On from where the sequential job before ended.
    Sequential,
}

/// End of a job: the limit that comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// So many operations.
    pub operations: u64,
    /// So long.
    pub ns: Nanoseconds,
}

/// A closed loop: `depth` operations are under way at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Job {
    /// Kind of the operations.
    pub work: Work,
    /// Bytes of one operation.
    pub bytes: u64,
    /// Operations under way.
    pub depth: usize,
    /// Order in the file.
    pub order: Order,
    /// Pause of the storage before each operation, nanoseconds; only at depth 1.
    pub gap_ns: Nanoseconds,
    /// End of the job.
    pub limit: Limit,
}

impl Job {
    /// Returns true if operation `number` of the job is a read.
    pub(crate) fn is_read(&self, number: u64) -> bool {
        match self.work {
            Work::Read => true,
            Work::Write => false,
            Work::Mixed => number.is_multiple_of(2),
        }
    }
}

/// One operation that is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OperationSpan {
    /// Time at which it was handed over.
    pub start_ns: Nanoseconds,
    /// Time at which it came back.
    pub end_ns: Nanoseconds,
}

impl OperationSpan {
    /// Returns the duration, microseconds.
    pub fn latency_us(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e3
    }
}
