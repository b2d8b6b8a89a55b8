//! Row events for a server that takes them in `BINLOG` statements.

use crate::binlog::format::CHECKSUM_BYTES;
use crate::binlog::{Dialect, EventHeader, Format, HEADER_BYTES, RowsKind, TableMap, kind};

/// The statement ends here (`STMT_END_F`), and foreign keys are not looked at (`NO_FOREIGN_KEY_CHECKS_F`).
const ROWS_FLAGS: u16 = 0x1 | 0x2;
/// A server passes over events with its own id; no server has this one.
const SERVER_ID: u32 = u32::MAX - 1;

/// Writes events as those of a log were written.
#[derive(Debug, Clone)]
pub struct EventWriter {
    format: Format,
}

impl EventWriter {
    /// As the events after `format`.
    pub fn new(format: Format) -> Self {
        Self { format }
    }

    /// The event that a server needs first.
    pub fn format_event(&self) -> &[u8] {
        &self.format.event
    }

    /// Appends the event that names the table, and one with `images`, one after the other, all with the columns
    /// `present`: rows to be inserted or to be deleted.
    pub fn rows(
        &self,
        table: &TableMap,
        rows_kind: RowsKind,
        present: &[u8],
        images: &[u8],
        out: &mut Vec<u8>,
    ) {
        self.event(kind::TABLE_MAP, &[&table.body], out);
        let event_kind = match (self.format.dialect, rows_kind) {
            (Dialect::Mysql, RowsKind::Insert) => kind::WRITE_ROWS,
            (Dialect::Mysql, RowsKind::Update) => kind::UPDATE_ROWS,
            (Dialect::Mysql, RowsKind::Delete) => kind::DELETE_ROWS,
            (Dialect::Mariadb, RowsKind::Insert) => kind::WRITE_ROWS_V1,
            (Dialect::Mariadb, RowsKind::Update) => kind::UPDATE_ROWS_V1,
            (Dialect::Mariadb, RowsKind::Delete) => kind::DELETE_ROWS_V1,
        };
        let mut start = table.table_id.to_le_bytes()[..6].to_vec();
        start.extend(ROWS_FLAGS.to_le_bytes());
        if self.format.dialect == Dialect::Mysql {
            start.extend(2_u16.to_le_bytes());
        }
        crate::put_length_encoded(&mut start, table.columns.len() as u64);
        self.event(event_kind, &[&start, present, images], out);
    }

    fn event(&self, event_kind: u8, body: &[&[u8]], out: &mut Vec<u8>) {
        let start = out.len();
        let checksum = if self.format.has_checksum {
            CHECKSUM_BYTES
        } else {
            0
        };
        let length = HEADER_BYTES + body.iter().map(|part| part.len()).sum::<usize>() + checksum;
        let header = EventHeader {
            timestamp_s: 0,
            kind: event_kind,
            server_id: SERVER_ID,
            length: length as u32,
            end_position: 0,
            flags: 0,
        };
        header.write(out);
        for part in body {
            out.extend_from_slice(part);
        }
        if self.format.has_checksum {
            let checksum = crc32fast::hash(&out[start..]);
            out.extend(checksum.to_le_bytes());
        }
    }
}
