//! Statements in the log.

use std::borrow::Cow;

use crate::binlog::bytes::Bytes;
use crate::binlog::{MalformedEvent, kind};

/// Bytes between the lengths and the rest of a statement that loads a file.
const LOAD_BYTES: usize = 13;

/// A statement that the log keeps as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryEvent<'a> {
    /// The connection that ran it.
    pub connection: u32,
    /// The connection's schema.
    pub schema: Cow<'a, str>,
    /// Text of the statement.
    pub statement: Cow<'a, str>,
}

impl<'a> QueryEvent<'a> {
    /// Reads the body of an event of the kinds QUERY or `EXECUTE_LOAD_QUERY`.
    ///
    /// # Errors
    ///
    /// Bytes that are no such event.
    pub fn read(event_kind: u8, body: &'a [u8]) -> Result<Self, MalformedEvent> {
        let mut bytes = Bytes(body);
        let connection = bytes.u32()?;
        bytes.u32()?;
        let schema_length = usize::from(bytes.u8()?);
        bytes.u16()?;
        let status_length = usize::from(bytes.u16()?);
        if event_kind == kind::EXECUTE_LOAD_QUERY {
            bytes.take(LOAD_BYTES)?;
        }
        bytes.take(status_length)?;
        let schema = bytes.take(schema_length)?;
        bytes.u8()?;
        Ok(Self {
            connection,
            schema: String::from_utf8_lossy(schema),
            statement: String::from_utf8_lossy(bytes.0),
        })
    }
}

/// The text of the statement whose rows follow, from the body of an event of the kinds `ROWS_QUERY` or
/// `ANNOTATE_ROWS`.
pub fn statement_text(event_kind: u8, body: &[u8]) -> Cow<'_, str> {
    let text = match event_kind {
        // MySQL's begins with a length of one byte, which is too small for most.
        kind::ROWS_QUERY => body.get(1..).unwrap_or_default(),
        _ => body,
    };
    String::from_utf8_lossy(text)
}
