//! Columns and keys of the tables that are given back.

use std::thread;
use std::time::Duration;

use weir_flashback::{
    FlashbackPlan, MomentRequest, Rehearsal, State, Stop, TableName, TableRows, TransactionFilter,
    Triggers, Undo, find_like, into,
};
use weir_model::Flavor;
use weir_mysql::{Connection, Gate, Row};

use crate::undo::place;
use crate::{connect, options, orders, source, start};

/// A column that was added since is not there then.
pub(crate) fn an_added_column_is_taken_off(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY, c VARCHAR(20))")
        .unwrap();
    control
        .run("INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        .unwrap();
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    for statement in [
        "UPDATE shop.orders SET c = 'x' WHERE id = 1",
        "ALTER TABLE shop.orders ADD COLUMN note VARCHAR(10) NOT NULL DEFAULT 'n', ADD INDEX c (c)",
        "UPDATE shop.orders SET note = 'y', c = 'z' WHERE id < 3",
        "INSERT INTO shop.orders VALUES (4, 'd', 'e')",
    ] {
        control.run(statement).unwrap();
    }
    let (options, _work) = options();
    let source = source(&server);
    let asked = MomentRequest::read(&time.unwrap());
    let prepared = FlashbackPlan::new(&source, &orders(), &asked, options).unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    let mut connection = made.private.connect(Some("shop")).unwrap();
    let rows: Vec<(i32, String)> = connection.rows("SELECT * FROM orders ORDER BY id").unwrap();
    let expected = [(1, "a"), (2, "b"), (3, "c")].map(|(id, text)| (id, text.to_owned()));
    assert_eq!(rows, expected);
}

/// A stored column whose expression gave another result in the session that wrote the row than it would give now.
pub(crate) fn stored_results_of_expressions_come_back(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, at TIMESTAMP NULL, n INT, \
         shown VARCHAR(40) AS (CAST(at AS CHAR)) STORED, twice INT AS (n * 2) VIRTUAL, KEY (shown))",
        "SET SESSION time_zone = '+05:00'",
        "INSERT INTO shop.orders (id, at, n) VALUES (1, '2026-01-01', 1), (2, '2026-01-02', 2), (3, NULL, 3)",
    ] {
        control.run(statement).unwrap();
    }
    let query = "SELECT id, shown, twice FROM shop.orders ORDER BY id";
    let rows = |connection: &mut Connection| -> Vec<(i32, Option<String>, i32)> {
        connection.rows(query).unwrap()
    };
    let expected = rows(&mut control);
    assert_eq!(expected[0].1.as_deref(), Some("2026-01-01 00:00:00"));
    let asked = MomentRequest::read(&place(&mut control, flavor));
    control.run("DELETE FROM shop.orders WHERE id = 2").unwrap();
    let (options, _work) = options();
    let source = source(&server);
    let prepared = FlashbackPlan::new(&source, &orders(), &asked, options).unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    assert_eq!(rows(&mut made.private.connect(None).unwrap()), expected);
    let target = TableName::read("rescue.orders", "");
    let of_then = TableRows {
        table: &prepared.tables[0],
        clause: "",
    };
    let (endpoint, stop) = (server.endpoint(), Stop::default());
    into(
        &made.private,
        of_then,
        &target,
        &endpoint,
        &Gate::own(),
        stop,
    )
    .unwrap();
    let query = query.replace("shop", "rescue");
    let beside: Vec<(i32, Option<String>, i32)> = control.rows(query).unwrap();
    assert_eq!(beside, expected);
    // After a script the server has computed it anew, and the rehearsal says so.
    let triggers = Triggers::read(&prepared, false).unwrap();
    let (mut undo, _) = Undo::read(&prepared, TransactionFilter::default()).unwrap();
    let private = prepared.start_private(&binary).unwrap();
    let rehearsal = Rehearsal::new(&prepared, &private, triggers).unwrap();
    let (_, rehearsed) = rehearsal.perform(&mut undo, "").unwrap();
    let named = ["shop.orders id=2: has other values than before in shown"];
    assert_eq!(rehearsed.differences, named);
}

/// Keys that a collation takes for the same, swapped keys, and images beyond the memory that they may take.
pub(crate) fn keys_are_told_apart_by_bytes(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id VARCHAR(20) COLLATE utf8mb4_general_ci, n INT NOT NULL, c VARCHAR(50), PRIMARY KEY (id), UNIQUE KEY (n)) CHARSET utf8mb4")
        .unwrap();
    for n in 0..500 {
        control
            .run(format!(
                "INSERT INTO shop.orders VALUES ('Key{n}', {n}, REPEAT('x', 40))"
            ))
            .unwrap();
    }
    let query = "SELECT id, HEX(id), n, c FROM shop.orders ORDER BY id";
    let rows = |connection: &mut Connection| -> Vec<(String, String, i32, String)> {
        connection.rows(query).unwrap()
    };
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let expected = rows(&mut control);
    thread::sleep(Duration::from_millis(1100));
    for statement in [
        "UPDATE shop.orders SET id = LOWER(id) WHERE n < 100",
        "DELETE FROM shop.orders WHERE id = 'key5'",
        "INSERT INTO shop.orders VALUES ('KEY5', 5, 'new')",
        "UPDATE shop.orders SET n = -1 - n WHERE n < 200",
        "UPDATE shop.orders SET n = n + 101 WHERE n BETWEEN -100 AND -1",
        "UPDATE shop.orders SET c = 'changed' WHERE n > 300",
        "DELETE FROM shop.orders WHERE n > 490",
    ] {
        control.run(statement).unwrap();
    }
    let source = source(&server);
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let asked = MomentRequest::read(&time.unwrap());
    for memory_bytes in [1 << 20, 1000] {
        let (mut options, _work) = options();
        options.memory_bytes = memory_bytes;
        let prepared = FlashbackPlan::new(&source, &orders(), &asked, options).unwrap();
        let made = prepared.make(&binary, State::Then, "").unwrap();
        assert_eq!(rows(&mut made.private.connect(None).unwrap()), expected);
        // Conditions that are met now or were then.
        let some = prepared
            .make(&binary, State::Then, " WHERE n BETWEEN 10 AND 20")
            .unwrap();
        let mut connection = some.private.connect(None).unwrap();
        let found: Vec<i32> = connection
            .rows("SELECT n FROM shop.orders WHERE n BETWEEN 10 AND 20 ORDER BY n")
            .unwrap();
        assert_eq!(found, (10..=20).collect::<Vec<_>>());
    }
}

/// What `binlog_row_image` saves in a transaction is the images' columns, by their lengths.
pub(crate) fn images_take_the_bytes_that_their_columns_say(flavor: Flavor) {
    const UPDATES: u64 = 100;
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL) CHARSET latin1",
        "INSERT INTO shop.orders VALUES (1, 0, REPEAT('c', 119), REPEAT('p', 59))",
    ] {
        control.run(statement).unwrap();
    }
    let status = match flavor {
        Flavor::Mysql => "SHOW BINARY LOG STATUS",
        Flavor::Mariadb => "SHOW MASTER STATUS",
    };
    let mut bytes_of = |image: &str| {
        let set = format!("SET SESSION binlog_row_image = '{image}'");
        control.run(set).unwrap();
        let row: Row = control.first(status).unwrap().unwrap();
        let before: u64 = row.get(1).unwrap();
        for _ in 0..UPDATES {
            control
                .run("UPDATE shop.orders SET k = k + 1 WHERE id = 1")
                .unwrap();
        }
        let row: Row = control.first(status).unwrap().unwrap();
        row.get::<u64, _>(1).unwrap() - before
    };
    let (full, minimal) = (bytes_of("FULL"), bytes_of("MINIMAL"));
    // NULL bits, two numbers, and two texts with their lengths, before and after; or only the key and the number.
    let expected = 2 * (1 + 4 + 4 + 1 + 119 + 1 + 59) - 2 * (1 + 4);
    let saved = (full - minimal) as f64 / UPDATES as f64;
    let off = (saved / f64::from(expected) - 1.0).abs();
    assert!(off < 0.1, "{saved} of {expected} bytes");
}
