//! A stream of bytes over a socket, encrypted or not, which blocks or doesn't as its socket does.

use std::io::{self, Read, Write};

use rustls::ClientConnection;

/// Plain text that is encrypted and sent at once: a TLS record's largest.
const CHUNK_BYTES: usize = 16 << 10;

/// A socket and, if it is encrypted, the TLS connection over it.
#[derive(Debug)]
pub struct Channel<S> {
    socket: S,
    tls: Option<Box<Encryption>>,
}

#[derive(Debug)]
struct Encryption {
    connection: ClientConnection,
    /// Bytes that were encrypted but not reported as written, because the socket had no room.
    unreported: usize,
    /// The last read took all that the socket had.
    has_emptied: bool,
}

impl<S> Channel<S> {
    /// A channel that is not encrypted.
    pub fn plain(socket: S) -> Self {
        Self { socket, tls: None }
    }

    /// Returns true if it is encrypted.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns true if a read that has just returned less than was asked for left nothing behind, in the socket or
    /// here.
    pub fn is_emptied_by_short_read(&self) -> bool {
        self.tls.as_ref().is_none_or(|tls| tls.has_emptied)
    }

    /// The socket below, to look at.
    pub fn below(&self) -> &S {
        &self.socket
    }

    /// The socket below.
    pub fn socket(&mut self) -> &mut S {
        &mut self.socket
    }

    /// The same channel over another form of its socket.
    ///
    /// # Errors
    ///
    /// The error of `form`.
    pub fn map<T>(self, form: impl FnOnce(S) -> io::Result<T>) -> io::Result<Channel<T>> {
        Ok(Channel {
            socket: form(self.socket)?,
            tls: self.tls,
        })
    }
}

impl<S: Read + Write> Channel<S> {
    /// Encrypts from here on; does the whole handshake over a socket that blocks.
    ///
    /// # Errors
    ///
    /// A handshake that fails, or a connection that is lost.
    pub fn encrypt(&mut self, mut connection: ClientConnection) -> io::Result<()> {
        while connection.is_handshaking() {
            connection.complete_io(&mut self.socket)?;
        }
        self.tls = Some(Box::new(Encryption {
            connection,
            unreported: 0,
            has_emptied: false,
        }));
        Ok(())
    }
}

impl Encryption {
    /// Sends what is encrypted.
    fn drain(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.connection.wants_write() {
            if self.connection.write_tls(socket)? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
        }
        Ok(())
    }

    fn read(&mut self, socket: &mut (impl Read + Write), buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.receive(socket)?,
                // Closed without TLS's own farewell, as MySQL's servers do.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                result => return result,
            }
        }
    }

    /// Takes what has come and decrypts it.
    fn receive(&mut self, socket: &mut (impl Read + Write)) -> io::Result<()> {
        let mut noting = ShortReadDetector {
            socket,
            was_short: false,
        };
        self.connection.read_tls(&mut noting)?;
        self.has_emptied = noting.was_short;
        self.connection
            .process_new_packets()
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        match self.drain(socket) {
            // It goes out with the next request.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            result => result,
        }
    }

    /// As `SSL_write(3)`: when the socket has no room, the same bytes are to be offered again.
    fn write(&mut self, socket: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < bytes.len() {
            if self.unreported == 0 {
                let end = bytes.len().min(written + CHUNK_BYTES);
                self.unreported = self.connection.writer().write(&bytes[written..end])?;
            }
            match self.drain(socket) {
                Ok(()) => written += std::mem::take(&mut self.unreported),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock && written > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }
}

/// A socket that is read, and whether it gave less than was asked for: all that it had.
struct ShortReadDetector<'a, S> {
    socket: &'a mut S,
    was_short: bool,
}

impl<S: Read> Read for ShortReadDetector<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.socket.read(buffer)?;
        self.was_short = read < buffer.len();
        Ok(read)
    }
}

impl<S: Read + Write> Read for Channel<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.read(buffer),
            Some(tls) => tls.read(&mut self.socket, buffer),
        }
    }
}

impl<S: Read + Write> Write for Channel<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.tls {
            None => self.socket.write(bytes),
            Some(tls) => tls.write(&mut self.socket, bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.tls {
            None => self.socket.flush(),
            Some(tls) => tls.drain(&mut self.socket),
        }
    }
}
