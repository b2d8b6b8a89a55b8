//! Packets of a null server.

use mysql_common::constants::CapabilityFlags;

use weir_mysql::{HEADER_BYTES, put_header, put_length_encoded};

/// The value of every variable that a client may ask for: large enough for any limit.
const ANY_VALUE: &[u8] = b"67108864";
const SCHEMA_TABLE: &[u8] = b" FROM information_schema.";
/// Content of every column of every row.
const COLUMN: &[u8] = &[b'0'; 119];
const RANGE_ROWS: usize = 100;
const POINT_ROWS: usize = 10;

/// Kind of reply to a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyKind {
    /// So many rows.
    Rows(usize),
    /// One row changed.
    Changed,
    /// Done.
    Other,
}

impl ReplyKind {
    /// The kind of a statement.
    pub(super) fn for_statement(sql: &[u8]) -> Self {
        let contains = |word: &[u8]| sql.windows(word.len()).any(|window| window == word);
        match sql.first() {
            Some(b'S') if contains(b" IN (") => Self::Rows(POINT_ROWS),
            Some(b'S') if contains(b"SUM") || contains(b"count") => Self::Rows(1),
            Some(b'S') if contains(b"BETWEEN") => Self::Rows(RANGE_ROWS),
            Some(b'S') => Self::Rows(1),
            Some(b'U' | b'D' | b'I') => Self::Changed,
            _ => Self::Other,
        }
    }
}

/// Appends a packet.
fn packet(out: &mut Vec<u8>, sequence: u8, payload: &[u8]) {
    let start = out.len();
    out.resize(start + HEADER_BYTES, 0);
    put_header(&mut out[start..], payload.len(), sequence);
    out.extend_from_slice(payload);
}

/// The first packet of a connection.
pub(super) fn greeting(eof_packets: bool) -> Vec<u8> {
    let mut capabilities = CapabilityFlags::CLIENT_LONG_PASSWORD
        | CapabilityFlags::CLIENT_PROTOCOL_41
        | CapabilityFlags::CLIENT_CONNECT_WITH_DB
        | CapabilityFlags::CLIENT_TRANSACTIONS
        | CapabilityFlags::CLIENT_SECURE_CONNECTION
        | CapabilityFlags::CLIENT_PLUGIN_AUTH
        | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA;
    if !eof_packets {
        capabilities |= CapabilityFlags::CLIENT_DEPRECATE_EOF;
    }
    let bits = capabilities.bits().to_le_bytes();
    let mut payload = b"\x0A8.0.0-null\0".to_vec();
    payload.extend_from_slice(&[1, 0, 0, 0]); // connection
    payload.extend_from_slice(b"nullnull\0"); // nonce, filler
    payload.extend_from_slice(&bits[..2]);
    payload.extend_from_slice(&[45, 2, 0]); // utf8mb4_general_ci, autocommit
    payload.extend_from_slice(&bits[2..]);
    payload.push(21);
    payload.extend_from_slice(&[0; 10]);
    payload.extend_from_slice(b"nullnullnull\0"); // the rest of the nonce
    payload.extend_from_slice(b"mysql_native_password\0");
    let mut out = Vec::new();
    packet(&mut out, 0, &payload);
    out
}

/// Done, with so many rows changed.
pub(super) fn ok(sequence: u8, affected_rows: u64) -> Vec<u8> {
    let mut payload = vec![0x00];
    put_length_encoded(&mut payload, affected_rows);
    payload.extend_from_slice(&[0, 2, 0, 0, 0]); // no id, autocommit, no warnings
    let mut out = Vec::new();
    packet(&mut out, sequence, &payload);
    out
}

/// An error.
pub(super) fn error(code: u16) -> Vec<u8> {
    let mut payload = vec![0xFF];
    payload.extend_from_slice(&code.to_le_bytes());
    payload.extend_from_slice(b"#HY000asked to refuse");
    let mut out = Vec::new();
    packet(&mut out, 1, &payload);
    out
}

/// The reply to a prepare.
pub(super) fn prepared(id: u32, parameters: u16, eof_packets: bool) -> Vec<u8> {
    let mut payload = vec![0x00];
    payload.extend_from_slice(&id.to_le_bytes());
    payload.extend_from_slice(&[0, 0]); // columns are told with the result
    payload.extend_from_slice(&parameters.to_le_bytes());
    payload.extend_from_slice(&[0, 0, 0]);
    let mut out = Vec::new();
    packet(&mut out, 1, &payload);
    let mut sequence = 2;
    for _ in 0..parameters {
        packet(&mut out, sequence, &column_definition());
        sequence += 1;
    }
    if parameters > 0 && eof_packets {
        packet(&mut out, sequence, &end_of_file());
    }
    out
}

/// Returns true if a statement that comes as text is of a load and not of the checks before it.
pub(super) fn is_load(sql: &[u8]) -> bool {
    let starts_with = |words: &&[u8]| sql.starts_with(words);
    let loads: [&[u8]; 8] = [
        b"SELECT c ",
        b"SELECT SUM(",
        b"SELECT DISTINCT ",
        b"SELECT id, k, ",
        b"SELECT count(",
        b"INSERT ",
        b"UPDATE ",
        b"DELETE ",
    ];
    let transactions: [&[u8]; 2] = [b"BEGIN", b"COMMIT"];
    loads.iter().chain(&transactions).any(starts_with)
}

/// The reply to a control statement: one row with the same value in each variable that was asked for, and no row of
/// `information_schema`.
pub(super) fn control_reply(sql: &[u8], eof_packets: bool) -> Vec<u8> {
    let is_status = sql.starts_with(b"SHOW");
    if !is_status && !sql.starts_with(b"SELECT") {
        return ok(1, 0);
    }
    let variables = sql.windows(2).filter(|window| window == b"@@").count();
    let columns = if is_status { 2 } else { variables.max(1) };
    let mut row = Vec::new();
    for _ in 0..columns {
        put_length_encoded(&mut row, ANY_VALUE.len() as u64);
        row.extend_from_slice(ANY_VALUE);
    }
    // No status counter exists: a client's limits are then compared with what it needs itself.
    let mut words = sql.windows(SCHEMA_TABLE.len());
    let asks_tables = words.any(|window| window.eq_ignore_ascii_case(SCHEMA_TABLE));
    let rows = usize::from(!is_status && !asks_tables);
    result_set(columns, &row, rows, eof_packets)
}

/// The reply to an executed statement.
pub(super) fn reply(kind: ReplyKind, is_text: bool, eof_packets: bool) -> Vec<u8> {
    match kind {
        ReplyKind::Other => ok(1, 0),
        ReplyKind::Changed => ok(1, 1),
        ReplyKind::Rows(rows) => {
            let mut row = Vec::new();
            if !is_text {
                row.extend_from_slice(&[0x00, 0x00]); // header, null bitmap
            }
            put_length_encoded(&mut row, COLUMN.len() as u64);
            row.extend_from_slice(COLUMN);
            result_set(1, &row, rows, eof_packets)
        }
    }
}

fn result_set(columns: usize, row: &[u8], rows: usize, eof_packets: bool) -> Vec<u8> {
    let mut out = Vec::new();
    packet(&mut out, 1, &[columns as u8]);
    let mut sequence: u8 = 2;
    let mut next = |out: &mut Vec<u8>, payload: &[u8]| {
        packet(out, sequence, payload);
        sequence = sequence.wrapping_add(1);
    };
    for _ in 0..columns {
        next(&mut out, &column_definition());
    }
    if eof_packets {
        next(&mut out, &end_of_file());
    }
    for _ in 0..rows {
        next(&mut out, row);
    }
    if eof_packets {
        next(&mut out, &end_of_file());
    } else {
        next(&mut out, &[0xFE, 0, 0, 2, 0, 0, 0]);
    }
    out
}

fn end_of_file() -> Vec<u8> {
    vec![0xFE, 0, 0, 2, 0]
}

/// A column `c` of type `VARCHAR`.
fn column_definition() -> Vec<u8> {
    let mut out = Vec::new();
    for text in [b"def".as_slice(), b"", b"", b"", b"c", b"c"] {
        put_length_encoded(&mut out, text.len() as u64);
        out.extend_from_slice(text);
    }
    out.push(0x0C);
    out.extend_from_slice(&45_u16.to_le_bytes());
    out.extend_from_slice(&480_u32.to_le_bytes());
    out.extend_from_slice(&[0xFD, 0, 0, 0, 0, 0]);
    out
}
