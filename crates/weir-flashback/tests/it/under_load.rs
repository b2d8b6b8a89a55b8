//! Dumps that were made at ten times in a random load, beside flashbacks to these times while the load goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weir_flashback::{FlashbackPlan, MomentRequest, State, TableName, find_like};
use weir_model::Flavor;
use weir_mysql::{Connection, Value};
use weir_server::PrivateServer;

use crate::random::{Random, change_in};
use crate::{connect, definition_of, dump_of, options, source, start};

/// Tables with the character set of their texts: each has random changes of its own.
const TABLES: [(&str, &str); 5] = [
    ("shop.orders", "utf8mb4"),
    ("shop.of_latin1", "latin1"),
    ("shop.of_utf16", "utf16"),
    ("shop.of_gbk", "gbk"),
    ("crm.orders", "cp1251"),
];
const ROUNDS: usize = 10;
const CHANGES: u32 = 25;
/// The file of the log ends after this round.
const ROTATED: usize = 4;

/// The rows of each table.
type Dump = Vec<Vec<Vec<Value>>>;

fn dumps(connection: &mut Connection) -> Dump {
    let tables = TABLES.iter();
    tables
        .map(|(table, _)| dump_of(connection, table))
        .collect()
}

pub(crate) fn is_right_under_load(flavor: Flavor) {
    let seeds = std::env::var("WEIR_FLASHBACK_SEEDS").ok();
    let seeds = seeds.and_then(|seeds| seeds.parse().ok()).unwrap_or(1);
    for seed in 0..seeds {
        is_right_with_seeds_from(flavor, 20_261_124 + 10 * seed);
    }
}

/// Each table has a seed; `WEIR_FLASHBACK_SEEDS` asks for more than these five.
fn is_right_with_seeds_from(flavor: Flavor, seed: u64) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    for schema in ["shop", "crm"] {
        control.run(format!("CREATE DATABASE {schema}")).unwrap();
    }
    for (table, charset) in TABLES {
        control.run(definition_of(table, charset, flavor)).unwrap();
    }
    let mut randoms: Vec<_> = (0..5).map(|number| Random(seed + number)).collect();
    let mut marks = Vec::new();
    for round in 0..ROUNDS {
        for _ in 0..CHANGES {
            for ((table, _), random) in TABLES.iter().zip(&mut randoms) {
                change_in(table, random, &mut control, flavor);
            }
        }
        if round == ROTATED {
            control.run("FLUSH BINARY LOGS").unwrap();
        }
        marks.push(mark(flavor, &mut control));
    }
    let load = Load::start(&server, flavor, seed + 5);
    for (time, expected) in &marks {
        let found = flash(&server, time);
        for (((table, _), found), expected) in TABLES.iter().zip(&found).zip(expected) {
            let of = format!("{table}, seeds from {seed}, {time}");
            assert!(expected.len() > 10, "{}, {of}", expected.len());
            assert_eq!(found.len(), expected.len(), "{of}");
            for (found, expected) in found.iter().zip(expected) {
                assert_eq!(found, expected, "{of}");
            }
        }
    }
    load.stop();
}

/// A time and what the tables hold; the next change comes when the log's clock has gone on.
fn mark(flavor: Flavor, control: &mut Connection) -> (String, Dump) {
    thread::sleep(Duration::from_millis(20));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let dump = dumps(control);
    thread::sleep(match flavor {
        Flavor::Mysql => Duration::from_millis(20),
        // Its log has whole seconds.
        Flavor::Mariadb => Duration::from_millis(1_100),
    });
    (time.unwrap(), dump)
}

fn flash(server: &PrivateServer, time: &str) -> Dump {
    let (options, _work) = options();
    let source = source(server);
    let names = TABLES.map(|(table, _)| TableName::read(table, ""));
    let prepared =
        FlashbackPlan::new(&source, &names, &MomentRequest::read(time), options).unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared
        .make(&binary, State::Then, "")
        .unwrap_or_else(|error| panic!("{error}"));
    let dump = dumps(&mut made.private.connect(None).unwrap());
    assert!(made.told.changes > 0 || made.told.first.is_none());
    dump
}

/// Random changes of all tables until it is stopped.
struct Load {
    stop: Arc<AtomicBool>,
    thread: thread::JoinHandle<()>,
}

impl Load {
    fn start(server: &PrivateServer, flavor: Flavor, seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stop_there, mut connection) = (Arc::clone(&stop), connect(server));
        let thread = thread::spawn(move || {
            let mut random = Random(seed);
            while !stop_there.load(Ordering::Relaxed) {
                for (table, _) in TABLES {
                    change_in(table, &mut random, &mut connection, flavor);
                }
            }
        });
        Self { stop, thread }
    }

    fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
    }
}
