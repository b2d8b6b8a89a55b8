//! Header at the beginning of each event.

use crate::binlog::MalformedEvent;
use crate::binlog::bytes::Bytes;

/// Bytes of an event's header.
pub const HEADER_BYTES: usize = 19;

/// An event that the server makes up for the reader and that stands in no file (`LOG_EVENT_ARTIFICIAL_F`).
const ARTIFICIAL: u16 = 0x20;

/// Numbers of the kinds of events.
pub mod kind {
    #![allow(missing_docs, reason = "the servers' own names")]
    pub const QUERY: u8 = 2;
    pub const STOP: u8 = 3;
    pub const ROTATE: u8 = 4;
    pub const FORMAT_DESCRIPTION: u8 = 15;
    pub const XID: u8 = 16;
    pub const EXECUTE_LOAD_QUERY: u8 = 18;
    pub const TABLE_MAP: u8 = 19;
    pub const WRITE_ROWS_V1: u8 = 23;
    pub const UPDATE_ROWS_V1: u8 = 24;
    pub const DELETE_ROWS_V1: u8 = 25;
    pub const INCIDENT: u8 = 26;
    pub const HEARTBEAT: u8 = 27;
    pub const ROWS_QUERY: u8 = 29;
    pub const WRITE_ROWS: u8 = 30;
    pub const UPDATE_ROWS: u8 = 31;
    pub const DELETE_ROWS: u8 = 32;
    pub const GTID: u8 = 33;
    pub const ANONYMOUS_GTID: u8 = 34;
    pub const XA_PREPARE: u8 = 38;
    pub const PARTIAL_UPDATE_ROWS: u8 = 39;
    pub const TRANSACTION_PAYLOAD: u8 = 40;
    pub const HEARTBEAT_V2: u8 = 41;
    pub const GTID_TAGGED: u8 = 42;
    pub const MARIADB_ANNOTATE_ROWS: u8 = 160;
    pub const MARIADB_GTID: u8 = 162;
    pub const MARIADB_QUERY_COMPRESSED: u8 = 165;
    pub const MARIADB_WRITE_ROWS_COMPRESSED_V1: u8 = 166;
    pub const MARIADB_UPDATE_ROWS_COMPRESSED_V1: u8 = 167;
    pub const MARIADB_DELETE_ROWS_COMPRESSED_V1: u8 = 168;
    pub const MARIADB_WRITE_ROWS_COMPRESSED: u8 = 169;
    pub const MARIADB_UPDATE_ROWS_COMPRESSED: u8 = 170;
    pub const MARIADB_DELETE_ROWS_COMPRESSED: u8 = 171;
    pub const MARIADB_PARTIAL_ROW_DATA: u8 = 172;
}

/// Header at the beginning of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventHeader {
    /// When it was made, s since 1970; of a transaction's rows, when their statement began.
    pub timestamp_s: u32,
    /// One of [`kind`].
    pub kind: u8,
    /// The server on which it was made.
    pub server_id: u32,
    /// Bytes of the whole event.
    pub length: u32,
    /// Where it ends in its file; 0 if it stands in none.
    pub end_position: u32,
    /// Flags.
    pub flags: u16,
}

impl EventHeader {
    /// Reads it from the start of an event.
    pub(crate) fn read(event: &[u8]) -> Result<Self, MalformedEvent> {
        let mut bytes = Bytes(event);
        Ok(Self {
            timestamp_s: bytes.u32()?,
            kind: bytes.u8()?,
            server_id: bytes.u32()?,
            length: bytes.u32()?,
            end_position: bytes.u32()?,
            flags: bytes.u16()?,
        })
    }

    /// Returns true if the event stands in no file.
    pub(crate) fn is_artificial(&self) -> bool {
        self.flags & ARTIFICIAL != 0 || self.end_position == 0
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend(self.timestamp_s.to_le_bytes());
        out.push(self.kind);
        out.extend(self.server_id.to_le_bytes());
        out.extend(self.length.to_le_bytes());
        out.extend(self.end_position.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
    }
}
