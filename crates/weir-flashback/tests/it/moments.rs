//! Moments: times, clocks that jump, and names of transactions.

use std::thread;
use std::time::Duration;

use weir_flashback::{FlashbackPlan, Moment, MomentRequest, State, find_like};
use weir_model::Flavor;

use crate::{connect, options, orders, source, start};

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
