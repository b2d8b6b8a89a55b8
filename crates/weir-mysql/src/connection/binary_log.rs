//! A connection that reads the server's binary log and does nothing else from then on.

use super::Connection;
use crate::{ClientError, LogStart};

/// Name of the statement in errors.
const DUMP: &str = "COM_BINLOG_DUMP";

/// The events of a server's binary log, until its end. Dropping it ends the connection.
#[derive(Debug)]
pub struct BinaryLog(Connection);

impl Connection {
    /// Reads the binary log from `start` on. That only reads, so every gate lets it pass; the server's words for a
    /// file that is gone come with the first event.
    ///
    /// # Errors
    ///
    /// Here and for each event: what the server refuses, a server that is gone or silent.
    pub fn binary_log(mut self, start: &LogStart) -> Result<BinaryLog, ClientError> {
        self.wait();
        let asked = self.session.dump(start);
        asked.map_err(|error| self.failed(DUMP, error))?;
        Ok(BinaryLog(self))
    }
}

impl BinaryLog {
    /// Puts the next event, with its header and checksum, into `event`; false at the log's end.
    ///
    /// # Errors
    ///
    /// A log that the server cannot read, or a server that is gone.
    pub fn next_event(&mut self, event: &mut Vec<u8>) -> Result<bool, ClientError> {
        self.0.wait();
        let next = self.0.session.next_event(event);
        next.map_err(|error| self.0.failed(DUMP, error))
    }
}
