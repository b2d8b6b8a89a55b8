//! Requests that are encoded once and patched in place.
//!
//! `COM_STMT_EXECUTE` carries the types of its parameters only the first time, so a template has
//! two forms: typed for a statement's first execution on a connection, and bare for all others.

use super::packet::{HEADER_BYTES, put_header, put_length_encoded};

const COM_QUERY: u8 = 0x03;
const COM_STMT_EXECUTE: u8 = 0x17;
const TYPE_LONG: u8 = 0x03;
const TYPE_STRING: u8 = 0xFE;

/// What a parameter holds; its bytes have a fixed place in the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// `INTEGER`: four bytes.
    Integer,
    /// `CHAR` of this length.
    Text(usize),
}

/// A `COM_STMT_EXECUTE` packet whose statement and parameters are patched in.
#[derive(Debug, Clone)]
pub(crate) struct ExecuteTemplate {
    typed: Form,
    bare: Form,
    kinds: Vec<ParameterKind>,
}

#[derive(Debug, Clone)]
struct Form {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl ExecuteTemplate {
    /// A template for a statement with these parameters.
    pub(crate) fn new(kinds: &[ParameterKind]) -> Self {
        Self {
            typed: Form::new(kinds, true),
            bare: Form::new(kinds, false),
            kinds: kinds.to_vec(),
        }
    }

    /// The packet for one execution; `typed` for the first one on its connection.
    pub(crate) fn patch(&mut self, statement_id: u32, typed: bool) -> Patch<'_> {
        let form = if typed {
            &mut self.typed
        } else {
            &mut self.bare
        };
        form.bytes[5..9].copy_from_slice(&statement_id.to_le_bytes());
        Patch {
            bytes: &mut form.bytes,
            offsets: &form.offsets,
            kinds: &self.kinds,
        }
    }
}

impl Form {
    fn new(kinds: &[ParameterKind], typed: bool) -> Self {
        let mut bytes = vec![0; HEADER_BYTES];
        bytes.push(COM_STMT_EXECUTE);
        bytes.extend_from_slice(&[0; 4]);
        bytes.push(0); // no cursor
        bytes.extend_from_slice(&1_u32.to_le_bytes()); // one iteration
        let mut offsets = Vec::with_capacity(kinds.len());
        if !kinds.is_empty() {
            bytes.resize(bytes.len() + kinds.len().div_ceil(8), 0); // none is NULL
            bytes.push(u8::from(typed));
            if typed {
                for kind in kinds {
                    let code = match kind {
                        ParameterKind::Integer => TYPE_LONG,
                        ParameterKind::Text(_) => TYPE_STRING,
                    };
                    bytes.extend_from_slice(&[code, 0]);
                }
            }
        }
        for kind in kinds {
            let length = match *kind {
                ParameterKind::Integer => 4,
                ParameterKind::Text(length) => {
                    put_length_encoded(&mut bytes, length as u64);
                    length
                }
            };
            offsets.push(bytes.len());
            bytes.resize(bytes.len() + length, 0);
        }
        let payload = bytes.len() - HEADER_BYTES;
        put_header(&mut bytes, payload, 0);
        Self { bytes, offsets }
    }
}

/// One execution, being filled in.
#[derive(Debug)]
pub(crate) struct Patch<'a> {
    bytes: &'a mut [u8],
    offsets: &'a [usize],
    kinds: &'a [ParameterKind],
}

impl<'a> Patch<'a> {
    /// Sets integer parameter `index`.
    pub(crate) fn integer(&mut self, index: usize, value: u32) {
        debug_assert_eq!(self.kinds[index], ParameterKind::Integer);
        let offset = self.offsets[index];
        self.bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// The bytes of text parameter `index`, to be overwritten.
    pub(crate) fn text(&mut self, index: usize) -> &mut [u8] {
        let ParameterKind::Text(length) = self.kinds[index] else {
            return &mut [];
        };
        let offset = self.offsets[index];
        &mut self.bytes[offset..offset + length]
    }

    /// The packet.
    pub(crate) fn finish(self) -> &'a [u8] {
        self.bytes
    }
}

/// A `COM_QUERY` packet whose text is written anew each time, in memory that is kept.
#[derive(Debug, Default)]
pub(crate) struct TextRequest {
    bytes: Vec<u8>,
}

impl TextRequest {
    /// Begins a packet; its text is to be appended to what this returns.
    pub(crate) fn begin(&mut self) -> &mut Vec<u8> {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; HEADER_BYTES]);
        self.bytes.push(COM_QUERY);
        &mut self.bytes
    }

    /// The packet. The text is far shorter than a packet can be.
    pub(crate) fn finish(&mut self) -> &[u8] {
        let payload = self.bytes.len() - HEADER_BYTES;
        put_header(&mut self.bytes, payload, 0);
        &self.bytes
    }
}

/// A `COM_QUERY` packet.
pub(crate) fn text_request(sql: &str) -> Vec<u8> {
    let mut bytes = vec![0; HEADER_BYTES];
    bytes.push(COM_QUERY);
    bytes.extend_from_slice(sql.as_bytes());
    put_header(&mut bytes, 1 + sql.len(), 0);
    bytes
}
