//! A connection outside the measurement: logged in, then statements as text or prepared.
//!
//! All of this blocks; the socket's own deadline bounds it. A session whose statements are prepared
//! gives its stream to a reactor.

mod binary_log;
mod pipeline;

use std::io::{self, Read, Write};
use std::sync::Arc;

use mysql_common::io::ParseBuf;
use mysql_common::packets::{Column, ComStmtExecuteRequestBuilder};
use mysql_common::proto::{Binary, MyDeserialize, MySerialize as _, Text};
use mysql_common::row::RowDeserializer;
use mysql_common::value::ServerSide;
use mysql_common::{Row, Value};
use thiserror::Error;

use super::compression::{Compression, PacketStream};
use super::packet::{
    HEADER_BYTES, MalformedPacket, PAYLOAD_BYTES_MAX, length_encoded, payload_length, put_header,
};
use super::reply::{PrepareReply, ServerError};
use crate::channel::Channel;

pub use binary_log::LogStart;

const COM_QUERY: u8 = 0x03;
const COM_PING: u8 = 0x0E;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;
/// More columns than any statement of the control plane asks for.
const COLUMNS_MAX: u64 = 4096;

/// Reason that a session could not do its request.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The stream failed or ended.
    #[error("{}", stream_words(.0))]
    Stream(io::Error),
    /// Time was up while this was waited for.
    #[error("{0} did not come in time")]
    Timeout(SessionPhase),
    /// The server refused.
    #[error("error {}: {}", .0.code, .0.message)]
    Refused(ServerError),
    /// The server closed the connection with these words.
    #[error("error {}: {}", .0.code, .0.message)]
    Dismissed(ServerError),
    /// Not the protocol.
    #[error(transparent)]
    Malformed(#[from] MalformedPacket),
    /// A server that lacks what is needed, with its version.
    #[error("server version {0} is older than MySQL 5.5")]
    TooOld(String),
    /// The server does not compress in the way that was asked for.
    #[error("the server does not offer {} compression", .0.name())]
    NotCompressed(Compression),
    /// Encryption that was asked for and is not available.
    #[error("{0}")]
    Encryption(String),
    /// Authentication that is not spoken here.
    #[error("{0}")]
    Authentication(String),
}

/// Phase of a session, by the event that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SessionPhase {
    /// Acceptance by the network or the server's queue.
    #[error("the connection")]
    Connection,
    /// The first packet.
    #[error("the server's greeting")]
    Greeting,
    /// Agreement on encryption.
    #[error("the TLS handshake")]
    Encryption,
    /// Success of the login.
    #[error("the answer to the login")]
    Login,
    /// Result of a statement.
    #[error("the answer to a statement")]
    Answer,
}

/// An I/O error in one line; a closed stream in words.
fn stream_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => "the server closed the connection".to_owned(),
        _ => error.to_string().to_lowercase(),
    }
}

impl SessionError {
    /// An error of the stream while `waiting`.
    pub fn stream(error: io::Error, waiting: SessionPhase) -> Self {
        let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
        if let Some(malformed) = cause {
            return Self::Malformed(*malformed);
        }
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Self::Timeout(waiting),
            _ => Self::Stream(error),
        }
    }
}

/// Effect of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatementEffect {
    /// Rows that it changed; 0 with a result set.
    pub affected_rows: u64,
    /// Warnings that the server has for it; 0 with a result set.
    pub warnings: u16,
}

/// A statement as the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreparedStatement {
    /// The server's name for it on this connection.
    pub id: u32,
    /// Parameters that it takes.
    pub parameters: u16,
}

/// A connection to a server; the login makes it an authenticated one.
#[derive(Debug)]
pub struct Session<S> {
    stream: PacketStream<S>,
    pub(crate) eof_deprecated: bool,
    /// The server's number of this connection.
    pub(crate) id: u32,
    /// As the server greets with it.
    pub(crate) version: String,
    pub(crate) waiting: SessionPhase,
    /// Payload of the last packet.
    buffer: Vec<u8>,
}

impl<S: Read + Write> Session<S> {
    pub(crate) fn new(socket: S) -> Self {
        Self {
            stream: PacketStream::new(socket),
            eof_deprecated: false,
            id: 0,
            version: String::new(),
            waiting: SessionPhase::Greeting,
            buffer: Vec::new(),
        }
    }

    /// The server's number of this connection.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The server's version, as it greets with it.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The socket below.
    pub fn socket(&mut self) -> &mut S {
        self.stream.channel().socket()
    }

    /// The stream below, with nothing read ahead.
    pub(crate) fn channel(&mut self) -> Result<&mut Channel<S>, MalformedPacket> {
        if self.stream.is_drained() {
            Ok(self.stream.channel())
        } else {
            Err(MalformedPacket("the server speaks without being asked"))
        }
    }

    /// Compresses from here on.
    pub(crate) fn compress(&mut self, compression: Compression) {
        self.stream.compress(compression);
    }

    /// Runs a statement as text; each row of its result, of columns as text, goes to `on_row`.
    ///
    /// # Errors
    ///
    /// A refusal of the server; a connection that is lost or silent, and bytes that are not the protocol.
    pub fn query(
        &mut self,
        sql: &str,
        on_row: &mut dyn FnMut(Row),
    ) -> Result<StatementEffect, SessionError> {
        self.waiting = SessionPhase::Answer;
        self.command(COM_QUERY, sql.as_bytes())?;
        self.read_packet()?;
        self.result::<Text>(on_row)
    }

    /// Executes a prepared statement with these values; each row of its result, of columns with
    /// their types, goes to `on_row`.
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn query_prepared(
        &mut self,
        statement: PreparedStatement,
        values: &[Value],
        on_row: &mut dyn FnMut(Row),
    ) -> Result<StatementEffect, SessionError> {
        self.waiting = SessionPhase::Answer;
        let (request, _) = ComStmtExecuteRequestBuilder::new(statement.id).build(values);
        let mut payload = Vec::new();
        request.serialize(&mut payload);
        self.send(&payload, 0)?;
        self.read_packet()?;
        self.result::<Binary>(on_row)
    }

    /// Asks for a sign of life.
    ///
    /// # Errors
    ///
    /// A connection that is lost or silent, and bytes that are not the protocol.
    pub fn ping(&mut self) -> Result<(), SessionError> {
        self.waiting = SessionPhase::Answer;
        self.command(COM_PING, &[])?;
        self.read_packet()?;
        self.payload().map(drop)
    }

    /// Reads a result, of which the first packet is there.
    fn result<P>(&mut self, on_row: &mut dyn FnMut(Row)) -> Result<StatementEffect, SessionError>
    where
        for<'de> RowDeserializer<ServerSide, P>: MyDeserialize<'de, Ctx = Arc<[Column]>>,
    {
        let columns = match self.payload()?.first() {
            Some(0x00) => return Ok(done(self.payload()?)?),
            Some(0xFB) => return Err(MalformedPacket("the server asks for a file").into()),
            _ => length_encoded(self.payload()?)?.0,
        };
        if columns > COLUMNS_MAX {
            return Err(MalformedPacket("a column count is not one").into());
        }
        let columns = self.definitions(columns)?;
        loop {
            self.read_packet()?;
            let payload = self.payload()?;
            if payload.first() == Some(&0xFE) && payload.len() < PAYLOAD_BYTES_MAX {
                return Ok(StatementEffect::default());
            }
            let row = ParseBuf(payload)
                .parse::<RowDeserializer<ServerSide, P>>(Arc::clone(&columns))
                .map_err(|_| MalformedPacket("a row is cut short"))?;
            on_row(row.into());
        }
    }

    /// Reads so many column definitions and what ends them.
    fn definitions(&mut self, count: u64) -> Result<Arc<[Column]>, SessionError> {
        let mut columns = Vec::with_capacity(count as usize);
        for _ in 0..count {
            self.read_packet()?;
            let column = ParseBuf(self.payload()?).parse::<Column>(());
            columns.push(column.map_err(|_| MalformedPacket("a column definition is none"))?);
        }
        if count > 0 && !self.eof_deprecated {
            self.read_packet()?;
            self.payload()?;
        }
        Ok(columns.into())
    }

    /// Runs a `LOAD DATA LOCAL INFILE`. `next` appends the next piece of the file, and nothing at
    /// its end.
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn load(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<StatementEffect, SessionError> {
        self.waiting = SessionPhase::Answer;
        self.command(COM_QUERY, sql.as_bytes())?;
        let mut sequence = self.read_packet()?;
        if self.payload()?.first() != Some(&0xFB) {
            return Err(MalformedPacket("the server does not ask for the rows").into());
        }
        let mut packet = Vec::new();
        loop {
            packet.clear();
            packet.resize(HEADER_BYTES, 0);
            next(&mut packet);
            let length = packet.len() - HEADER_BYTES;
            sequence = sequence.wrapping_add(1);
            put_header(&mut packet, length, sequence);
            self.write(&packet)?;
            if length == 0 {
                break;
            }
        }
        self.read_packet()?;
        done(self.payload()?).map_err(SessionError::from)
    }

    /// Prepares a statement.
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, SessionError> {
        self.waiting = SessionPhase::Answer;
        self.command(COM_STMT_PREPARE, sql.as_bytes())?;
        self.prepared()
    }

    /// Reads the answer to a prepare.
    fn prepared(&mut self) -> Result<PreparedStatement, SessionError> {
        self.read_packet()?;
        let reply = PrepareReply::read(self.payload()?)?;
        for definitions in [reply.parameters, reply.columns] {
            self.skip_definitions(u64::from(definitions))?;
        }
        Ok(PreparedStatement {
            id: reply.id,
            parameters: reply.parameters,
        })
    }

    /// Executes a prepared statement that returns no rows, by a whole `packet` of [`crate::Request`].
    ///
    /// # Errors
    ///
    /// As [`Self::query`].
    pub fn execute(&mut self, packet: &[u8]) -> Result<(), SessionError> {
        self.waiting = SessionPhase::Answer;
        self.write(packet)?;
        self.read_packet()?;
        match self.payload()?.first() {
            Some(0x00) => Ok(()),
            _ => Err(MalformedPacket("the statement returned rows").into()),
        }
    }

    /// Forgets a prepared statement; the server does not answer.
    ///
    /// # Errors
    ///
    /// A connection that is lost.
    pub fn close(&mut self, statement: PreparedStatement) -> Result<(), SessionError> {
        self.command(COM_STMT_CLOSE, &statement.id.to_le_bytes())
    }

    /// The stream and whether `CLIENT_DEPRECATE_EOF` was agreed.
    ///
    /// # Errors
    ///
    /// A server that speaks without being asked.
    pub fn into_parts(mut self) -> Result<(Channel<S>, bool), SessionError> {
        self.channel()?;
        Ok((self.stream.into_channel(), self.eof_deprecated))
    }

    /// Passes over so many column definitions and what ends them.
    fn skip_definitions(&mut self, definitions: u64) -> Result<(), SessionError> {
        let end = u64::from(definitions > 0 && !self.eof_deprecated);
        for _ in 0..definitions + end {
            self.read_packet()?;
            self.payload()?;
        }
        Ok(())
    }

    fn command(&mut self, command: u8, body: &[u8]) -> Result<(), SessionError> {
        let mut payload = Vec::with_capacity(1 + body.len());
        payload.push(command);
        payload.extend_from_slice(body);
        self.send(&payload, 0)
    }

    pub(crate) fn send(&mut self, payload: &[u8], sequence: u8) -> Result<(), SessionError> {
        let mut packet = vec![0; HEADER_BYTES];
        put_header(&mut packet, payload.len(), sequence);
        packet.extend_from_slice(payload);
        self.write(&packet)
    }

    fn write(&mut self, packet: &[u8]) -> Result<(), SessionError> {
        let written = self.stream.send(packet);
        written.map_err(|error| {
            let error = SessionError::stream(error, self.waiting);
            self.farewell().unwrap_or(error)
        })
    }

    /// The server's words before it closed the connection, if that can still be read.
    fn farewell(&mut self) -> Option<SessionError> {
        self.try_read_packet().ok()?;
        match self.payload() {
            Err(SessionError::Refused(said)) => Some(SessionError::Dismissed(said)),
            _ => None,
        }
    }

    /// Reads one packet into the buffer; its sequence number.
    pub(crate) fn read_packet(&mut self) -> Result<u8, SessionError> {
        self.try_read_packet()
            .map_err(|error| SessionError::stream(error, self.waiting))
    }

    fn try_read_packet(&mut self) -> io::Result<u8> {
        let mut header = [0; HEADER_BYTES];
        self.stream.read_exact(&mut header)?;
        let length = payload_length(&header) as u64;
        self.buffer.clear();
        // Not allocated up front: a malformed length must not cost 16 MiB.
        let read = (&mut self.stream)
            .take(length)
            .read_to_end(&mut self.buffer)?;
        if (read as u64) < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(header[3])
    }

    /// The payload of the last packet, unless it is an error.
    pub(crate) fn payload(&self) -> Result<&[u8], SessionError> {
        if self.buffer.first() == Some(&0xFF) {
            return Err(SessionError::Refused(ServerError::parse(&self.buffer)?));
        }
        Ok(&self.buffer)
    }
}

/// Reads the packet that ends a statement without rows.
fn done(payload: &[u8]) -> Result<StatementEffect, MalformedPacket> {
    let rest = payload
        .strip_prefix(&[0x00])
        .ok_or(MalformedPacket("the reply to a statement is none"))?;
    let (affected_rows, taken) = length_encoded(rest)?;
    let (_, taken_by_id) = length_encoded(&rest[taken..])?;
    match rest[taken + taken_by_id..] {
        [_, _, low, high, ..] => Ok(StatementEffect {
            affected_rows,
            warnings: u16::from_le_bytes([low, high]),
        }),
        _ => Err(MalformedPacket("the reply to a statement is cut short")),
    }
}
