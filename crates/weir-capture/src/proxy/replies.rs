//! Where the reply to a command ends, and what it says.

use crate::CommandEnd;

use super::packets::{Fields, Packet};

const IN_TRANSACTION: u64 = 0x0001;
const MORE_RESULTS: u64 = 0x0008;
const CURSOR_EXISTS: u64 = 0x0040;
/// Number of `MariaDB` for a message of progress within a reply.
const PROGRESS: u64 = 0xFFFF;
const PAYLOAD_BYTES_MAX: usize = 0xFF_FFFF;

/// Form of the reply to a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// An outcome, or rows with their columns.
    Results,
    /// The number of a statement, and descriptions.
    Prepared,
    /// Rows without columns, or columns alone, to their end.
    Rows,
    /// One packet.
    One,
    /// As a login: packets to and fro until an outcome.
    Dialogue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    First,
    Columns(u64),
    ColumnsEnd,
    Rows,
    /// So many packets that describe a statement.
    Described(u64),
}

/// A reply that is being read.
#[derive(Debug)]
pub(super) struct ReplyWatch {
    form: Form,
    at: At,
    has_eof: bool,
    ended: CommandEnd,
    rows: u64,
    /// Question marks of a statement that was prepared.
    pub(super) parameters: u16,
    /// The server wants a file: what the client sends next is that.
    pub(super) wants_file: bool,
}

/// The reply is not what the protocol says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotUnderstood;

impl ReplyWatch {
    /// `has_eof`: packets end lists of columns (no `CLIENT_DEPRECATE_EOF`).
    pub(super) fn new(form: Form, has_eof: bool) -> Self {
        Self {
            form,
            at: if form == Form::Rows {
                At::Rows
            } else {
                At::First
            },
            has_eof,
            ended: CommandEnd::default(),
            rows: 0,
            parameters: 0,
            wants_file: false,
        }
    }

    /// Takes a packet of the reply; how it ended, if this is its last.
    pub(super) fn packet(
        &mut self,
        packet: Packet<'_>,
    ) -> Result<Option<CommandEnd>, NotUnderstood> {
        let &first = packet.payload.first().ok_or(NotUnderstood)?;
        if first == 0xFF && !matches!(self.at, At::Columns(_)) {
            let code = Fields(&packet.payload[1..])
                .number(2)
                .ok_or(NotUnderstood)?;
            if code == PROGRESS {
                return Ok(None);
            }
            self.ended.error = Some(code as u16);
            return Ok(Some(self.ended));
        }
        match (self.form, self.at) {
            (Form::One, _) => self.one(packet, first).map(Some),
            (Form::Dialogue, _) if first == 0 => self.outcome(packet).map(|_| Some(self.ended)),
            (Form::Dialogue, _) => Ok(None),
            (Form::Prepared, At::First) => self.prepared(packet),
            (_, At::First) => self.first(packet, first),
            (_, At::Columns(left)) => {
                self.at = match (left, self.has_eof) {
                    (2.., _) => At::Columns(left - 1),
                    (_, true) => At::ColumnsEnd,
                    (_, false) => At::Rows,
                };
                Ok(None)
            }
            (_, At::ColumnsEnd) if first == 0xFE => self.columns_end(packet),
            (_, At::ColumnsEnd) => Err(NotUnderstood),
            (_, At::Rows) if first == 0xFE && packet.length < PAYLOAD_BYTES_MAX => {
                Ok(self.rows_end(packet))
            }
            (_, At::Rows) => {
                self.rows += 1;
                Ok(None)
            }
            (_, At::Described(left)) => {
                self.at = At::Described(left - 1);
                Ok((left == 1).then_some(self.ended))
            }
        }
    }

    fn one(&mut self, packet: Packet<'_>, first: u8) -> Result<CommandEnd, NotUnderstood> {
        if first == 0 {
            self.outcome(packet)?;
        } else if first == 0xFE {
            self.ended.error = Some(0);
        }
        Ok(self.ended)
    }

    fn first(
        &mut self,
        packet: Packet<'_>,
        first: u8,
    ) -> Result<Option<CommandEnd>, NotUnderstood> {
        match first {
            0x00 => {
                let has_more = self.outcome(packet)?;
                self.wants_file = false;
                Ok((!has_more).then_some(self.ended))
            }
            0xFB => {
                self.wants_file = true;
                Ok(None)
            }
            _ => {
                let columns = Fields(packet.payload).encoded().ok_or(NotUnderstood)?;
                self.at = At::Columns(columns);
                Ok(None)
            }
        }
    }

    fn prepared(&mut self, packet: Packet<'_>) -> Result<Option<CommandEnd>, NotUnderstood> {
        let mut fields = Fields(packet.payload);
        let mut number = |bytes| fields.number(bytes).ok_or(NotUnderstood);
        if number(1)? != 0 {
            return Err(NotUnderstood);
        }
        let handle = number(4)? as u32;
        let (columns, parameters) = (number(2)?, number(2)?);
        self.parameters = parameters as u16;
        self.ended.handle = Some(handle);
        self.ended.error = Some(0);
        let end = u64::from(self.has_eof);
        let packets = |count| if count == 0 { 0 } else { count + end };
        let left = packets(columns) + packets(parameters);
        self.at = At::Described(left);
        Ok((left == 0).then_some(self.ended))
    }

    fn columns_end(&mut self, packet: Packet<'_>) -> Result<Option<CommandEnd>, NotUnderstood> {
        self.at = At::Rows;
        let status = eof_status(packet.payload).ok_or(NotUnderstood)?;
        if status & CURSOR_EXISTS == 0 {
            return Ok(None);
        }
        self.end_of_rows(status);
        Ok(Some(self.ended))
    }

    fn rows_end(&mut self, packet: Packet<'_>) -> Option<CommandEnd> {
        let status = if self.has_eof {
            eof_status(packet.payload)
        } else {
            let mut fields = Fields(&packet.payload[1..]);
            fields
                .encoded()
                .and_then(|_| fields.encoded())
                .and_then(|_| fields.number(2))
        };
        // The end of a list of columns may stand alone.
        let status = status.unwrap_or(0);
        self.end_of_rows(status);
        if status & MORE_RESULTS == 0 {
            return Some(self.ended);
        }
        self.at = At::First;
        None
    }

    fn end_of_rows(&mut self, status: u64) {
        self.ended.rows = Some(self.rows);
        self.ended.error = Some(0);
        self.ended.in_transaction = Some(status & IN_TRANSACTION != 0);
    }

    /// Reads an outcome; whether more results follow.
    fn outcome(&mut self, packet: Packet<'_>) -> Result<bool, NotUnderstood> {
        let mut fields = Fields(&packet.payload[1..]);
        let affected = fields.encoded().ok_or(NotUnderstood)?;
        let insert_id = fields.encoded().ok_or(NotUnderstood)?;
        let status = fields.number(2).ok_or(NotUnderstood)?;
        self.ended.affected = Some(self.ended.affected.unwrap_or(0) + affected);
        self.ended.insert_id = Some(insert_id).filter(|number| *number != 0);
        self.ended.error = Some(0);
        self.ended.in_transaction = Some(status & IN_TRANSACTION != 0);
        Ok(status & MORE_RESULTS != 0)
    }
}

/// The status in the packet that ends a list: warnings stand before it.
fn eof_status(payload: &[u8]) -> Option<u64> {
    Fields(payload.get(3..)?).number(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(watch: &mut ReplyWatch, payloads: &[&[u8]]) -> Option<CommandEnd> {
        let mut ended = None;
        for payload in payloads {
            assert_eq!(ended, None, "it went on");
            ended = watch
                .packet(Packet {
                    sequence: 1,
                    payload,
                    length: payload.len(),
                })
                .unwrap();
        }
        ended
    }

    #[test]
    fn rows_are_counted_to_their_end_with_and_without_eof_packets() {
        let column: &[u8] = b"\x03def";
        let row: &[u8] = b"\x01a";
        let eof: &[u8] = &[0xFE, 0, 0, 1, 0];
        let ok: &[u8] = &[0xFE, 0, 0, 1, 0, 0, 0];
        let expected = Some(CommandEnd {
            rows: Some(2),
            error: Some(0),
            in_transaction: Some(true),
            ..CommandEnd::default()
        });
        let mut old = ReplyWatch::new(Form::Results, true);
        assert_eq!(
            feed(&mut old, &[&[1], column, eof, row, row, eof]),
            expected
        );
        let mut new = ReplyWatch::new(Form::Results, false);
        assert_eq!(feed(&mut new, &[&[1], column, row, row, ok]), expected);
    }

    #[test]
    fn errors_outcomes_and_files_are_told() {
        let mut watch = ReplyWatch::new(Form::Results, false);
        let refused = feed(&mut watch, &[&[0xFF, 0x7A, 0x04, b'#']]);
        assert_eq!(refused.and_then(|ended| ended.error), Some(1146));
        let mut watch = ReplyWatch::new(Form::Results, false);
        let done = feed(
            &mut watch,
            &[&[0, 3, 0, 8, 0, 0, 0], &[0, 2, 0, 0, 0, 0, 0]],
        );
        assert_eq!(done.and_then(|ended| ended.affected), Some(5));
        let mut watch = ReplyWatch::new(Form::Results, false);
        assert_eq!(feed(&mut watch, &[&[0xFB, b'x']]), None);
        assert!(watch.wants_file);
        let mut watch = ReplyWatch::new(Form::Prepared, true);
        let packets: [&[u8]; 5] = [
            &[0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0],
            b"p",
            b"\xfe",
            b"c",
            b"\xfe",
        ];
        let prepared = feed(&mut watch, &packets);
        assert_eq!(prepared.and_then(|ended| ended.handle), Some(9));
        assert_eq!(watch.parameters, 1);
    }
}
