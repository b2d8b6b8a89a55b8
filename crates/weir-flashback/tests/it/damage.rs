//! Logs of real servers, damaged: flipped bits, events that are cut short, and events that say something else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weir_flashback::{
    Diff, FlashbackError, Images, LogFindings, Moment, MomentRequest, Table, TransactionFilter,
    Undo, read_log,
};
use weir_model::Flavor;
use weir_mysql::binlog::Packets;
use weir_mysql::{ClientError, Connection, Gate, LogStart};
use weir_server::PrivateServer;

use crate::random::{Random, change};
use crate::{connect, definition, plan, source, start};

/// Bytes of an event's header, and where in it the event's length and flags stand.
const HEADER: usize = 19;
const LENGTH: usize = 9;
const FLAGS: usize = 17;
const KIND: usize = 4;
const FORMAT_DESCRIPTION: u8 = 15;
const CHECKSUM: usize = 4;

/// A log in memory.
#[derive(Debug, Clone)]
struct Log {
    packets: Vec<Vec<u8>>,
    tables: Vec<Table>,
    moment: Moment,
}

struct Stream(std::vec::IntoIter<Vec<u8>>);

impl Packets for Stream {
    fn next_packet(&mut self, event: &mut Vec<u8>) -> Result<bool, ClientError> {
        let next = self.0.next();
        let is_there = next.is_some();
        *event = next.unwrap_or_default();
        Ok(is_there)
    }
}

/// All that a server of `flavor` logs of a random load.
fn log_of(flavor: Flavor, form: &[(&str, &str)]) -> Log {
    let (server, _directory) = start(flavor, form);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control.run(definition(flavor)).unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    std::thread::sleep(Duration::from_millis(1_100));
    let mut random = Random(31);
    for _ in 0..40 {
        change(&mut random, &mut control, flavor);
    }
    if flavor == Flavor::Mysql {
        control
            .run("UPDATE shop.orders SET js = JSON_SET(js, '$.a', 7)")
            .unwrap();
    }
    for statement in [
        "XA START 'x'",
        "UPDATE shop.orders SET t1 = 9 LIMIT 2",
        "XA END 'x'",
        "XA PREPARE 'x'",
        "XA COMMIT 'x'",
    ] {
        control.run(statement).unwrap();
    }
    let (prepared, _work) = plan(&source(&server), &MomentRequest::read(&time.unwrap()));
    Log {
        packets: packets(&server, flavor),
        tables: prepared.tables.clone(),
        moment: prepared.moment.clone(),
    }
}

fn packets(server: &PrivateServer, flavor: Flavor) -> Vec<Vec<u8>> {
    let wait = Duration::from_secs(30);
    let mut connection = Connection::open(&server.endpoint(), &Gate::own(), wait).unwrap();
    connection
        .run("SET @master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32'")
        .unwrap();
    connection.run("SET @mariadb_slave_capability = 4").unwrap();
    let mut log = connection
        .binary_log(&LogStart {
            file: "binlog.000001".to_owned(),
            position: 4,
            server_id: 4_000_000_000,
            has_annotations: flavor == Flavor::Mariadb,
        })
        .unwrap();
    let (mut packets, mut packet) = (Vec::new(), Vec::new());
    while log.next_event(&mut packet).unwrap() {
        packets.push(packet.clone());
    }
    packets
}

/// Reads a log with all that is done with its rows.
fn read(log: &Log, packets: Vec<Vec<u8>>, work: &TempDir) -> Result<LogFindings, FlashbackError> {
    let mut images = Images::new(work.path(), 10_000);
    let (mut diff, mut undo) = (Diff::default(), Undo::new(TransactionFilter::default()));
    let table = &log.tables[0];
    let stream = Stream(packets.into_iter());
    let told = read_log(stream, &log.tables, &log.moment, &mut |change| {
        images.take(table, change)?;
        diff.take(table, change)?;
        undo.take(table, change)
    })?;
    images.each(&mut |_| Ok(()))?;
    let lines = diff.lines(&log.tables);
    assert!(lines.iter().all(|line| !line.to_string().is_empty()));
    undo.script(&log.tables, "here", "then", &told);
    Ok(told)
}

/// Puts the length and the checksum right again, as whoever damages on purpose does.
fn sign(packet: &mut [u8]) {
    let length = packet.len() as u32;
    packet[LENGTH..LENGTH + 4].copy_from_slice(&length.to_le_bytes());
    let end = packet.len() - CHECKSUM;
    let checksum = crc32fast::hash(&packet[..end]);
    packet[end..].copy_from_slice(&checksum.to_le_bytes());
}

fn has_checksum(packet: &[u8]) -> bool {
    let (body, checksum) = packet.split_at(packet.len() - CHECKSUM);
    crc32fast::hash(body).to_le_bytes() == checksum
}

/// Each bit of each event that has a checksum, and each length that is too short.
pub(crate) fn a_damaged_log_is_an_error_with_its_place(flavor: Flavor) {
    let log = log_of(flavor, &[]);
    let work = tempfile::tempdir().unwrap();
    let told = read(&log, log.packets.clone(), &work).unwrap();
    assert!(told.changes > 30, "{}", told.changes);
    let is_told = |number: usize, damaged: Vec<u8>, what: &str| {
        let mut packets = [&log.packets[..number.min(2)], &[damaged]].concat();
        // That a format has checksums is missed where the first one comes.
        if number == 1 {
            packets.extend_from_slice(&log.packets[2..]);
        }
        let error = read(&log, packets, &work).expect_err(what).to_string();
        assert!(error.starts_with("binary log at "), "{error}");
        assert!(number == 0 || error.contains("binlog.000001:"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    };
    let (mut bits, mut lengths) = (0, 0);
    for (number, packet) in log.packets.iter().enumerate() {
        // Long rows are like short ones.
        let shown = packet.len().min(1_500);
        if number == 1 || has_checksum(packet) {
            for bit in (0..shown * 8).chain((packet.len() - CHECKSUM) * 8..packet.len() * 8) {
                // That a file is open is no part of the format's checksum.
                if number == 1 && bit == FLAGS * 8 {
                    continue;
                }
                let mut damaged = packet.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                is_told(number, damaged, "a flipped bit is found");
                bits += 1;
            }
        }
        for length in 0..shown.min(packet.len() - 1) {
            is_told(number, packet[..length].to_vec(), "a cut event is found");
            lengths += 1;
        }
    }
    assert!(bits > 50_000 && lengths > 5_000, "{bits} {lengths}");
}

/// Events that say something else, with checksums that fit: an error or rows, never a panic. Some hundred tries, or as
/// many as fit into `WEIR_FUZZ_SECONDS`.
pub(crate) fn any_log_is_read_without_a_panic(flavor: Flavor) {
    let compressed: &[(&str, &str)] = match flavor {
        Flavor::Mysql => &[
            ("binlog_transaction_compression", "ON"),
            ("binlog_row_value_options", "PARTIAL_JSON"),
        ],
        Flavor::Mariadb => &[
            ("log_bin_compress", "ON"),
            ("log_bin_compress_min_len", "10"),
        ],
    };
    let logs = [log_of(flavor, &[]), log_of(flavor, compressed)];
    let work = tempfile::tempdir().unwrap();
    for log in &logs {
        assert!(read(log, log.packets.clone(), &work).unwrap().changes > 30);
    }
    let seconds = std::env::var("WEIR_FUZZ_SECONDS").ok();
    let limit = seconds.map(|text| Duration::from_secs(text.parse().unwrap()));
    let (began, mut seed, mut errors) = (Instant::now(), 0, 0_u64);
    while limit.map_or(seed < 600, |limit| began.elapsed() < limit) {
        seed += 1;
        let mut random = Random(seed * 7_919);
        let log = &logs[random.below(2) as usize];
        let mut packets = log.packets.clone();
        for _ in 0..=random.below(3) {
            damage(&mut random, &mut packets);
        }
        let tried = catch_unwind(AssertUnwindSafe(|| read(log, packets, &work).is_err()));
        errors += u64::from(tried.unwrap_or_else(|_| panic!("{flavor}, seed {seed}")));
    }
    assert!(errors > seed / 10, "{errors} of {seed}");
}

fn damage(random: &mut Random, packets: &mut Vec<Vec<u8>>) {
    let mut any = |limit: usize| random.below(limit.max(1) as u64) as usize;
    let at = any(packets.len());
    let packet = &mut packets[at];
    let inner = packet.len().saturating_sub(HEADER + CHECKSUM);
    match any(8) {
        0 => {
            packets.remove(at);
            return;
        }
        1 => {
            let copy = packet.clone();
            let to = any(packets.len());
            packets.insert(to, copy);
            return;
        }
        2 => {
            let keep = HEADER + CHECKSUM + any(inner);
            packet.truncate(keep);
        }
        3 => packet[KIND] = any(180) as u8,
        4 => {
            // Another server wrote it.
            let version: &[u8] = [&b"5.5.1\0"[..], b"10.11.19-MariaDB\0", b"9.7.4\0"][any(3)];
            let format = packets
                .iter_mut()
                .find(|one| one[KIND] == FORMAT_DESCRIPTION);
            if let Some(format) = format {
                format[HEADER + 2..HEADER + 2 + version.len()].copy_from_slice(version);
                sign(format);
            }
            return;
        }
        5 => {
            let length = any(300);
            packet.truncate(HEADER);
            packet.extend((0..length + CHECKSUM).map(|_| any(256) as u8));
        }
        _ => {
            for _ in 0..=any(3) {
                let place = HEADER + any(inner);
                packet[place] = [0, 0xFF, any(256) as u8, packet[place] ^ 1 << any(8)][any(4)];
            }
        }
    }
    sign(&mut packets[at]);
}
