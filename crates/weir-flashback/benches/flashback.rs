//! How fast a log is read, beside programs that only receive it: `cargo bench -p weir-flashback -- OUT.json`.
//!
//! Two sources: events in memory, and the logs of real servers. Each measurement and its floor are taken in turns, and
//! ratios are those of one turn. Prints a table; writes JSON.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a benchmark prints, and ends at what it can't do

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weir_flashback::{
    Column, FlashbackPlan, Images, Moment, MomentRequest, Options, Source, State, Table, TableName,
    find_like, read_log,
};
use weir_model::Flavor;
use weir_mysql::binlog::Packets;
use weir_mysql::{ClientError, Connection, Gate, LogStart};
use weir_server::PrivateServer;

const ROUNDS: usize = 5;
/// Bytes of log in memory that a measurement reads.
const BYTES: u64 = 256 << 20;
const KEYS: u32 = 20_000;
/// Transactions of an hour at a thousand a second.
const HOUR: u64 = 3_600_000;
/// Bytes of a row's text, about sysbench's.
const TEXT: u8 = 180;
/// Changes of all rows of the real table.
const UPDATES: u32 = 20;

fn main() {
    let out = std::env::args()
        .skip(1)
        .find(|word| !word.starts_with("--"));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap();
    let mut measured = vec![in_memory()];
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        measured.push(of_server(flavor));
    }
    let load_after = std::fs::read_to_string("/proc/loadavg").unwrap();
    let result = json!({
        "rounds": ROUNDS,
        "load_before": load.trim(),
        "load_after": load_after.trim(),
        "processors": std::thread::available_parallelism().unwrap().get(),
        "measured": measured,
    });
    if let Some(out) = out {
        std::fs::write(out, serde_json::to_string_pretty(&result).unwrap()).unwrap();
    }
}

/// Events in memory, again and again.
struct Loop<'a> {
    start: std::slice::Iter<'a, Vec<u8>>,
    again: &'a [Vec<u8>],
    at: usize,
    left: u64,
}

impl<'a> Loop<'a> {
    /// The first of `packets`, then the others until so many bytes have come.
    fn new(packets: &'a [Vec<u8>], bytes: u64) -> Self {
        let (start, again) = packets.split_at(1);
        Self {
            start: start.iter(),
            again,
            at: 0,
            left: bytes,
        }
    }
}

impl Packets for Loop<'_> {
    fn next_packet(&mut self, packet: &mut Vec<u8>) -> Result<bool, ClientError> {
        packet.clear();
        if let Some(first) = self.start.next() {
            packet.extend_from_slice(first);
            return Ok(true);
        }
        if self.left == 0 {
            return Ok(false);
        }
        packet.extend_from_slice(&self.again[self.at]);
        self.at = (self.at + 1) % self.again.len();
        self.left = self.left.saturating_sub(packet.len() as u64);
        Ok(true)
    }
}

fn event(kind: u8, body: &[u8]) -> Vec<u8> {
    let mut event = 1_700_000_000_u32.to_le_bytes().to_vec();
    event.push(kind);
    event.extend(1_u32.to_le_bytes());
    event.extend((19 + body.len() as u32 + 4).to_le_bytes());
    event.extend([0, 0, 0, 0, 0x20, 0]);
    event.extend(body);
    let checksum = crc32fast::hash(&event);
    event.extend(checksum.to_le_bytes());
    event
}

/// MySQL's: a format, then transactions that update a row each.
fn packets() -> Vec<Vec<u8>> {
    let mut format = vec![4, 0];
    format.extend(b"9.7.4");
    format.resize(2 + 50 + 4, 0);
    format.push(19);
    format.extend([0; 40]);
    format.push(1);
    let mut packets = vec![event(15, &format)];
    let layout = b"\x09\0\0\0\0\0\x01\0\x04shop\0\x01t\0\x03\x03\x03\x0f\x02\xc8\0\0";
    for key in 0..KEYS {
        let mut rows = b"\x09\0\0\0\0\0\x01\0\x02\0\x03\x07\x07".to_vec();
        for value in [key, key + 1] {
            rows.push(0);
            rows.extend(key.to_le_bytes());
            rows.extend(value.to_le_bytes());
            rows.push(TEXT);
            rows.resize(rows.len() + usize::from(TEXT), b'x');
        }
        let mut begin = [0; 13].to_vec();
        begin.extend(b"\0BEGIN");
        packets.extend([
            event(34, &[0; 42]),
            event(2, &begin),
            event(19, layout),
            event(31, &rows),
            event(16, &[0; 8]),
        ]);
    }
    packets
}

fn table(name: &str) -> Table {
    let column = |name: &str, data_type: &str| Column {
        name: name.to_owned(),
        data_type: data_type.to_owned(),
        column_type: data_type.to_owned(),
        charset: None,
        is_generated: false,
        is_virtual: false,
    };
    Table {
        name: TableName::read(name, ""),
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

/// Seconds that `work` takes.
fn seconds(work: impl FnOnce()) -> f64 {
    let began = Instant::now();
    work();
    began.elapsed().as_secs_f64()
}

fn in_memory() -> Value {
    let packets = packets();
    let directory = tempfile::tempdir().unwrap();
    let read = |name: &str, bytes: u64| {
        let tables = [table(name)];
        let mut images = Images::new(directory.path(), weir_flashback::MEMORY_BYTES);
        let source = Loop::new(&packets, bytes);
        read_log(source, &tables, &Moment::Start, &mut |change| {
            images.take(&tables[0], change)
        })
        .unwrap();
    };
    let floor = || {
        let (mut source, mut packet, mut sum) = (Loop::new(&packets, BYTES), Vec::new(), 0_u32);
        while source.next_packet(&mut packet).unwrap() {
            sum ^= crc32fast::hash(&packet);
        }
        std::hint::black_box(sum);
    };
    let rounds = (0..ROUNDS).map(|_| {
        let floor = seconds(floor);
        (
            floor,
            seconds(|| read("shop.t", BYTES)),
            seconds(|| read("shop.u", BYTES)),
        )
    });
    let rounds: Vec<_> = rounds.collect();
    let mut value = tell("memory", "copied and checksummed", BYTES, &rounds);
    let transaction_bytes: usize = packets[1..6].iter().map(Vec::len).sum();
    let hour = HOUR * transaction_bytes as u64;
    let mut hours: Vec<_> = (0..3).map(|_| seconds(|| read("shop.t", hour))).collect();
    hours.sort_by(f64::total_cmp);
    println!("an hour of 1,000 transactions a second: {hours:.1?} s");
    value["hour_s"] = hours.into();
    value
}

/// Prints and returns what came out: of each round the floor, the table's own log, and the log of another table, s.
fn tell(source: &str, floor: &str, bytes: u64, rounds: &[(f64, f64, f64)]) -> Value {
    let middle = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
        let mut values: Vec<_> = rounds.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        (
            values[values.len() / 2],
            values[0],
            values[values.len() - 1],
        )
    };
    let rate = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
        let (median, low, high) = middle(&|round| bytes as f64 / 1e6 / of(round));
        json!({ "mb_per_s": median, "low": low, "high": high })
    };
    let ratio = |of: &dyn Fn(&(f64, f64, f64)) -> f64| {
        let (median, low, high) = middle(&|round| of(round) / round.0);
        json!({ "time_over_floor": median, "low": low, "high": high })
    };
    let value = json!({
        "source": source,
        "log_bytes": bytes,
        "floor": floor,
        "floor_rate": rate(&|round| round.0),
        "own_events": rate(&|round| round.1),
        "other_events": rate(&|round| round.2),
        "own_ratio": ratio(&|round| round.1),
        "other_ratio": ratio(&|round| round.2),
    });
    println!("{value:#}");
    value
}

fn of_server(flavor: Flavor) -> Value {
    let mut variables = vec![
        ("log_bin", "binlog"),
        ("server_id", "1"),
        ("sync_binlog", "0"),
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_buffer_pool_size", "134217728"),
    ];
    if flavor == Flavor::Mariadb {
        variables.push(("binlog_format", "ROW"));
    }
    let (server, _directory) = weir_testing::start_with(flavor, &variables);
    let mut control = weir_testing::connect(&server.endpoint());
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.t (id INT PRIMARY KEY, v INT, c VARCHAR(200))",
        "CREATE TABLE shop.u (id INT PRIMARY KEY)",
        "INSERT INTO shop.t VALUES (1, 0, REPEAT('x', 180))",
    ] {
        control.run(statement).unwrap();
    }
    while count(&mut control) < KEYS {
        let grow = "INSERT INTO shop.t SELECT id + (SELECT MAX(id) FROM shop.t), v, c FROM shop.t";
        control.run(grow).unwrap();
    }
    std::thread::sleep(Duration::from_millis(1_100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let asked = MomentRequest::read(&time.unwrap());
    std::thread::sleep(Duration::from_millis(1_100));
    for _ in 0..UPDATES {
        control.run("UPDATE shop.t SET v = v + 1").unwrap();
    }
    let binary = server.binary();
    let source = Source::at(server.endpoint(), flavor, binary.version);
    let work = tempfile::tempdir().unwrap();
    let read = |name: &str| {
        let prepared = prepare(&source, name, &asked, work.path());
        let mut images = Images::new(work.path(), weir_flashback::MEMORY_BYTES);
        let told = prepared.changes(&mut |change| images.take(&prepared.tables[0], change));
        told.unwrap().log_bytes
    };
    let bytes = read("shop.t");
    let rounds = (0..ROUNDS).map(|_| {
        let floor = seconds(|| receive(&server, flavor));
        (
            floor,
            seconds(|| {
                read("shop.t");
            }),
            seconds(|| {
                read("shop.u");
            }),
        )
    });
    let name = flavor.to_string();
    let mut value = tell(&name, "received", bytes, &rounds.collect::<Vec<_>>());
    let prepared = prepare(&source, "shop.t", &asked, work.path());
    let like = find_like(&source, Some(&binary.path)).unwrap();
    let all = seconds(|| drop(prepared.make(&like, State::Then, "").unwrap()));
    println!(
        "{name}: table of {} rows as it was: {all:.1} s",
        count(&mut control)
    );
    value["table_s"] = all.into();
    value["rows"] = count(&mut control).into();
    value
}

fn count(control: &mut Connection) -> u32 {
    control
        .first("SELECT COUNT(*) FROM shop.t")
        .unwrap()
        .unwrap()
}

fn prepare(source: &Source, name: &str, asked: &MomentRequest, work: &Path) -> FlashbackPlan {
    let options = Options::new(work.to_owned());
    FlashbackPlan::new(source, &[TableName::read(name, "")], asked, options).unwrap()
}

/// Receives the whole log as a replica does, and does nothing with it.
fn receive(server: &PrivateServer, flavor: Flavor) {
    let wait = Duration::from_secs(30);
    let mut connection = Connection::open(&server.endpoint(), &Gate::own(), wait).unwrap();
    connection
        .run("SET @master_binlog_checksum = 'CRC32', @source_binlog_checksum = 'CRC32'")
        .unwrap();
    connection.run("SET @mariadb_slave_capability = 4").unwrap();
    let start = LogStart {
        file: "binlog.000001".to_owned(),
        position: 4,
        server_id: 4_000_000_000,
        has_annotations: flavor == Flavor::Mariadb,
    };
    let (mut log, mut packet) = (connection.binary_log(&start).unwrap(), Vec::new());
    while log.next_event(&mut packet).unwrap() {
        std::hint::black_box(&packet);
    }
}
