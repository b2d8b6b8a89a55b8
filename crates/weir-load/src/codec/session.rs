//! A connection outside the measurement: logged in, then statements as text or prepared.
//!
//! All of this blocks; the socket's own deadline bounds it. A session whose statements are prepared
//! gives its stream to a reactor.

use std::io::{self, Read, Write};

use mysql_common::constants::ColumnType;
use mysql_common::packets::Column;
use mysql_common::row::new_row;
use mysql_common::{Row, Value};
use thiserror::Error;

use super::compression::{Compression, PacketStream};
use super::packet::{
    HEADER_BYTES, Malformed, PAYLOAD_BYTES_MAX, length_encoded, payload_length, put_header,
};
use super::reply::ServerError;
use crate::channel::Channel;

const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;
/// More columns than any statement of the control plane asks for.
const COLUMNS_MAX: u64 = 4096;

/// Why a session could not do what was asked of it.
#[derive(Debug, Error)]
pub(crate) enum SessionError {
    /// The stream failed or ended.
    #[error("{}", stream_words(.0))]
    Stream(io::Error),
    /// Time was up while this was waited for.
    #[error("{0} did not come in time")]
    Timeout(Waiting),
    /// The server refused.
    #[error("error {}: {}", .0.code, .0.message)]
    Refused(ServerError),
    /// Not the protocol.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A server that lacks what is needed, with its version.
    #[error("server version {0} is older than MySQL 5.5")]
    TooOld(String),
    /// The server does not compress in the way that was asked for.
    #[error("the server does not offer {} compression", .0.name())]
    NotCompressed(Compression),
    /// Encryption that was asked for and is not to be had.
    #[error("{0}")]
    Encryption(String),
    /// Authentication that is not spoken here.
    #[error("{0}")]
    Authentication(String),
}

/// What a session waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum Waiting {
    /// That the network or the server's queue lets it in.
    #[error("the connection")]
    Connection,
    #[error("the server's greeting")]
    Greeting,
    #[error("the TLS handshake")]
    Encryption,
    #[error("the answer to the login")]
    Login,
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
    pub(crate) fn stream(error: io::Error, waiting: Waiting) -> Self {
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

/// A statement as the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreparedStatement {
    /// The server's name for it on this connection.
    pub(crate) id: u32,
    /// Parameters that it takes.
    pub(crate) parameters: u16,
}

/// A connection to a server; the login makes it an authenticated one.
#[derive(Debug)]
pub(crate) struct Session<S> {
    stream: PacketStream<S>,
    pub(super) eof_deprecated: bool,
    /// The server's number of this connection.
    pub(super) id: u32,
    pub(super) waiting: Waiting,
    /// Payload of the last packet.
    buffer: Vec<u8>,
}

impl<S: Read + Write> Session<S> {
    pub(super) fn new(socket: S) -> Self {
        Self {
            stream: PacketStream::new(socket),
            eof_deprecated: false,
            id: 0,
            waiting: Waiting::Greeting,
            buffer: Vec::new(),
        }
    }

    /// The server's number of this connection.
    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// The socket below.
    pub(crate) fn socket(&mut self) -> &mut S {
        self.stream.channel().socket()
    }

    /// The stream below, with nothing read ahead.
    pub(super) fn channel(&mut self) -> Result<&mut Channel<S>, Malformed> {
        if self.stream.is_drained() {
            Ok(self.stream.channel())
        } else {
            Err(Malformed("the server speaks without being asked"))
        }
    }

    /// Compresses from here on.
    pub(super) fn compress(&mut self, compression: Compression) {
        self.stream.compress(compression);
    }

    /// Runs a statement as text; each row of its result, of columns as text, goes to `on_row`.
    pub(crate) fn query(
        &mut self,
        sql: &str,
        on_row: &mut dyn FnMut(Row),
    ) -> Result<(), SessionError> {
        self.waiting = Waiting::Answer;
        self.command(COM_QUERY, sql.as_bytes())?;
        self.read_packet()?;
        let columns = match self.payload()?.first() {
            Some(0x00) => return Ok(()),
            Some(0xFB) => return Err(Malformed("the server asks for a file").into()),
            _ => length_encoded(self.payload()?)?.0,
        };
        if columns > COLUMNS_MAX {
            return Err(Malformed("a column count is not one").into());
        }
        self.skip_definitions(columns)?;
        loop {
            self.read_packet()?;
            let payload = self.payload()?;
            if payload.first() == Some(&0xFE) && payload.len() < PAYLOAD_BYTES_MAX {
                return Ok(());
            }
            on_row(text_row(payload, columns as usize)?);
        }
    }

    /// Runs a `LOAD DATA LOCAL INFILE`. `next` appends the next piece of the file, and nothing at
    /// its end. The rows that were loaded, and the server's warnings.
    pub(crate) fn load(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<(u64, u16), SessionError> {
        self.waiting = Waiting::Answer;
        self.command(COM_QUERY, sql.as_bytes())?;
        let mut sequence = self.read_packet()?;
        if self.payload()?.first() != Some(&0xFB) {
            return Err(Malformed("the server does not ask for the rows").into());
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
        loaded(self.payload()?).map_err(SessionError::from)
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, SessionError> {
        self.waiting = Waiting::Answer;
        self.command(COM_STMT_PREPARE, sql.as_bytes())?;
        self.read_packet()?;
        let Some(&[0x00, i0, i1, i2, i3, c0, c1, p0, p1, ..]) = self.payload()?.first_chunk::<12>()
        else {
            return Err(Malformed("the reply to a prepare is none").into());
        };
        let statement = PreparedStatement {
            id: u32::from_le_bytes([i0, i1, i2, i3]),
            parameters: u16::from_le_bytes([p0, p1]),
        };
        let columns = u16::from_le_bytes([c0, c1]);
        for definitions in [statement.parameters, columns] {
            self.skip_definitions(u64::from(definitions))?;
        }
        Ok(statement)
    }

    /// Executes a prepared statement that returns no rows, by a whole `packet` of [`super::Request`].
    pub(crate) fn execute(&mut self, packet: &[u8]) -> Result<(), SessionError> {
        self.waiting = Waiting::Answer;
        self.write(packet)?;
        self.read_packet()?;
        match self.payload()?.first() {
            Some(0x00) => Ok(()),
            _ => Err(Malformed("the statement returned rows").into()),
        }
    }

    /// Forgets a prepared statement; the server does not answer.
    pub(crate) fn close(&mut self, statement: PreparedStatement) -> Result<(), SessionError> {
        self.command(COM_STMT_CLOSE, &statement.id.to_le_bytes())
    }

    /// The stream and whether `CLIENT_DEPRECATE_EOF` was agreed.
    pub(crate) fn into_parts(mut self) -> Result<(Channel<S>, bool), SessionError> {
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

    pub(super) fn send(&mut self, payload: &[u8], sequence: u8) -> Result<(), SessionError> {
        let mut packet = vec![0; HEADER_BYTES];
        put_header(&mut packet, payload.len(), sequence);
        packet.extend_from_slice(payload);
        self.write(&packet)
    }

    fn write(&mut self, packet: &[u8]) -> Result<(), SessionError> {
        let written = self.stream.send(packet);
        written.map_err(|error| SessionError::stream(error, self.waiting))
    }

    /// Reads one packet into the buffer; its sequence number.
    pub(super) fn read_packet(&mut self) -> Result<u8, SessionError> {
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
    pub(super) fn payload(&self) -> Result<&[u8], SessionError> {
        if self.buffer.first() == Some(&0xFF) {
            return Err(SessionError::Refused(ServerError::parse(&self.buffer)?));
        }
        Ok(&self.buffer)
    }
}

/// Rows and warnings of the packet that ends a load.
fn loaded(payload: &[u8]) -> Result<(u64, u16), Malformed> {
    let rest = payload
        .strip_prefix(&[0x00])
        .ok_or(Malformed("the reply to a load is none"))?;
    let (rows, taken) = length_encoded(rest)?;
    let (_, taken_by_id) = length_encoded(&rest[taken..])?;
    match rest[taken + taken_by_id..] {
        [_, _, low, high, ..] => Ok((rows, u16::from_le_bytes([low, high]))),
        _ => Err(Malformed("the reply to a load is cut short")),
    }
}

/// A row of the text protocol: strings with their lengths, 0xFB for NULL.
fn text_row(payload: &[u8], columns: usize) -> Result<Row, Malformed> {
    let mut values = Vec::with_capacity(columns);
    let mut rest = payload;
    for _ in 0..columns {
        if let Some(after) = rest.strip_prefix(&[0xFB]) {
            values.push(Value::NULL);
            rest = after;
            continue;
        }
        let (length, taken) = length_encoded(rest)?;
        let (text, after) = usize::try_from(length)
            .ok()
            .and_then(|length| rest[taken..].split_at_checked(length))
            .ok_or(Malformed("a row is cut short"))?;
        values.push(Value::Bytes(text.to_vec()));
        rest = after;
    }
    let columns: Vec<_> = (0..columns)
        .map(|_| Column::new(ColumnType::MYSQL_TYPE_VAR_STRING))
        .collect();
    Ok(new_row(values, columns.into()))
}
