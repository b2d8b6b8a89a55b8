//! Sockets through epoll(7): two system calls for each request and one for each round of replies.
//!
//! Events are edge-triggered. A request is written as soon as it is known.

use std::io::{self, Read as _, Write as _};
use std::time::Duration;

use mio::event::{Event, Source as _};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Token};

use super::sockets::{Arrival, Chunk, Sockets, Wait, closed};
use super::timer::Timer;
use crate::driver::{ReactorStream as _, Transport};
use crate::own_socket::OwnSocket;

/// The timer's events belong to no connection.
const TIMER: Token = Token(usize::MAX);
/// Marks events of a socket that is no connection's.
const WATCHED: usize = 1 << (usize::BITS - 2);
/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 1024;
/// Bytes read at once. A reply of a hundred rows of sysbench's table is 13 KiB.
const BUFFER_BYTES: usize = 64 << 10;

/// Sockets that an epoll instance watches.
#[derive(Debug)]
pub(crate) struct EpollSockets {
    poll: Poll,
    events: Events,
    /// Events of the last wait, and the number of those that are done.
    ready: Vec<Ready>,
    done: usize,
    streams: Vec<Option<Stream>>,
    buffer: Box<[u8]>,
    /// Made when something must first happen in time.
    timer: Option<Timer>,
}

/// A connection with something to read or room to write.
#[derive(Debug, Clone, Copy)]
struct Ready {
    index: usize,
    /// The peer has sent its last byte. There is no second event for the end.
    is_ending: bool,
}

#[derive(Debug)]
struct Stream {
    transport: Transport,
    /// The end of a request that the socket had no room for.
    unsent: Vec<u8>,
    is_broken: bool,
}

impl EpollSockets {
    /// Room for `count` connections.
    pub(crate) fn new(count: usize) -> io::Result<Self> {
        Ok(Self {
            poll: Poll::new()?,
            events: Events::with_capacity(EVENTS_MAX),
            ready: Vec::with_capacity(EVENTS_MAX),
            done: 0,
            streams: std::iter::repeat_with(|| None).take(count).collect(),
            buffer: vec![0; BUFFER_BYTES].into_boxed_slice(),
            timer: None,
        })
    }

    fn set_timer(&mut self, at_ns: u64, now_ns: u64) -> io::Result<()> {
        let timer = match &mut self.timer {
            Some(timer) => timer,
            none => none.insert(Timer::new(self.poll.registry(), TIMER, now_ns)?),
        };
        timer.set(at_ns);
        Ok(())
    }

    /// Reads a connection that may have something to read; nothing if it has not.
    fn read(&mut self, index: usize) -> Option<io::Result<Chunk>> {
        let stream = self.streams.get_mut(index)?.as_mut()?;
        if stream.is_broken {
            return None;
        }
        if let Err(error) = stream.flush(&self.poll, index) {
            stream.is_broken = true;
            return Some(Err(error));
        }
        loop {
            let error = match stream.transport.read(&mut self.buffer) {
                Ok(0) => closed(),
                Ok(length) => {
                    return Some(Ok(Chunk {
                        buffer: 0,
                        start: 0,
                        length,
                        came: stream.transport.came(),
                    }));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return None,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            stream.is_broken = true;
            return Some(Err(error));
        }
    }
}

impl Stream {
    /// Sends what the socket had no room for.
    fn flush(&mut self, poll: &Poll, index: usize) -> io::Result<()> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        while !self.unsent.is_empty() {
            match self.transport.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        self.watch(poll, index, Interest::READABLE)
    }

    fn watch(&mut self, poll: &Poll, index: usize, interest: Interest) -> io::Result<()> {
        poll.registry()
            .reregister(self.transport.source(), Token(index), interest)
    }
}

impl Sockets for EpollSockets {
    fn attach(&mut self, index: usize, mut transport: Transport) -> io::Result<()> {
        // The old one is closed first: it might be the file that lets the new one be opened.
        self.streams[index] = None;
        self.poll
            .registry()
            .register(transport.source(), Token(index), Interest::READABLE)?;
        self.streams[index] = Some(Stream {
            transport,
            unsent: Vec::new(),
            is_broken: false,
        });
        Ok(())
    }

    fn send(&mut self, index: usize, bytes: &[u8]) -> io::Result<()> {
        let Some(stream) = self.streams.get_mut(index).and_then(Option::as_mut) else {
            return Err(closed());
        };
        if stream.is_broken {
            return Err(closed());
        }
        let mut sent = 0;
        if stream.unsent.is_empty() {
            sent = match stream.transport.write(bytes) {
                Ok(sent) => sent,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(error) => {
                    stream.is_broken = true;
                    return Err(error);
                }
            };
            if sent == bytes.len() {
                return Ok(());
            }
        }
        stream.unsent.extend_from_slice(&bytes[sent..]);
        stream.watch(&self.poll, index, Interest::READABLE | Interest::WRITABLE)
    }

    fn watch(&mut self, index: usize, socket: OwnSocket) -> io::Result<()> {
        let interest = if socket.writes {
            Interest::WRITABLE
        } else {
            Interest::READABLE
        };
        let (registry, token) = (self.poll.registry(), Token(WATCHED | index));
        let mut source = SourceFd(&socket.descriptor);
        // Each call tells anew what the socket is ready for already.
        match source.reregister(registry, token, interest) {
            // It is new, or another one has its number since.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                source.register(registry, token, interest)
            }
            done => done,
        }
    }

    fn wait(&mut self, wait: Wait) -> io::Result<()> {
        if let Some(at_ns) = wait.timer_ns {
            self.set_timer(at_ns, wait.now_ns)?;
        }
        let timeout = Duration::from_nanos(wait.until_ns.saturating_sub(wait.now_ns));
        match self.poll.poll(&mut self.events, Some(timeout)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        self.done = 0;
        self.ready.clear();
        let ready = |event: &Event| Ready {
            index: event.token().0,
            is_ending: event.is_read_closed(),
        };
        self.ready.extend(self.events.iter().map(ready));
        Ok(())
    }

    fn next(&mut self) -> Option<Arrival> {
        loop {
            let Ready { index, is_ending } = *self.ready.get(self.done)?;
            if index < TIMER.0 && index & WATCHED != 0 {
                self.done += 1;
                return Some(Arrival::Ready(index & !WATCHED));
            }
            let Some(chunk) = self.read(index) else {
                self.done += 1;
                continue;
            };
            let is_last = match (&chunk, &self.streams[index]) {
                // epoll(7): a short read from a stream has emptied it of all but its end.
                (Ok(chunk), Some(stream)) => {
                    chunk.length < self.buffer.len()
                        && stream.transport.is_emptied_by_short_read()
                        && !is_ending
                }
                _ => true,
            };
            self.done += usize::from(is_last);
            return Some(Arrival::Chunk(index, chunk));
        }
    }

    fn bytes(&self, chunk: &Chunk) -> &[u8] {
        &self.buffer[..chunk.length]
    }

    fn recycle(&mut self, _: Chunk) {}
}
