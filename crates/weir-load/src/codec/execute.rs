//! Requests, written into one buffer that a reactor keeps.
//!
//! `COM_STMT_EXECUTE` carries the types of its parameters only the first time, so a template has
//! two heads: typed for a statement's first execution on a connection, and bare for all others.
//! A head is encoded once; an execution copies it and appends its values.

use super::packet::{HEADER_BYTES, put_header, put_length_encoded};

const COM_QUERY: u8 = 0x03;
const COM_STMT_EXECUTE: u8 = 0x17;
const TYPE_LONG: u8 = 0x03;
const TYPE_LONGLONG: u8 = 0x08;
const TYPE_STRING: u8 = 0xFE;

/// What a parameter holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// `INTEGER`: four bytes, signed.
    Integer,
    /// `BIGINT`: eight bytes, signed.
    BigInteger,
    /// A string.
    Text,
}

/// The head of a `COM_STMT_EXECUTE` packet, up to its first value.
#[derive(Debug, Clone)]
pub(crate) struct ExecuteTemplate {
    typed: Vec<u8>,
    bare: Vec<u8>,
}

impl ExecuteTemplate {
    /// A template for a statement with these parameters.
    pub(crate) fn new(kinds: &[ParameterKind]) -> Self {
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
    bytes.resize(bytes.len() + kinds.len().div_ceil(8), 0); // none is NULL
    bytes.push(u8::from(typed));
    if typed {
        for kind in kinds {
            let code = match kind {
                ParameterKind::Integer => TYPE_LONG,
                ParameterKind::BigInteger => TYPE_LONGLONG,
                ParameterKind::Text => TYPE_STRING,
            };
            bytes.extend_from_slice(&[code, 0]);
        }
    }
    bytes
}

/// A request that is being written, in memory that is kept from one to the next.
#[derive(Debug, Default)]
pub(crate) struct Request {
    bytes: Vec<u8>,
}

impl Request {
    /// Begins the execution of a prepared statement; `typed`: its first on this connection.
    pub(crate) fn begin_execute(
        &mut self,
        template: &ExecuteTemplate,
        statement_id: u32,
        typed: bool,
    ) {
        let head = if typed {
            &template.typed
        } else {
            &template.bare
        };
        self.bytes.clear();
        self.bytes.extend_from_slice(head);
        self.bytes[5..9].copy_from_slice(&statement_id.to_le_bytes());
    }

    /// Begins a statement of text, to be appended to what this returns.
    pub(crate) fn begin_text(&mut self) -> &mut Vec<u8> {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        self.bytes.push(COM_QUERY);
        &mut self.bytes
    }

    /// Appends an [`ParameterKind::Integer`].
    pub(crate) fn integer(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a [`ParameterKind::BigInteger`].
    pub(crate) fn big_integer(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Appends a [`ParameterKind::Text`].
    pub(crate) fn text(&mut self, value: &[u8]) {
        put_length_encoded(&mut self.bytes, value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// The packet. What a load sends is far shorter than a packet can be.
    pub(crate) fn finish(&mut self) -> &[u8] {
        let payload = self.bytes.len() - HEADER_BYTES;
        put_header(&mut self.bytes, payload, 0);
        &self.bytes
    }
}

/// A `COM_QUERY` packet.
pub(crate) fn text_request(sql: &str) -> Vec<u8> {
    let mut request = Request::default();
    request.begin_text().extend_from_slice(sql.as_bytes());
    request.finish();
    request.bytes
}
