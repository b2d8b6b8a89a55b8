//! A file system that does next to nothing: one file, answered at once. What the FUSE path itself takes, and with
//! a file behind it what any file system on memory takes.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, Session, WriteFlags,
};
use tempfile::TempDir;

use crate::fio;

const FOREVER: Duration = Duration::from_hours(1);
const FILE: INodeNo = INodeNo(2);

/// A mounted one; dropping it unmounts.
pub(crate) struct Bare {
    _session: BackgroundSession,
    pub(crate) mountpoint: TempDir,
}

thread_local! {
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; 1 << 20]);
}

impl Bare {
    /// Answers from one buffer.
    pub(crate) fn mount() -> Self {
        Self::with(None)
    }

    /// Answers from a file in memory, which it reads and writes.
    pub(crate) fn mount_with_file() -> Self {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        file.write_all_at(&vec![0x5a; fio::FILE_BYTES], 0).unwrap();
        Self::with(Some(file))
    }

    fn with(file: Option<File>) -> Self {
        let mountpoint = tempfile::tempdir().unwrap();
        let answers = Answers {
            data: vec![0x5a; 1 << 20],
            file,
        };
        let mut configuration = Config::default();
        configuration.n_threads = Some(1);
        let session = Session::new(answers, mountpoint.path(), &configuration).unwrap();
        Self {
            _session: session.spawn().unwrap(),
            mountpoint,
        }
    }
}

struct Answers {
    data: Vec<u8>,
    file: Option<File>,
}

impl Filesystem for Answers {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // As the drive asks for.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        let _ = config.set_max_write(1 << 20);
        let _ = config.set_max_background(256);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == fio::FILE {
            reply.entry(&FOREVER, &attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&FOREVER, &attributes(inode));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(1), flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some(file) = &self.file else {
            return reply.data(&self.data[..size as usize]);
        };
        BUFFER.with_borrow_mut(|buffer| {
            let part = &mut buffer[..size as usize];
            file.read_exact_at(part, offset).unwrap();
            reply.data(part);
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if let Some(file) = &self.file {
            file.write_all_at(data, offset).unwrap();
        }
        reply.written(data.len() as u32);
    }
}

fn attributes(inode: INodeNo) -> FileAttr {
    let is_file = inode == FILE;
    let size = if is_file { fio::FILE_BYTES as u64 } else { 0 };
    FileAttr {
        ino: inode,
        size,
        blocks: size / 512,
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind: if is_file {
            FileType::RegularFile
        } else {
            FileType::Directory
        },
        perm: 0o755,
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}
