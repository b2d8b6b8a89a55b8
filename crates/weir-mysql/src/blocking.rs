//! A socket that waits for what it needs, but not beyond a deadline.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use weir_model::Address;

use crate::Deadline;

/// Pause between two tries to enter a Unix socket's full queue.
const PAUSE: Duration = Duration::from_millis(1);

/// A socket with a deadline for everything that is done with it.
#[derive(Debug)]
pub struct Blocking {
    stream: Stream,
    deadline: Option<Deadline>,
}

/// A connected socket.
#[derive(Debug)]
pub enum Stream {
    /// Of this host.
    Unix(UnixStream),
    /// Of a network.
    Tcp(TcpStream),
}

impl Blocking {
    /// Connects before the deadline.
    pub fn connect(address: &Address, deadline: Deadline) -> io::Result<Self> {
        let stream = match address {
            Address::Socket(path) => Stream::Unix(connect_unix(path, deadline)?),
            Address::Tcp(host, port) => Stream::Tcp(connect_tcp(host, *port, deadline)?),
        };
        Ok(Self {
            stream,
            deadline: Some(deadline),
        })
    }

    /// From now on, this is when waiting ends.
    pub fn set_deadline(&mut self, deadline: Option<Deadline>) {
        self.deadline = deadline;
    }

    /// The socket itself, without a deadline.
    pub fn into_stream(self) -> Stream {
        self.stream
    }

    /// The process at the other end of a Unix socket (unix(7), `SO_PEERCRED`); on TCP nobody says.
    pub fn peer(&self) -> Option<u32> {
        let Stream::Unix(stream) = &self.stream else {
            return None;
        };
        let peer = socket_peercred(stream).ok()?;
        u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
    }

    /// What is left of the time.
    fn timeout(&self) -> io::Result<Option<Duration>> {
        self.deadline.map(Deadline::remaining).transpose()
    }
}

/// Connects without blocking: `connect(2)` on a Unix socket whose server does not accept would otherwise
/// wait for ever.
fn connect_unix(path: &Path, deadline: Deadline) -> io::Result<UnixStream> {
    let address = SocketAddrUnix::new(path)?;
    loop {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        match connect(&socket, &address) {
            Ok(()) => {
                let stream = UnixStream::from(socket);
                stream.set_nonblocking(false)?;
                return Ok(stream);
            }
            // The queue of connections that wait for the server is full.
            Err(Errno::AGAIN) => std::thread::sleep(PAUSE.min(deadline.remaining()?)),
            Err(error) => return Err(error.into()),
        }
    }
}

fn connect_tcp(host: &str, port: u16, deadline: Deadline) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
    for address in resolve(host, port, deadline)? {
        match TcpStream::connect_timeout(&address, deadline.remaining()?) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The addresses of a host. `getaddrinfo(3)` has no timeout, so a thread asks it, which is left
/// behind if the name servers are silent for too long.
fn resolve(host: &str, port: u16, deadline: Deadline) -> io::Result<Vec<SocketAddr>> {
    if let Ok(ip) = host.parse() {
        return Ok(vec![SocketAddr::new(ip, port)]);
    }
    let (sender, answer) = channel();
    let name = host.to_owned();
    std::thread::Builder::new()
        .name("weir-resolver".to_owned())
        .spawn(move || {
            let found = (name.as_str(), port).to_socket_addrs();
            // Whoever asked may have given up.
            let _ = sender.send(found.map(Iterator::collect));
        })?;
    answer
        .recv_timeout(deadline.remaining()?)
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let timeout = self.timeout()?;
        match &mut self.stream {
            Stream::Unix(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.read(buffer)
            }
            Stream::Tcp(stream) => {
                stream.set_read_timeout(timeout)?;
                stream.read(buffer)
            }
        }
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let timeout = self.timeout()?;
        match &mut self.stream {
            Stream::Unix(stream) => {
                stream.set_write_timeout(timeout)?;
                stream.write(bytes)
            }
            Stream::Tcp(stream) => {
                stream.set_write_timeout(timeout)?;
                stream.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
