//! Sockets through `io_uring(7)`: one system call for a whole round of replies and requests.
//!
//! Each connection has one receive operation that goes on until it ends (`IORING_RECV_MULTISHOT`),
//! fills buffers that all share, and is heard of only when something came. A request costs an entry
//! in memory, and its success is not told. All work of the kernel is done within the one call that
//! also waits (`IORING_SETUP_DEFER_TASKRUN`), so that it never interrupts the reactor.
//!
//! That call may wait for several replies, for [`BATCH_WAIT_US`] at most: no reply is seen later
//! than that because of it. Where there are no rounds, each request is handed over by a call of its
//! own: the last of a round would leave later than it was said to.

mod buffers;
mod queues;

use std::io;

use io_uring::cqueue;

use self::queues::{Patience, Queues};
use super::sockets::{Arrival, Chunk, Sockets, Wait, closed};
use crate::driver::{ReactorStream as _, Transport};
use crate::own_socket::OwnSocket;

/// Replies worth waiting for, of this many connections.
const BATCH_SHARE: usize = 8;
const BATCH_MAX: u32 = 32;
/// Longest time that a reply waits for others.
const BATCH_WAIT_US: u32 = 50;

/// Purpose of an operation; the upper bits of its token.
const RECEIVE: u64 = 0;
const SEND: u64 = 1 << 62;
const CANCEL: u64 = 2 << 62;
/// Of a socket that is no connection's; the same as [`KIND`].
const WATCH: u64 = 3 << 62;
const KIND: u64 = 3 << 62;

/// Sockets of one `io_uring`.
#[derive(Debug)]
pub(crate) struct RingSockets {
    queues: Queues,
    streams: Vec<Option<Stream>>,
    /// Connections whose receive operation found no buffer.
    starved: Vec<usize>,
    /// Requests leave and replies are waited for together.
    in_rounds: bool,
    /// Replies to wait for.
    batch: u32,
}

#[derive(Debug)]
struct Stream {
    /// Kept open.
    transport: Transport,
    /// Tells its completions from those of the connection that it replaced.
    generation: u32,
    is_broken: bool,
}

impl RingSockets {
    /// Room for `count` connections, for the calling thread only; `in_rounds`: requests
    /// and replies may wait for others. An error says that this kernel or its policy does not allow it.
    pub(crate) fn new(count: usize, in_rounds: bool) -> io::Result<Self> {
        let mut streams = Vec::new();
        streams.resize_with(count, || None);
        Ok(Self {
            queues: Queues::new(count)?,
            streams,
            starved: Vec::with_capacity(count),
            in_rounds,
            batch: if in_rounds {
                (count.div_ceil(BATCH_SHARE) as u32).min(BATCH_MAX)
            } else {
                1
            },
        })
    }

    fn token(&self, kind: u64, index: usize) -> u64 {
        let stream = self.streams.get(index).and_then(Option::as_ref);
        let generation = stream.map_or(0, |stream| stream.generation);
        kind | u64::from(generation) << 32 | index as u64
    }

    fn receive(&mut self, index: usize) -> io::Result<()> {
        let token = self.token(RECEIVE, index);
        if self.is_stamped(index) {
            self.queues.receive_stamped(index, token)
        } else {
            self.queues.receive(index, token)
        }
    }

    /// Returns true if the data that a connection receives have stamps.
    fn is_stamped(&self, index: usize) -> bool {
        let stream = self.streams.get(index).and_then(Option::as_ref);
        stream.is_some_and(|stream| !stream.transport.is_local())
    }

    /// Returns the content of a buffer of which the kernel has filled `length` bytes.
    fn chunk(&self, index: usize, buffer: u16, length: usize) -> Chunk {
        if self.is_stamped(index) {
            return self.queues.stamped(buffer, length);
        }
        Chunk {
            buffer,
            start: 0,
            length,
            came: None,
        }
    }

    /// Returns the meaning of a completion for the reactor, if any.
    fn completed(&mut self, entry: &cqueue::Entry) -> Option<Arrival> {
        let (token, result) = (entry.user_data(), entry.result());
        let index = (token & u64::from(u32::MAX)) as usize;
        let kind = token & KIND;
        if kind == WATCH {
            return Some(Arrival::Ready(index));
        }
        let is_sent = kind == SEND && self.queues.sent(token, result);
        let is_current = token == self.token(kind, index);
        let buffer = cqueue::buffer_select(entry.flags());
        if kind == CANCEL || is_sent || !is_current {
            if let Some(buffer) = buffer {
                self.queues.recycle(buffer);
            }
            return None;
        }
        if kind == RECEIVE && result == -libc::ENOBUFS {
            self.starved.push(index);
            return None;
        }
        let chunk = match (buffer, usize::try_from(result)) {
            (Some(buffer), Ok(length)) => Some(self.chunk(index, buffer, length)),
            _ => None,
        };
        let chunk = match chunk {
            Some(chunk) if chunk.length > 0 => {
                if !cqueue::more(entry.flags()) {
                    self.starved.push(index);
                }
                Ok(chunk)
            }
            _ => {
                if let Some(buffer) = buffer {
                    self.queues.recycle(buffer);
                }
                let stream = self.streams.get_mut(index)?.as_mut()?;
                if std::mem::replace(&mut stream.is_broken, true) {
                    return None;
                }
                Err(match result {
                    ..0 => io::Error::from_raw_os_error(-result),
                    _ => closed(),
                })
            }
        };
        Some(Arrival::Chunk(index, chunk))
    }
}

impl Sockets for RingSockets {
    fn attach(&mut self, index: usize, mut transport: Transport) -> io::Result<()> {
        let mut generation = 0;
        if let Some(old) = self.streams[index].take() {
            generation = (old.generation + 1) & 0x3FFF_FFFF;
            let token = u64::from(old.generation) << 32 | index as u64;
            self.queues.cancel(RECEIVE | token, CANCEL | token)?;
        }
        self.queues.set_file(index, transport.descriptor())?;
        self.streams[index] = Some(Stream {
            transport,
            generation,
            is_broken: false,
        });
        self.receive(index)
    }

    fn send(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let stream = self.streams.get(index).and_then(Option::as_ref);
        if stream.is_none_or(|stream| stream.is_broken) {
            return Err(closed());
        }
        let token = self.token(SEND, index);
        self.queues.send(index, bytes, token)?;
        if self.in_rounds {
            return Ok(());
        }
        self.queues.submit()
    }

    fn watch(&mut self, index: usize, socket: OwnSocket) -> io::Result<()> {
        self.queues.watch(socket, WATCH | index as u64)
    }

    fn wait(&mut self, wait: Wait) -> io::Result<()> {
        while let Some(index) = self.starved.pop() {
            self.receive(index)?;
        }
        let until_ns = wait
            .timer_ns
            .map_or(wait.until_ns, |at| at.min(wait.until_ns));
        let timeout_ns = until_ns.saturating_sub(wait.now_ns);
        self.queues.submit_and_wait(Patience {
            want: self.batch,
            min_wait_us: BATCH_WAIT_US.min((timeout_ns / 1_000) as u32),
            timeout_ns,
        })
    }

    fn next(&mut self) -> Option<Arrival> {
        while let Some(entry) = self.queues.pop() {
            if let Some(arrival) = self.completed(&entry) {
                return Some(arrival);
            }
        }
        None
    }

    fn bytes(&self, chunk: &Chunk) -> &[u8] {
        &self
            .queues
            .received(chunk.buffer, chunk.start + chunk.length)[chunk.start..]
    }

    fn recycle(&mut self, chunk: Chunk) {
        self.queues.recycle(chunk.buffer);
    }
}
