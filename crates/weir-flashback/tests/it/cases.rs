//! What a load does not do by itself: forms of the log, definitions, keys, clocks, replicas.

use std::thread;
use std::time::Duration;

use weir_flashback::{
    FlashbackPlan, Moment, MomentRequest, Rehearsal, RehearsalResult, State, Stop, TableName,
    TableRows, TransactionFilter, Triggers, Undo, find_like, into, rehearse,
};
use weir_model::Flavor;
use weir_mysql::{Connection, Gate, Row};
use weir_server::ServerBinary;

use crate::random::{Random, change};
use crate::undo::place;
use crate::{connect, definition, dump, flash, logging, options, orders, source, start};

/// Each way in which a log may be written.
pub(crate) fn every_form_of_the_log_says_the_same(flavor: Flavor) {
    let forms: Vec<Vec<(&str, &str)>> = match flavor {
        Flavor::Mysql => vec![
            vec![("binlog_checksum", "NONE")],
            vec![("binlog_transaction_compression", "ON")],
            vec![
                ("binlog_transaction_compression", "ON"),
                ("binlog_checksum", "NONE"),
            ],
            vec![
                ("binlog_row_value_options", "PARTIAL_JSON"),
                ("binlog_row_metadata", "FULL"),
            ],
            vec![
                ("gtid_mode", "OFF"),
                ("enforce_gtid_consistency", "OFF"),
                ("binlog_rows_query_log_events", "ON"),
            ],
        ],
        Flavor::Mariadb => vec![
            vec![("binlog_checksum", "NONE")],
            vec![
                ("log_bin_compress", "ON"),
                ("log_bin_compress_min_len", "10"),
            ],
            vec![
                ("log_bin_compress", "ON"),
                ("log_bin_compress_min_len", "10"),
                ("binlog_checksum", "NONE"),
            ],
            vec![("binlog_row_metadata", "FULL"), ("binlog_format", "MIXED")],
        ],
    };
    the_forms_say_the_same(&weir_testing::binary(flavor), &forms);
}

/// Encrypted, with and without compression and checksums. The server decrypts what it sends.
#[test]
fn every_form_of_an_encrypted_log_says_the_same() {
    let Some(plugins) = weir_testing::key_management() else {
        weir_testing::skipped(
            "an encrypted log of MariaDB",
            "its plugin file_key_management is not installed",
        );
        return;
    };
    let keys = tempfile::tempdir().unwrap();
    let key_file = keys.path().join("keys");
    std::fs::write(&key_file, "1;770A8A65DA156D24EE2A093277530142\n").unwrap();
    let (plugins, key_file) = (
        plugins.display().to_string(),
        key_file.display().to_string(),
    );
    let encrypted = [
        ("encrypt_binlog", "ON"),
        ("plugin_dir", &*plugins),
        ("plugin_load_add", "file_key_management"),
        ("file_key_management_filename", &key_file),
    ];
    let compressed = [
        ("log_bin_compress", "ON"),
        ("log_bin_compress_min_len", "10"),
    ];
    let plain = [("binlog_checksum", "NONE")];
    let forms = [
        encrypted.to_vec(),
        [&encrypted[..], &compressed].concat(),
        [&encrypted[..], &plain].concat(),
        [&encrypted[..], &compressed, &plain].concat(),
    ];
    the_forms_say_the_same(&weir_testing::binary(Flavor::Mariadb), &forms);
}

/// As above, of `MySQL`, which has its key in a keyring.
#[test]
fn every_form_of_an_encrypted_log_of_mysql_says_the_same() {
    let Some((binary, _folder)) = weir_testing::keyring_server() else {
        weir_testing::skipped(
            "an encrypted log of MySQL",
            "its component component_keyring_file is not installed",
        );
        return;
    };
    let encrypted = ("binlog_encryption", "ON");
    let forms = [
        vec![encrypted],
        vec![encrypted, ("binlog_transaction_compression", "ON")],
    ];
    the_forms_say_the_same(&binary, &forms);
}

/// With `MIXED`, which is `MariaDB`'s default, a statement that is safe is logged as such.
#[test]
fn a_statement_in_a_mixed_log_is_refused_where_it_stands() {
    let (server, _directory) = start(Flavor::Mariadb, &[("binlog_format", "MIXED")]);
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, c INT)",
        "INSERT INTO shop.orders VALUES (1, 0), (2, 0)",
    ] {
        control.run(statement).unwrap();
    }
    thread::sleep(Duration::from_millis(1_100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1_100));
    control
        .run("UPDATE shop.orders SET c = UUID_SHORT() WHERE id = 1")
        .unwrap();
    let source = source(&server);
    let asked = MomentRequest::read(&time.unwrap());
    let changes = || {
        let (options, _work) = options();
        let prepared = FlashbackPlan::new(&source, &orders(), &asked, options).unwrap();
        prepared.changes(&mut |_| Ok(()))
    };
    // One that is not safe is logged as rows.
    assert_eq!(changes().unwrap().changes, 1);
    let before: Row = control.first("SHOW MASTER STATUS").unwrap().unwrap();
    let position: u64 = before.get(1).unwrap();
    control
        .run("UPDATE shop.orders SET c = 7 WHERE id = 2")
        .unwrap();
    let error = changes().unwrap_err().to_string();
    assert!(error.contains("`UPDATE shop.orders SET c = 7"), "{error}");
    let place = error.split("binlog.000001:").nth(1).unwrap();
    let found: u64 = place.split(',').next().unwrap().parse().unwrap();
    // The statement stands behind the start of its transaction.
    assert!((position..position + 100).contains(&found), "{error}");
}

fn the_forms_say_the_same(binary: &ServerBinary, forms: &[Vec<(&str, &str)>]) {
    let flavor = binary.flavor;
    for (number, form) in forms.iter().enumerate() {
        let (server, _directory) =
            weir_testing::start_program(binary, &[&logging(flavor)[..], form].concat());
        let mut control = connect(&server);
        if form.contains(&("binlog_format", "MIXED")) {
            control.run("SET SESSION binlog_format = 'ROW'").unwrap();
        }
        control.run("CREATE DATABASE shop").unwrap();
        control.run(definition(flavor)).unwrap();
        let mut random = Random(77 + number as u64);
        for _ in 0..60 {
            change(&mut random, &mut control, flavor);
        }
        thread::sleep(Duration::from_millis(1100));
        let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
        let expected = dump(&mut control);
        thread::sleep(Duration::from_millis(1100));
        for _ in 0..60 {
            change(&mut random, &mut control, flavor);
        }
        if flavor == Flavor::Mysql {
            control
                .run("UPDATE shop.orders SET js = JSON_SET(js, '$.a', 7, '$.b[0]', 'x')")
                .unwrap();
        }
        let found = flash(&server, &MomentRequest::read(&time.unwrap()));
        assert!(expected.len() > 10 && expected != dump(&mut control));
        assert_eq!(found, expected, "{form:?}");
    }
}

/// Everything since a time is taken back by the script on a copy of the table as it is: it is the table of then.
pub(crate) fn a_script_makes_the_table_of_then(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control.run(definition(flavor)).unwrap();
    let mut random = Random(4_711);
    for _ in 0..120 {
        change(&mut random, &mut control, flavor);
    }
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let expected = dump(&mut control);
    thread::sleep(Duration::from_millis(1100));
    for _ in 0..120 {
        change(&mut random, &mut control, flavor);
    }
    let (options, _work) = options();
    let source = source(&server);
    let prepared = FlashbackPlan::new(
        &source,
        &orders(),
        &MomentRequest::read(&time.unwrap()),
        options,
    )
    .unwrap();
    let (mut undo, told) = Undo::read(&prepared, TransactionFilter::default()).unwrap();
    let script = undo.script(&prepared.tables, "here", "then", &told);
    assert_eq!(script.conflicts, Vec::<String>::new());
    assert!(script.changes().len() > 100, "{}", script.text);
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Now, "").unwrap();
    let mut copy = made.private.connect(Some("shop")).unwrap();
    assert_eq!(dump(&mut copy), dump(&mut control));
    let missed = rehearse(&made.private, &script).unwrap();
    assert_eq!(missed, None);
    let found = dump(&mut copy);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    let rehearsal = Rehearsal::new(&prepared, &made.private, Triggers::default()).unwrap();
    let (again, rehearsed) = rehearsal.perform(&mut undo, "").unwrap();
    assert!(again.changes().eq(script.changes()));
    assert_eq!(rehearsed, RehearsalResult::default());
}

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

/// Which time the log has of a statement that takes long.
pub(crate) fn a_long_statement_has_the_time_that_the_page_says(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY, c INT)")
        .unwrap();
    control
        .run("INSERT INTO shop.orders VALUES (1, 0)")
        .unwrap();
    thread::sleep(Duration::from_millis(1100));
    let during = {
        let mut other = connect(&server);
        let handle = thread::spawn(move || {
            other
                .run("UPDATE shop.orders SET c = 1 WHERE SLEEP(4) = 0")
                .unwrap();
        });
        thread::sleep(Duration::from_secs(2));
        let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
        handle.join().unwrap();
        time.unwrap()
    };
    let found = {
        let (options, _work) = options();
        let source = source(&server);
        let prepared =
            FlashbackPlan::new(&source, &orders(), &MomentRequest::read(&during), options).unwrap();
        let binary = find_like(&source, Some(&server.binary().path)).unwrap();
        let made = prepared.make(&binary, State::Then, "").unwrap();
        let found: Option<i32> = made
            .private
            .connect(None)
            .unwrap()
            .first("SELECT c FROM shop.orders")
            .unwrap();
        found.unwrap()
    };
    // MySQL logs when a transaction was committed, MariaDB when its last statement began.
    let expected = match flavor {
        Flavor::Mysql => 0,
        Flavor::Mariadb => 1,
    };
    assert_eq!(found, expected);
}

/// Times of a clock that jumps are one moment each or refused: a zone with an hour that is left out and one that comes
/// twice, made by hand, since servers need no tables of zones.
pub(crate) fn times_of_a_clock_that_jumps_are_refused(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    let seconds: Option<(i64, i64)> = control
        .first("SELECT CAST(UNIX_TIMESTAMP('2026-03-29 01:00:00') AS SIGNED), CAST(UNIX_TIMESTAMP('2026-10-25 01:00:00') AS SIGNED)")
        .unwrap();
    let (spring, autumn) = seconds.unwrap();
    control.run("SET SESSION time_zone = '+00:00'").unwrap();
    for statement in [
        "INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (77, 'N')".to_owned(),
        "INSERT INTO mysql.time_zone_name VALUES ('Test/Jumps', 77)".to_owned(),
        "INSERT INTO mysql.time_zone_transition_type VALUES (77, 0, 3600, 0, 'W'), (77, 1, 7200, 1, 'S')".to_owned(),
        format!("INSERT INTO mysql.time_zone_transition VALUES (77, -2147483648, 0), (77, {spring}, 1), (77, {autumn}, 0)"),
    ] {
        control.run(statement).unwrap();
    }
    control.run("SET GLOBAL time_zone = 'Test/Jumps'").unwrap();
    let source = source(&server);
    let mut reader = source.open().unwrap();
    let mut resolve = |text: &str| Moment::resolve(&MomentRequest::read(text), &mut reader);
    for (text, why) in [
        ("2026-03-29 02:30:00", "never showed"),
        ("2026-10-25 02:30:00", "twice"),
    ] {
        let error = resolve(text).unwrap_err().to_string();
        assert!(error.contains(why) && error.contains("offset"), "{error}");
    }
    let us = |seconds: i64| Moment::Time(seconds as u64 * 1_000_000);
    for (text, expected) in [
        ("2026-03-29 01:59:59", us(spring - 1)),
        ("2026-03-29 03:00:00", us(spring)),
        ("2026-10-25 01:59:59", us(autumn - 3_601)),
        ("2026-10-25 03:00:00", us(autumn + 3_600)),
        ("2026-10-25T02:30:00+02:00", us(autumn - 1_800)),
        ("2026-10-25T02:30:00+01:00", us(autumn + 1_800)),
        ("2026-10-25 00:30:00Z", us(autumn - 1_800)),
    ] {
        assert_eq!(resolve(text).unwrap(), expected, "{text}");
    }
}

/// Replicas go on while Weir reads as one of them, and none has its id.
pub(crate) fn real_replicas_are_not_disturbed(flavor: Flavor) {
    let mut servers = weir_testing::start_replicated(flavor, weir_model::Replication::Async, 2);
    let mut control = connect(&servers.primary);
    if flavor == Flavor::Mariadb {
        control.run("SET GLOBAL binlog_format = 'ROW'").unwrap();
        control = connect(&servers.primary);
    }
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY)")
        .unwrap();
    control.run("INSERT INTO shop.orders VALUES (1)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1100));
    control.run("INSERT INTO shop.orders VALUES (2)").unwrap();
    // Connections that send the log, by the servers' numbers.
    let senders = |control: &mut Connection| -> Vec<u64> {
        let query = "SELECT id FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%' ORDER BY id";
        control.rows(query).unwrap()
    };
    let before = senders(&mut control);
    assert_eq!(before.len(), 2);
    let (options, _work) = options();
    let source = source(&servers.primary);
    let prepared = FlashbackPlan::new(
        &source,
        &orders(),
        &MomentRequest::read(&time.unwrap()),
        options,
    )
    .unwrap();
    for _ in 0..3 {
        let mut inserted = 0;
        prepared
            .changes(&mut |change| {
                inserted += u32::from(change.row.before.is_none());
                Ok(())
            })
            .unwrap();
        assert_eq!(inserted, 1);
    }
    control.run("INSERT INTO shop.orders VALUES (3)").unwrap();
    for replica in &mut servers.replicas {
        let mut connection = connect(replica);
        let mut found = 0;
        for _ in 0..200 {
            let count: Option<i64> = connection
                .first("SELECT COUNT(*) FROM shop.orders")
                .unwrap_or(None);
            found = count.unwrap_or(0);
            if found == 3 {
                break;
            }
            thread::sleep(Duration::from_millis(50));
        }
        assert_eq!(found, 3);
    }
    assert_eq!(senders(&mut control)[..2], before[..]);
}

/// What a foreign key deleted in the child is in MySQL's log from 9.6 on.
#[test]
fn rows_that_a_foreign_key_deleted_are_there_then() {
    let (server, _directory) = start(Flavor::Mysql, &[]);
    let version = server.binary().version;
    if (version.major, version.minor) < (9, 6) {
        weir_testing::skipped(
            "logged cascades",
            "the MySQL of this machine is older than 9.6",
        );
        return;
    }
    let mut control = connect(&server);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.parent (id INT PRIMARY KEY)")
        .unwrap();
    control
        .run("CREATE TABLE shop.orders (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES shop.parent (id) ON DELETE CASCADE ON UPDATE CASCADE)")
        .unwrap();
    control
        .run("INSERT INTO shop.parent VALUES (1), (2), (3)")
        .unwrap();
    control
        .run("INSERT INTO shop.orders VALUES (1, 1), (2, 2), (3, 3)")
        .unwrap();
    let query = "SELECT id, p FROM shop.orders ORDER BY id";
    let expected: Vec<(i32, i32)> = control.rows(query).unwrap();
    thread::sleep(Duration::from_millis(20));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    control.run("DELETE FROM shop.parent WHERE id = 1").unwrap();
    control
        .run("UPDATE shop.parent SET id = 20 WHERE id = 2")
        .unwrap();
    assert_ne!(control.rows::<(i32, i32)>(query).unwrap(), expected);
    let (options, _work) = options();
    let source = source(&server);
    let prepared = FlashbackPlan::new(
        &source,
        &orders(),
        &MomentRequest::read(&time.unwrap()),
        options,
    )
    .unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    let found: Vec<(i32, i32)> = made.private.connect(None).unwrap().rows(query).unwrap();
    assert_eq!(found, expected);
}

/// Names with a tag are read, and found again in the log.
#[test]
fn a_transaction_with_a_tag_is_found_by_its_name() {
    let (server, _directory) = start(
        Flavor::Mysql,
        &[("gtid_mode", "ON"), ("enforce_gtid_consistency", "ON")],
    );
    let version = server.binary().version;
    if (version.major, version.minor) < (8, 4) {
        weir_testing::skipped(
            "tags of GTIDs",
            "the MySQL of this machine is older than 8.4",
        );
        return;
    }
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY)",
        "INSERT INTO shop.orders VALUES (1)",
        "SET SESSION gtid_next = 'AUTOMATIC:night'",
        "INSERT INTO shop.orders VALUES (2)",
        "SET SESSION gtid_next = 'AUTOMATIC'",
        "INSERT INTO shop.orders VALUES (3)",
    ] {
        control.run(statement).unwrap();
    }
    let source = source(&server);
    let seen = |asked: &MomentRequest| {
        let (options, _work) = options();
        let prepared = FlashbackPlan::new(&source, &orders(), asked, options).unwrap();
        let mut names = Vec::new();
        prepared
            .changes(&mut |change| {
                names.push(change.transaction.name());
                assert!(change.transaction.start.is_exact);
                Ok(())
            })
            .unwrap();
        names
    };
    // The table was made after the beginning of the log, which is no state that can be told.
    let (options, _work) = options();
    let from_start =
        FlashbackPlan::new(&source, &orders(), &MomentRequest::Start, options).unwrap();
    let mut names = Vec::new();
    from_start
        .known_changes(&mut |change| {
            names.push(change.transaction.name());
            Ok(())
        })
        .unwrap();
    assert_eq!(names.len(), 3);
    assert!(names[1].contains(":night:"), "{names:?}");
    let tagged = names[1].parse().unwrap();
    assert_eq!(seen(&MomentRequest::Before(tagged)), names[1..]);
    let tagged = names[1].parse().unwrap();
    assert_eq!(seen(&MomentRequest::After(tagged)), names[2..]);
}
