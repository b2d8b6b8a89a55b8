//! Listener of a null server: a Unix socket, or TCP on this machine.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use mio::Token;
use mio::event::Source;
use mio::net::{TcpListener, UnixListener};
use weir_model::Address;

use crate::driver::{NonBlocking, ReactorStream as _, Transport};
use weir_mysql::Channel;

/// A socket that takes connections; a Unix socket's path is removed when it is dropped.
#[derive(Debug)]
pub(super) enum Listener {
    Unix(UnixListener, PathBuf),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens on a path that must not exist yet.
    pub(super) fn unix(path: &Path) -> io::Result<Self> {
        Ok(Self::Unix(UnixListener::bind(path)?, path.to_owned()))
    }

    /// Listens there; port 0 for one of the kernel's choice.
    pub(super) fn tcp(address: SocketAddr) -> io::Result<Self> {
        Ok(Self::Tcp(TcpListener::bind(address)?))
    }

    /// Returns the address.
    pub(super) fn address(&self) -> io::Result<Address> {
        Ok(match self {
            Self::Unix(_, path) => Address::Socket(path.clone()),
            Self::Tcp(listener) => {
                let address = listener.local_addr()?;
                Address::Tcp(address.ip().to_string(), address.port())
            }
        })
    }

    /// Returns the source that a poll registers.
    pub(super) fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Unix(listener, _) => listener,
            Self::Tcp(listener) => listener,
        }
    }

    /// A client that waits to be let in, under `token` from now on.
    pub(super) fn accept(&self, poll: &mio::Registry, token: Token) -> io::Result<Transport> {
        let socket = match self {
            Self::Unix(listener, _) => NonBlocking::from(listener.accept()?.0),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                NonBlocking::from(stream)
            }
        };
        let mut transport = Channel::plain(socket);
        poll.register(transport.source(), token, mio::Interest::READABLE)?;
        Ok(transport)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}
