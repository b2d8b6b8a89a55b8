//! The seam between a device and its callers: the FUSE drive in real time, the predictor in
//! virtual time. One model, two clocks.

use crate::FileKind;

/// A point in time or a length of time on the caller's clock, in nanoseconds.
pub type Nanoseconds = u64;

/// Kind of an operation on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind {
    /// Read `bytes` at `offset`.
    Read,
    /// Write `bytes` at `offset`.
    Write,
    /// Make durable all that was written before (fsync, `O_DSYNC`, FUA).
    Flush,
    /// Give `bytes` at `offset` back to the device (TRIM, hole punching).
    Discard,
}

/// One operation as the device sees it.
#[derive(Debug, Clone, Copy)]
pub struct Op {
    /// Kind of the operation.
    pub kind: OpKind,
    /// Identity of the file; offsets are within it.
    pub file: u64,
    /// Purpose of the file.
    pub file_kind: FileKind,
    /// First byte, within the file.
    pub offset: u64,
    /// Length in bytes; 0 for a flush.
    pub bytes: u64,
    /// For writes to a compressing device: stored bytes / written bytes, in (0, 1]. Otherwise 1.
    pub compressed_fraction: f64,
}

/// A storage device in time: given an operation and the present, when is it done?
pub trait DeviceModel {
    /// Accepts `op` at `now` and returns when it completes (`>= now`).
    ///
    /// Calls come in the order of `now`; the model keeps its queues between calls.
    fn submit(&mut self, op: &Op, now: Nanoseconds) -> Nanoseconds;
}
