//! One client of a null server.

use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

use mysql_common::constants::CapabilityFlags;

use super::packets::{self, ReplyKind};
use crate::driver::{ReactorStream as _, Transport};
use weir_mysql::HEADER_BYTES;

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_EXECUTE: u8 = 0x17;
const COM_STMT_CLOSE: u8 = 0x19;

/// Result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Nothing that needs a delayed reply.
    Waiting,
    /// A statement is to be executed: [`Connection::reply`] answers it.
    Execute,
    /// The client has gone.
    Closed,
}

/// A client's stream and the statements that it has prepared.
#[derive(Debug)]
pub(super) struct Connection {
    stream: Transport,
    received: Vec<u8>,
    is_logged_in: bool,
    eof_packets: bool,
    statements: Vec<ReplyKind>,
    outstanding: ReplyKind,
    /// The statement came as text, so that its rows are text too.
    is_text: bool,
}

impl Connection {
    /// Greets a new client; nothing if it has gone already.
    pub(super) fn greet(stream: Transport, eof_packets: bool) -> Option<Self> {
        let mut connection = Self {
            stream,
            received: Vec::new(),
            is_logged_in: false,
            eof_packets,
            statements: Vec::new(),
            outstanding: ReplyKind::Other,
            is_text: false,
        };
        let greeting = packets::greeting(eof_packets);
        connection.stream.write_all(&greeting).ok()?;
        Some(connection)
    }

    /// Reads all that has come and answers what needs no delay.
    pub(super) fn receive(&mut self) -> Progress {
        let mut buffer = [0; 4096];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return Progress::Closed,
                Ok(read) => self.received.extend_from_slice(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => return Progress::Closed,
            }
        }
        let mut progress = Progress::Waiting;
        while progress == Progress::Waiting {
            let Some(packet) = self.next_packet() else {
                break;
            };
            progress = self.handle(&packet);
        }
        progress
    }

    /// Returns the time at which the bytes that were read last came to this machine, where the
    /// kernel has it.
    pub(super) fn came(&self) -> Option<Instant> {
        let age = Duration::from_nanos(self.stream.came()?.age_ns());
        Instant::now().checked_sub(age)
    }

    /// Answers the statement that is to be executed.
    pub(super) fn reply(&mut self) -> io::Result<()> {
        let reply = packets::reply(self.outstanding, self.is_text, self.eof_packets);
        self.stream.write_all(&reply)
    }

    /// Answers with an error.
    pub(super) fn refuse(&mut self, code: u16) {
        // A client that has gone is noticed at the next read.
        let _ = self.stream.write_all(&packets::error(code));
    }

    /// Answers with a packet out of sequence.
    pub(super) fn send_nonsense(&mut self) {
        let _ = self.stream.write_all(&[0xEE; 64]);
    }

    fn next_packet(&mut self) -> Option<Vec<u8>> {
        let header = self.received.get(..HEADER_BYTES)?;
        let length = HEADER_BYTES
            + (usize::from(header[0]) | usize::from(header[1]) << 8 | usize::from(header[2]) << 16);
        if self.received.len() < length {
            return None;
        }
        Some(self.received.drain(..length).collect())
    }

    fn handle(&mut self, packet: &[u8]) -> Progress {
        let (header, payload) = packet.split_at(HEADER_BYTES);
        if !self.is_logged_in {
            self.is_logged_in = true;
            // The client's capabilities come first in its answer.
            let capabilities = payload.first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
            let deprecates_eof = CapabilityFlags::CLIENT_DEPRECATE_EOF.bits();
            self.eof_packets |= capabilities & deprecates_eof == 0;
            return self.send(&packets::ok(header[3].wrapping_add(1), 0));
        }
        let Some((&command, body)) = payload.split_first() else {
            return Progress::Closed;
        };
        match command {
            COM_QUIT => Progress::Closed,
            COM_STMT_CLOSE => Progress::Waiting,
            COM_QUERY if packets::is_load(body) => {
                self.outstanding = ReplyKind::for_statement(body);
                self.is_text = true;
                Progress::Execute
            }
            COM_QUERY => {
                let reply = packets::control_reply(body, self.eof_packets);
                self.send(&reply)
            }
            COM_STMT_PREPARE => {
                self.statements.push(ReplyKind::for_statement(body));
                let parameters = body.split(|byte| *byte == b'?').count() as u16 - 1;
                let id = self.statements.len() as u32;
                self.send(&packets::prepared(id, parameters, self.eof_packets))
            }
            COM_STMT_EXECUTE => {
                let id = body.first_chunk().map_or(0, |id| u32::from_le_bytes(*id));
                let index = (id as usize).wrapping_sub(1);
                match self.statements.get(index) {
                    Some(kind) => {
                        self.outstanding = *kind;
                        self.is_text = false;
                        Progress::Execute
                    }
                    // ER_UNKNOWN_STMT_HANDLER
                    None => self.send(&packets::error(1243)),
                }
            }
            _ => self.send(&packets::ok(1, 0)),
        }
    }

    fn send(&mut self, bytes: &[u8]) -> Progress {
        match self.stream.write_all(bytes) {
            Ok(()) => Progress::Waiting,
            Err(_) => Progress::Closed,
        }
    }
}
