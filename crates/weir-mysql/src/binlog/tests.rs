//! Streams that are made here: whole, damaged and foreign ones.

use crate::ClientError;
use proptest::prelude::*;

use crate::binlog::value_length::{BLOB, LONG, NEWDECIMAL, STRING, TIME2, VARCHAR};
use crate::binlog::{
    BinlogError, ColumnFormat, EventHeader, EventWriter, Field, Format, HEADER_BYTES, LogReader,
    LogValue, Packets, RowChange, RowsEvent, RowsKind, TableMap, TransactionStart, decode, kind,
};

/// A log in memory.
#[derive(Debug)]
struct Stream(std::vec::IntoIter<Vec<u8>>);

impl Packets for Stream {
    fn next_packet(&mut self, event: &mut Vec<u8>) -> Result<bool, ClientError> {
        let next = self.0.next();
        let is_there = next.is_some();
        *event = next.unwrap_or_default();
        Ok(is_there)
    }
}

fn event(event_kind: u8, end_position: u32, body: &[u8], has_checksum: bool) -> Vec<u8> {
    let checksum = if has_checksum { 4 } else { 0 };
    let header = EventHeader {
        timestamp_s: 1_700_000_000,
        kind: event_kind,
        server_id: 1,
        length: (HEADER_BYTES + body.len() + checksum) as u32,
        end_position,
        flags: 0,
    };
    let mut out = Vec::new();
    header.write(&mut out);
    out.extend_from_slice(body);
    if has_checksum {
        let checksum = crc32fast::hash(&out);
        out.extend(checksum.to_le_bytes());
    }
    out
}

fn format_event(version: &str, has_checksum: bool) -> Vec<u8> {
    let mut body = 4_u16.to_le_bytes().to_vec();
    let mut name = version.as_bytes().to_vec();
    name.resize(50, 0);
    body.extend(name);
    body.extend(0_u32.to_le_bytes());
    body.push(HEADER_BYTES as u8);
    body.extend([0; 40]);
    body.push(u8::from(has_checksum));
    let mut whole = event(kind::FORMAT_DESCRIPTION, 120, &body, true);
    // Without checksums the room for one stays.
    if !has_checksum {
        let length = whole.len();
        whole[length - 4..].fill(0);
    }
    whole
}

/// `CREATE TABLE shop.t (a INT, b VARCHAR(100), c BLOB)`.
fn table_body() -> Vec<u8> {
    let mut body = vec![9, 0, 0, 0, 0, 0, 1, 0];
    body.extend(b"\x04shop\0\x01t\0");
    body.push(3);
    body.extend([LONG, VARCHAR, BLOB]);
    body.extend([3, 100, 0, 2, 0]);
    body
}

/// A row of that table: `a`, a text of `length`, NULL.
fn image(a: u32, length: u8) -> Vec<u8> {
    let mut image = vec![0b100];
    image.extend(a.to_le_bytes());
    image.push(length);
    image.extend(vec![b'x'; usize::from(length)]);
    image
}

fn rows_body(images: &[u8]) -> Vec<u8> {
    let mut body = vec![9, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0b111];
    body.extend_from_slice(images);
    body
}

fn stream(has_checksum: bool) -> Vec<Vec<u8>> {
    let mut rotate = 4_u64.to_le_bytes().to_vec();
    rotate.extend(b"binlog.000001");
    let mut gtid = vec![0];
    gtid.extend([7; 16]);
    gtid.extend(42_u64.to_le_bytes());
    gtid.push(2);
    gtid.extend([0; 16]);
    gtid.extend(&1_700_000_000_123_456_u64.to_le_bytes()[..7]);
    vec![
        event(kind::ROTATE, 0, &rotate, has_checksum),
        format_event("9.7.4", has_checksum),
        event(kind::GTID, 200, &gtid, has_checksum),
        event(kind::TABLE_MAP, 260, &table_body(), has_checksum),
        event(
            kind::WRITE_ROWS,
            400,
            &rows_body(&[image(1, 3), image(2, 0)].concat()),
            has_checksum,
        ),
    ]
}

/// Reads all rows; their number.
fn read(packets: Vec<Vec<u8>>) -> Result<usize, BinlogError> {
    let mut reader = LogReader::new(Stream(packets.into_iter()));
    let (mut rows, mut table) = (0, None);
    while let Some(event) = reader.next_event()? {
        let place = event.place.clone();
        match event.header.kind {
            kind::GTID => {
                let start = TransactionStart::read(&event.header, event.body);
                start.map_err(TableMap::malformed(place))?;
            }
            kind::TABLE_MAP => {
                let map = TableMap::read(event.body).map_err(TableMap::malformed(place))?;
                table = Some(map);
            }
            other if RowsKind::from_event_kind(other).is_some() => {
                let Some(table) = &table else { continue };
                let event = RowsEvent::read(other, event.body);
                let event = event.map_err(TableMap::malformed(place.clone()))?;
                event
                    .each(table, |row: RowChange<'_>| {
                        rows += 1;
                        for image in [row.before, row.after].into_iter().flatten() {
                            let fields = image.fields(table)?;
                            for (field, column) in fields.iter().zip(&table.columns) {
                                if let Field::Value(value) = field {
                                    decode(*column, value, false)?;
                                }
                            }
                        }
                        Ok(())
                    })
                    .map_err(TableMap::malformed(place))?;
            }
            _ => {}
        }
    }
    Ok(rows)
}

#[test]
fn whole_streams_are_read_with_and_without_checksums() {
    for has_checksum in [true, false] {
        assert_eq!(read(stream(has_checksum)).unwrap(), 2);
    }
}

#[test]
fn the_start_of_a_transaction_has_its_name_and_microseconds() {
    let packets = stream(true);
    let header = EventHeader::read(&packets[2]).unwrap();
    let body = &packets[2][HEADER_BYTES..packets[2].len() - 4];
    let start = TransactionStart::read(&header, body).unwrap();
    assert_eq!(start.committed_us, 1_700_000_000_123_456);
    let name = start.gtid.unwrap().to_string();
    assert_eq!(name, "07070707-0707-0707-0707-070707070707:42");
    let read_again: crate::binlog::Gtid = name.parse().unwrap();
    assert_eq!(read_again.to_string(), name);
    for (text, is_name) in [("0-1-42", true), ("1-2", false), ("x:1", false)] {
        assert_eq!(
            text.parse::<crate::binlog::Gtid>().is_ok(),
            is_name,
            "{text}"
        );
    }
}

/// Every single bit of every event but the first, which has no checksum that the reader knows to be there.
#[test]
fn every_flipped_bit_is_found_by_the_checksum() {
    let whole = stream(true);
    for packet in 1..whole.len() {
        for bit in 0..whole[packet].len() * 8 {
            let mut damaged = whole.clone();
            damaged[packet][bit / 8] ^= 1 << (bit % 8);
            // The bit that says that a file is open is no part of the checksum.
            if packet == 1 && bit == 17 * 8 {
                continue;
            }
            let error = read(damaged)
                .expect_err("a flipped bit is found")
                .to_string();
            assert!(error.starts_with("binary log at "), "{error}");
        }
    }
}

#[test]
fn what_is_written_for_a_server_is_what_was_read() {
    for (version, expected) in [
        ("9.7.4", kind::DELETE_ROWS),
        ("10.11.19-MariaDB", kind::DELETE_ROWS_V1),
    ] {
        let format = Format::read(&format_event(version, true)).unwrap();
        let map = TableMap::read(&table_body()).unwrap();
        let mut events = Vec::new();
        let images = [image(1, 3), image(2, 0)].concat();
        EventWriter::new(format).rows(&map, RowsKind::Delete, &[0b111], &images, &mut events);
        let first = EventHeader::read(&events).unwrap().length as usize;
        let (table, rows) = events.split_at(first);
        let mut packets = vec![format_event(version, true), table.to_vec(), rows.to_vec()];
        assert_eq!(EventHeader::read(rows).unwrap().kind, expected);
        assert_eq!(read(packets.clone()).unwrap(), 2);
        packets[2][30] ^= 1;
        assert!(read(packets).is_err());
    }
}

#[test]
fn rows_without_columns_end() {
    let mut packets = stream(false);
    let body = [9, 0, 0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 1, 2, 3];
    packets[4] = event(kind::WRITE_ROWS, 400, &body, false);
    assert!(read(packets).is_err());
}

#[test]
fn values_are_decoded_as_the_servers_print_them() {
    let column = |column_type, low, high| ColumnFormat {
        column_type,
        metadata: [low, high],
    };
    for (format, bytes, expected) in [
        // TIME '-00:00:00.5' and '-838:59:59'.
        (
            column(TIME2, 1, 0),
            &[0x7F, 0xFF, 0xFF, 0xCE][..],
            "-00:00:00.5",
        ),
        (column(TIME2, 0, 0), &[0x4B, 0x91, 0x05], "-838:59:59"),
        (
            column(NEWDECIMAL, 10, 2),
            &[0x80, 0x00, 0x00, 0x2A, 0x32],
            "42.50",
        ),
    ] {
        let value = decode(format, bytes, false).unwrap();
        assert_eq!(value, LogValue::Plain(expected.to_owned()), "{bytes:?}");
    }
    let text = decode(column(STRING, 0xFE, 20), b"\x03abc", false).unwrap();
    assert_eq!(text, LogValue::Bytes(b"abc".to_vec()));
    let number = decode(column(LONG, 0, 0), &[0xFF; 4], false).unwrap();
    assert_eq!(number, LogValue::Int(-1));
    let number = decode(column(LONG, 0, 0), &[0xFF; 4], true).unwrap();
    assert_eq!(number, LogValue::UInt(u64::from(u32::MAX)));
}

proptest! {
    /// Bytes from anywhere in place of the rows, the table or a value: an error or rows, never a panic.
    #[test]
    fn foreign_bytes_do_not_panic(
        at in 2_usize..5,
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        event_kind in any::<u8>(),
        end in 0_u32..500,
    ) {
        let mut packets = stream(false);
        packets[at] = event(event_kind, end, &bytes, false);
        let _ = read(packets);
    }

    #[test]
    fn cut_events_are_errors(at in 0_usize..5, keep in 0_usize..100, has_checksum in any::<bool>()) {
        let mut packets = stream(has_checksum);
        let length = packets[at].len();
        packets[at].truncate(keep.min(length - 1));
        prop_assert!(read(packets).is_err());
    }

    #[test]
    fn rows_that_are_changed_anywhere_do_not_panic(at in 0_usize..40, bits in any::<u8>()) {
        let mut packets = stream(false);
        let length = packets[4].len();
        packets[4][HEADER_BYTES + at % (length - HEADER_BYTES)] ^= bits;
        let _ = read(packets);
    }

    #[test]
    fn any_value_of_any_type_decodes_or_is_refused(
        column_type in any::<u8>(),
        low in any::<u8>(),
        high in any::<u8>(),
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
    ) {
        let column = ColumnFormat { column_type, metadata: [low, high] };
        let mut rest = crate::binlog::bytes::Bytes(&bytes);
        if let Ok(value) = crate::binlog::value_length::take(column, &mut rest) {
            let _ = decode(column, value, low % 2 == 0);
        }
    }

    #[test]
    fn compressed_events_that_are_none_are_errors(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let mut out = Vec::new();
        let _ = crate::binlog::compressed::open_payload(&bytes, &mut out);
        for plain in [kind::QUERY, kind::WRITE_ROWS_V1, kind::UPDATE_ROWS] {
            let _ = crate::binlog::compressed::open_event(plain, &bytes, &mut out);
        }
    }
}
