//! What is done to a storage, and when each operation was.

use weir_model::Nanoseconds;

/// What the operations of a job are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes in turn.
    Mixed,
}

/// Where the operations of a job go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Anywhere in the file, each place as likely as any other.
    Random,
    /// On from where the sequential job before ended.
    Sequential,
}

/// When a job ends: at whichever comes first.
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
    /// What is done.
    pub work: Work,
    /// Bytes of one operation.
    pub bytes: u64,
    /// Operations under way.
    pub depth: usize,
    /// Where.
    pub order: Order,
    /// How long the storage is left alone before each operation; only at depth 1.
    pub gap_ns: Nanoseconds,
    /// When it ends.
    pub limit: Limit,
}

impl Job {
    /// Whether operation `number` of the job is a read.
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
    /// When it came back.
    pub end_ns: Nanoseconds,
}

impl OperationSpan {
    /// Returns the duration, microseconds.
    pub fn latency_us(&self) -> f64 {
        (self.end_ns - self.start_ns) as f64 / 1e3
    }
}
