//! Data and faults: what reads, writes and flushes share, and what becomes free.

use fuser::{FileHandle, Request};
use weir_model::{Nanoseconds, OpKind};

use super::{DriveFileSystem, Result};
use crate::engine::{Arrival, Extent};
use crate::faults::Verdict;
use crate::recording::PendingRecord;
use crate::scheduler::Reply;
use crate::store::OpenFile;

impl DriveFileSystem {
    pub(super) fn extent(file: &OpenFile, offset: u64, bytes: u64) -> Extent {
        Extent {
            file: file.inode.number(),
            kind: file.inode.kind(),
            offset,
            bytes,
        }
    }

    pub(super) fn judge(&self, what: OpKind, file: &OpenFile) -> Verdict {
        let path = || self.store.path_of(file.inode.number());
        self.engine.judge(what, path)
    }

    /// Reads into a buffer of the pool; the bytes, and by how much longer it takes.
    pub(super) fn read_from(
        &self,
        file: &OpenFile,
        offset: u64,
        size: usize,
    ) -> Result<ReadResult> {
        let verdict = self.judge(OpKind::Read, file);
        if verdict.fails {
            return Err(rustix::io::Errno::IO);
        }
        let mut buffer = self.engine.buffers.take(size);
        let bytes = file.read(&mut buffer[..size], offset)?;
        if let Some(bit) = verdict.flipped_bit {
            file.flip_bit(offset, &mut buffer[..bytes], bit)?;
        }
        Ok(ReadResult {
            buffer,
            bytes,
            longer_by: verdict.longer_by,
        })
    }

    /// A flush of the open file `handle` has come.
    pub(super) fn flush_file(&self, request: &Request, handle: FileHandle) -> Result<Flush> {
        let arrival = self.engine.arrived(request.pid());
        let file = self.store.file(handle.0)?;
        let verdict = self.judge(OpKind::Flush, &file);
        if verdict.fails {
            return Err(rustix::io::Errno::IO);
        }
        Ok(Flush {
            extent: Self::extent(&file, 0, 0),
            arrival,
            longer_by: verdict.longer_by,
        })
    }

    /// Records `flush` and hands it to the device, which sends `reply` when it is done.
    pub(super) fn begin(&self, flush: Flush, reply: impl FnOnce(Option<PendingRecord>) -> Reply) {
        let Flush {
            extent,
            arrival,
            longer_by,
        } = flush;
        let reply = reply(self.recorder.flush(extent.file));
        self.engine.flush(extent, arrival, longer_by, reply);
    }

    /// Tells the device what became free by the request that was just served.
    pub(super) fn trim_freed(&self) {
        for freed in self.store.take_freed() {
            self.engine.trim(Extent {
                file: freed.file,
                kind: freed.kind,
                offset: freed.offset,
                bytes: freed.bytes,
            });
        }
    }
}

/// A flush that is about to begin.
#[derive(Clone, Copy)]
pub(super) struct Flush {
    extent: Extent,
    arrival: Arrival,
    longer_by: Nanoseconds,
}

/// Result of a read.
pub(super) struct ReadResult {
    pub(super) buffer: Vec<u8>,
    pub(super) bytes: usize,
    pub(super) longer_by: Nanoseconds,
}
