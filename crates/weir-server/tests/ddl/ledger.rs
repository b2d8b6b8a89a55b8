//! A load that knows what each row has to be: threads with rows of their own, which count what the server acknowledged.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use weir_model::Endpoint;
use weir_mysql::Connection;
use weir_testing::connect;

/// Rows of each thread before the load.
const ROWS: i64 = 400;
/// Rows of threads have keys this far apart.
const APART: i64 = 1_000_000;

/// Values by key.
pub(crate) type Rows = BTreeMap<i64, i64>;

pub(crate) struct Ledger {
    stop: Arc<AtomicBool>,
    changes: Arc<AtomicU64>,
    threads: Vec<thread::JoinHandle<Rows>>,
}

/// Makes `shop.ledger` with rows for so many threads.
pub(crate) fn make(connection: &mut Connection, threads: i64) {
    for statement in [
        "CREATE DATABASE IF NOT EXISTS shop",
        "DROP TABLE IF EXISTS shop.ledger",
        "CREATE TABLE shop.ledger (id BIGINT NOT NULL PRIMARY KEY, v INT NOT NULL, note VARCHAR(40)) ENGINE = InnoDB",
    ] {
        connection.run(statement).unwrap();
    }
    for thread in 0..threads {
        let rows = (0..ROWS).map(|row| format!("({}, 0, 'new')", thread * APART + row));
        let rows = rows.collect::<Vec<_>>().join(", ");
        connection
            .run(format!("INSERT INTO shop.ledger VALUES {rows}"))
            .unwrap();
    }
}

pub(crate) fn rows(connection: &mut Connection) -> Rows {
    let rows: Vec<(i64, i64)> = connection.rows("SELECT id, v FROM shop.ledger").unwrap();
    rows.into_iter().collect()
}

impl Ledger {
    pub(crate) fn start(endpoint: &Endpoint, threads: i64, seed: u64) -> Self {
        let (stop, changes) = (Arc::default(), Arc::default());
        let threads = (0..threads).map(|thread| {
            let connection = connect(endpoint);
            let (stop, changes) = (Arc::clone(&stop), Arc::clone(&changes));
            let mut random = seed * 1_000 + thread as u64 + 1;
            let mut next = move |below: i64| {
                // Xorshift (Marsaglia, 2003).
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                (random % below.cast_unsigned()).cast_signed()
            };
            thread::spawn(move || work(connection, thread * APART, &mut next, &stop, &changes))
        });
        let threads = threads.collect();
        Self {
            stop,
            changes,
            threads,
        }
    }

    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Stops; returns the expected content of each row.
    pub(crate) fn stop(self) -> Rows {
        self.stop.store(true, Ordering::Relaxed);
        let rows = self
            .threads
            .into_iter()
            .map(|thread| thread.join().unwrap());
        rows.flatten().collect()
    }
}

fn work(
    mut connection: Connection,
    first: i64,
    next: &mut impl FnMut(i64) -> i64,
    stop: &AtomicBool,
    changes: &AtomicU64,
) -> Rows {
    let mut rows: Rows = (0..ROWS).map(|row| (first + row, 0)).collect();
    let mut new = first + ROWS;
    while !stop.load(Ordering::Relaxed) {
        let keys: Vec<_> = rows.keys().copied().collect();
        let key = keys[next(keys.len().cast_signed() as i64) as usize];
        let other = key + APART / 2;
        let (statement, after) = match next(10) {
            0 => (
                format!("INSERT INTO shop.ledger (id, v) VALUES ({new}, 7)"),
                Some((new, 7)),
            ),
            1 if keys.len() > 50 => (format!("DELETE FROM shop.ledger WHERE id = {key}"), None),
            2 if !rows.contains_key(&other) && key < first + APART / 2 => (
                format!("UPDATE shop.ledger SET id = {other} WHERE id = {key}"),
                Some((other, rows[&key])),
            ),
            _ => (
                format!("UPDATE shop.ledger SET v = v + 1 WHERE id = {key}"),
                Some((key, rows[&key] + 1)),
            ),
        };
        match connection.run(&statement) {
            Ok(done) => {
                assert_eq!(done.affected_rows, 1, "{statement}");
                let is_insert = after.is_some_and(|(after, _)| after == new);
                if is_insert {
                    new += 1;
                } else {
                    rows.remove(&key);
                }
                rows.extend(after);
                changes.fetch_add(1, Ordering::Relaxed);
            }
            // A deadlock or a wait that was too long: nothing was done.
            Err(error) => assert!(matches!(error.code(), Some(1205 | 1213)), "{error}"),
        }
    }
    rows
}
