//! The stream to a server: a Unix socket or TCP, first blocking, then driven by a reactor.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use mio::event::Source;
use weir_model::Address;

/// A stream that waits, with a limit, for what it needs.
#[derive(Debug)]
pub(crate) enum Blocking {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// A stream that never waits.
#[derive(Debug)]
pub(crate) enum Transport {
    Unix(mio::net::UnixStream),
    Tcp(mio::net::TcpStream),
}

impl Blocking {
    /// Connects; no operation on the stream takes longer than `timeout`.
    pub(crate) fn connect(address: &Address, timeout: Duration) -> io::Result<Self> {
        let stream = match address {
            Address::Socket(path) => Self::Unix(connect_unix(path, timeout)?),
            Address::Tcp(host, port) => Self::Tcp(connect_tcp(host, *port, timeout)?),
        };
        match &stream {
            Self::Unix(stream) => {
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
            }
            Self::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(Some(timeout))?;
                stream.set_write_timeout(Some(timeout))?;
            }
        }
        Ok(stream)
    }

    /// The same stream for a reactor.
    pub(crate) fn into_transport(self) -> io::Result<Transport> {
        Ok(match self {
            Self::Unix(stream) => {
                stream.set_nonblocking(true)?;
                Transport::Unix(mio::net::UnixStream::from_std(stream))
            }
            Self::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                Transport::Tcp(mio::net::TcpStream::from_std(stream))
            }
        })
    }
}

/// Connects without blocking first: `connect` on a Unix socket whose server does not accept
/// would otherwise wait for ever.
fn connect_unix(path: &Path, timeout: Duration) -> io::Result<UnixStream> {
    let deadline = Instant::now() + timeout;
    loop {
        match mio::net::UnixStream::connect(path) {
            Ok(stream) => {
                let stream = UnixStream::from(stream);
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            // The queue of connections that wait for the server is full.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if Instant::now() >= deadline {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => return Err(error),
        }
    }
}

fn connect_tcp(host: &str, port: u16, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Blocking {
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

impl Transport {
    /// What a reactor registers.
    pub(crate) fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Unix(stream) => stream,
            Self::Tcp(stream) => stream,
        }
    }

    /// Whether the socket's bytes are those of the protocol: not encrypted.
    pub(crate) fn is_plain(&self) -> bool {
        match self {
            Self::Unix(_) | Self::Tcp(_) => true,
        }
    }

    /// Whether a read that returned less than was asked for has left nothing behind.
    pub(crate) fn is_emptied_by_short_read(&self) -> bool {
        match self {
            Self::Unix(_) | Self::Tcp(_) => true,
        }
    }
}

impl AsRawFd for Transport {
    fn as_raw_fd(&self) -> RawFd {
        match self {
            Self::Unix(stream) => stream.as_raw_fd(),
            Self::Tcp(stream) => stream.as_raw_fd(),
        }
    }
}

impl Read for Transport {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Transport {
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
