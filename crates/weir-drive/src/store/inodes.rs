//! The inodes that the kernel knows, by number, with the count of its lookups.

use std::collections::HashMap;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{FileType, Stat};
use rustix::io::{Errno, Result};
use weir_model::FileKind;

use super::space::{FileSpace, FreedRange, Space};

/// The number of a FUSE file system's root (`FUSE_ROOT_ID`).
pub(super) const ROOT: u64 = 1;

/// A file, directory or link of the store.
#[derive(Debug)]
pub(crate) struct Inode {
    pub(super) number: u64,
    pub(super) descriptor: OwnedFd,
    pub(super) kind: AtomicU8,
    space: Arc<Space>,
    file_space: FileSpace,
}

impl Inode {
    pub(super) fn new(
        number: u64,
        descriptor: OwnedFd,
        stat: &Stat,
        kind: FileKind,
        space: &Arc<Space>,
    ) -> Self {
        Self {
            number,
            descriptor,
            kind: super::kind_cell(kind),
            space: Arc::clone(space),
            file_space: FileSpace::new(stat),
        }
    }

    /// Identity of the file for the device.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// A name of the file that stays valid whatever it is renamed to.
    pub(super) fn proc_path(&self) -> PathBuf {
        proc_path(&self.descriptor)
    }

    /// Returns the space that the file occupies.
    pub(super) fn file_space(&self) -> &FileSpace {
        &self.file_space
    }

    /// Takes over a change of the file's size or allocation.
    pub(super) fn recount(&self, stat: &Stat) {
        self.file_space.recount(stat, &self.space);
    }

    /// No handle can read `range`, bytes of the file, any longer.
    pub(super) fn free(&self, range: Range<u64>) {
        if !range.is_empty() {
            self.space.free(FreedRange {
                file: self.number,
                kind: self.kind(),
                offset: range.start,
                bytes: range.end - range.start,
            });
        }
    }

    pub(super) fn space(&self) -> &Space {
        &self.space
    }
}

impl Drop for Inode {
    /// Once neither the kernel nor an open file refers to an unlinked file, its space is free.
    fn drop(&mut self) {
        let Ok(stat) = super::stat_of(&self.descriptor) else {
            return;
        };
        if stat.st_nlink == 0 && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            self.file_space.release(&self.space);
            self.free(0..stat.st_size.cast_unsigned());
        }
    }
}

pub(super) fn proc_path(descriptor: impl AsFd) -> PathBuf {
    format!("/proc/self/fd/{}", descriptor.as_fd().as_raw_fd()).into()
}

/// All inodes that the kernel knows.
#[derive(Debug)]
pub(super) struct Inodes {
    known: Mutex<HashMap<u64, InodeEntry>>,
}

#[derive(Debug)]
struct InodeEntry {
    inode: Arc<Inode>,
    lookups: u64,
}

impl Inodes {
    pub(super) fn new(root: Arc<Inode>) -> Self {
        // The kernel never forgets the root, which it never looked up either.
        let known = InodeEntry {
            inode: root,
            lookups: 1,
        };
        Self {
            known: Mutex::new(HashMap::from([(ROOT, known)])),
        }
    }

    pub(super) fn get(&self, number: u64) -> Result<Arc<Inode>> {
        let known = self.lock();
        let found = known.get(&number).ok_or(Errno::STALE)?;
        Ok(Arc::clone(&found.inode))
    }

    /// Counts a lookup of inode `number`, which `make` makes if it is new.
    pub(super) fn enter(&self, number: u64, make: impl FnOnce() -> Inode) {
        let mut known = self.lock();
        let entry = known.entry(number).or_insert_with(|| InodeEntry {
            inode: Arc::new(make()),
            lookups: 0,
        });
        entry.lookups += 1;
    }

    pub(super) fn forget(&self, number: u64, lookups: u64) {
        let mut known = self.lock();
        let Some(entry) = known.get_mut(&number) else {
            return;
        };
        entry.lookups = entry.lookups.saturating_sub(lookups);
        if entry.lookups == 0 && number != ROOT {
            let forgotten = known.remove(&number);
            // Closing the last descriptor of an unlinked file frees its pages, which takes long.
            drop(known);
            drop(forgotten);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, InodeEntry>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
