//! `io_uring(7)`: one call submits a round of requests and waits for replies. Each connection has one receive operation
//! that goes on, into buffers that all share.

#![allow(unsafe_code)] // entries carry addresses

use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use io_uring::types::{BufRingEntry, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode, squeue};
use weir_process::MappedMemory;

use crate::login::Client;

const ENTRIES: u32 = 1024;
const COMPLETIONS: u32 = 8192;
/// Buffers, a power of two, and the bytes of each.
const BUFFERS: u16 = 256;
const BUFFER_BYTES: usize = 4096;
const GROUP: u16 = 0;
/// Bytes of a request's place, which the kernel reads from.
const REQUEST_BYTES: usize = 64;
/// Time for which the loop may sleep past its end, nanoseconds.
const PATIENCE_NS: u32 = 100_000_000;
/// Replies worth waiting for, of this many connections, and for how long, as Weir does.
const BATCH_SHARE: usize = 8;
const BATCH_MAX: usize = 32;
const BATCH_WAIT_NS: u32 = 50_000;
/// Marks the completions of requests, which come for failures only.
const SENT: u64 = 1 << 63;

/// Asks until the time is over; the number of queries that were answered.
pub(crate) fn ask(mut clients: Vec<Client>, until: Instant) -> anyhow::Result<u64> {
    let mut ring = Ring::new(clients.len())?;
    let batch = (clients.len() / BATCH_SHARE).clamp(1, BATCH_MAX);
    for (index, client) in clients.iter_mut().enumerate() {
        let files = [client.socket().as_raw_fd()];
        let submitter = ring.ring.submitter();
        submitter.register_files_update(index as u32, &files)?;
        ring.receive(index)?;
        ring.send(index, client.next_request())?;
    }
    // A request has left its place when its reply has come.
    let mut missing: Vec<_> = clients.iter().map(|client| client.reply_bytes).collect();
    let mut queries = 0;
    while Instant::now() < until {
        ring.submit_and_wait(batch)?;
        while let Some(entry) = ring.pop() {
            let (token, result) = (entry.user_data(), entry.result());
            ensure!(token & SENT == 0, "a request failed with {result}");
            let index = token as usize;
            if result == -libc::ENOBUFS {
                ring.receive(index)?;
                continue;
            }
            let Ok(got) = usize::try_from(result) else {
                bail!(io::Error::from_raw_os_error(-result));
            };
            let buffer = cqueue::buffer_select(entry.flags()).context("a reply has a buffer")?;
            ring.give(buffer);
            ensure!(
                got > 0 && got <= missing[index],
                "a reply of an unknown length"
            );
            if !cqueue::more(entry.flags()) {
                ring.receive(index)?;
            }
            missing[index] -= got;
            if missing[index] == 0 {
                queries += 1;
                missing[index] = clients[index].reply_bytes;
                ring.send(index, clients[index].next_request())?;
            }
        }
    }
    Ok(queries)
}

/// A ring with its buffers. The kernel cancels what is under way before the memory goes.
struct Ring {
    ring: IoUring,
    descriptors: MappedMemory,
    buffers: MappedMemory,
    tail: u16,
    requests: MappedMemory,
}

impl Ring {
    fn new(connections: usize) -> anyhow::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)
            .context("while making an io_uring")?;
        ring.submitter().register_files_sparse(connections as u32)?;
        let mut made = Self {
            ring,
            descriptors: MappedMemory::new(usize::from(BUFFERS) * size_of::<BufRingEntry>())?,
            buffers: MappedMemory::new(usize::from(BUFFERS) * BUFFER_BYTES)?,
            tail: 0,
            requests: MappedMemory::new(connections * REQUEST_BYTES)?,
        };
        for buffer in 0..BUFFERS {
            made.give(buffer);
        }
        let address = made.descriptors.at(0) as u64;
        let submitter = made.ring.submitter();
        // SAFETY: the descriptors are as many as announced, page-aligned, and outlive the ring.
        unsafe { submitter.register_buf_ring_with_flags(address, BUFFERS, GROUP, 0)? };
        Ok(made)
    }

    /// Gives a buffer to the kernel.
    fn give(&mut self, buffer: u16) {
        let base: *mut BufRingEntry = self.descriptors.at(0).cast();
        let address = self.buffers.at(usize::from(buffer) * BUFFER_BYTES) as u64;
        // SAFETY: the slot lies within the descriptors by the mask, which are zeroed and so valid entries; the kernel
        // reads no slot beyond the tail that is published below.
        let (entry, tail) = unsafe {
            let entry = &mut *base.add(usize::from(self.tail & (BUFFERS - 1)));
            (entry, BufRingEntry::tail(base).cast_mut())
        };
        entry.set_addr(address);
        entry.set_len(BUFFER_BYTES as u32);
        entry.set_bid(buffer);
        self.tail = self.tail.wrapping_add(1);
        // SAFETY: aligned, within the descriptors, and shared with the kernel only.
        unsafe { AtomicU16::from_ptr(tail) }.store(self.tail, Ordering::Release);
    }

    fn receive(&mut self, index: usize) -> io::Result<()> {
        let entry = opcode::RecvMulti::new(Fixed(index as u32), GROUP)
            .build()
            .user_data(index as u64);
        // SAFETY: it refers to the registered buffers only.
        unsafe { self.push(&entry) }
    }

    fn send(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let place = index * REQUEST_BYTES;
        self.requests.put(place, bytes);
        let address = self.requests.at(place).cast_const();
        let entry = opcode::Send::new(Fixed(index as u32), address, bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .flags(squeue::Flags::SKIP_SUCCESS)
            .user_data(SENT | index as u64);
        // SAFETY: the bytes stay where they are until the reply to them has come.
        unsafe { self.push(&entry) }
    }

    /// # Safety
    ///
    /// What the entry refers to must stay valid until its completion.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: as promised by the caller.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.ring.submit()?;
        }
        Ok(())
    }

    /// The next completion.
    fn pop(&mut self) -> Option<cqueue::Entry> {
        self.ring.completion().next()
    }

    fn submit_and_wait(&mut self, batch: usize) -> io::Result<()> {
        let patience_ns = if batch > 1 {
            BATCH_WAIT_NS
        } else {
            PATIENCE_NS
        };
        let patience = Timespec::new().nsec(patience_ns);
        let arguments = SubmitArgs::new().timespec(&patience);
        match self.ring.submitter().submit_with_args(batch, &arguments) {
            Err(error) if !matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {
                Err(error)
            }
            _ => Ok(()),
        }
    }
}
