//! Memory that the kernel reads and writes: aligned as direct I/O wants it.

#![allow(unsafe_code)] // the kernel reads and writes it by address

use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Pages of this process, returned when dropped.
#[derive(Debug)]
pub(crate) struct Memory {
    start: NonNull<u8>,
    length: usize,
}

impl Memory {
    /// `length` bytes, zeroed.
    pub(crate) fn new(length: usize) -> io::Result<Self> {
        // SAFETY: a new private mapping at an address of the kernel's choosing touches nothing.
        let start = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { start, length })
    }

    /// Address of the byte at `offset`.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.length, "an offset within the mapping");
        // SAFETY: checked to lie within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Copies `bytes` to `offset`. The kernel must have finished with that part.
    pub(crate) fn put(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.length, "within the mapping");
        // SAFETY: both ranges are valid for their length; `bytes` is not of this mapping, which lends nothing.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset), bytes.len()) }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and nothing points into it any longer.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
