//! The stream to a server that a reactor drives: a Unix socket or TCP, encrypted or not.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;

use mio::event::Source;

use crate::channel::Channel;

/// A stream that never waits.
pub(crate) type Transport = Channel<NonBlocking>;

/// A socket that never waits.
#[derive(Debug)]
pub(crate) enum NonBlocking {
    Unix(mio::net::UnixStream),
    Tcp(mio::net::TcpStream),
}

impl TryFrom<UnixStream> for NonBlocking {
    type Error = io::Error;

    fn try_from(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::Unix(mio::net::UnixStream::from_std(stream)))
    }
}

impl TryFrom<TcpStream> for NonBlocking {
    type Error = io::Error;

    fn try_from(stream: TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::Tcp(mio::net::TcpStream::from_std(stream)))
    }
}

impl Transport {
    /// What a reactor registers.
    pub(crate) fn source(&mut self) -> &mut dyn Source {
        match self.socket() {
            NonBlocking::Unix(stream) => stream,
            NonBlocking::Tcp(stream) => stream,
        }
    }

    /// Its socket's number, for a way of waiting that does its own input and output.
    pub(crate) fn descriptor(&mut self) -> RawFd {
        match self.socket() {
            NonBlocking::Unix(stream) => stream.as_raw_fd(),
            NonBlocking::Tcp(stream) => stream.as_raw_fd(),
        }
    }

    /// Whether a read that returned less than was asked for has left nothing behind: TLS returns
    /// a record at a time.
    pub(crate) fn is_emptied_by_short_read(&self) -> bool {
        !self.is_encrypted()
    }
}

impl Read for NonBlocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for NonBlocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
