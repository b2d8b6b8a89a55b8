//! A reply that waits, and the buffers that hold what was read.

use std::cmp::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fuser::{Errno, FileAttr, ReplyAttr, ReplyData, ReplyEmpty, ReplyIoctl, ReplyWrite};

use crate::calibration::Ticket;
use crate::recording::PendingRecord;

/// Buffers that are kept for the next read; more than the kernel's background limit is useless.
const BUFFERS_MAX: usize = 256;
/// A larger buffer is given back to the allocator.
const BUFFER_BYTES_MAX: usize = 128 * 1024;

/// Reply to the kernel.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The first `bytes` of `buffer`.
    Data {
        reply: ReplyData,
        buffer: Vec<u8>,
        bytes: usize,
    },
    /// So many bytes were written.
    Written(ReplyWrite, u32, Option<PendingRecord>),
    /// Done: a flush, a discard.
    Done(ReplyEmpty, Option<PendingRecord>),
    /// Done: a flush that came as an `ioctl(2)`.
    Flushed(ReplyIoctl, Option<PendingRecord>),
    /// Reply to the prober.
    Probe(ReplyAttr, Box<FileAttr>),
}

impl Reply {
    /// Records that what it answers is done.
    pub(crate) fn record(&mut self) {
        if let Self::Written(.., recorded) | Self::Done(_, recorded) | Self::Flushed(_, recorded) =
            self
        {
            PendingRecord::done(recorded.take());
        }
    }

    pub(crate) fn send(self, buffers: &Buffers) {
        match self {
            Self::Data {
                reply,
                buffer,
                bytes,
            } => {
                match buffer.get(..bytes) {
                    Some(data) => reply.data(data),
                    None => reply.error(Errno::EIO),
                }
                buffers.give_back(buffer);
            }
            Self::Written(reply, bytes, _) => reply.written(bytes),
            Self::Done(reply, _) => reply.ok(),
            Self::Flushed(reply, _) => reply.ioctl(0, &[]),
            Self::Probe(reply, attributes) => reply.attr(&Duration::ZERO, &attributes),
        }
    }

    /// The drive has no power any more.
    pub(crate) fn fail(self) {
        match self {
            Self::Data { reply, .. } => reply.error(Errno::EIO),
            Self::Written(reply, ..) => reply.error(Errno::EIO),
            Self::Done(reply, _) => reply.error(Errno::EIO),
            Self::Flushed(reply, _) => reply.error(Errno::EIO),
            Self::Probe(reply, _) => reply.error(Errno::EIO),
        }
    }
}

/// Buffers for reads, used again and again: a read of a page allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    free: Mutex<Vec<Vec<u8>>>,
}

impl Buffers {
    /// A buffer of at least `bytes`, with arbitrary contents.
    pub(crate) fn take(&self, bytes: usize) -> Vec<u8> {
        let free = self.free.lock();
        let mut buffer = free
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        if buffer.len() < bytes {
            buffer.resize(bytes, 0);
        }
        buffer
    }

    /// Keeps `buffer` for the next read.
    pub(crate) fn give_back(&self, buffer: Vec<u8>) {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < BUFFERS_MAX && buffer.len() <= BUFFER_BYTES_MAX {
            free.push(buffer);
        }
    }
}

/// A reply in the heap, ordered so that the earliest deadline is the greatest.
#[derive(Debug)]
pub(super) struct PendingReply {
    pub(super) ticket: Ticket,
    pub(super) reply: Reply,
}

impl Ord for PendingReply {
    fn cmp(&self, other: &Self) -> Ordering {
        other.ticket.due.cmp(&self.ticket.due)
    }
}

impl PartialOrd for PendingReply {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for PendingReply {
    fn eq(&self, other: &Self) -> bool {
        self.ticket.due == other.ticket.due
    }
}

impl Eq for PendingReply {}
