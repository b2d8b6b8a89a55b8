//! The backing store: a directory whose files hold what the drive's files hold.
//!
//! A pass-through in the manner of libfuse's `passthrough_ll`: each inode that the kernel knows
//! is an `O_PATH` descriptor, so renames, hard links and unlinked files need no path
//! bookkeeping. The store does not sync: what was written lies in the host's memory or page cache
//! and survives the drive's process, which is all that an emulated device can promise; what a
//! flush *costs* is the model's business.

mod attributes;
mod directory;
mod handles;
mod inodes;
mod space;
pub(crate) mod walk;

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use fuser::FileAttr;
use rustix::fs::{AtFlags, CWD, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Timestamps, Uid};
use rustix::io::{Errno, Result};
use weir_model::FileKind;

pub(crate) use self::attributes::{Changes, timestamps};
pub(crate) use self::directory::DirectoryEntry;
pub(crate) use self::handles::{Handles, OpenFile, allocate};
use self::inodes::{Inode, Inodes, ROOT};
pub(crate) use self::space::{BLOCK_BYTES, FreedRange, Space};

/// Caller: the owner of created files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// A directory of the host, as a file system's contents.
#[derive(Debug)]
pub(crate) struct Store {
    path: PathBuf,
    device: u64,
    root: u64,
    inodes: Inodes,
    files: Handles<OpenFile>,
    directories: Handles<directory::OpenDirectory>,
    space: Arc<Space>,
    is_root: bool,
}

impl Store {
    /// Opens the existing directory `path`, of which `capacity_bytes` may be filled.
    pub(crate) fn open(path: &Path, capacity_bytes: u64) -> std::io::Result<Self> {
        let path = path.canonicalize()?;
        let descriptor = rustix::fs::open(&path, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        let stat = stat_of(&descriptor)?;
        let space = Arc::new(Space::new(capacity_bytes, space::used_below(&path)?));
        let root = Arc::new(Inode::new(ROOT, descriptor, &stat, FileKind::Other, &space));
        Ok(Self {
            device: stat.st_dev,
            root: stat.st_ino,
            inodes: Inodes::new(root),
            files: Handles::default(),
            directories: Handles::default(),
            space,
            is_root: rustix::process::geteuid().is_root(),
            path,
        })
    }

    /// Bytes that the host has left below the drive.
    pub(crate) fn host_free_bytes(&self) -> u64 {
        let found = rustix::fs::statvfs(&self.path);
        found.map_or(0, |found| found.f_bavail * found.f_frsize)
    }

    /// Returns the used part of the capacity.
    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    pub(crate) fn lookup(&self, parent: u64, name: &OsStr) -> Result<FileAttr> {
        let parent = self.inodes.get(parent)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let descriptor = rustix::fs::openat(&parent.descriptor, name, flags, Mode::empty())?;
        let stat = stat_of(&descriptor)?;
        // Inode numbers are unique within one file system only.
        if stat.st_dev != self.device {
            return Err(Errno::XDEV);
        }
        let number = self.number_of(stat.st_ino);
        self.inodes.enter(number, || {
            let kind = self.kind_of(&descriptor);
            Inode::new(number, descriptor, &stat, kind, &self.space)
        });
        Ok(attributes::from_stat(number, &stat))
    }

    pub(crate) fn forget(&self, inode: u64, lookups: u64) {
        self.inodes.forget(inode, lookups);
    }

    pub(crate) fn attributes(&self, inode: u64) -> Result<FileAttr> {
        let inode = self.inodes.get(inode)?;
        Ok(attributes::from_stat(
            inode.number,
            &stat_of(&inode.descriptor)?,
        ))
    }

    pub(crate) fn change(&self, inode: u64, changes: &Changes) -> Result<FileAttr> {
        let inode = self.inodes.get(inode)?;
        let path = inode.proc_path();
        if let Some(mode) = changes.mode {
            rustix::fs::chmodat(CWD, &path, Mode::from_raw_mode(mode), AtFlags::empty())?;
        }
        if changes.uid.is_some() || changes.gid.is_some() {
            let (uid, gid) = (
                changes.uid.map(Uid::from_raw),
                changes.gid.map(Gid::from_raw),
            );
            rustix::fs::chownat(&inode.descriptor, "", uid, gid, AtFlags::EMPTY_PATH)?;
        }
        if let Some(size) = changes.size {
            let file = rustix::fs::open(&path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            let before = stat_of(&file)?.st_size.cast_unsigned();
            rustix::fs::ftruncate(&file, size)?;
            inode.recount(&stat_of(&file)?);
            inode.free(size..before);
        }
        if let Some(times) = &changes.times {
            inode.set_times(times)?;
        }
        Ok(attributes::from_stat(
            inode.number,
            &stat_of(&inode.descriptor)?,
        ))
    }

    pub(crate) fn read_link(&self, inode: u64) -> Result<Vec<u8>> {
        let inode = self.inodes.get(inode)?;
        let target = rustix::fs::readlinkat(&inode.descriptor, "", Vec::new())?;
        Ok(target.into_bytes())
    }

    pub(crate) fn make_node(
        &self,
        caller: Caller,
        (parent, name): (u64, &OsStr),
        mode: u32,
        device: u64,
    ) -> Result<FileAttr> {
        let directory = self.inodes.get(parent)?;
        let kind = FileType::from_raw_mode(mode);
        let mode = Mode::from_raw_mode(mode);
        rustix::fs::mknodat(&directory.descriptor, name, kind, mode, device)?;
        self.adopt(caller, &directory, name)?;
        self.lookup(parent, name)
    }

    pub(crate) fn make_directory(
        &self,
        caller: Caller,
        (parent, name): (u64, &OsStr),
        mode: u32,
    ) -> Result<FileAttr> {
        let directory = self.inodes.get(parent)?;
        rustix::fs::mkdirat(&directory.descriptor, name, Mode::from_raw_mode(mode))?;
        self.adopt(caller, &directory, name)?;
        self.lookup(parent, name)
    }

    pub(crate) fn make_symlink(
        &self,
        caller: Caller,
        (parent, name): (u64, &OsStr),
        target: &Path,
    ) -> Result<FileAttr> {
        let directory = self.inodes.get(parent)?;
        rustix::fs::symlinkat(target, &directory.descriptor, name)?;
        self.adopt(caller, &directory, name)?;
        self.lookup(parent, name)
    }

    pub(crate) fn make_link(&self, inode: u64, (parent, name): (u64, &OsStr)) -> Result<FileAttr> {
        let inode = self.inodes.get(inode)?;
        let directory = self.inodes.get(parent)?;
        let path = inode.proc_path();
        // linkat(2): without CAP_DAC_READ_SEARCH an O_PATH descriptor is linked through /proc.
        rustix::fs::linkat(
            CWD,
            path,
            &directory.descriptor,
            name,
            AtFlags::SYMLINK_FOLLOW,
        )?;
        self.lookup(parent, name)
    }

    pub(crate) fn remove(&self, parent: u64, name: &OsStr, is_directory: bool) -> Result<()> {
        let parent = self.inodes.get(parent)?;
        let flags = if is_directory {
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        rustix::fs::unlinkat(&parent.descriptor, name, flags)
    }

    pub(crate) fn rename(
        &self,
        (parent, name): (u64, &OsStr),
        (new_parent, new_name): (u64, &OsStr),
        flags: u32,
    ) -> Result<()> {
        let from = self.inodes.get(parent)?;
        let to = self.inodes.get(new_parent)?;
        let flags = RenameFlags::from_bits(flags).ok_or(Errno::INVAL)?;
        rustix::fs::renameat_with(&from.descriptor, name, &to.descriptor, new_name, flags)?;
        // A temporary table becomes a table by its name.
        for (directory, name) in [(&to, new_name), (&from, name)] {
            let stat = rustix::fs::statat(&directory.descriptor, name, AtFlags::SYMLINK_NOFOLLOW);
            let known = stat.and_then(|stat| self.inodes.get(self.number_of(stat.st_ino)));
            if let Ok(inode) = known {
                inode.set_kind(self.kind_of(&inode.descriptor));
            }
        }
        Ok(())
    }

    pub(crate) fn open_file(&self, inode: u64, flags: i32) -> Result<u64> {
        let inode = self.inodes.get(inode)?;
        let flags = OFlags::from_bits_retain(flags as u32) & OFlags::ACCMODE;
        let path = inode.proc_path();
        let descriptor = rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty())?;
        Ok(self.files.insert(OpenFile { descriptor, inode }))
    }

    pub(crate) fn create_file(
        &self,
        caller: Caller,
        (parent, name): (u64, &OsStr),
        mode: u32,
        flags: i32,
    ) -> Result<(FileAttr, u64)> {
        let directory = self.inodes.get(parent)?;
        let kept = OFlags::ACCMODE | OFlags::EXCL | OFlags::TRUNC;
        let flags = OFlags::from_bits_retain(flags as u32) & kept;
        let flags = flags | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(mode);
        let descriptor = rustix::fs::openat(&directory.descriptor, name, flags, mode)?;
        if self.is_root {
            let (uid, gid) = (Uid::from_raw(caller.uid), Gid::from_raw(caller.gid));
            rustix::fs::fchown(&descriptor, Some(uid), Some(gid))?;
        }
        let attributes = self.lookup(parent, name)?;
        let inode = self.inodes.get(attributes.ino.0)?;
        let handle = self.files.insert(OpenFile { descriptor, inode });
        Ok((attributes, handle))
    }

    /// The open file with the number `handle`.
    pub(crate) fn file(&self, handle: u64) -> Result<Arc<OpenFile>> {
        self.files.get(handle)
    }

    pub(crate) fn close_file(&self, handle: u64) {
        self.files.remove(handle);
    }

    pub(crate) fn open_directory(&self, inode: u64) -> Result<u64> {
        let inode = self.inodes.get(inode)?;
        Ok(self
            .directories
            .insert(directory::OpenDirectory::new(inode)))
    }

    /// Calls `entry` for each name from position `offset` on, until it returns true (full).
    pub(crate) fn read_directory(
        &self,
        handle: u64,
        offset: u64,
        mut entry: impl FnMut(u64, &DirectoryEntry) -> bool,
    ) -> Result<()> {
        let directory = self.directories.get(handle)?;
        directory.read(offset, |position, found| {
            let number = self.number_of(found.inode);
            entry(
                position,
                &DirectoryEntry {
                    inode: number,
                    ..found.clone()
                },
            )
        })
    }

    pub(crate) fn close_directory(&self, handle: u64) {
        self.directories.remove(handle);
    }

    /// Gives what the drive's process created to the one that asked for it.
    fn adopt(&self, caller: Caller, directory: &Inode, name: &OsStr) -> Result<()> {
        if !self.is_root {
            return Ok(());
        }
        let (uid, gid) = (Uid::from_raw(caller.uid), Gid::from_raw(caller.gid));
        let flags = AtFlags::SYMLINK_NOFOLLOW;
        rustix::fs::chownat(&directory.descriptor, name, Some(uid), Some(gid), flags)
    }

    fn number_of(&self, backing_inode: u64) -> u64 {
        if backing_inode == self.root {
            ROOT
        } else {
            backing_inode
        }
    }

    /// The purpose of an open file, by the path under which the host knows it now.
    fn kind_of(&self, descriptor: impl AsFd) -> FileKind {
        FileKind::from_path(&self.path_below_root(descriptor))
    }

    /// Path of an inode that the kernel knows, relative to the root; empty if it knows it not.
    pub(crate) fn path_of(&self, inode: u64) -> String {
        let inode = self.inodes.get(inode);
        inode.map_or_else(
            |_| String::new(),
            |inode| self.path_below_root(&inode.descriptor),
        )
    }

    fn path_below_root(&self, descriptor: impl AsFd) -> String {
        let Ok(path) = rustix::fs::readlinkat(CWD, inodes::proc_path(descriptor), Vec::new())
        else {
            return String::new();
        };
        let path = Path::new(OsStr::from_bytes(path.as_bytes()));
        let relative = path.strip_prefix(&self.path).unwrap_or(path);
        relative.to_string_lossy().into_owned()
    }

    /// Files that are gone for good since the last call: their numbers and their sizes in bytes.
    pub(crate) fn take_freed(&self) -> Vec<FreedRange> {
        self.space.take_freed()
    }
}

impl Inode {
    /// Returns the purpose of the file.
    pub(crate) fn kind(&self) -> FileKind {
        FileKind::ALL[usize::from(self.kind.load(Ordering::Relaxed))]
    }

    fn set_times(&self, times: &Timestamps) -> Result<()> {
        let stat = stat_of(&self.descriptor)?;
        if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink {
            // The magic link in /proc would be followed to the link's target.
            return rustix::fs::utimensat(&self.descriptor, "", times, AtFlags::EMPTY_PATH);
        }
        rustix::fs::utimensat(CWD, self.proc_path(), times, AtFlags::empty())
    }

    fn set_kind(&self, kind: FileKind) {
        self.kind.store(kind.index() as u8, Ordering::Relaxed);
    }
}

fn kind_cell(kind: FileKind) -> AtomicU8 {
    AtomicU8::new(kind.index() as u8)
}

fn stat_of(descriptor: impl AsFd) -> Result<Stat> {
    rustix::fs::statat(descriptor, "", AtFlags::EMPTY_PATH)
}
