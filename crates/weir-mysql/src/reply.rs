//! Replies, read without decoding their rows unless they are asked for.
//!
//! [`ReplyParser`] is fed whatever `read` returned. A reply that lies whole in those bytes, which
//! is the rule, is walked in place; a packet that is cut by the end of the read is kept until the
//! rest of it comes.

mod column;
mod decoded_rows;
mod digest;
mod results;
mod wire_rows;

use decoded_rows::DecodedRows;
pub use digest::AnswerDigest;
use mysql_common::row::Row;
pub use results::{StatementResult, TextRows};

pub use wire_rows::{WireRow, WireRows};

use super::packet::{
    HEADER_BYTES, MalformedPacket, PAYLOAD_BYTES_MAX, length_encoded, payload_length,
};

/// `#` and five characters.
const SQL_STATE_BYTES: usize = 6;

/// Longest packet that a reply may begin with: an error's message has 512 bytes, what a server
/// says of its session with an OK is no longer than this either.
const FIRST_PAYLOAD_MAX: usize = 0xFFFF;

/// Reply of a server to one statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Done, without rows.
    Done {
        /// Rows that it changed.
        affected_rows: u64,
    },
    /// A result set, to its end.
    Rows {
        /// Rows in it; read by tests only, which is why reading it costs nothing.
        #[cfg_attr(not(test), allow(dead_code))]
        rows: u64,
    },
    /// A statement was prepared.
    Prepared {
        /// The server's number of it.
        id: u32,
        /// Number of its question marks.
        parameters: u16,
    },
    /// Refused.
    Refused(ServerError),
}

/// Expected reply to a request, as its sender knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExpectedReply {
    /// An outcome, or rows that are skipped.
    #[default]
    Outcome,
    /// An outcome, or rows of text to be kept: the request was a text.
    TextRows,
    /// An outcome, or rows of typed values to be kept: the request executed a prepared statement.
    TypedRows,
    /// All results of a text, their values as text: see [`ReplyParser::take_results`].
    TextResults,
    /// All results of a prepared statement, their values as text.
    TypedResults,
    /// An outcome, or rows of text to be read in place.
    WireTextRows,
    /// An outcome, or rows of typed values to be read in place.
    WireTypedRows,
    /// The number of a prepared statement.
    Statement,
}

/// The first packet of the reply to a prepare (`COM_STMT_PREPARE_OK`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct PrepareReply {
    /// The server's number of the statement.
    pub(crate) id: u32,
    /// Number of its question marks, whose definitions follow.
    pub(crate) parameters: u16,
    /// Columns of its result, whose definitions follow those.
    pub(crate) columns: u16,
}

impl PrepareReply {
    pub(crate) fn read(payload: &[u8]) -> Result<Self, MalformedPacket> {
        let Some(&[0x00, i0, i1, i2, i3, c0, c1, p0, p1, ..]) = payload.first_chunk::<12>() else {
            return Err(MalformedPacket("the reply to a prepare is none"));
        };
        Ok(Self {
            id: u32::from_le_bytes([i0, i1, i2, i3]),
            parameters: u16::from_le_bytes([p0, p1]),
            columns: u16::from_le_bytes([c0, c1]),
        })
    }
}

/// An error packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerError {
    /// The server's error code.
    pub code: u16,
    /// The five characters of its class in standard SQL; empty before a login.
    pub state: String,
    /// The server's words.
    pub message: String,
}

impl ServerError {
    /// An error that a server sent unasked, as it does before it closes: in one packet, of any sequence number.
    pub fn unasked(bytes: &[u8]) -> Option<Self> {
        let (header, payload) = bytes.split_at_checked(HEADER_BYTES)?;
        let payload = payload.get(..payload_length(header))?;
        let is_error = payload.first() == Some(&0xFF);
        is_error.then(|| Self::parse(payload).ok()).flatten()
    }

    /// Reads an error packet's payload, its first byte 0xFF included.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, MalformedPacket> {
        let [0xFF, low, high, text @ ..] = payload else {
            return Err(MalformedPacket("an error packet is cut short"));
        };
        // Before authentication there is no SQL state.
        let (state, text) = if text.first() == Some(&b'#') {
            text.split_at_checked(SQL_STATE_BYTES)
                .unwrap_or((text, &[]))
        } else {
            (&[][..], text)
        };
        let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Self {
            code: u16::from_le_bytes([*low, *high]),
            state: words(state.get(1..).unwrap_or_default()),
            message: words(text),
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The first packet decides what follows.
    First,
    /// So many column definitions are still to come.
    Columns(u64),
    /// The end-of-file packet that closes the column definitions of older servers.
    ColumnsEnd,
    /// Rows, until the packet that ends them.
    Rows,
    /// So many packets that describe a prepared statement, which is this, are still to come.
    Described { left: u32, id: u32, parameters: u16 },
}

/// Reads replies from a stream of bytes.
#[derive(Debug)]
pub struct ReplyParser {
    phase: Phase,
    sequence: u8,
    rows: u64,
    /// The last packet was of the largest length: the next one continues it.
    continued: bool,
    eof_deprecated: bool,
    partial: Vec<u8>,
    expected: ExpectedReply,
    kept: DecodedRows,
    /// The first of several results, while the others come.
    first_reply: Option<Reply>,
    wire_rows: WireRows,
    /// Of the last reply, if it was asked for.
    digest: Option<AnswerDigest>,
}

impl ReplyParser {
    /// A parser at the start of a reply. `eof_deprecated`: `CLIENT_DEPRECATE_EOF` was agreed.
    pub fn new(eof_deprecated: bool) -> Self {
        Self {
            phase: Phase::First,
            sequence: 1,
            rows: 0,
            continued: false,
            eof_deprecated,
            partial: Vec::new(),
            expected: ExpectedReply::Outcome,
            kept: DecodedRows::default(),
            first_reply: None,
            wire_rows: WireRows::default(),
            digest: None,
        }
    }

    /// Returns true if `CLIENT_DEPRECATE_EOF` was agreed.
    pub(crate) fn is_eof_deprecated(&self) -> bool {
        self.eof_deprecated
    }

    /// Says what the next reply is to be.
    pub fn expect(&mut self, expected: ExpectedReply) {
        self.expected = expected;
        self.kept.forget_results();
    }

    /// Says whether the next reply is digested, which costs as much as looking at each byte of its rows.
    pub fn digest_rows(&mut self, digests: bool) {
        self.digest = digests.then(AnswerDigest::default);
    }

    /// The digest of the last reply; that of no answer if it was not asked for.
    pub fn answer_digest(&self) -> AnswerDigest {
        self.digest.unwrap_or_default()
    }

    /// Counts warnings, of which a packet has the number here.
    fn warned(&mut self, number: &[u8]) {
        if let (Some(digest), [low, high, ..]) = (&mut self.digest, number) {
            digest.warnings += u64::from(u16::from_le_bytes([*low, *high]));
        }
    }

    /// Keeps the number of an `AUTO_INCREMENT` column, which is the second count of an OK packet.
    fn gave_number(&mut self, payload: &[u8]) -> Result<(), MalformedPacket> {
        let Some(digest) = &mut self.digest else {
            return Ok(());
        };
        let rest = &payload[1..];
        let (_, affected) = length_encoded(rest)?;
        if let Some(rest) = rest.get(affected..).filter(|rest| !rest.is_empty()) {
            digest.insert_id = length_encoded(rest)?.0;
        }
        Ok(())
    }

    /// The rows of the last reply, if they were to be kept.
    pub fn rows(&self) -> &[Row] {
        self.kept.rows()
    }

    /// The rows of the last reply, if they were to be read in place.
    pub fn wire_rows(&self) -> &WireRows {
        &self.wire_rows
    }

    /// Returns true if results were kept of the last reply.
    pub fn has_results(&self) -> bool {
        self.keeps_results()
    }

    /// All results of the last reply, in their order, if they were to be kept.
    pub fn take_results(&mut self) -> Vec<StatementResult> {
        self.kept.take_results()
    }

    /// Takes what was read and returns the reply, if this completes it: the first one of a statement
    /// that has several results.
    ///
    /// One request is outstanding, so bytes after the reply are an error.
    ///
    /// # Errors
    ///
    /// Bytes that are not the protocol.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Option<Reply>, MalformedPacket> {
        let mut bytes = bytes;
        if !self.partial.is_empty() {
            let Some(rest) = self.complete_partial(bytes)? else {
                return Ok(None);
            };
            bytes = rest;
            let packet = std::mem::take(&mut self.partial);
            let reply = self.packet(&packet);
            // The buffer is given back, so that its memory is used again.
            self.partial = packet;
            self.partial.clear();
            if let Some(reply) = reply? {
                return Self::only(reply, bytes);
            }
        }
        while bytes.len() >= HEADER_BYTES {
            // Before the payload is there: bytes out of step may announce one that never comes.
            let length = self.check_header(bytes)?;
            if bytes.len() < length {
                break;
            }
            let (packet, rest) = bytes.split_at(length);
            bytes = rest;
            if let Some(reply) = self.packet(packet)? {
                return Self::only(reply, bytes);
            }
        }
        self.partial.extend_from_slice(bytes);
        Ok(None)
    }

    fn only(reply: Reply, rest: &[u8]) -> Result<Option<Reply>, MalformedPacket> {
        if rest.is_empty() {
            Ok(Some(reply))
        } else {
            Err(MalformedPacket("bytes follow the last reply"))
        }
    }

    /// Checks a packet's header; the length of the packet.
    fn check_header(&self, header: &[u8]) -> Result<usize, MalformedPacket> {
        if header[3] != self.sequence {
            return Err(MalformedPacket("a packet is out of sequence"));
        }
        let length = payload_length(header);
        if self.phase == Phase::First && length > FIRST_PAYLOAD_MAX {
            return Err(MalformedPacket("a reply begins with too long a packet"));
        }
        Ok(HEADER_BYTES + length)
    }

    /// Moves bytes into `partial` until it holds one packet; what is left of `bytes`, or nothing
    /// while the packet is still incomplete.
    fn complete_partial<'a>(
        &mut self,
        bytes: &'a [u8],
    ) -> Result<Option<&'a [u8]>, MalformedPacket> {
        let mut bytes = bytes;
        loop {
            let length = if self.partial.len() < HEADER_BYTES {
                HEADER_BYTES
            } else {
                self.check_header(&self.partial)?
            };
            let missing = length - self.partial.len();
            if missing == 0 {
                return Ok(Some(bytes));
            }
            let taken = missing.min(bytes.len());
            self.partial.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if taken < missing {
                return Ok(None);
            }
        }
    }

    /// Walks over one whole packet.
    fn packet(&mut self, packet: &[u8]) -> Result<Option<Reply>, MalformedPacket> {
        let payload = &packet[HEADER_BYTES..];
        self.sequence = self.sequence.wrapping_add(1);
        let continues = self.continued;
        self.continued = payload.len() == PAYLOAD_BYTES_MAX;
        if continues {
            return Ok(None);
        }
        let &first = payload
            .first()
            .ok_or(MalformedPacket("a packet is empty"))?;
        if first == 0xFF {
            return self.refused(payload).map(Some);
        }
        match self.phase {
            Phase::First if self.expected == ExpectedReply::Statement => self.statement(payload),
            Phase::First => self.first(payload, first),
            Phase::Described {
                left: left @ 2..,
                id,
                parameters,
            } => {
                self.phase = Phase::Described {
                    left: left - 1,
                    id,
                    parameters,
                };
                Ok(None)
            }
            Phase::Described { id, parameters, .. } => {
                Ok(Some(self.finish(Reply::Prepared { id, parameters })))
            }
            Phase::Columns(left) => self.column(payload, left),
            Phase::ColumnsEnd if first == 0xFE => {
                self.phase = Phase::Rows;
                Ok(None)
            }
            Phase::ColumnsEnd => Err(MalformedPacket("column definitions do not end")),
            // A row may begin with 0xFE only in a packet of the largest length.
            Phase::Rows if first == 0xFE && payload.len() < PAYLOAD_BYTES_MAX => {
                let reply = Reply::Rows { rows: self.rows };
                let has_more = self.says_more_after_rows(payload)?;
                if self.keeps_results() {
                    self.kept.end_of_rows();
                }
                Ok(self.result(reply, has_more))
            }
            Phase::Rows => self.row(payload),
        }
    }

    /// An error packet ends the reply, also in the place of a row or of a further result.
    fn refused(&mut self, payload: &[u8]) -> Result<Reply, MalformedPacket> {
        let error = ServerError::parse(payload)?;
        if self.keeps_results() {
            self.kept.result(StatementResult::Refused(error.clone()));
        }
        let reply = self.first_reply.take().unwrap_or(Reply::Refused(error));
        Ok(self.finish(reply))
    }

    /// A column definition; `left`: how many there are from this one on.
    #[inline]
    fn column(&mut self, payload: &[u8], left: u64) -> Result<Option<Reply>, MalformedPacket> {
        if self.keeps_rows() {
            self.kept.column(payload, self.expected)?;
        } else if self.reads_in_place() {
            self.wire_rows.column(payload)?;
        }
        self.phase = match (left, self.eof_deprecated) {
            (2.., _) => Phase::Columns(left - 1),
            (_, true) => Phase::Rows,
            (_, false) => Phase::ColumnsEnd,
        };
        Ok(None)
    }

    /// A row, or the first packet of one that is longer than a packet.
    #[inline]
    fn row(&mut self, payload: &[u8]) -> Result<Option<Reply>, MalformedPacket> {
        self.rows += 1;
        if let Some(digest) = &mut self.digest {
            digest.add(payload);
        }
        if self.keeps_rows() {
            if self.continued {
                return Err(MalformedPacket("a row is too long to be kept"));
            }
            self.kept.row(payload, self.expected)?;
        } else if self.reads_in_place() {
            if self.continued {
                return Err(MalformedPacket("a row is too long to be kept"));
            }
            let is_typed = self.expected == ExpectedReply::WireTypedRows;
            self.wire_rows.take(payload, is_typed);
        }
        Ok(None)
    }

    fn keeps_rows(&self) -> bool {
        matches!(
            self.expected,
            ExpectedReply::TextRows | ExpectedReply::TypedRows
        ) || self.keeps_results()
    }

    fn keeps_results(&self) -> bool {
        matches!(
            self.expected,
            ExpectedReply::TextResults | ExpectedReply::TypedResults
        )
    }

    /// Returns true if the packet that ends rows announces another result.
    fn says_more_after_rows(&mut self, payload: &[u8]) -> Result<bool, MalformedPacket> {
        if self.eof_deprecated {
            let status = after_counts(payload)?;
            self.warned(status.get(2..).unwrap_or_default());
            return Ok(says_more(status));
        }
        // Warnings stand before the status.
        self.warned(payload.get(1..).unwrap_or_default());
        Ok(says_more(payload.get(3..).unwrap_or_default()))
    }

    /// A result is complete; the reply, if it was the last.
    fn result(&mut self, reply: Reply, has_more: bool) -> Option<Reply> {
        if has_more {
            self.first_reply.get_or_insert(reply);
            self.phase = Phase::First;
            self.rows = 0;
            return None;
        }
        let reply = self.first_reply.take().unwrap_or(reply);
        Some(self.finish(reply))
    }

    fn reads_in_place(&self) -> bool {
        let expected = self.expected;
        matches!(
            expected,
            ExpectedReply::WireTextRows | ExpectedReply::WireTypedRows
        )
    }

    /// The first packet of the reply to a prepare.
    fn statement(&mut self, payload: &[u8]) -> Result<Option<Reply>, MalformedPacket> {
        let PrepareReply {
            id,
            parameters,
            columns,
        } = PrepareReply::read(payload)?;
        // Each list of definitions ends with a packet of its own, on older servers.
        let end = u32::from(!self.eof_deprecated);
        let packets = |count: u16| {
            if count == 0 {
                0
            } else {
                u32::from(count) + end
            }
        };
        let left = packets(columns) + packets(parameters);
        if left == 0 {
            return Ok(Some(self.finish(Reply::Prepared { id, parameters })));
        }
        self.phase = Phase::Described {
            left,
            id,
            parameters,
        };
        Ok(None)
    }

    fn first(&mut self, payload: &[u8], first: u8) -> Result<Option<Reply>, MalformedPacket> {
        match first {
            0x00 => {
                let (affected_rows, _) = length_encoded(&payload[1..])?;
                let status = after_counts(payload)?;
                let has_more = says_more(status);
                self.warned(status.get(2..).unwrap_or_default());
                self.gave_number(payload)?;
                self.kept.clear();
                self.wire_rows.clear();
                if self.keeps_results() {
                    self.kept.result(StatementResult::Done { affected_rows });
                }
                Ok(self.result(Reply::Done { affected_rows }, has_more))
            }
            0xFB | 0xFE => Err(MalformedPacket("a reply begins with 0xFB or 0xFE")),
            _ => {
                let (columns, taken) = length_encoded(payload)?;
                if columns > 4096 || taken != payload.len() {
                    return Err(MalformedPacket("a column count is not one"));
                }
                self.phase = Phase::Columns(columns);
                self.kept.clear();
                self.wire_rows.clear();
                Ok(None)
            }
        }
    }

    fn finish(&mut self, reply: Reply) -> Reply {
        self.phase = Phase::First;
        self.sequence = 1;
        self.rows = 0;
        self.continued = false;
        reply
    }
}

/// Returns the bytes after the two counts of an OK packet: its status, or nothing.
fn after_counts(payload: &[u8]) -> Result<&[u8], MalformedPacket> {
    let rest = &payload[1..];
    let (_, affected) = length_encoded(rest)?;
    let Some(rest) = rest.get(affected..).filter(|rest| !rest.is_empty()) else {
        return Ok(&[]);
    };
    let (_, id) = length_encoded(rest)?;
    Ok(&rest[id..])
}

/// Returns true if a server's status, which begins here, announces another result (`SERVER_MORE_RESULTS_EXISTS`).
fn says_more(status: &[u8]) -> bool {
    status.first().is_some_and(|low| low & 0x08 != 0)
}
