//! Requests, appended to what a reactor is to send.
//!
//! `COM_STMT_EXECUTE` carries the types of its parameters only the first time, so a template has
//! two heads: typed for a statement's first execution on a connection, and bare for all others.
//! A head is encoded once; an execution copies it and appends its values.

use mysql_common::Value;
use mysql_common::packets::ComStmtExecuteRequestBuilder;
use mysql_common::proto::MySerialize as _;

use super::packet::{HEADER_BYTES, put_header, put_length_encoded};

const COM_QUIT: u8 = 0x01;
const COM_QUERY: u8 = 0x03;
const COM_STMT_PREPARE: u8 = 0x16;
const COM_STMT_CLOSE: u8 = 0x19;
const COM_STMT_EXECUTE: u8 = 0x17;
/// Position of the statement's number in a packet.
const STATEMENT_ID: usize = HEADER_BYTES + 1;
/// Position of the bits for NULL parameters in a packet.
const NULLS: usize = HEADER_BYTES + 10;
const COM_RESET_CONNECTION: u8 = 0x1F;
const TYPE_LONG: u8 = 0x03;
const TYPE_LONGLONG: u8 = 0x08;
const TYPE_DECIMAL: u8 = 0xF6;
const TYPE_STRING: u8 = 0xFE;

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// `INTEGER`: four bytes, signed.
    Integer,
    /// `BIGINT`: eight bytes, signed.
    BigInteger,
    /// `DECIMAL`: its digits as a string.
    Decimal,
    /// A string.
    Text,
}

/// The head of a `COM_STMT_EXECUTE` packet, up to its first value.
#[derive(Debug, Clone)]
pub struct ExecuteTemplate {
    typed: Vec<u8>,
    bare: Vec<u8>,
}

impl ExecuteTemplate {
    /// A template for a statement with these parameters.
    pub fn new(kinds: &[ParameterKind]) -> Self {
        Self {
            typed: head(kinds, true),
            bare: head(kinds, false),
        }
    }
}

fn head(kinds: &[ParameterKind], typed: bool) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes.push(COM_STMT_EXECUTE);
    bytes.extend_from_slice(&[0; 4]);
    bytes.push(0); // no cursor
    bytes.extend_from_slice(&1_u32.to_le_bytes()); // one iteration
    if kinds.is_empty() {
        return bytes;
    }
    bytes.resize(bytes.len() + kinds.len().div_ceil(8), 0); // none is NULL yet
    bytes.push(u8::from(typed));
    if typed {
        for kind in kinds {
            let code = match kind {
                ParameterKind::Integer => TYPE_LONG,
                ParameterKind::BigInteger => TYPE_LONGLONG,
                ParameterKind::Decimal => TYPE_DECIMAL,
                ParameterKind::Text => TYPE_STRING,
            };
            bytes.extend_from_slice(&[code, 0]);
        }
    }
    bytes
}

/// A request that is being appended to what is to be sent.
#[derive(Debug)]
pub struct Request<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Request<'a> {
    /// Begins the execution of a prepared statement; `typed`: its first on this connection.
    pub fn execute(
        out: &'a mut Vec<u8>,
        template: &ExecuteTemplate,
        statement_id: u32,
        typed: bool,
    ) -> Self {
        let head = if typed {
            &template.typed
        } else {
            &template.bare
        };
        let start = out.len();
        out.extend_from_slice(head);
        out[start + STATEMENT_ID..][..4].copy_from_slice(&statement_id.to_le_bytes());
        Self { out, start }
    }

    /// Begins a statement of text, to be appended to [`Self::sql`].
    pub fn query(out: &'a mut Vec<u8>) -> Self {
        Self::command(out, COM_QUERY)
    }

    /// Begins the preparation of a statement, whose text is to be appended to [`Self::sql`].
    pub fn prepare(out: &'a mut Vec<u8>) -> Self {
        Self::command(out, COM_STMT_PREPARE)
    }

    /// Appends the execution of a prepared statement with these values, whatever their types.
    pub fn execute_with(out: &'a mut Vec<u8>, statement_id: u32, values: &[Value]) {
        let (request, _) = ComStmtExecuteRequestBuilder::new(statement_id).build(values);
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        request.serialize(&mut *out);
        Self { out, start }.finish();
    }

    /// Appends that a prepared statement is wanted no more, which the server does not answer.
    pub fn close(out: &'a mut Vec<u8>, statement_id: u32) {
        let mut request = Self::command(out, COM_STMT_CLOSE);
        request.sql().extend_from_slice(&statement_id.to_le_bytes());
        request.finish();
    }

    /// Appends a goodbye, after which the server closes the connection.
    pub fn quit(out: &'a mut Vec<u8>) {
        Self::command(out, COM_QUIT).finish();
    }

    /// Appends that the connection is to be as new; the answer is an outcome.
    pub fn reset(out: &'a mut Vec<u8>) {
        Self::command(out, COM_RESET_CONNECTION).finish();
    }

    fn command(out: &'a mut Vec<u8>, command: u8) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; HEADER_BYTES]);
        out.push(command);
        Self { out, start }
    }

    /// The text of a statement, so far.
    pub fn sql(&mut self) -> &mut Vec<u8> {
        self.out
    }

    /// Appends a [`ParameterKind::Integer`].
    pub fn integer(&mut self, value: i32) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a [`ParameterKind::BigInteger`].
    pub fn big_integer(&mut self, value: i64) {
        self.out.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a [`ParameterKind::Text`].
    pub fn text(&mut self, value: &[u8]) {
        put_length_encoded(self.out, value.len() as u64);
        self.out.extend_from_slice(value);
    }

    /// Appends a [`ParameterKind::Decimal`], whose digits `write` appends: fewer than 251.
    pub fn decimal(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let length = self.out.len();
        self.out.push(0);
        write(self.out);
        self.out[length] = (self.out.len() - length - 1) as u8;
    }

    /// Appends NULL as the parameter at `position`, from 0.
    pub fn null(&mut self, position: usize) {
        self.out[self.start + NULLS + position / 8] |= 1 << (position % 8);
    }

    /// Ends the packet. Statements of a load are far shorter than a packet can be.
    pub fn finish(self) {
        let payload = self.out.len() - self.start - HEADER_BYTES;
        put_header(&mut self.out[self.start..], payload, 0);
    }
}
