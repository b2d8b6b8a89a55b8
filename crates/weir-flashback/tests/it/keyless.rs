//! A table whose rows cannot be told apart.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weir_flashback::{FlashbackPlan, MomentRequest, State, find_like};
use weir_model::Flavor;
use weir_mysql::Connection;

use crate::random::Random;
use crate::{connect, options, orders, source, start};

/// Equal rows come, change and go, a few at a time.
fn change(random: &mut Random, connection: &mut Connection) {
    let (a, b) = (random.below(4), random.below(3));
    let some = 1 + random.below(3);
    let sql = match random.below(5) {
        0 => format!("DELETE FROM shop.orders WHERE a = {a} LIMIT {some}"),
        1 => format!("UPDATE shop.orders SET a = {b}, f = 0.5 WHERE a = {a} LIMIT {some}"),
        2 => format!("UPDATE shop.orders SET c = NULL WHERE a <=> {a} LIMIT {some}"),
        _ => format!(
            "INSERT INTO shop.orders (a, c, f, d) VALUES ({a}, '{b}', {b}.25, NULL), ({a}, '{b}', 1, '2026-01-0{}')",
            1 + b
        ),
    };
    connection.run(sql).unwrap();
}

fn rows(connection: &mut Connection) -> Vec<String> {
    let query = "SELECT CONCAT_WS('|', COALESCE(a, 'NULL'), COALESCE(c, 'NULL'), f, COALESCE(d, 'NULL'), v) FROM shop.orders";
    let mut rows: Vec<String> = connection.rows(query).unwrap();
    rows.sort();
    rows
}

/// At three times, while the table goes on to change.
pub(crate) fn rows_without_a_key_are_counted(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (a INT, c VARCHAR(20), f FLOAT, d DATE, v INT AS (a + 1) VIRTUAL, KEY (a))")
        .unwrap();
    let mut random = Random(99);
    let mut marks = Vec::new();
    for _ in 0..3 {
        for _ in 0..60 {
            change(&mut random, &mut control);
        }
        thread::sleep(Duration::from_millis(20));
        let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
        marks.push((time.unwrap(), rows(&mut control)));
        thread::sleep(Duration::from_millis(1_100));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let load = {
        let (stop, mut connection) = (Arc::clone(&stop), connect(&server));
        thread::spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                change(&mut random, &mut connection);
                thread::sleep(Duration::from_millis(30));
            }
        })
    };
    let source = source(&server);
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    for (time, expected) in &marks {
        let (options, _work) = options();
        let prepared =
            FlashbackPlan::new(&source, &orders(), &MomentRequest::read(time), options).unwrap();
        assert!(prepared.tables[0].is_keyless);
        // A condition reads all rows nevertheless: they are counted.
        let made = prepared.make(&binary, State::Then, " WHERE a = 1").unwrap();
        assert!(expected.len() > 20 && made.told.changes > 0);
        assert_eq!(
            rows(&mut made.private.connect(None).unwrap()),
            *expected,
            "{time}"
        );
        let error = prepared.changes(&mut |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains("told apart"), "{error}");
    }
    stop.store(true, Ordering::Relaxed);
    load.join().unwrap();
}
