//! An `io_uring` for one file: reads, writes and flushes by slot.

#![allow(unsafe_code)] // entries carry addresses

use std::io;

use io_uring::{IoUring, opcode, squeue, types};
use weir_process::MappedMemory;

/// Operations under way at most.
pub(crate) const SLOTS: usize = 256;
/// Bytes of all slots together.
const MEMORY_BYTES: usize = 16 << 20;
const PAGE_BYTES: usize = 4096;
const FLUSH: u64 = u64::MAX;

/// The ring, and the memory that its entries refer to.
pub(crate) struct Queues {
    // Dropped first: the kernel cancels what is under way before the memory goes.
    ring: IoUring,
    memory: MappedMemory,
    descriptor: i32,
}

impl std::fmt::Debug for Queues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queues").finish_non_exhaustive()
    }
}

impl Queues {
    /// For the open file `descriptor`, which outlives this; slots hold `content` in turn.
    pub(crate) fn new(descriptor: i32, content: &[u8]) -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .build(2 * SLOTS as u32)?;
        let mut memory = MappedMemory::new(MEMORY_BYTES)?;
        for offset in (0..MEMORY_BYTES).step_by(content.len()) {
            let length = content.len().min(MEMORY_BYTES - offset);
            memory.put(offset, &content[..length]);
        }
        Ok(Self {
            ring,
            memory,
            descriptor,
        })
    }

    /// Queues a read or write of `bytes` at `offset` of the file in `slot`. `stamp` makes each block
    /// that is written another one.
    pub(crate) fn transfer(
        &mut self,
        is_read: bool,
        slot: usize,
        bytes: usize,
        offset: u64,
        stamp: u64,
    ) -> io::Result<()> {
        let start = slot * bytes;
        assert!(start + bytes <= MEMORY_BYTES, "slots within the memory");
        let file = types::Fd(self.descriptor);
        let entry = if is_read {
            opcode::Read::new(file, self.memory.at(start), bytes as u32)
                .offset(offset)
                .build()
        } else {
            for block in (0..bytes).step_by(PAGE_BYTES) {
                let number = (stamp + block as u64).to_le_bytes();
                self.memory.put(start + block, &number);
            }
            opcode::Write::new(file, self.memory.at(start), bytes as u32)
                .offset(offset)
                .build()
        };
        self.push(&entry.user_data(slot as u64))
    }

    /// Queues a flush of the file's data.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        let entry = opcode::Fsync::new(types::Fd(self.descriptor))
            .flags(types::FsyncFlags::DATASYNC)
            .build();
        self.push(&entry.user_data(FLUSH))
    }

    fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: entries refer to the memory of this value, which outlives the ring, and no slot
        // is used again before its completion.
        unsafe { self.ring.submission().push(entry) }.map_err(io::Error::other)
    }

    /// Hands over the queued requests and waits for at least one completion; calls `done` with slot and
    /// result of each.
    pub(crate) fn wait(&mut self, mut done: impl FnMut(usize, i32)) -> io::Result<()> {
        loop {
            match self.ring.submit_and_wait(1) {
                Ok(_) => break,
                // A signal: the flag that it sets is looked at between operations.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        for entry in self.ring.completion() {
            done(entry.user_data() as usize, entry.result());
        }
        Ok(())
    }
}
