//! The seam between a reactor and what it drives: bytes in, bytes out.
//!
//! A driver has one request outstanding at a time and does no input or output itself. The reactor
//! hands it what its connection has received, or tells it that its time has come; the driver leaves
//! the bytes that it wants sent in a buffer, reports what it did to the [`Meter`], and says what it
//! waits for next. So one driver runs on any of the kernel's ways to wait for many sockets.

mod mysql;
#[cfg(test)]
mod null;
mod reconnect;
mod transport;

use std::io;

use crate::LoadError;
use crate::meter::{ConnectionCounters, Meter};
use crate::own_socket::OwnSocket;
use crate::stamp::Stamp;

pub(crate) use mysql::{MysqlDriver, ReactorResources};
#[cfg(test)]
pub(crate) use null::NullDriver;
pub(crate) use reconnect::{Fresh, Reconnector, Renewal, reconnecting};
pub(crate) use transport::{NonBlocking, ReactorStream, Transport};

/// Reason for a call of a driver.
#[derive(Debug)]
pub(crate) enum Cause<'a> {
    /// The load begins.
    Start,
    /// The connection has received these bytes, which came to this machine then, where the kernel
    /// tells.
    Received(&'a [u8], Option<Stamp>),
    /// The connection broke; an end of file is an `UnexpectedEof`.
    Broken(io::Error),
    /// The time that was waited for has come.
    Time,
    /// The new connection is in the reactor's hands.
    Renewed,
    /// The socket of its own is ready that it waits for.
    Ready,
}

/// Event that a driver waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// A reply.
    Reply,
    /// A point in time, nanoseconds on the meter's clock.
    Time(u64),
    /// The time at which its next transaction is due, or the end of the measurement.
    Due(u64),
    /// The reactor's adoption of its new connection.
    Renewed,
    /// Readiness of a socket of its own.
    Socket(OwnSocket),
    /// Nothing: it has finished.
    Finished,
}

/// Driver of one connection in a reactor.
pub(crate) trait Driver {
    /// Resources that the drivers of one reactor share: buffers and request templates.
    type Resources;

    /// Returns its connection, to be taken at the start and whenever it returns [`Next::Renewed`];
    /// a driver may have none.
    fn transport(&mut self) -> Option<Transport>;

    /// Returns true if the connection's bytes are those of the protocol: not encrypted.
    fn is_plain(&self) -> bool;

    /// Returns true if the connection is a Unix socket.
    fn is_local(&self) -> bool;

    /// Does what `cause` allows. Bytes to be sent are appended to [`Driver::outgoing`].
    fn advance(
        &mut self,
        cause: Cause<'_>,
        shared: &mut Self::Resources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError>;

    /// Returns the bytes that the driver that was last called wants sent. The reactor empties it
    /// after each call.
    fn outgoing(shared: &mut Self::Resources) -> &mut Vec<u8>;

    /// Transactions and time of this driver within the measurement.
    fn counters(&self) -> ConnectionCounters;
}
