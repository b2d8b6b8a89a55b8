//! The FUSE front end: the kernel's requests to the store, their replies at the device's time.
//!
//! What the flags do was read in the kernel's `fs/fuse/file.c` and `include/uapi/linux/fuse.h`:
//!
//! - `FUSE_ASYNC_DIO`: more than one direct read and one direct write of an open file at a time.
//! - `FOPEN_DIRECT_IO` with `FOPEN_PARALLEL_DIRECT_WRITES`: each read and write of the server
//!   arrives as one request of its own size and boundaries, also when it did not ask for
//!   `O_DIRECT`, and writes inside a file do not exclude each other.
//! - No `FUSE_WRITEBACK_CACHE`, which would rebuild writes from 4 KiB pages.
//! - No `FUSE_POSIX_LOCKS`: the kernel keeps locks by itself, and they die with their holder.
//! - `FUSE_DIRECT_IO_ALLOW_MMAP`: shared mappings although all files are `DIRECT_IO`.
//!
//! Metadata operations are answered at once: no profile says what they take.

mod data;
mod reply;

use self::reply::{attributes, caller, done, entry, errno, open_flags};

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, Generation, INodeNo, InitFlags,
    IoctlFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyLseek, ReplyOpen, ReplyStatfs,
    ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use weir_model::{DriveProfile, FileKind, OpKind};
use weir_process::FLUSH;

use crate::calibration;
use crate::engine::{Engine, Extent, Write};
use crate::recording::{Node, OpenMode, Operation, Place, Recorder};
use crate::request::REQUEST_BYTES_MAX;
use crate::scheduler::Reply;
use crate::store::{BLOCK_BYTES, Changes, Store, timestamps};

/// Time for which the kernel may trust names and attributes. All changes pass through the kernel,
/// which then updates what it has cached (a write's new size before the write returns), so this
/// bounds only how long it would trust what was changed behind the mount.
const CACHED: Duration = Duration::from_secs(1);
/// Asynchronous requests in flight.
const BACKGROUND_MAX: u16 = 256;
const NAME_BYTES_MAX: u32 = 255;
/// `_IOW(0x95, 2, unsigned int)`: by which servers switch a Fusion-io drive's atomic writes on, and
/// see that it has them (MySQL `fil_fusionio_enable_atomic_write`, MariaDB `my_atomic_writes.c`).
const DFS_IOCTL_ATOMIC_WRITE_SET: u32 = 0x4004_9502;

/// A mounted drive's file system.
#[derive(Debug)]
pub(crate) struct DriveFileSystem {
    store: Arc<Store>,
    engine: Arc<Engine>,
    recorder: Arc<Recorder>,
    advertises_atomic_writes: bool,
}

type Result<T> = std::result::Result<T, rustix::io::Errno>;

impl DriveFileSystem {
    pub(crate) fn new(
        store: Arc<Store>,
        engine: Arc<Engine>,
        recorder: Arc<Recorder>,
        profile: &DriveProfile,
    ) -> Self {
        Self {
            store,
            engine,
            recorder,
            advertises_atomic_writes: profile.atomicity.advertise,
        }
    }

    fn remove(&self, (parent, name): (u64, &OsStr), is_directory: bool, reply: ReplyEmpty) {
        let removed = self.store.remove(parent, name, is_directory);
        self.recorder.note(&removed, |()| Operation::Remove {
            at: Place::new(parent, name),
            is_directory,
        });
        done(reply, removed);
    }
}

impl Filesystem for DriveFileSystem {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        for wanted in [
            InitFlags::FUSE_ASYNC_DIO,
            InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
            InitFlags::FUSE_PARALLEL_DIROPS,
        ] {
            // An older kernel without one of them still works, more slowly.
            let _ = config.add_capabilities(wanted);
        }
        let _ = config.set_max_write(REQUEST_BYTES_MAX);
        let _ = config.set_max_background(BACKGROUND_MAX);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, self.store.lookup(parent.0, name));
    }

    fn forget(&self, _request: &Request, inode: INodeNo, lookups: u64) {
        self.store.forget(inode.0, lookups);
        self.trim_freed();
    }

    fn getattr(&self, request: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let found = self.store.attributes(inode.0);
        match found {
            Ok(found) if self.engine.correction().is_prober(request.pid()) => {
                let arrival = self.engine.arrived(request.pid());
                let reply = Reply::Probe(reply, Box::new(found));
                self.engine.probe(arrival, reply);
            }
            found => attributes(reply, found),
        }
    }

    fn setattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _changed_macos: Option<SystemTime>,
        _backed_up: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let changes = Changes {
            mode,
            uid,
            gid,
            size,
            times: timestamps(accessed, modified),
        };
        let changed = self.store.change(inode.0, &changes);
        let file = inode.0;
        if let Some(mode) = mode {
            self.recorder
                .note(&changed, |_| Operation::SetMode { file, mode });
        }
        if let Some(bytes) = size {
            self.recorder
                .note(&changed, |_| Operation::Truncate { file, bytes });
        }
        attributes(reply, changed);
        self.trim_freed();
    }

    fn readlink(&self, _request: &Request, inode: INodeNo, reply: ReplyData) {
        match self.store.read_link(inode.0) {
            Ok(target) => reply.data(&target),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let place = (parent.0, name);
        let node = self
            .store
            .make_node(caller(request), place, mode, u64::from(device));
        self.recorder.note(&node, |made| {
            Operation::create(made, place, Node::of_mknod(mode, device.into()))
        });
        entry(reply, node);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let place = (parent.0, name);
        let directory = self.store.make_directory(caller(request), place, mode);
        self.recorder.note(&directory, |made| {
            Operation::create(made, place, Node::Directory { mode })
        });
        entry(reply, directory);
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove((parent.0, name), false, reply);
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove((parent.0, name), true, reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let place = (parent.0, name);
        let link = self.store.make_symlink(caller(request), place, target);
        self.recorder.note(&link, |made| {
            let target = target.to_owned();
            Operation::create(made, place, Node::Symlink { target })
        });
        entry(reply, link);
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let (from, to) = ((parent.0, name), (new_parent.0, new_name));
        let renamed = self.store.rename(from, to, flags.bits());
        self.recorder.note(&renamed, |()| Operation::Rename {
            from: Place::new(from.0, from.1),
            to: Place::new(to.0, to.1),
            flags: flags.bits(),
        });
        done(reply, renamed);
    }

    fn link(
        &self,
        _request: &Request,
        inode: INodeNo,
        parent: INodeNo,
        name: &OsStr,
        reply: ReplyEntry,
    ) {
        let link = self.store.make_link(inode.0, (parent.0, name));
        self.recorder.note(&link, |made| Operation::Link {
            file: made.ino.0,
            at: Place::new(parent.0, name),
        });
        entry(reply, link);
    }

    fn open(&self, _request: &Request, inode: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        match self.store.open_file(inode.0, flags.0) {
            Ok(handle) => reply.opened(FileHandle(handle), open_flags()),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let place = (parent.0, name);
        let created = self.store.create_file(caller(request), place, mode, flags);
        self.recorder.note(&created, |(made, _)| {
            Operation::create(
                made,
                place,
                Node::File {
                    mode: mode & 0o7777,
                },
            )
        });
        match created {
            Ok((attributes, handle)) => {
                if name == calibration::FILE {
                    self.engine.begin_calibration(attributes.ino.0);
                }
                let handle = FileHandle(handle);
                reply.created(&CACHED, &attributes, Generation(0), handle, open_flags());
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    fn read(
        &self,
        request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let arrival = self.engine.arrived(request.pid());
        let found = self.store.file(handle.0).and_then(|file| {
            let found = self.read_from(&file, offset, size as usize)?;
            Ok((file, found))
        });
        match found {
            Ok((file, found)) => {
                let extent = Self::extent(&file, offset, found.bytes as u64);
                let reply = Reply::Data {
                    reply,
                    buffer: found.buffer,
                    bytes: found.bytes,
                };
                self.engine.read(extent, arrival, found.longer_by, reply);
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    fn write(
        &self,
        request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let arrival = self.engine.arrived(request.pid());
        let written = self.store.file(handle.0).and_then(|file| {
            let verdict = self.judge(OpKind::Write, &file);
            if verdict.fails {
                return Err(rustix::io::Errno::IO);
            }
            self.engine.check_room(data.len() as u64)?;
            file.write(data, offset)?;
            Ok((file, verdict.longer_by))
        });
        match written {
            Ok((file, longer_by)) => {
                let opened = OpenMode::of_flags(flags.0);
                let write = Write {
                    extent: Self::extent(&file, offset, data.len() as u64),
                    data,
                    opened,
                };
                let file = write.extent.file;
                let recorded = self.recorder.write(file, offset, data, opened);
                let reply = Reply::Written(reply, data.len() as u32, recorded);
                self.engine.write(write, arrival, longer_by, reply);
            }
            Err(error) => reply.error(errno(error)),
        }
    }

    fn flush(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        // Sent on each close(2). It is no durability point; ENOSYS stops the kernel from asking.
        reply.error(Errno::ENOSYS);
    }

    fn release(
        &self,
        _request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        self.store.close_file(handle.0);
        self.trim_freed();
        reply.ok();
    }

    fn fsync(&self, request: &Request, _: INodeNo, handle: FileHandle, _: bool, reply: ReplyEmpty) {
        match self.flush_file(request, handle) {
            Ok(flush) => self.begin(flush, |recorded| Reply::Done(reply, recorded)),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn opendir(&self, _request: &Request, inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        match self.store.open_directory(inode.0) {
            Ok(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn readdir(
        &self,
        _request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let read = self.store.read_directory(handle.0, offset, |next, found| {
            reply.add(INodeNo(found.inode), next, found.kind, &found.name)
        });
        match read {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn releasedir(
        &self,
        _request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.store.close_directory(handle.0);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        _: bool,
        reply: ReplyEmpty,
    ) {
        let extent = Extent {
            file: inode.0,
            kind: FileKind::Other,
            offset: 0,
            bytes: 0,
        };
        let arrival = self.engine.arrived(request.pid());
        let recorded = self.recorder.flush(extent.file);
        self.engine
            .flush(extent, arrival, 0, Reply::Done(reply, recorded));
    }

    fn statfs(&self, _request: &Request, _inode: INodeNo, reply: ReplyStatfs) {
        let space = self.store.space();
        let blocks = space.capacity_bytes() / BLOCK_BYTES;
        let free = blocks.saturating_sub(space.used_bytes() / BLOCK_BYTES);
        let (files, block_bytes) = (1 << 32, BLOCK_BYTES as u32);
        reply.statfs(
            blocks,
            free,
            free,
            files,
            files,
            block_bytes,
            NAME_BYTES_MAX,
            block_bytes,
        );
    }

    fn getxattr(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, reply: ReplyXattr) {
        // ENOSYS stops the kernel from asking for security attributes before each write.
        reply.error(Errno::ENOSYS);
    }

    fn ioctl(
        &self,
        request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        flags: IoctlFlags,
        command: u32,
        _in_data: &[u8],
        _out_size: u32,
        reply: ReplyIoctl,
    ) {
        match command {
            // A server that gets 0 may turn its doublewrite buffer off, so only who wants that gets it.
            DFS_IOCTL_ATOMIC_WRITE_SET if self.advertises_atomic_writes => reply.ioctl(0, &[]),
            FLUSH if !flags.contains(IoctlFlags::FUSE_IOCTL_DIR) => {
                match self.flush_file(request, handle) {
                    Ok(flush) => self.begin(flush, |recorded| Reply::Flushed(reply, recorded)),
                    Err(error) => reply.error(errno(error)),
                }
            }
            _ => reply.error(Errno::ENOTTY),
        }
    }

    fn fallocate(
        &self,
        request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        bytes: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let arrival = self.engine.arrived(request.pid());
        let allocated = self.store.file(handle.0).and_then(|file| {
            file.allocate(mode, offset, bytes)?;
            Ok(file)
        });
        self.recorder.note(&allocated, |file| Operation::Allocate {
            file: file.inode.number(),
            mode,
            offset,
            bytes,
        });
        match allocated {
            Ok(file) if mode & libc::FALLOC_FL_PUNCH_HOLE != 0 => {
                let extent = Self::extent(&file, offset, bytes);
                self.engine
                    .discard(extent, arrival, Reply::Done(reply, None));
            }
            Ok(_) => reply.ok(),
            Err(error) => reply.error(errno(error)),
        }
    }

    fn lseek(
        &self,
        _request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        let found = self.store.file(handle.0).and_then(|file| {
            let offset = u64::try_from(offset).map_err(|_| rustix::io::Errno::NXIO)?;
            file.seek(offset, whence)
        });
        match found {
            Ok(position) => reply.offset(position.cast_signed()),
            Err(error) => reply.error(errno(error)),
        }
    }
}
