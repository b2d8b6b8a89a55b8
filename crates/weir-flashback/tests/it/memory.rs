//! Ten million events on a hundred thousand keys: the memory that they take, and what is found of them.

use weir_flashback::{Column, Images, Moment, Table, TableName, read_log};
use weir_mysql::ClientError;
use weir_mysql::binlog::Packets;

const KEYS: u32 = 100_000;
const EVENTS: u32 = 10_000_000;
/// Bytes of a row's text as of then: together more than the images that are kept in memory.
const TEXT: u16 = 800;
const MEMORY_BYTES: usize = 64 << 20;
const LIMIT_BYTES: u64 = 256 << 20;

/// `CREATE TABLE shop.t (id INT PRIMARY KEY, v INT, c VARCHAR(1000))`.
fn table() -> Table {
    let column = |name: &str, data_type: &str| Column {
        name: name.to_owned(),
        data_type: data_type.to_owned(),
        column_type: data_type.to_owned(),
        charset: None,
        is_generated: false,
        is_virtual: false,
    };
    Table {
        name: TableName::read("shop.t", ""),
        columns: vec![
            column("id", "int"),
            column("v", "int"),
            column("c", "varchar"),
        ],
        key: vec![0],
        is_keyless: false,
        create: String::new(),
        is_versioned: false,
        unlogged: None,
    }
}

/// Appends a row; its text is long in the beginning.
fn row(key: u32, value: u32, out: &mut Vec<u8>) {
    let text = if value == 0 { TEXT } else { 3 };
    out.push(0);
    out.extend(key.to_le_bytes());
    out.extend(value.to_le_bytes());
    out.extend(text.to_le_bytes());
    out.resize(out.len() + usize::from(text), b'x');
}

/// A log that is made while it is read: MySQL's, one transaction, an event for each row.
struct GrowingLog {
    start: std::vec::IntoIter<Vec<u8>>,
    number: u32,
}

const LAYOUT: &[u8] = b"\x09\0\0\0\0\0\x01\0\x04shop\0\x01t\0\x03\x03\x03\x0f\x02\xe8\x03\0";

impl GrowingLog {
    fn new() -> Self {
        let mut format = vec![4, 0];
        format.extend(b"9.7.4");
        format.resize(2 + 50 + 4, 0);
        format.push(19);
        format.extend([0; 40]);
        format.push(1);
        let start = vec![event(15, &format), event(34, &[0; 25]), event(19, LAYOUT)];
        Self {
            start: start.into_iter(),
            number: 0,
        }
    }
}

/// Begins an event; [`end`] puts its length and its checksum right.
fn begin(kind: u8, event: &mut Vec<u8>) {
    event.clear();
    event.extend(1_700_000_000_u32.to_le_bytes());
    event.push(kind);
    event.extend([1, 0, 0, 0]);
    event.extend([0; 4]);
    event.extend([0, 0, 0, 0, 0x20, 0]);
}

fn end(event: &mut Vec<u8>) {
    let length = event.len() as u32 + 4;
    event[9..13].copy_from_slice(&length.to_le_bytes());
    let checksum = crc32fast::hash(event);
    event.extend(checksum.to_le_bytes());
}

fn event(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut event = Vec::new();
    begin(kind, &mut event);
    event.extend(body);
    end(&mut event);
    event
}

impl Packets for GrowingLog {
    fn next_packet(&mut self, packet: &mut Vec<u8>) -> Result<bool, ClientError> {
        if let Some(next) = self.start.next() {
            *packet = next;
            return Ok(true);
        }
        if self.number == EVENTS {
            return Ok(false);
        }
        let (key, round) = (self.number % KEYS, self.number / KEYS);
        self.number += 1;
        begin(31, packet);
        packet.extend(b"\x09\0\0\0\0\0\x01\0\x02\0\x03\x07\x07");
        row(key, round, packet);
        row(key, round + 1, packet);
        end(packet);
        Ok(true)
    }
}

/// The largest memory of the process so far.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1));
    kib.and_then(|kib| kib.parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// The numbers of the keys that changed and what they held, in order.
fn values(memory_bytes: usize) -> Vec<(u32, u32)> {
    let work = tempfile::tempdir().unwrap();
    let table = table();
    let mut images = Images::new(work.path(), memory_bytes);
    let tables = [table.clone()];
    let told = read_log(GrowingLog::new(), &tables, &Moment::Start, &mut |change| {
        images.take(&table, change)
    });
    assert_eq!(told.unwrap().changes, u64::from(EVENTS));
    assert_eq!(images.len(), KEYS as usize);
    let mut values = Vec::new();
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    images
        .each(&mut |image| {
            assert_eq!(image.copies, 1);
            values.push((number(&image.bytes[1..5]), number(&image.bytes[5..9])));
            Ok(())
        })
        .unwrap();
    values.sort_unstable();
    values
}

#[test]
fn ten_million_events_take_the_memory_of_their_keys() {
    let began = peak_bytes();
    let values = values(MEMORY_BYTES);
    let grown = peak_bytes() - began;
    assert!(grown < LIMIT_BYTES, "{} MiB", grown >> 20);
    // More images than the memory that they may take: some lay in a file.
    assert!(u64::from(KEYS) * u64::from(TEXT) > MEMORY_BYTES as u64);
    let expected: Vec<_> = (0..KEYS).map(|key| (key, 0)).collect();
    assert_eq!(values, expected);
}
