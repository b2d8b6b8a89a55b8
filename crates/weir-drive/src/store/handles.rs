//! Open files and directories, by the number that the kernel holds for them.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::{FallocateFlags, Mode, OFlags, SeekFrom};
use rustix::io::{Errno, Result};

use super::inodes::Inode;

/// Numbers for open things.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    table: Mutex<Table<T>>,
}

#[derive(Debug)]
struct Table<T> {
    next: u64,
    open: HashMap<u64, Arc<T>>,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        let table = Table {
            next: 1,
            open: HashMap::new(),
        };
        Self {
            table: Mutex::new(table),
        }
    }
}

impl<T> Handles<T> {
    pub(super) fn insert(&self, opened: T) -> u64 {
        let mut table = self.lock();
        let number = table.next;
        table.next += 1;
        table.open.insert(number, Arc::new(opened));
        number
    }

    pub(super) fn get(&self, number: u64) -> Result<Arc<T>> {
        let table = self.lock();
        table.open.get(&number).cloned().ok_or(Errno::BADF)
    }

    pub(super) fn remove(&self, number: u64) {
        let removed = self.lock().open.remove(&number);
        drop(removed);
    }

    fn lock(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open file.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(super) descriptor: OwnedFd,
    pub(crate) inode: Arc<Inode>,
}

impl OpenFile {
    /// Fills `buffer` from `offset` on; returns the bytes read, fewer at the end of the file.
    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let position = offset + filled as u64;
            let got = rustix::io::pread(&self.descriptor, &mut buffer[filled..], position)?;
            if got == 0 {
                break;
            }
            filled += got;
        }
        Ok(filled)
    }

    /// Writes all of `data` at `offset`.
    pub(crate) fn write(&self, data: &[u8], offset: u64) -> Result<()> {
        let space = self.inode.file_space();
        let bytes = data.len() as u64;
        let grows = space.may_grow(offset, bytes);
        if grows {
            let growth = space.growth_max(offset, bytes);
            self.inode.space().check_room(growth)?;
        }
        let written = self.write_all(data, offset);
        // Also of a write that the host cut short because its own disk is full.
        if grows {
            self.recount()?;
        }
        written
    }

    fn write_all(&self, data: &[u8], offset: u64) -> Result<()> {
        let mut written = 0;
        while written < data.len() {
            let position = offset + written as u64;
            written += rustix::io::pwrite(&self.descriptor, &data[written..], position)?;
        }
        Ok(())
    }

    /// Changes one stored bit of the byte at `offset`, and of `data`, which was read from there on.
    pub(crate) fn flip_bit(&self, offset: u64, data: &mut [u8], bit: u64) -> Result<()> {
        if data.is_empty() {
            return Ok(());
        }
        let place = (bit / 8) as usize % data.len();
        data[place] ^= 1 << (bit % 8);
        // The caller may have opened it for reading only.
        let path = self.inode.proc_path();
        let file = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        let changed = &data[place..=place];
        rustix::io::pwrite(&file, changed, offset + place as u64).map(drop)
    }

    /// fallocate(2): allocation, holes and zeroes.
    pub(crate) fn allocate(&self, mode: i32, offset: u64, bytes: u64) -> Result<()> {
        if mode & libc::FALLOC_FL_PUNCH_HOLE == 0 {
            let growth = self.inode.file_space().growth_max(offset, bytes);
            self.inode.space().check_room(growth)?;
        }
        allocate(&self.descriptor, mode, offset, bytes)?;
        self.recount()
    }

    /// `SEEK_DATA` and `SEEK_HOLE`; all other positions are the kernel's business.
    pub(crate) fn seek(&self, offset: u64, whence: i32) -> Result<u64> {
        let position = match whence {
            libc::SEEK_DATA => SeekFrom::Data(offset),
            libc::SEEK_HOLE => SeekFrom::Hole(offset),
            _ => return Err(Errno::INVAL),
        };
        rustix::fs::seek(&self.descriptor, position)
    }

    fn recount(&self) -> Result<()> {
        self.inode.recount(&super::stat_of(&self.descriptor)?);
        Ok(())
    }
}

/// fallocate(2) in the modes that a drive has, on any file system of the host.
pub(crate) fn allocate(file: impl AsFd, mode: i32, offset: u64, bytes: u64) -> Result<()> {
    let mode = FallocateFlags::from_bits(mode as u32).ok_or(Errno::OPNOTSUPP)?;
    let supported =
        FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE | FallocateFlags::ZERO_RANGE;
    if !supported.contains(mode) {
        return Err(Errno::OPNOTSUPP);
    }
    match rustix::fs::fallocate(&file, mode, offset, bytes) {
        // A store in memory (tmpfs) has holes but no ZERO_RANGE: a hole reads as zeroes too.
        Err(Errno::OPNOTSUPP) if mode.contains(FallocateFlags::ZERO_RANGE) => {
            zero_by_hole(file, mode, offset, bytes)
        }
        done => done,
    }
}

fn zero_by_hole(file: impl AsFd, mode: FallocateFlags, offset: u64, bytes: u64) -> Result<()> {
    let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, punch, offset, bytes)?;
    // What ZERO_RANGE promises besides zeroes: the range is allocated, the file long enough.
    let allocate = mode & FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(&file, allocate, offset, bytes)
}
