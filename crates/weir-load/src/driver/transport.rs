//! The stream to a server that a reactor drives: a Unix socket or TCP, encrypted or not.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd as _, AsRawFd as _, RawFd};

use mio::event::Source;

use crate::stamp::{self, Stamp};
use weir_mysql::{Channel, Stream};

/// A stream that never waits.
pub(crate) type Transport = Channel<NonBlocking>;

/// A socket that never waits.
#[derive(Debug)]
pub(crate) enum NonBlocking {
    Unix(mio::net::UnixStream),
    Tcp(StampedTcp),
}

/// A TCP socket and when what was last read from it came.
#[derive(Debug)]
pub(crate) struct StampedTcp {
    stream: mio::net::TcpStream,
    came: Option<Stamp>,
}

impl From<mio::net::UnixStream> for NonBlocking {
    fn from(stream: mio::net::UnixStream) -> Self {
        Self::Unix(stream)
    }
}

impl From<mio::net::TcpStream> for NonBlocking {
    fn from(stream: mio::net::TcpStream) -> Self {
        // With a system that has no stamps, replies count from when they are read.
        let _ = stamp::ask(stream.as_raw_fd());
        Self::Tcp(StampedTcp { stream, came: None })
    }
}

impl TryFrom<Stream> for NonBlocking {
    type Error = io::Error;

    fn try_from(stream: Stream) -> io::Result<Self> {
        match stream {
            Stream::Unix(stream) => {
                stream.set_nonblocking(true)?;
                Ok(mio::net::UnixStream::from_std(stream).into())
            }
            Stream::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                Ok(mio::net::TcpStream::from_std(stream).into())
            }
        }
    }
}

/// Demands of a reactor on a stream beside its bytes.
pub(crate) trait ReactorStream {
    /// Returns the source that a reactor registers.
    fn source(&mut self) -> &mut dyn Source;

    /// Returns the time at which the bytes that were last read came to this machine, where the
    /// kernel has it.
    fn came(&self) -> Option<Stamp>;

    /// Returns true if it is a Unix socket, which has no stamps.
    fn is_local(&self) -> bool;

    /// Returns its socket's number, for a way of waiting that does its own input and output.
    fn descriptor(&mut self) -> RawFd;
}

impl ReactorStream for Transport {
    fn source(&mut self) -> &mut dyn Source {
        match self.socket() {
            NonBlocking::Unix(stream) => stream,
            NonBlocking::Tcp(tcp) => &mut tcp.stream,
        }
    }

    fn came(&self) -> Option<Stamp> {
        match self.below() {
            NonBlocking::Unix(_) => None,
            NonBlocking::Tcp(tcp) => tcp.came,
        }
    }

    fn is_local(&self) -> bool {
        matches!(self.below(), NonBlocking::Unix(_))
    }

    fn descriptor(&mut self) -> RawFd {
        match self.socket() {
            NonBlocking::Unix(stream) => stream.as_raw_fd(),
            NonBlocking::Tcp(tcp) => tcp.stream.as_raw_fd(),
        }
    }
}

impl Read for NonBlocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(tcp) => {
                let (length, came) = stamp::receive(tcp.stream.as_fd(), buffer)?;
                tcp.came = came;
                Ok(length)
            }
        }
    }
}

impl Write for NonBlocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(tcp) => tcp.stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
