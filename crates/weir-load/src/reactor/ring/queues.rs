//! The submission and completion queues of a reactor, and the memory that they refer to.

#![allow(unsafe_code)] // entries carry addresses, and min_wait_usec has no safe wrapper

use std::io;

use io_uring::{IoUring, cqueue, opcode, squeue, types};
use weir_process::MappedMemory;

use super::buffers::{Buffers, GROUP};
use crate::own_socket::OwnSocket;
use crate::reactor::sockets::Chunk;
use crate::stamp::{CONTROL_BYTES, Stamp};

/// Operations that are handed to the kernel at once.
const ENTRIES: u32 = 1024;
/// Completions that wait before the kernel has to keep them elsewhere.
const COMPLETIONS: u32 = 8192;
/// Longest request that has its own place; a longer one is copied to the heap.
const REQUEST_BYTES: usize = 512;

/// `IORING_ENTER_GETEVENTS`
const GETEVENTS: u32 = 1;
/// `IORING_ENTER_EXT_ARG`
const EXT_ARG: u32 = 1 << 3;

/// `struct io_uring_getevents_arg` (`io_uring_enter(2)`).
#[repr(C)]
struct GetEvents {
    sigmask: u64,
    sigmask_bytes: u32,
    min_wait_us: u32,
    timeout: u64,
}

/// Way of waiting for completions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// Completions to wait for.
    pub(super) want: u32,
    /// After so long, any number of them will do.
    pub(super) min_wait_us: u32,
    /// After so long, none will do.
    pub(super) timeout_ns: u64,
}

/// An `io_uring` for the thread that makes it.
pub(super) struct Queues {
    // Dropped first: the kernel cancels what is under way before the memory goes.
    ring: IoUring,
    buffers: Buffers,
    /// Asks for times of arrival.
    stamps: Box<libc::msghdr>,
    /// One place per connection.
    requests: MappedMemory,
    /// Long requests under way, by their token.
    long: Vec<(u64, Box<[u8]>)>,
    can_batch: bool,
}

impl std::fmt::Debug for Queues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queues").finish_non_exhaustive()
    }
}

impl Queues {
    /// Queues for `count` connections. An error says that this kernel or its policy has none.
    pub(super) fn new(count: usize) -> io::Result<Self> {
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize(COMPLETIONS)
            .build(ENTRIES)?;
        let buffers = Buffers::new()?;
        // SAFETY: all zero is a valid msghdr, which names nothing.
        let mut stamps: Box<libc::msghdr> = Box::new(unsafe { std::mem::zeroed() });
        stamps.msg_controllen = CONTROL_BYTES;
        buffers.register(&ring.submitter())?;
        ring.submitter().register_files_sparse(count as u32)?;
        Ok(Self {
            can_batch: ring.params().is_feature_min_timeout(),
            ring,
            buffers,
            stamps,
            requests: MappedMemory::new(count * REQUEST_BYTES)?,
            long: Vec::new(),
        })
    }

    /// Makes `descriptor` the file of connection `index`.
    pub(super) fn set_file(&mut self, index: usize, descriptor: i32) -> io::Result<()> {
        let files = [descriptor];
        let submitter = self.ring.submitter();
        submitter.register_files_update(index as u32, &files)?;
        Ok(())
    }

    /// Receives on connection `index` until an error or the end, one completion for each arrival.
    pub(super) fn receive(&mut self, index: usize, token: u64) -> io::Result<()> {
        let entry = opcode::RecvMulti::new(types::Fixed(index as u32), GROUP)
            .build()
            .user_data(token);
        // SAFETY: it refers to the registered buffers only.
        unsafe { self.push(&entry) }
    }

    /// As [`Self::receive`], with the time of each arrival: [`Self::stamped`] takes them apart.
    pub(super) fn receive_stamped(&mut self, index: usize, token: u64) -> io::Result<()> {
        let file = types::Fixed(index as u32);
        let entry = opcode::RecvMsgMulti::new(file, &raw const *self.stamps, GROUP)
            .build()
            .user_data(token);
        // SAFETY: it refers to the registered buffers and to the header, which outlives the ring.
        unsafe { self.push(&entry) }
    }

    /// Returns the content of a buffer with a time of arrival; nothing at the end of the stream.
    pub(super) fn stamped(&self, buffer: u16, length: usize) -> Chunk {
        let bytes = self.received(buffer, length);
        let parts = types::RecvMsgOut::parse(bytes, &self.stamps).ok();
        let payload = parts.as_ref().map_or(0, |parts| parts.payload_data().len());
        Chunk {
            buffer,
            start: length - payload,
            length: payload,
            came: parts.and_then(|parts| Stamp::of_control(parts.control_data())),
        }
    }

    /// Completes once when a socket is ready that is no connection's.
    pub(super) fn watch(&mut self, socket: OwnSocket, token: u64) -> io::Result<()> {
        let events = if socket.writes {
            libc::POLLOUT
        } else {
            libc::POLLIN
        };
        let entry = opcode::PollAdd::new(types::Fd(socket.descriptor), events as u32)
            .build()
            .user_data(token);
        // SAFETY: it refers to no memory.
        unsafe { self.push(&entry) }
    }

    /// Ends what was begun with `token`.
    pub(super) fn cancel(&mut self, token: u64, own_token: u64) -> io::Result<()> {
        let entry = opcode::AsyncCancel::new(token).build().user_data(own_token);
        // SAFETY: it refers to no memory.
        unsafe { self.push(&entry) }
    }

    /// Sends `bytes` on connection `index`. Success of a short request, the rule, is not told.
    ///
    /// A connection has one request outstanding, so that its place is free again when the next one
    /// comes. A peer that answers what it has not read yet only spoils its own connection.
    pub(super) fn send(&mut self, index: usize, bytes: &[u8], token: u64) -> io::Result<()> {
        let is_short = bytes.len() <= REQUEST_BYTES;
        let address = if is_short {
            self.requests.put(index * REQUEST_BYTES, bytes);
            self.requests.at(index * REQUEST_BYTES).cast_const()
        } else {
            let bytes: Box<[u8]> = bytes.into();
            let address = bytes.as_ptr();
            self.long.push((token, bytes));
            address
        };
        let flags = if is_short {
            squeue::Flags::SKIP_SUCCESS
        } else {
            squeue::Flags::empty()
        };
        let entry = opcode::Send::new(types::Fixed(index as u32), address, bytes.len() as u32)
            .flags(libc::MSG_NOSIGNAL | libc::MSG_WAITALL)
            .build()
            .flags(flags)
            .user_data(token);
        // SAFETY: the bytes stay where they are until their completion, in a place of their own or
        // among the long requests.
        unsafe { self.push(&entry) }
    }

    /// Returns true if `result` completes all of the request with `token`, whose memory is
    /// returned.
    pub(super) fn sent(&mut self, token: u64, result: i32) -> bool {
        let Some(at) = self.long.iter().position(|(long, _)| *long == token) else {
            return false;
        };
        let (_, bytes) = self.long.swap_remove(at);
        usize::try_from(result).is_ok_and(|sent| sent == bytes.len())
    }

    /// # Safety
    ///
    /// What the entry refers to must stay valid until its completion.
    unsafe fn push(&mut self, entry: &squeue::Entry) -> io::Result<()> {
        // SAFETY: as promised by the caller.
        while unsafe { self.ring.submission().push(entry) }.is_err() {
            self.submit()?;
        }
        Ok(())
    }

    /// Operations that the kernel has not been told of.
    pub(super) fn pending(&mut self) -> usize {
        self.ring.submission().len()
    }

    /// Tells the kernel of all operations.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        match self.ring.submit() {
            Err(error) if !is_passing(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Tells the kernel of all operations and waits for completions.
    pub(super) fn submit_and_wait(&mut self, patience: Patience) -> io::Result<()> {
        let timeout = types::Timespec::new()
            .sec(patience.timeout_ns / 1_000_000_000)
            .nsec((patience.timeout_ns % 1_000_000_000) as u32);
        let argument = GetEvents {
            sigmask: 0,
            sigmask_bytes: 0,
            min_wait_us: if self.can_batch {
                patience.min_wait_us
            } else {
                0
            },
            timeout: (&raw const timeout) as u64,
        };
        let want = match patience.timeout_ns {
            0 => 0,
            _ if self.can_batch => patience.want,
            _ => 1,
        };
        let count = self.pending() as u32;
        let flags = GETEVENTS | EXT_ARG;
        let submitter = self.ring.submitter();
        // SAFETY: the argument has the layout that EXT_ARG announces, and both it and the time
        // that it points to live until the call returns.
        match unsafe { submitter.enter(count, want, flags, Some(&argument)) } {
            Err(error) if !is_passing(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// The next completion.
    pub(super) fn pop(&mut self) -> Option<cqueue::Entry> {
        self.ring.completion().next()
    }

    /// Returns the kernel's bytes in a buffer.
    pub(super) fn received(&self, buffer: u16, length: usize) -> &[u8] {
        self.buffers.get(buffer, length)
    }

    /// Gives a buffer back.
    pub(super) fn recycle(&mut self, buffer: u16) {
        self.buffers.give(buffer);
    }
}

/// Returns true if the wait goes on after this error: the time is over, a signal came, or
/// completions have to be taken first.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ETIME | libc::EINTR | libc::EBUSY | libc::EAGAIN)
    )
}
