//! The event that says how those after it are written.

use crate::binlog::bytes::Bytes;
use crate::binlog::{HEADER_BYTES, MalformedEvent};

/// Bytes of a checksum.
pub(crate) const CHECKSUM_BYTES: usize = 4;
/// The file is still open (`LOG_EVENT_BINLOG_IN_USE_F`): set after the checksum was made.
const IN_USE: u16 = 0x1;
/// Where the flags stand in a header.
const FLAGS_AT: usize = 17;
/// Length of the server's version in the event.
const VERSION_BYTES: usize = 50;

/// Whose log it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Rows events of version 2.
    Mysql,
    /// Rows events of version 1.
    Mariadb,
}

/// Format of the events of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Whose log it is.
    pub dialect: Dialect,
    /// The server's version.
    pub version: String,
    /// Events end with a checksum.
    pub has_checksum: bool,
    /// The whole event, as it came.
    pub event: Vec<u8>,
}

impl Format {
    /// Reads and checks a whole event, header and checksum included.
    pub(crate) fn read(event: &[u8]) -> Result<Self, MalformedEvent> {
        let mut body = Bytes(event.get(HEADER_BYTES..).unwrap_or_default());
        if body.u16()? != 4 {
            return Err(MalformedEvent("the log's format is not version 4"));
        }
        let version = body.take(VERSION_BYTES)?;
        let version = version.split(|byte| *byte == 0).next().unwrap_or_default();
        let version = String::from_utf8_lossy(version).into_owned();
        body.u32()?;
        if usize::from(body.u8()?) != HEADER_BYTES {
            return Err(MalformedEvent("headers of another length are announced"));
        }
        // The checksum's kind and the room for one stand at the end, also without checksums.
        let end = body.0.len().checked_sub(1 + CHECKSUM_BYTES);
        let end = end.ok_or(MalformedEvent("the log's format is cut short"))?;
        let has_checksum = match body.0[end] {
            0 => false,
            1 => true,
            _ => return Err(MalformedEvent("the kind of checksum is unknown")),
        };
        // A format has its own checksum, or zeros in its place.
        if has_checksum || body.0[end + 1..].iter().any(|byte| *byte != 0) {
            let mut closed = event.to_vec();
            let flags = u16::from_le_bytes([closed[FLAGS_AT], closed[FLAGS_AT + 1]]) & !IN_USE;
            closed[FLAGS_AT..HEADER_BYTES].copy_from_slice(&flags.to_le_bytes());
            check(&closed)?;
        }
        Ok(Self {
            dialect: if version.contains("MariaDB") {
                Dialect::Mariadb
            } else {
                Dialect::Mysql
            },
            version,
            has_checksum,
            event: event.to_vec(),
        })
    }
}

/// Compares an event with the checksum at its end; the event without it.
pub(crate) fn check(event: &[u8]) -> Result<&[u8], MalformedEvent> {
    let (event, checksum) = event
        .split_last_chunk::<CHECKSUM_BYTES>()
        .ok_or(MalformedEvent("it is cut short"))?;
    if crc32fast::hash(event) == u32::from_le_bytes(*checksum) {
        Ok(event)
    } else {
        Err(MalformedEvent(
            "its checksum does not fit, so it is damaged",
        ))
    }
}
