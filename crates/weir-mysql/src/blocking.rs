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

/// Time that the next address of a host waits for the one before.
const STAGGER: Duration = Duration::from_millis(250);

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
    ///
    /// # Errors
    ///
    /// A server that does not listen there, or not before the deadline.
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

    /// The process at the other end of a Unix socket (unix(7), `SO_PEERCRED`); TCP does not tell.
    pub fn peer(&self) -> Option<u32> {
        let Stream::Unix(stream) = &self.stream else {
            return None;
        };
        let peer = socket_peercred(stream).ok()?;
        u32::try_from(peer.pid.as_raw_nonzero().get()).ok()
    }

    /// Returns the rest of the time.
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
    let addresses = resolve(host, port, deadline)?;
    let stream = match addresses[..] {
        [] => Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the host has no address",
        )),
        [address] => TcpStream::connect_timeout(&address, deadline.remaining()?),
        _ => connect_to_first(addresses, deadline),
    }?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Connects to the first address that answers. One that drops packets holds the next one up for a moment only
/// (RFC 8305, "Happy Eyeballs"); an attempt that is not needed any more ends by itself at the deadline.
fn connect_to_first(addresses: Vec<SocketAddr>, deadline: Deadline) -> io::Result<TcpStream> {
    let (sender, answers) = channel();
    let mut waiting = 0;
    let mut last = io::Error::from(io::ErrorKind::TimedOut);
    let mut rest = addresses.into_iter();
    loop {
        let next = rest.next();
        if let Some(address) = next {
            let (sender, limit) = (sender.clone(), deadline.remaining()?);
            std::thread::Builder::new()
                .name("weir-connect".to_owned())
                .spawn(move || {
                    // Another attempt may have been the first.
                    let _ = sender.send(TcpStream::connect_timeout(&address, limit));
                })?;
            waiting += 1;
        } else if waiting == 0 {
            return Err(last);
        }
        let remaining = deadline.remaining()?;
        let limit = if rest.len() > 0 {
            STAGGER.min(remaining)
        } else {
            remaining
        };
        match answers.recv_timeout(limit) {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => {
                waiting -= 1;
                last = error;
            }
            Err(_) if rest.len() > 0 => {}
            Err(_) => return Err(io::ErrorKind::TimedOut.into()),
        }
    }
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
            // The caller may have given up.
            let _ = sender.send(found.map(Iterator::collect));
        })?;
    answer
        .recv_timeout(deadline.remaining()?)
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

impl Stream {
    /// From now on, nothing ends waiting.
    pub(crate) fn wait_without_limit(&self) -> io::Result<()> {
        match self {
            Self::Unix(stream) => {
                stream.set_read_timeout(None)?;
                stream.set_write_timeout(None)
            }
            Self::Tcp(stream) => {
                stream.set_read_timeout(None)?;
                stream.set_write_timeout(None)
            }
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Instant;

    use rustix::net::{bind, listen};

    use super::*;

    fn far() -> Deadline {
        Deadline::after(Duration::from_mins(1))
    }

    /// A listener whose queue is full: the kernel drops what asks to be let in.
    fn silent() -> (SocketAddr, rustix::fd::OwnedFd, Vec<TcpStream>) {
        let socket = socket_with(
            AddressFamily::INET,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
        bind(&socket, &any).unwrap();
        listen(&socket, 0).unwrap();
        let name = rustix::net::getsockname(&socket).unwrap();
        let address = SocketAddr::try_from(name).unwrap();
        let limit = Duration::from_millis(200);
        let queue = (0..8).map_while(|_| TcpStream::connect_timeout(&address, limit).ok());
        let queue = queue.collect();
        (address, socket, queue)
    }

    #[test]
    fn an_address_that_is_dead_does_not_hide_the_next_one() {
        let live = TcpListener::bind("127.0.0.1:0").unwrap();
        let live_address = live.local_addr().unwrap();
        let (silent_address, _socket, _queue) = silent();
        let refusing = TcpListener::bind("127.0.0.1:0").unwrap();
        let refusing_address = refusing.local_addr().unwrap();
        drop(refusing);
        let began = Instant::now();
        let addresses = vec![silent_address, refusing_address, live_address];
        let stream = connect_to_first(addresses, far()).unwrap();
        assert_eq!(stream.peer_addr().unwrap(), live_address);
        // The silent one alone would take the whole minute.
        assert!(began.elapsed() < Duration::from_secs(30));
        let none = connect_to_first(vec![refusing_address; 2], far());
        assert_eq!(none.unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
        let soon = Deadline::after(Duration::from_millis(400));
        let none = connect_to_first(vec![silent_address; 2], soon);
        assert_eq!(none.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
