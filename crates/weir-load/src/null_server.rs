//! A server that speaks the protocol and does nothing: the instrument for the client's own floor.
//!
//! It accepts any login, prepares anything, and answers at once or after a delay that is known to
//! the nanosecond, so that what a client reports can be held against the truth. On request it
//! misbehaves: it closes, falls silent or answers nonsense after so many statements.

mod connection;
mod packets;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mio::net::UnixListener;
use mio::{Events, Interest, Poll, Token};
use weir_model::Address;

use connection::{Connection, Progress};

const LISTENER: Token = Token(usize::MAX);
/// How long the end of the server may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(20);
/// Waiting in the kernel is exact to a millisecond or so; the rest is waited for actively.
const KERNEL_ACCURACY: Duration = Duration::from_millis(2);

/// How a [`NullServer`] behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NullServerBehavior {
    /// Time from a statement's arrival to its reply.
    pub delay: Duration,
    /// What goes wrong.
    pub fault: Option<Fault>,
    /// Ends result sets as servers before MySQL 5.7.5 do, with end-of-file packets.
    pub eof_packets: bool,
}

/// What a [`NullServer`] does wrong, after so many executed statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Closes all connections, as a server that dies.
    CloseAfter(u64),
    /// Closes all connections once, as a server that is started again.
    CloseOnceAfter(u64),
    /// Answers no more.
    HangAfter(u64),
    /// Answers bytes that are no packet.
    NonsenseAfter(u64),
    /// Answers nothing for so long, then goes on.
    StallAfter(u64, Duration),
    /// Refuses every so manieth statement with this error code.
    RefuseEach(u64, u16),
}

/// A running null server on a Unix socket. It ends when it is dropped.
#[derive(Debug)]
pub struct NullServer {
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    executed: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl NullServer {
    /// Listens on `socket`, which must not exist yet, from a thread of its own.
    pub fn start(socket: &Path, behavior: NullServerBehavior) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        let stop = Arc::new(AtomicBool::new(false));
        let executed = Arc::new(AtomicU64::new(0));
        let mut server = Loop::new(listener, behavior, Arc::clone(&executed))?;
        let thread = std::thread::Builder::new()
            .name("weir-null-server".to_owned())
            .spawn({
                let stop = Arc::clone(&stop);
                move || {
                    // An error of its own poll ends the server; clients see closed connections.
                    while !stop.load(Ordering::Relaxed) && server.turn().is_ok() {}
                }
            })?;
        Ok(Self {
            socket: socket.to_owned(),
            stop,
            executed,
            thread: Some(thread),
        })
    }

    /// Where it listens.
    pub fn address(&self) -> Address {
        Address::Socket(self.socket.clone())
    }

    /// Statements that it has executed so far: prepared ones, and inserts as text.
    pub fn executed(&self) -> u64 {
        self.executed.load(Ordering::Relaxed)
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic of the server is the test's to notice by its replies.
            let _ = thread.join();
        }
        let _ = std::fs::remove_file(&self.socket);
    }
}

/// All connections of a null server.
struct Loop {
    poll: Poll,
    events: Events,
    listener: UnixListener,
    connections: Vec<Option<Connection>>,
    /// Replies in the order in which they are due, which is that of the requests.
    due: VecDeque<(Instant, usize)>,
    behavior: NullServerBehavior,
    executed: Arc<AtomicU64>,
    /// No reply before.
    stalled_until: Option<Instant>,
}

impl Loop {
    fn new(
        mut listener: UnixListener,
        behavior: NullServerBehavior,
        executed: Arc<AtomicU64>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry()
            .register(&mut listener, LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            events: Events::with_capacity(1024),
            listener,
            connections: Vec::new(),
            due: VecDeque::new(),
            behavior,
            executed,
            stalled_until: None,
        })
    }

    /// Takes what has come and sends what is due.
    fn turn(&mut self) -> io::Result<()> {
        let wait = self.due.front().map_or(PATIENCE, |(at, _)| {
            at.saturating_duration_since(Instant::now())
                .saturating_sub(KERNEL_ACCURACY)
        });
        match self.poll.poll(&mut self.events, Some(wait.min(PATIENCE))) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let ready: Vec<Token> = self.events.iter().map(mio::event::Event::token).collect();
        for token in ready {
            if token == LISTENER {
                self.accept()?;
            } else {
                self.receive(token.0);
            }
        }
        while let Some((at, index)) = self.due.front().copied() {
            if at > Instant::now() {
                break;
            }
            self.due.pop_front();
            self.reply(index);
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((mut stream, _)) => {
                    let token = Token(self.connections.len());
                    self.poll
                        .registry()
                        .register(&mut stream, token, Interest::READABLE)?;
                    let connection = Connection::greet(stream, self.behavior.eof_packets);
                    self.connections.push(connection);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    fn receive(&mut self, index: usize) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        match connection.receive() {
            Progress::Waiting => {}
            Progress::Closed => self.connections[index] = None,
            Progress::Execute => {
                let executed = self.executed.fetch_add(1, Ordering::Relaxed) + 1;
                if self.misbehave(index, executed) {
                    return;
                }
                let now = Instant::now();
                let due = now + self.behavior.delay;
                // Times of requests only grow, and so do these.
                let due = self.stalled_until.map_or(due, |until| until.max(due));
                if due == now {
                    self.reply(index);
                } else {
                    self.due.push_back((due, index));
                }
            }
        }
    }

    fn reply(&mut self, index: usize) {
        let connection = self.connections.get_mut(index).and_then(Option::as_mut);
        if connection.is_some_and(|connection| connection.reply().is_err()) {
            self.connections[index] = None;
        }
    }

    /// Does what the fault asks for; whether that replaces the reply.
    fn misbehave(&mut self, index: usize, executed: u64) -> bool {
        let Some(fault) = self.behavior.fault else {
            return false;
        };
        let connection = self.connections.get_mut(index).and_then(Option::as_mut);
        match fault {
            Fault::CloseAfter(count) if executed > count => {
                self.connections.iter_mut().for_each(|c| *c = None);
            }
            Fault::StallAfter(count, length) if executed > count => {
                self.stalled_until.get_or_insert(Instant::now() + length);
                return false;
            }
            Fault::CloseOnceAfter(count) if executed == count + 1 => {
                self.connections.iter_mut().for_each(|c| *c = None);
            }
            Fault::HangAfter(count) if executed > count => {}
            Fault::NonsenseAfter(count) if executed > count => {
                if let Some(connection) = connection {
                    connection.send_nonsense();
                }
            }
            Fault::RefuseEach(count, code) if executed.is_multiple_of(count) => {
                if let Some(connection) = connection {
                    connection.refuse(code);
                }
            }
            _ => return false,
        }
        true
    }
}
