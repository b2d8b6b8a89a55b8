//! The seam between a reactor and the kernel's way to wait for many sockets.
//!
//! A reactor hands its connections over, leaves bytes to be sent, waits, and is told what has come.
//! Nothing of a connection's protocol is known here.

use std::io;

use crate::driver::Transport;
use crate::own_socket::OwnSocket;
use crate::stamp::Stamp;

/// All sockets of one reactor, by the number of their driver.
pub(crate) trait Sockets {
    /// Takes a connection; it replaces the one that this number had.
    fn attach(&mut self, index: usize, transport: Transport) -> io::Result<()>;

    /// Sends bytes, now or as soon as the kernel has room for them. An error says that the
    /// connection is broken.
    fn send(&mut self, index: usize, bytes: &[u8]) -> io::Result<()>;

    /// Tells once when a socket of the driver's own can be read or written.
    fn watch(&mut self, index: usize, socket: OwnSocket) -> io::Result<()>;

    /// Waits until a socket has received something or `wait` is over.
    fn wait(&mut self, wait: Wait) -> io::Result<()>;

    /// Returns the arrivals of the last wait, one by one.
    fn next(&mut self) -> Option<Arrival>;

    /// The bytes of an arrival. They stay until it is given back.
    fn bytes(&self, chunk: &Chunk) -> &[u8];

    /// Gives an arrival's memory back.
    fn recycle(&mut self, chunk: Chunk);
}

/// Time limit of a wait; nanoseconds on the meter's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// Now.
    pub(crate) now_ns: u64,
    /// The end, which may come a millisecond late.
    pub(crate) until_ns: u64,
    /// An end that must come in time.
    pub(crate) timer_ns: Option<u64>,
}

/// Arrival at a driver.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// Bytes of its connection, or why that is broken; an end of file is an `UnexpectedEof`.
    Chunk(usize, io::Result<Chunk>),
    /// A socket of its own is ready.
    Ready(usize),
}

/// Received bytes, in memory of the sockets.
#[derive(Debug)]
pub(crate) struct Chunk {
    /// Number of the buffer, where there are several.
    pub(super) buffer: u16,
    /// Position in it at which they begin.
    pub(super) start: usize,
    pub(super) length: usize,
    /// Time at which they came to this machine, where the kernel has it.
    pub(super) came: Option<Stamp>,
}

/// An end of file where more was expected.
pub(super) fn closed() -> io::Error {
    io::ErrorKind::UnexpectedEof.into()
}
