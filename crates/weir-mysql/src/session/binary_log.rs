//! The server's binary log, event by event (`COM_BINLOG_DUMP`).
//!
//! MySQL internals, "Replication Protocol"; MariaDB Knowledge Base, "3-Binlog Network Stream".

use std::io::{Read, Write};

use super::{PAYLOAD_BYTES_MAX, Session, SessionError, SessionPhase};
use crate::packet::MalformedPacket;

const COM_BINLOG_DUMP: u8 = 0x12;
/// The server ends the stream at the end of the log instead of waiting for more.
const NON_BLOCK: u16 = 0x01;
/// `MariaDB` also sends the text of statements (`BINLOG_SEND_ANNOTATE_ROWS_EVENT`).
const ANNOTATIONS: u16 = 0x02;

/// Start of a reading of the binary log, and the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogStart {
    /// The log's file by the server's name.
    pub file: String,
    /// A place in it at which an event begins; 4 is the first.
    pub position: u32,
    /// The reader's server id, which no replica may have.
    pub server_id: u32,
    /// The text of statements is wanted, too: a flag that only `MariaDB` knows.
    pub has_annotations: bool,
}

impl<S: Read + Write> Session<S> {
    /// Asks for the log; [`Session::next_event`] reads it.
    pub(crate) fn dump(&mut self, start: &LogStart) -> Result<(), SessionError> {
        self.waiting = SessionPhase::Answer;
        let annotations = if start.has_annotations {
            ANNOTATIONS
        } else {
            0
        };
        let mut body = start.position.to_le_bytes().to_vec();
        body.extend((NON_BLOCK | annotations).to_le_bytes());
        body.extend(start.server_id.to_le_bytes());
        body.extend(start.file.as_bytes());
        self.command(COM_BINLOG_DUMP, &body)
    }

    /// Puts the next event of the log into `event`; false at the log's end.
    pub(crate) fn next_event(&mut self, event: &mut Vec<u8>) -> Result<bool, SessionError> {
        self.read_packet()?;
        match self.payload()? {
            [0x00, bytes @ ..] => {
                event.clear();
                event.extend_from_slice(bytes);
            }
            [0xFE, ..] => return Ok(false),
            _ => return Err(MalformedPacket("an event of the binary log is none").into()),
        }
        // An event that is longer than a packet goes on in the next ones.
        while self.buffer.len() == PAYLOAD_BYTES_MAX {
            self.read_packet()?;
            event.extend_from_slice(&self.buffer);
        }
        Ok(true)
    }
}
