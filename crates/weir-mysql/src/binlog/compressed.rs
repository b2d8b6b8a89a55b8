//! Events that travel compressed: MySQL's whole transactions (zstd), `MariaDB`'s rows and statements (zlib).
//!
//! MySQL manual, "Binary Log Transaction Compression"; MariaDB Knowledge Base, "Compressing Events to Reduce Size
//! of the Binary Log".

use std::io::Read;

use crate::binlog::bytes::Bytes;
use crate::binlog::{MalformedEvent, kind};

/// Longest transaction or event after decompression, bytes.
const PLAIN_BYTES_MAX: u64 = 4 << 30;

const FIELD_END: u64 = 0;
const FIELD_SIZE: u64 = 1;
const FIELD_ALGORITHM: u64 = 2;
const ALGORITHM_ZSTD: u64 = 0;
const ALGORITHM_NONE: u64 = 255;

/// Appends the events of a transaction, which stand in the body of a `TRANSACTION_PAYLOAD`.
pub(crate) fn open_payload(body: &[u8], out: &mut Vec<u8>) -> Result<(), MalformedEvent> {
    let mut bytes = Bytes(body);
    let (mut algorithm, mut size) = (ALGORITHM_NONE, None);
    loop {
        let field = bytes.length_encoded()?;
        if field == FIELD_END {
            break;
        }
        let mut value = Bytes(bytes.length_prefixed()?);
        match field {
            FIELD_SIZE => size = Some(value.length_encoded()?),
            FIELD_ALGORITHM => algorithm = value.length_encoded()?,
            _ => {}
        }
    }
    let payload = match size {
        Some(size) => bytes.take(usize::try_from(size).unwrap_or(usize::MAX))?,
        None => bytes.0,
    };
    match algorithm {
        ALGORITHM_NONE => out.extend_from_slice(payload),
        ALGORITHM_ZSTD => {
            let decoder = zstd::stream::read::Decoder::with_buffer(payload)
                .map_err(|_| MalformedEvent("the transaction is not compressed as it says"))?;
            read_all(decoder, out)?;
        }
        _ => {
            return Err(MalformedEvent(
                "the transaction is compressed in an unknown way",
            ));
        }
    }
    Ok(())
}

/// The kind of the plain event for one that `MariaDB` compressed.
pub(crate) fn plain_kind(event_kind: u8) -> Option<u8> {
    Some(match event_kind {
        kind::MARIADB_QUERY_COMPRESSED => kind::QUERY,
        kind::MARIADB_WRITE_ROWS_COMPRESSED_V1 => kind::WRITE_ROWS_V1,
        kind::MARIADB_UPDATE_ROWS_COMPRESSED_V1 => kind::UPDATE_ROWS_V1,
        kind::MARIADB_DELETE_ROWS_COMPRESSED_V1 => kind::DELETE_ROWS_V1,
        kind::MARIADB_WRITE_ROWS_COMPRESSED => kind::WRITE_ROWS,
        kind::MARIADB_UPDATE_ROWS_COMPRESSED => kind::UPDATE_ROWS,
        kind::MARIADB_DELETE_ROWS_COMPRESSED => kind::DELETE_ROWS,
        _ => return None,
    })
}

/// Appends the body of the plain event of `plain_kind` for a compressed one.
pub(crate) fn open_event(
    plain_kind: u8,
    body: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), MalformedEvent> {
    let start = match plain_kind {
        kind::QUERY => query_start(body)?,
        _ => rows_start(plain_kind, body)?,
    };
    out.extend_from_slice(&body[..start]);
    inflate(&body[start..], out)
}

/// Bytes of a statement's event before its text.
fn query_start(body: &[u8]) -> Result<usize, MalformedEvent> {
    let mut bytes = Bytes(body);
    bytes.take(8)?;
    let schema = usize::from(bytes.u8()?);
    bytes.u16()?;
    let status = usize::from(bytes.u16()?);
    bytes.take(status + schema + 1)?;
    Ok(body.len() - bytes.0.len())
}

/// Bytes of a rows event before its rows.
fn rows_start(plain_kind: u8, body: &[u8]) -> Result<usize, MalformedEvent> {
    let mut bytes = Bytes(body);
    bytes.take(8)?;
    if matches!(
        plain_kind,
        kind::WRITE_ROWS | kind::UPDATE_ROWS | kind::DELETE_ROWS
    ) {
        let extra = usize::from(bytes.u16()?);
        bytes.take(extra.saturating_sub(2))?;
    }
    let width = bytes.length_encoded()?;
    let bitmap = usize::try_from(width.div_ceil(8)).unwrap_or(usize::MAX);
    bytes.take(bitmap)?;
    if matches!(plain_kind, kind::UPDATE_ROWS | kind::UPDATE_ROWS_V1) {
        bytes.take(bitmap)?;
    }
    Ok(body.len() - bytes.0.len())
}

/// A byte that says how long the length is, the length (first byte highest), then zlib.
fn inflate(packed: &[u8], out: &mut Vec<u8>) -> Result<(), MalformedEvent> {
    let mut bytes = Bytes(packed);
    let first = bytes.u8()?;
    if first & 0xE0 != 0x80 {
        return Err(MalformedEvent("a compressed event does not begin as one"));
    }
    let length = bytes.uint_big_endian(usize::from(first & 0x07))?;
    let before = out.len();
    read_all(flate2::read::ZlibDecoder::new(bytes.0), out)?;
    if (out.len() - before) as u64 == length {
        Ok(())
    } else {
        Err(MalformedEvent(
            "a compressed event is not as long as it says",
        ))
    }
}

fn read_all(decoder: impl Read, out: &mut Vec<u8>) -> Result<(), MalformedEvent> {
    let before = out.len();
    let read = decoder.take(PLAIN_BYTES_MAX).read_to_end(out);
    read.map_err(|_| MalformedEvent("what is compressed is damaged"))?;
    if (out.len() - before) as u64 >= PLAIN_BYTES_MAX {
        return Err(MalformedEvent("what is compressed is longer than 4 GiB"));
    }
    Ok(())
}
