//! The seam between a reactor and what it drives.
//!
//! A driver has one request outstanding at a time. The reactor tells it when its source is ready
//! or its time has come; the driver does what it can without blocking, reports what it did to the
//! [`Meter`], and says what it waits for next.

mod mysql;
#[cfg(test)]
mod null;
mod reconnect;
mod transport;

use mio::event::Source;

use crate::LoadError;
use crate::meter::Meter;

pub(crate) use mysql::{MysqlDriver, Shared, Statements};
#[cfg(test)]
pub(crate) use null::NullDriver;
pub(crate) use reconnect::{Fresh, Reconnector, reconnecting};
pub(crate) use transport::{NonBlocking, Transport};

/// Why a driver is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The load begins.
    Start,
    /// The source may be read, or written if that was waited for.
    Ready,
    /// The time that was waited for has come.
    Time,
    /// The new source is registered.
    Renewed,
}

/// What a driver waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Bytes to read.
    Readable,
    /// Room to write.
    Writable,
    /// A point in time, nanoseconds on the meter's clock.
    Time(u64),
    /// The time at which its next transaction is due, or the end of the measurement.
    Due(u64),
    /// The registration of its source, which is a new one.
    Renewed,
    /// Nothing: it has finished.
    Finished,
}

/// What a reactor drives.
pub(crate) trait Driver {
    /// What the drivers of one reactor share: buffers and request templates.
    type Shared;

    /// Its source of events, if it has one.
    fn source(&mut self) -> Option<&mut dyn Source>;

    /// Does what `cause` allows.
    fn advance(
        &mut self,
        cause: Cause,
        shared: &mut Self::Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError>;

    /// Transactions and time of this driver within the measurement.
    fn share(&self) -> Share;
}

/// One driver's part in the measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Share {
    /// Transactions completed.
    pub(crate) transactions: u64,
    /// Sum of their latencies, nanoseconds.
    pub(crate) busy_ns: u64,
}
