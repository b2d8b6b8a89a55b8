//! `weir advise`: what a running server's counters raise as questions, the study that it writes, and the whole way on a
//! copy.

use std::fs;

use weir_model::Flavor;
use weir_testing::{connect, on_both_flavors};

use crate::harness::Output;
use crate::look::under_load;
use crate::upgrade::{dump, general_log};
use crate::users::{PASSWORD, Users};

on_both_flavors! {
    questions_come_from_the_counters_and_the_study_has_the_servers_settings
    candidates_are_tried_on_a_copy
}

/// A server with a small buffer for sorts, which one statement has overrun.
fn with_sorts(flavor: Flavor) -> Users {
    let own = [
        ("sort_buffer_size", "32768"),
        ("innodb_io_capacity", "150"),
        ("max_connections", "77"),
    ];
    let users = Users::with(flavor, &own);
    let mut connection = connect(&users.server().endpoint());
    for statement in [
        "CREATE TABLE sbtest.wide (id INT PRIMARY KEY AUTO_INCREMENT, pad VARCHAR(200))",
        "INSERT INTO sbtest.wide (pad) VALUES (REPEAT('x', 150))",
    ] {
        connection.run(statement).unwrap();
    }
    for _ in 0..12 {
        let double = "INSERT INTO sbtest.wide (pad) SELECT CONCAT(id, pad) FROM sbtest.wide";
        connection.run(double).unwrap();
    }
    let sort = "SELECT pad FROM sbtest.wide ORDER BY pad";
    connection.run(sort).unwrap();
    // The dump has a smaller one.
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.item (id INT PRIMARY KEY, kind INT, name VARCHAR(200))",
        "INSERT INTO shop.item SELECT id, id % 100, pad FROM sbtest.wide",
        "INSERT INTO shop.item SELECT id + 100000, id % 100, pad FROM sbtest.wide",
    ] {
        connection.run(statement).unwrap();
    }
    users
}

/// Runs `look` while clients ask for what no index has: of four, one is in the processlist whenever the look reads it.
fn without_an_index<T>(users: &Users, look: impl FnOnce() -> T) -> T {
    let client: (&[&str], &[&str]) = (
        &["USE shop"],
        &["SELECT COUNT(*) FROM item WHERE kind = {} % 100 AND LENGTH(name) > 3"],
    );
    under_load(&users.server().endpoint(), &[client; 4], look)
}

/// `weir advise` with a capture and a dump of a smaller shop: what it asks is of the server alone.
fn advise(users: &Users, more: &[&str]) -> Output {
    let log = general_log(&users.world);
    let capture = users.world.path("shop.weircap");
    let words = [log.to_str().unwrap(), "-o", capture.to_str().unwrap()];
    if !capture.exists() {
        users
            .weir(&[&["capture", "import"], &words[..]].concat())
            .succeeds();
    }
    let data = dump(&users.world);
    let (url, program) = (users.url("app.cnf"), users.flavor.to_string());
    let of_server = ["advise", &url, "--seconds", "2", "--server", &program];
    let of_copy = ["--warmup", "0s", "--capture", capture.to_str().unwrap()];
    let data = ["--data", data.to_str().unwrap()];
    let arguments = [&of_server[..], &of_copy[..], &data[..], more];
    let weir = users.weir_with_servers(&arguments.concat());
    without_an_index(users, || weir.at(users.world.home.path()).output())
}

fn questions_come_from_the_counters_and_the_study_has_the_servers_settings(flavor: Flavor) {
    let users = with_sorts(flavor);
    let url = users.url("app.cnf");
    let asked = without_an_index(&users, || {
        users.weir(&["advise", &url, "--seconds", "2"]).succeeds()
    });
    for part in [
        "ALTER TABLE `shop`.`item` ADD INDEX (`kind`)",
        "% of the time read about ",
        "sort_buffer_size 32K -> 2M",
        "sorts were merged from files (Sort_merge_passes ",
        "since the start",
        "innodb_adaptive_hash_index",
        "no counter speaks for or against it",
        "durability has a price",
        "next: `weir capture poll ",
    ] {
        assert!(asked.stdout.contains(part), "{part}: {}", asked.stdout);
    }
    for part in ["query_cache_type", PASSWORD] {
        assert!(!asked.stdout.contains(part), "{part}: {}", asked.stdout);
    }
    let written = advise(&users, &["--out", "first"]);
    assert_eq!(
        written.code,
        Some(0),
        "{}{}",
        written.stdout,
        written.stderr
    );
    assert!(
        written.stdout.contains("time:  about "),
        "{}",
        written.stdout
    );
    let study = fs::read_to_string(users.world.home.path().join("first/advise.toml")).unwrap();
    for part in [
        "kind = \"screen\"",
        "sort_buffer_size = [\"32K\", \"2M\"]",
        "max_connections = \"77\"",
        "[[data.before]]\nname = \"shop.item (kind)\"",
        "\"before.shop.item (kind)\" = [\"without\", \"with\"]",
    ] {
        assert!(study.contains(part), "{part}: {study}");
    }
    // A setting that is asked stands among the factors alone.
    let around = study.split("[data]").next().unwrap();
    assert!(!around.contains("sort_buffer_size"), "{study}");
    let again = advise(&users, &["--out", "first"]);
    assert!(again.stderr.contains("it exists"), "{}", again.stderr);
    users.world.assert_nothing_left();
}

fn candidates_are_tried_on_a_copy(flavor: Flavor) {
    let users = with_sorts(flavor);
    let told = advise(&users, &["--out", "first", "--run", "--work", "copies"]);
    // A busy machine may refuse a comparison.
    assert!(
        matches!(told.code, Some(0 | 3)),
        "{}{}",
        told.stdout,
        told.stderr
    );
    for part in ["worth changing", "report: ", "result: "] {
        assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
    }
    let folder = users.world.home.path().join("first");
    let text = users
        .weir(&["report", folder.to_str().unwrap(), "--format", "text"])
        .output();
    assert!(
        text.stdout.contains("ranking of the screen"),
        "{}",
        text.stdout
    );
    users.world.assert_nothing_left();
}
