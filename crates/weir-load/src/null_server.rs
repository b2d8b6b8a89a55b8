//! A server that speaks the protocol and does nothing: the instrument for the client's own floor.
//!
//! It accepts any login, prepares anything, and answers at once or after a delay. Its own clock
//! records how long each answer really took, so that what a client reports can be held against the
//! truth: [`NullServer::service`]. On request it
//! misbehaves: it closes, falls silent or answers nonsense after so many statements.

mod connection;
mod delays;
mod listener;
mod packets;

use std::collections::BinaryHeap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use mio::{Events, Interest, Poll, Token};
use weir_model::{Address, Endpoint, LatencySummary, Secret, Tls};

use crate::meter::new_histogram;
use crate::statistics::summary;
use connection::{Connection, Progress};
pub use delays::DelayKind;
use delays::{Delays, Due};
use listener::Listener;

const LISTENER: Token = Token(usize::MAX);
/// Time for which the end of the server may go unnoticed.
const PATIENCE: Duration = Duration::from_millis(20);
/// Waiting in the kernel is exact to a millisecond or so; the rest is waited for actively.
const KERNEL_ACCURACY: Duration = Duration::from_millis(2);

/// Behavior of a [`NullServer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NullServerBehavior {
    /// Time from a statement's arrival to its reply.
    pub delay: Duration,
    /// Distribution of the delay: the same for every reply, or this in the mean.
    pub delays: DelayKind,
    /// Never sleeps, so that no reply is late by what it takes to wake up; costs a processor.
    pub is_wakeful: bool,
    /// Fault of the server.
    pub fault: Option<Fault>,
    /// Ends result sets as servers before MySQL 5.7.5 do, with end-of-file packets.
    pub eof_packets: bool,
}

/// Fault of a [`NullServer`], after so many executed statements.
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

/// A running null server. It ends when it is dropped.
#[derive(Debug)]
pub struct NullServer {
    address: Address,
    stop: Arc<AtomicBool>,
    executed: Arc<AtomicU64>,
    service: Service,
    thread: Option<JoinHandle<()>>,
}

impl NullServer {
    /// Listens on `socket`, which must not exist yet, from a thread of its own.
    ///
    /// # Errors
    ///
    /// A socket that cannot be bound, or a thread that cannot be started.
    pub fn start(socket: &Path, behavior: NullServerBehavior) -> io::Result<Self> {
        Self::serve(Listener::unix(socket)?, behavior)
    }

    /// Listens on TCP, on loopback only; 0 for a port of the kernel's choice. The kernel tells when
    /// a statement came, so that its service does not begin late because this thread did.
    ///
    /// # Errors
    ///
    /// A port that cannot be bound, or a thread that cannot be started.
    pub fn start_tcp(port: u16, behavior: NullServerBehavior) -> io::Result<Self> {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, port)), behavior)
    }

    /// As [`Self::start_tcp`], at an address of this host: others that reach it may load it.
    pub fn start_at(address: SocketAddr, behavior: NullServerBehavior) -> io::Result<Self> {
        Self::serve(Listener::tcp(address)?, behavior)
    }

    fn serve(listener: Listener, behavior: NullServerBehavior) -> io::Result<Self> {
        let address = listener.address()?;
        let stop = Arc::new(AtomicBool::new(false));
        let executed = Arc::new(AtomicU64::new(0));
        let service = Service::default();
        let mut server = Loop::new(listener, behavior, Arc::clone(&executed), service.clone())?;
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
            address,
            stop,
            executed,
            service,
            thread: Some(thread),
        })
    }

    /// Returns its address.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns its endpoint: any account and password will do.
    pub fn endpoint(&self) -> Endpoint {
        Endpoint {
            address: self.address.clone(),
            user: "weir".to_owned(),
            password: Secret::new("secret"),
            database: "sbtest".to_owned(),
            tls: Tls::default(),
        }
    }

    /// Returns the times that its answers to executed statements took, by its own clock, since the last call. An
    /// answer lasts from the arrival of the bytes (over TCP), or from their reading, to the reply handed to the
    /// kernel.
    pub fn service(&self) -> LatencySummary {
        self.service.take()
    }

    /// Statements of loads that it has executed so far.
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
    }
}

/// Times from statement to reply, nanoseconds.
#[derive(Debug, Clone)]
struct Service(Arc<Mutex<Histogram<u64>>>);

impl Default for Service {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(new_histogram())))
    }
}

impl Service {
    fn record(&self, time: Duration) {
        let mut histogram = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        histogram.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    fn take(&self) -> LatencySummary {
        let mut histogram = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sum_ns = histogram.mean() * histogram.len() as f64;
        let summary = summary(&histogram, sum_ns as u64);
        histogram.reset();
        summary
    }
}

/// All connections of a null server.
struct Loop {
    poll: Poll,
    events: Events,
    listener: Listener,
    connections: Vec<Option<Connection>>,
    due: BinaryHeap<Due>,
    delays: Delays,
    behavior: NullServerBehavior,
    executed: Arc<AtomicU64>,
    service: Service,
    /// No reply before.
    stalled_until: Option<Instant>,
}

impl Loop {
    fn new(
        mut listener: Listener,
        behavior: NullServerBehavior,
        executed: Arc<AtomicU64>,
        service: Service,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        poll.registry()
            .register(listener.source(), LISTENER, Interest::READABLE)?;
        Ok(Self {
            poll,
            events: Events::with_capacity(1024),
            listener,
            connections: Vec::new(),
            due: BinaryHeap::new(),
            delays: Delays::new(behavior.delays, behavior.delay),
            behavior,
            executed,
            service,
            stalled_until: None,
        })
    }

    /// Takes what has come and sends what is due.
    fn turn(&mut self) -> io::Result<()> {
        let wait = match self.due.peek() {
            _ if self.behavior.is_wakeful => Duration::ZERO,
            Some(due) => due
                .at
                .saturating_duration_since(Instant::now())
                .saturating_sub(KERNEL_ACCURACY),
            None => PATIENCE,
        };
        match self.poll.poll(&mut self.events, Some(wait.min(PATIENCE))) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let came = Instant::now();
        let ready: Vec<Token> = self.events.iter().map(mio::event::Event::token).collect();
        for token in ready {
            if token == LISTENER {
                self.accept()?;
            } else {
                self.receive(token.0, came);
            }
        }
        while self.due.peek().is_some_and(|due| due.at <= Instant::now()) {
            if let Some(due) = self.due.pop() {
                self.reply(due.index, due.asked);
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            let token = Token(self.connections.len());
            match self.listener.accept(self.poll.registry(), token) {
                Ok(transport) => {
                    let connection = Connection::greet(transport, self.behavior.eof_packets);
                    self.connections.push(connection);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes what a client has sent, which came at `found` if the kernel doesn't tell.
    fn receive(&mut self, index: usize, found: Instant) {
        let Some(connection) = self.connections.get_mut(index).and_then(Option::as_mut) else {
            return;
        };
        match connection.receive() {
            Progress::Waiting => {}
            Progress::Closed => self.connections[index] = None,
            Progress::Execute => {
                let came = connection.came().unwrap_or(found);
                let executed = self.executed.fetch_add(1, Ordering::Relaxed) + 1;
                if self.misbehave(index, executed) {
                    return;
                }
                let at = came + self.delays.next();
                let at = self.stalled_until.map_or(at, |until| until.max(at));
                if at == came {
                    self.reply(index, came);
                } else {
                    let asked = came;
                    self.due.push(Due { at, index, asked });
                }
            }
        }
    }

    fn reply(&mut self, index: usize, asked: Instant) {
        self.service.record(asked.elapsed());
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
