//! One end of a connection, which never waits.

use std::io::{self, Read, Write};

use mio::{Interest, Registry, Token};
use rustls::Connection;
use weir_mysql::Stream;

/// Bytes that may wait for one end before no more are read from the other.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// A socket that never waits, and what waits for it.
#[derive(Debug)]
pub(super) struct End {
    socket: Socket,
    tls: Option<Box<Connection>>,
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
            tls: None,
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

    /// Returns true if so much waits for it that the other end has to.
    pub(super) fn is_full(&self) -> bool {
        let has_records = self.tls.as_ref().is_some_and(|tls| tls.wants_write());
        has_records || self.waiting.len() > WAITING_BYTES_MAX
    }

    /// Encrypts from here on; `received`: what has come of it already.
    pub(super) fn encrypt(&mut self, mut tls: Connection, mut received: &[u8]) -> io::Result<()> {
        // Who sends is held back by `is_full`.
        tls.set_buffer_limit(None);
        while !received.is_empty() {
            tls.read_tls(&mut received)?;
            process(&mut tls)?;
        }
        self.tls = Some(Box::new(tls));
        self.flush()
    }

    /// Reads the bytes that have come; `None`: nothing has.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(tls) = &mut self.tls else {
            return now_or_later(|| self.socket.read(buffer));
        };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // Closed without TLS's own farewell, as MySQL's servers do.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(Some(0)),
                read => return read.map(Some),
            }
            let Some(length) = now_or_later(|| tls.read_tls(&mut self.socket))? else {
                return Ok(None);
            };
            process(tls)?;
            drain(tls, &mut self.socket)?;
            if length == 0 {
                return Ok(Some(0));
            }
        }
    }

    /// Passes bytes on, now or when there is room.
    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            tls.writer().write_all(bytes)?;
            return drain(tls, &mut self.socket);
        }
        let mut sent = 0;
        if self.waiting.is_empty() {
            sent = self.write(bytes)?;
        }
        self.waiting.extend_from_slice(&bytes[sent..]);
        Ok(())
    }

    /// Sends what waits.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            drain(tls, &mut self.socket)?;
        }
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
            if let Some(tls) = &mut self.tls {
                tls.send_close_notify();
                let _ = drain(tls, &mut self.socket);
            }
            // It may have gone already.
            let _ = match &self.socket {
                Socket::Unix(stream) => stream.shutdown(std::net::Shutdown::Write),
                Socket::Tcp(stream) => stream.shutdown(std::net::Shutdown::Write),
            };
        }
    }

    /// Returns true if its writing side was shut down.
    pub(super) fn is_shut(&self) -> bool {
        self.is_shut
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut sent = 0;
        while sent < bytes.len() {
            match self.socket.write(&bytes[sent..]) {
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

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
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

/// Returns the result of a call; `None`: it has to be made again later.
fn now_or_later(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<Option<usize>> {
    loop {
        match call() {
            Ok(length) => return Ok(Some(length)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Decrypts what has come.
fn process(tls: &mut Connection) -> io::Result<()> {
    let processed = tls.process_new_packets();
    processed
        .map(drop)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Sends what is encrypted, as far as there is room.
fn drain(tls: &mut Connection, socket: &mut Socket) -> io::Result<()> {
    while tls.wants_write() {
        match now_or_later(|| tls.write_tls(socket))? {
            None => break,
            Some(0) => return Err(io::ErrorKind::WriteZero.into()),
            Some(_) => {}
        }
    }
    Ok(())
}
