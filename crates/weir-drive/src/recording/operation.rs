//! Events of a recording.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use fuser::FileAttr;
use rustix::fs::FileType;

use super::Data;

/// An operation that reached the drive and succeeded, or an answer that left it.
#[derive(Debug, Clone)]
pub struct Event {
    /// Position in the recording, from 0 on without gaps.
    pub sequence: u64,
    /// `CLOCK_MONOTONIC`, nanoseconds; never less than that of the event before.
    pub at_ns: u64,
    /// Operation of the event.
    pub operation: Operation,
}

/// Operation on a file or directory. Files and directories are named by inode number; the drive's
/// root is 1.
///
/// A number is taken again only after the file that had it lost its last name and was closed.
#[derive(Debug, Clone)]
pub enum Operation {
    /// Data arrived.
    Write {
        /// Into which file.
        file: u64,
        /// From which byte on.
        offset: u64,
        /// Written data.
        data: Data,
        /// Mode in which its file was opened.
        opened: OpenMode,
    },
    /// fsync(2) or fdatasync(2): once answered, what was answered before must survive a power cut.
    Flush {
        /// Of this file or directory.
        file: u64,
    },
    /// A write or a flush is about to be answered: its caller cannot know of it any earlier.
    Done {
        /// The event that is answered.
        sequence: u64,
    },
    /// Something new has a name.
    Create {
        /// Number of the file.
        file: u64,
        /// Name of the entry.
        at: Place,
        /// Kind of the entry.
        node: Node,
    },
    /// Another name for a file.
    Link {
        /// The file.
        file: u64,
        /// New name.
        at: Place,
    },
    /// A file or directory changed its name, or two exchanged theirs.
    Rename {
        /// The old name.
        from: Place,
        /// The new name; what had it before has lost it.
        to: Place,
        /// Flags of renameat2(2).
        flags: u32,
    },
    /// A name is gone.
    Remove {
        /// The name.
        at: Place,
        /// It was that of an empty directory.
        is_directory: bool,
    },
    /// A file was cut or extended.
    Truncate {
        /// The file.
        file: u64,
        /// New size.
        bytes: u64,
    },
    /// fallocate(2).
    Allocate {
        /// The file.
        file: u64,
        /// Mode: 0 or `FALLOC_FL_*`.
        mode: i32,
        /// From which byte on.
        offset: u64,
        /// Number of bytes.
        bytes: u64,
    },
    /// chmod(2).
    SetMode {
        /// The file or directory.
        file: u64,
        /// Permission bits.
        mode: u32,
    },
}

/// Mode in which the file of a write was opened: the layers between an answered write and the
/// device.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenMode {
    /// With `O_SYNC` or `O_DSYNC`: once answered, it must survive a power cut.
    pub durable: bool,
    /// With `O_DIRECT`. All other writes would stay in the kernel's page cache until they are
    /// flushed, which a drive in FUSE does not see: it gets them at once.
    pub direct: bool,
}

impl OpenMode {
    /// From the flags of open(2); `O_SYNC` holds the bit of `O_DSYNC`, and `RWF_DSYNC` sets it as well.
    pub(crate) fn of_flags(flags: i32) -> Self {
        Self {
            durable: flags & libc::O_DSYNC != 0,
            direct: flags & libc::O_DIRECT != 0,
        }
    }

    /// Returns true if its writes are answered once the kernel's page cache has them.
    pub(crate) fn is_buffered(self) -> bool {
        !self.direct && !self.durable
    }
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The directory.
    pub parent: u64,
    /// The name in it.
    pub name: OsString,
}

impl Place {
    pub(crate) fn new(parent: u64, name: &OsStr) -> Self {
        Self {
            parent,
            name: name.to_owned(),
        }
    }
}

/// Kind of a created entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// An empty regular file.
    File {
        /// Permission bits.
        mode: u32,
    },
    /// An empty directory.
    Directory {
        /// Permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Symlink {
        /// Target of the link.
        target: PathBuf,
    },
    /// A socket, a pipe or a device.
    Special {
        /// Type and permission bits, as in `st_mode`.
        mode: u32,
        /// Of a device, its number.
        device: u64,
    },
}

impl Node {
    /// Returns the entry that mknod(2) makes.
    pub(crate) fn of_mknod(mode: u32, device: u64) -> Self {
        match FileType::from_raw_mode(mode) {
            FileType::RegularFile => Self::File {
                mode: mode & 0o7777,
            },
            _ => Self::Special { mode, device },
        }
    }
}

impl Operation {
    /// `node` was created at `at` and has these attributes.
    pub(crate) fn create(attributes: &FileAttr, at: (u64, &OsStr), node: Node) -> Self {
        Self::Create {
            file: attributes.ino.0,
            at: Place::new(at.0, at.1),
            node,
        }
    }
}
