//! Foreign keys that change rows of the child without a word in the log.

use std::thread;
use std::time::Duration;

use weir_flashback::{FlashbackPlan, MomentRequest, State, find_like};
use weir_model::Flavor;

use crate::{connect, options, orders, plan, source, start};

/// MySQL before 9.6, which later ones still are by `innodb_native_foreign_keys`, and `MariaDB`.
pub(crate) fn a_foreign_key_that_the_server_does_not_log_is_refused(flavor: Flavor) {
    let version = weir_testing::binary(flavor).version;
    let is_later = flavor == Flavor::Mysql && (version.major, version.minor) >= (9, 6);
    let native: &[(&str, &str)] = if is_later {
        &[("innodb_native_foreign_keys", "ON")]
    } else {
        &[]
    };
    let (server, _directory) = start(flavor, native);
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.parent (id INT PRIMARY KEY)",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES shop.parent (id) ON DELETE CASCADE)",
        "INSERT INTO shop.parent VALUES (1), (2)",
        "INSERT INTO shop.orders VALUES (10, 1), (20, 2)",
    ] {
        control.run(statement).unwrap();
    }
    thread::sleep(Duration::from_millis(1_100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    let asked = MomentRequest::read(&time.unwrap());
    thread::sleep(Duration::from_millis(1_100));
    control.run("DELETE FROM shop.parent WHERE id = 1").unwrap();
    let source = source(&server);
    let (refusing, _work) = options();
    let error = FlashbackPlan::new(&source, &orders(), &asked, refusing).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("ON DELETE CASCADE") && error.contains("--ignore-cascades"),
        "{error}"
    );
    // Why: the row that the parent took along is missed. Whoever goes on is told so.
    let (mut ignoring, _work) = options();
    ignoring.ignore_cascades = true;
    let prepared = FlashbackPlan::new(&source, &orders(), &asked, ignoring).unwrap();
    assert!(prepared.tables[0].unlogged.is_some());
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    let mut connection = made.private.connect(None).unwrap();
    let found: Vec<i32> = connection.rows("SELECT id FROM shop.orders").unwrap();
    assert_eq!(found, [20]);
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
    let source = source(&server);
    let (prepared, _work) = plan(&source, &MomentRequest::read(&time.unwrap()));
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    let found: Vec<(i32, i32)> = made.private.connect(None).unwrap().rows(query).unwrap();
    assert_eq!(found, expected);
}
