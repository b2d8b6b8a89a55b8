//! Open directories: a snapshot of the names, so that positions stay valid while names change.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{Dir, FileType, Mode, OFlags};
use rustix::io::Result;

use super::inodes::Inode;

/// A name in a directory.
#[derive(Debug, Clone)]
pub(crate) struct DirectoryEntry {
    pub(crate) inode: u64,
    pub(crate) kind: fuser::FileType,
    pub(crate) name: OsString,
}

/// An open directory.
#[derive(Debug)]
pub(super) struct OpenDirectory {
    inode: Arc<Inode>,
    names: Mutex<Vec<DirectoryEntry>>,
}

impl OpenDirectory {
    pub(super) fn new(inode: Arc<Inode>) -> Self {
        Self {
            inode,
            names: Mutex::default(),
        }
    }

    /// Calls `entry` with each name and the position after it, until it returns true.
    ///
    /// Position 0 (the first read, or rewinddir(3)) takes a new snapshot.
    pub(super) fn read(
        &self,
        offset: u64,
        mut entry: impl FnMut(u64, &DirectoryEntry) -> bool,
    ) -> Result<()> {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if offset == 0 {
            *names = self.snapshot()?;
        }
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, found) in names.iter().enumerate().skip(start) {
            if entry(index as u64 + 1, found) {
                break;
            }
        }
        Ok(())
    }

    fn snapshot(&self) -> Result<Vec<DirectoryEntry>> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let readable = rustix::fs::openat(&self.inode.descriptor, ".", flags, Mode::empty())?;
        Dir::new(readable)?
            .map(|found| {
                let found = found?;
                Ok(DirectoryEntry {
                    inode: found.ino(),
                    kind: kind_of(found.file_type()),
                    name: OsStr::from_bytes(found.file_name().to_bytes()).to_owned(),
                })
            })
            .collect()
    }
}

/// The kernel's word for a type of file; regular where the host does not tell.
pub(super) fn kind_of(kind: FileType) -> fuser::FileType {
    match kind {
        FileType::Directory => fuser::FileType::Directory,
        FileType::Symlink => fuser::FileType::Symlink,
        FileType::Fifo => fuser::FileType::NamedPipe,
        FileType::Socket => fuser::FileType::Socket,
        FileType::CharacterDevice => fuser::FileType::CharDevice,
        FileType::BlockDevice => fuser::FileType::BlockDevice,
        FileType::RegularFile | FileType::Unknown => fuser::FileType::RegularFile,
    }
}
