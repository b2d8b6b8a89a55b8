//! Data and faults: what reads, writes and flushes share, and what becomes free.

use weir_model::{Nanoseconds, OpKind};

use super::{DriveFileSystem, Result};
use crate::engine::Extent;
use crate::faults::Verdict;
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
    pub(super) fn read_from(&self, file: &OpenFile, offset: u64, size: usize) -> Result<Found> {
        let verdict = self.judge(OpKind::Read, file);
        if verdict.fails {
            return Err(rustix::io::Errno::IO);
        }
        let mut buffer = self.engine.buffers.take(size);
        let bytes = file.read(&mut buffer[..size], offset)?;
        if let Some(bit) = verdict.flipped_bit {
            file.flip_bit(offset, &mut buffer[..bytes], bit)?;
        }
        Ok(Found {
            buffer,
            bytes,
            longer_by: verdict.longer_by,
        })
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

/// What a read found.
pub(super) struct Found {
    pub(super) buffer: Vec<u8>,
    pub(super) bytes: usize,
    pub(super) longer_by: Nanoseconds,
}
