//! Buffers that the kernel fills with what sockets receive.
//!
//! `io_uring_register_buf_ring(3)`: one ring of buffers serves all sockets, so that memory goes by
//! what arrives between two rounds and not by the number of connections.

#![allow(unsafe_code)] // a ring of descriptors that the kernel reads

use std::io;
use std::sync::atomic::{AtomicU16, Ordering};

use io_uring::Submitter;
use io_uring::types::BufRingEntry;
use weir_process::MappedMemory;

/// Number of buffers, a power of two.
const COUNT: u16 = 256;
/// A reply of a hundred rows of sysbench's table is 13 KiB.
const BYTES: usize = 16 << 10;
/// Number of the only group of buffers.
pub(super) const GROUP: u16 = 0;

/// A ring of buffers.
#[derive(Debug)]
pub(super) struct Buffers {
    descriptors: MappedMemory,
    memory: MappedMemory,
    tail: u16,
}

impl Buffers {
    /// Buffers that are all the kernel's once they are registered.
    pub(super) fn new() -> io::Result<Self> {
        let mut buffers = Self {
            descriptors: MappedMemory::new(usize::from(COUNT) * size_of::<BufRingEntry>())?,
            memory: MappedMemory::new(usize::from(COUNT) * BYTES)?,
            tail: 0,
        };
        for buffer in 0..COUNT {
            buffers.give(buffer);
        }
        Ok(buffers)
    }

    /// Tells the kernel of them. They must live longer than the ring.
    pub(super) fn register(&self, submitter: &Submitter<'_>) -> io::Result<()> {
        let address = self.descriptors.at(0) as u64;
        // SAFETY: the descriptors are as long as announced, page-aligned, and outlive the ring.
        unsafe { submitter.register_buf_ring_with_flags(address, COUNT, GROUP, 0) }
    }

    /// Gives a buffer to the kernel.
    pub(super) fn give(&mut self, buffer: u16) {
        let base: *mut BufRingEntry = self.descriptors.at(0).cast();
        let address = self.memory.at(usize::from(buffer) * BYTES) as u64;
        // SAFETY: the slot lies within the ring by the mask; the kernel reads no slot between its
        // own position and the tail that is published below. Mapped pages are zeroed, which is a
        // valid entry.
        let (entry, tail) = unsafe {
            let entry = &mut *base.add(usize::from(self.tail & (COUNT - 1)));
            (entry, BufRingEntry::tail(base).cast_mut())
        };
        entry.set_addr(address);
        entry.set_len(BYTES as u32);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: aligned, within the ring, and shared with the kernel only, which reads it with
        // acquire semantics.
        unsafe { AtomicU16::from_ptr(tail) }.store(self.tail, Ordering::Release);
    }

    /// Returns the kernel's bytes in a buffer; to be given back afterwards.
    pub(super) fn get(&self, buffer: u16, length: usize) -> &[u8] {
        self.memory.get(usize::from(buffer) * BYTES, length)
    }
}
