//! One end of a connection, which never waits.

use std::io::{self, Read, Write};

use mio::{Interest, Registry, Token};
use weir_mysql::Stream;

/// Bytes that may wait for one end before no more are read from the other.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// A socket that never waits, and what waits for it.
#[derive(Debug)]
pub(super) struct End {
    socket: Socket,
    waiting: Vec<u8>,
    /// It sends no more.
    pub(super) has_ended: bool,
    is_shut: bool,
}

#[derive(Debug)]
enum Socket {
    Unix(mio::net::UnixStream),
    Tcp(mio::net::TcpStream),
}

impl End {
    pub(super) fn new(stream: Stream) -> io::Result<Self> {
        let socket = match stream {
            Stream::Unix(stream) => {
                stream.set_nonblocking(true)?;
                Socket::Unix(mio::net::UnixStream::from_std(stream))
            }
            Stream::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                Socket::Tcp(mio::net::TcpStream::from_std(stream))
            }
        };
        Ok(Self {
            socket,
            waiting: Vec::new(),
            has_ended: false,
            is_shut: false,
        })
    }

    pub(super) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match &mut self.socket {
            Socket::Unix(stream) => registry.register(stream, token, interest),
            Socket::Tcp(stream) => registry.register(stream, token, interest),
        }
    }

    /// Whether so much waits for it that the other end has to.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.len() > WAITING_BYTES_MAX
    }

    /// What has come; `None`: nothing has.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            let read = match &mut self.socket {
                Socket::Unix(stream) => stream.read(buffer),
                Socket::Tcp(stream) => stream.read(buffer),
            };
            match read {
                Ok(length) => return Ok(Some(length)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Passes bytes on, now or when there is room.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut sent = 0;
        if self.waiting.is_empty() {
            sent = self.write(bytes)?;
        }
        self.waiting.extend_from_slice(&bytes[sent..]);
        Ok(())
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            let sent = self.write(&waiting)?;
            self.waiting.extend_from_slice(&waiting[sent..]);
        }
        Ok(())
    }

    /// Tells it that no more will come, once all has been sent.
    pub(super) fn end(&mut self) {
        if self.waiting.is_empty() && !std::mem::replace(&mut self.is_shut, true) {
            // It may have gone already.
            let _ = match &self.socket {
                Socket::Unix(stream) => stream.shutdown(std::net::Shutdown::Write),
                Socket::Tcp(stream) => stream.shutdown(std::net::Shutdown::Write),
            };
        }
    }

    /// Whether it was told that no more will come.
    pub(super) fn is_shut(&self) -> bool {
        self.is_shut
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            let written = match &mut self.socket {
                Socket::Unix(stream) => stream.write(&bytes[sent..]),
                Socket::Tcp(stream) => stream.write(&bytes[sent..]),
            };
            match written {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => sent += length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(sent)
    }
}
