//! Import of a slow log on one core, beside a reader that only counts the same file's lines.

use std::fs::File;
use std::io::{BufWriter, Read as _, Write as _};
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use weir_capture::{Literals, LogFormat, import_log};

use crate::own_process::{forget_memory_peak, memory_peak};
use crate::spread::Spread;

/// Turns of the reader and the import.
const TURNS: usize = 5;
/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 1 << 20;
/// Sessions whose statements stand in the log by turns.
const SESSIONS: u64 = 64;
const BEGINNING: &str = "/usr/sbin/mysqld, Version: 9.7.4 (MySQL). started with:\n\
    Tcp port: 3306  Unix socket: /run/x.sock\nTime                 Id Command    Argument\n";

pub(crate) fn measure(folder: &Path, megabytes: u64) -> Value {
    let log = folder.join("slow.log");
    let bytes = write_log(&log, megabytes * 1_000_000);
    let to = folder.join("import.weircap");
    // The file is in memory from now on.
    count_lines(&log);
    let (mut imports, mut ratios, mut memory) = (Vec::new(), Vec::new(), 0);
    for _ in 0..TURNS {
        let floor = per_second(bytes, || count_lines(&log));
        forget_memory_peak();
        let import = per_second(bytes, || {
            import_log(&log, LogFormat::Slow, &to, Literals::Keep).unwrap();
        });
        memory = memory_peak().max(memory);
        std::fs::remove_file(&to).unwrap();
        imports.push(import / 1e6);
        ratios.push(import / floor);
    }
    std::fs::remove_file(&log).unwrap();
    let (imports, ratios) = (Spread::new(imports), Spread::new(ratios));
    println!(
        "import of {megabytes} MB of slow log: {} MB in a second of one core; a reader that counts lines takes {} of its time; \
         {} MiB of memory",
        imports.text(0),
        ratios.text(3),
        memory >> 20
    );
    json!({
        "log_bytes": bytes,
        "megabytes_per_core_second": imports.all(),
        "ratio_to_line_counter": ratios.all(),
        "memory_bytes": memory,
    })
}

/// Bytes in a second of processor time.
fn per_second(bytes: u64, work: impl FnOnce()) -> f64 {
    let began_s = processor_s();
    work();
    bytes as f64 / (processor_s() - began_s).max(1e-6)
}

/// Processor time of this process, all threads, seconds.
fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

#[allow(
    clippy::naive_bytecount,
    reason = "the compiler makes the floor that is meant of it"
)]
fn count_lines(path: &Path) {
    let mut file = File::open(path).unwrap();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut lines = 0_usize;
    loop {
        let length = file.read(&mut chunk).unwrap();
        if length == 0 {
            break;
        }
        lines += chunk[..length]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
    }
    assert!(std::hint::black_box(lines) > 0);
}

/// Statements of an online shop, of eight kinds.
fn write_log(path: &Path, bytes_min: u64) -> u64 {
    let mut log = BufWriter::new(File::create(path).unwrap());
    let mut bytes = BEGINNING.len() as u64;
    log.write_all(BEGINNING.as_bytes()).unwrap();
    for number in 0_u64.. {
        if bytes >= bytes_min {
            break;
        }
        let (second, us) = (number / 2_000, number % 2_000 * 500);
        let (session, id) = (8 + number % SESSIONS, number * 7_919 % 1_000_003);
        let (hour, minute, second_of) = (second / 3_600, second / 60 % 60, second % 60);
        let entry = format!(
            "# Time: 2026-11-25T{hour:02}:{minute:02}:{second_of:02}.{us:06}Z\n\
             # User@Host: app[app] @ localhost []  Id: {session:5}\n\
             # Query_time: 0.000412  Lock_time: 0.000003 Rows_sent: 1  Rows_examined: 1\n\
             SET timestamp={};\n{};\n",
            1_795_564_800 + second,
            statement(number % 8, id)
        );
        log.write_all(entry.as_bytes()).unwrap();
        bytes += entry.len() as u64;
    }
    log.flush().unwrap();
    bytes
}

fn statement(kind: u64, id: u64) -> String {
    match kind {
        0 => "BEGIN".to_owned(),
        1 => format!("SELECT name, price, stock FROM product WHERE id = {id}"),
        2 => format!("UPDATE product SET stock = stock - 1 WHERE id = {id} AND stock > 0"),
        3 => format!(
            "INSERT INTO purchase (customer_id, product_id, at, note) VALUES ({id}, {}, NOW(), 'left at the door; it''s fine')",
            id % 997
        ),
        4 => "COMMIT".to_owned(),
        5 => format!(
            "SELECT p.name, b.at FROM purchase b JOIN product p ON p.id = b.product_id WHERE b.customer_id = {id} ORDER BY b.at DESC LIMIT 10"
        ),
        6 => format!(
            "SELECT COUNT(*) FROM purchase WHERE at >= '2026-11-25 10:00:00' AND product_id IN ({id}, {}, {})",
            id + 1,
            id + 2
        ),
        _ => format!("SELECT id FROM customer WHERE mail = 'someone{id}@example.org'"),
    }
}
