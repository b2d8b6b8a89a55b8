//! The drive's capacity: what files occupy, kept without asking the host for every write.
//!
//! A write inside a file without holes allocates nothing, and that is nearly all that a server
//! does; only writes that extend a file or may fill a hole look at the file's blocks afterwards.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::Stat;
use rustix::io::{Errno, Result};
use weir_model::FileKind;

use super::walk;

/// Unit of allocation.
pub(crate) const BLOCK_BYTES: u64 = 4096;
/// Unit of `st_blocks` (stat(2)).
const STAT_BLOCK_BYTES: u64 = 512;

/// The capacity of a drive and what is used of it.
#[derive(Debug)]
pub(crate) struct Space {
    capacity_bytes: u64,
    used_bytes: AtomicU64,
    /// A fault: there is no room, whatever is used.
    is_full: AtomicBool,
    freed: Mutex<Vec<FreedRange>>,
}

/// A part of a file that no handle can read any longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FreedRange {
    pub(crate) file: u64,
    pub(crate) kind: FileKind,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

impl Space {
    pub(super) fn new(capacity_bytes: u64, used_bytes: u64) -> Self {
        Self {
            capacity_bytes,
            used_bytes: AtomicU64::new(used_bytes),
            is_full: AtomicBool::new(false),
            freed: Mutex::default(),
        }
    }

    /// From now on nothing has room, or what the capacity holds.
    pub(crate) fn set_full(&self, is_full: bool) {
        self.is_full.store(is_full, Ordering::Relaxed);
    }

    pub(super) fn free(&self, freed: FreedRange) {
        self.lock_freed().push(freed);
    }

    pub(super) fn take_freed(&self) -> Vec<FreedRange> {
        std::mem::take(&mut *self.lock_freed())
    }

    fn lock_freed(&self) -> MutexGuard<'_, Vec<FreedRange>> {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that files can occupy.
    pub(crate) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Bytes that files occupy, before compression.
    pub(crate) fn used_bytes(&self) -> u64 {
        self.used_bytes.load(Ordering::Relaxed)
    }

    /// `ENOSPC` if `growth` more bytes exceed the capacity.
    pub(super) fn check_room(&self, growth: u64) -> Result<()> {
        let full = self.is_full.load(Ordering::Relaxed);
        if growth > 0 && (full || self.used_bytes() + growth > self.capacity_bytes) {
            return Err(Errno::NOSPC);
        }
        Ok(())
    }

    fn adjust(&self, before: u64, after: u64) {
        // Two's complement: adding the wrapped difference subtracts when `after` is smaller.
        self.used_bytes
            .fetch_add(after.wrapping_sub(before), Ordering::Relaxed);
    }
}

/// Space that one file occupies.
#[derive(Debug)]
pub(super) struct FileSpace {
    size_bytes: AtomicU64,
    allocated_bytes: AtomicU64,
    has_holes: AtomicBool,
}

impl FileSpace {
    pub(super) fn new(stat: &Stat) -> Self {
        let (size, allocated) = extent(stat);
        Self {
            size_bytes: AtomicU64::new(size),
            allocated_bytes: AtomicU64::new(allocated),
            has_holes: AtomicBool::new(allocated < size),
        }
    }

    /// Returns true if a write of this range may allocate anything.
    pub(super) fn may_grow(&self, offset: u64, bytes: u64) -> bool {
        offset + bytes > self.size_bytes.load(Ordering::Relaxed)
            || self.has_holes.load(Ordering::Relaxed)
    }

    /// The most that a write of this range can allocate, bytes.
    pub(super) fn growth_max(&self, offset: u64, bytes: u64) -> u64 {
        let end = (offset + bytes).next_multiple_of(BLOCK_BYTES);
        let start = offset / BLOCK_BYTES * BLOCK_BYTES;
        let size = self.size_bytes.load(Ordering::Relaxed);
        let from = if self.has_holes.load(Ordering::Relaxed) {
            start
        } else {
            start.max(size.next_multiple_of(BLOCK_BYTES))
        };
        end.saturating_sub(from)
    }

    pub(super) fn recount(&self, stat: &Stat, space: &Space) {
        let (size, allocated) = extent(stat);
        self.size_bytes.store(size, Ordering::Relaxed);
        self.has_holes.store(allocated < size, Ordering::Relaxed);
        let before = self.allocated_bytes.swap(allocated, Ordering::Relaxed);
        space.adjust(before, allocated);
    }

    pub(super) fn release(&self, space: &Space) {
        let before = self.allocated_bytes.swap(0, Ordering::Relaxed);
        space.adjust(before, 0);
    }
}

fn extent(stat: &Stat) -> (u64, u64) {
    let size = u64::try_from(stat.st_size).unwrap_or(0);
    let blocks = u64::try_from(stat.st_blocks).unwrap_or(0);
    (size, blocks * STAT_BLOCK_BYTES)
}

/// Bytes that the regular files below `path` occupy; hard links count once.
pub(super) fn used_below(path: &Path) -> std::io::Result<u64> {
    let mut used = 0;
    walk::each_file(path, |_, metadata| used += walk::allocated_bytes(metadata))?;
    Ok(used)
}
