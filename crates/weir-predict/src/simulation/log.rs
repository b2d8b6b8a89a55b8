//! The redo log: one write at a time, for all who wait.

use weir_model::{DeviceModel, FileKind, Nanoseconds, Op, OpKind};

/// The log is written in blocks of this size.
const BLOCK: u64 = 4096;
/// It is a ring of this size.
const RING_BYTES: u64 = 1 << 28;

#[derive(Debug, Default)]
pub(super) struct Log {
    bytes: f64,
    place: u64,
    is_busy: bool,
    /// Clients whose redo is being written.
    written: Vec<u32>,
    /// Clients whose redo came since.
    waiting: Vec<u32>,
}

impl Log {
    /// Redo that has to be written some time.
    pub(super) fn add(&mut self, bytes: f64) {
        self.bytes += bytes;
    }

    /// `client` waits for it.
    pub(super) fn wait(&mut self, client: u32) {
        self.waiting.push(client);
    }

    /// Begins to write if nothing is being written and a commit waits; when the drive will have
    /// taken it.
    pub(super) fn begin(
        &mut self,
        drive: &mut dyn DeviceModel,
        now: Nanoseconds,
    ) -> Option<Nanoseconds> {
        if self.is_busy || self.waiting.is_empty() {
            return None;
        }
        self.is_busy = true;
        self.written = std::mem::take(&mut self.waiting);
        Some(self.write(drive, now))
    }

    /// The drive has taken it: it is flushed; when it will be durable.
    pub(super) fn flush(&mut self, drive: &mut dyn DeviceModel, now: Nanoseconds) -> Nanoseconds {
        drive.submit(&self.op(OpKind::Flush, 0), now)
    }

    /// Ends the write; returns the clients that waited for it.
    pub(super) fn end(&mut self) -> Vec<u32> {
        self.is_busy = false;
        std::mem::take(&mut self.written)
    }

    /// Writes whole blocks for which no commit waits.
    pub(super) fn drain(&mut self, drive: &mut dyn DeviceModel, now: Nanoseconds) {
        const LAZY_BYTES: f64 = 1_048_576.0;
        if self.bytes >= LAZY_BYTES {
            self.write(drive, now);
        }
    }

    fn write(&mut self, drive: &mut dyn DeviceModel, now: Nanoseconds) -> Nanoseconds {
        let bytes = (self.bytes as u64).next_multiple_of(BLOCK).max(BLOCK);
        self.bytes = 0.0;
        let op = self.op(OpKind::Write, bytes);
        self.place = (self.place + bytes) % RING_BYTES;
        drive.submit(&op, now)
    }

    fn op(&self, kind: OpKind, bytes: u64) -> Op {
        Op {
            kind,
            file: 3,
            file_kind: FileKind::Redo,
            offset: self.place,
            bytes,
            compressed_fraction: 1.0,
        }
    }
}
