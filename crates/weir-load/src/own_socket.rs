//! Sockets of a session that its driver does not read.

use std::os::fd::RawFd;

/// A socket of a session's own, which is not the driver's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OwnSocket {
    /// Number of the socket.
    pub descriptor: RawFd,
    /// It is waited for until it can be written; else until it can be read.
    pub writes: bool,
}
