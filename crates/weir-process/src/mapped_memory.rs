//! Memory that the kernel and this process share.

#![allow(unsafe_code)] // the kernel reads and writes it by address

use std::io;
use std::ptr::NonNull;

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// Zeroed pages, as direct I/O and `io_uring` want them; returned when dropped.
#[derive(Debug)]
pub struct MappedMemory {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the pages belong to this value alone, wherever it is moved.
unsafe impl Send for MappedMemory {}

impl MappedMemory {
    /// `length` bytes, rounded up to pages by the kernel; none is resident before it is used.
    ///
    /// # Errors
    ///
    /// The kernel has no memory left for it.
    pub fn new(length: usize) -> io::Result<Self> {
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
    ///
    /// # Panics
    ///
    /// If `offset` lies outside, as the two that follow.
    #[inline]
    pub fn at(&self, offset: usize) -> *mut u8 {
        assert!(offset < self.length, "an offset within the mapping");
        // SAFETY: checked to lie within the mapping.
        unsafe { self.start.as_ptr().add(offset) }
    }

    /// Copies `bytes` to `offset`. The kernel must have finished with that part.
    #[inline]
    pub fn put(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.length, "within the mapping");
        // SAFETY: both ranges are valid for their length, and `bytes` cannot lie in this mapping:
        // of that, `get` lends only what `&mut self` excludes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.at(offset), bytes.len()) }
    }

    /// `length` bytes at `offset`. The kernel must have finished with them.
    #[inline]
    pub fn get(&self, offset: usize, length: usize) -> &[u8] {
        assert!(offset + length <= self.length, "within the mapping");
        // SAFETY: checked to lie within the mapping, whose bytes are all initialised; a buffer is
        // lent here only between its completion and its return to the kernel.
        unsafe { std::slice::from_raw_parts(self.at(offset), length) }
    }
}

impl Drop for MappedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this length, and nothing borrows it any more. An error has
        // no caller to hear of it and only leaves the pages until the process ends.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}
