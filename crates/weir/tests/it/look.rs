//! `weir look` on servers of both flavours: planted problems are named, a clean server has none, and nothing but
//! reading statements is sent.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use weir_model::{Endpoint, Flavor};
use weir_testing::{connect, on_both_flavors};

use crate::harness::{Output, wait_until};
use crate::users::{PASSWORD, Users};

/// Loads `endpoint` while `work` runs: each connection prepares by some statements, then repeats others. `{}` in a
/// statement is a number that grows; one with `?` is prepared.
pub(crate) fn under_load<T>(
    endpoint: &Endpoint,
    connections: &[(&[&str], &[&str])],
    work: impl FnOnce() -> T,
) -> T {
    let stop = &AtomicBool::new(false);
    thread::scope(|scope| {
        for (first, repeated) in connections {
            scope.spawn(move || {
                let mut connection = connect(endpoint);
                for statement in *first {
                    connection.run(statement).unwrap();
                }
                let mut number = 0_u32;
                while !stop.load(Ordering::Relaxed) {
                    for statement in *repeated {
                        number += 1;
                        let statement = statement.replace("{}", &number.to_string());
                        if statement.contains('?') {
                            let value = vec![format!("s{number}")];
                            let rows = connection.execute::<i64>(&statement, value);
                            rows.unwrap();
                        } else {
                            connection.run(&statement).unwrap();
                        }
                    }
                }
            });
        }
        let done = work();
        stop.store(true, Ordering::Relaxed);
        done
    })
}

fn report(output: &Output) -> Value {
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(!output.stdout.contains(PASSWORD) && !output.stderr.contains(PASSWORD));
    serde_json::from_str(&output.stdout).unwrap()
}

/// Names of the problems of a report.
fn problems(json: &Value) -> BTreeSet<String> {
    let sections = ["checks", "indexes", "replication", "memory", "disk"];
    let findings = sections
        .iter()
        .flat_map(|name| json["report"][*name].as_array().unwrap());
    let problems = findings.filter(|finding| finding["weight"] == "problem");
    problems
        .map(|finding| finding["name"].as_str().unwrap().to_owned())
        .collect()
}

fn make_tables(users: &Users) {
    let mut control = connect(&users.server().endpoint());
    control
        .run(
            "CREATE TABLE orders (id INT PRIMARY KEY AUTO_INCREMENT, status VARCHAR(20) NOT NULL, total INT NOT NULL, \
             pad VARCHAR(500) NOT NULL, KEY k_total (total), KEY k_total_pad (total, pad(10))) ENGINE=InnoDB",
        )
        .unwrap();
    control
        .run("CREATE TABLE notes (id INT PRIMARY KEY, body LONGTEXT) ENGINE=InnoDB")
        .unwrap();
    control
        .run("INSERT INTO notes VALUES (1, ''), (2, '')")
        .unwrap();
    control
        .run("INSERT INTO orders (status, total, pad) VALUES ('new', 1, REPEAT('x', 400))")
        .unwrap();
    for doubling in 0..14 {
        let double = format!(
            "INSERT INTO orders (status, total, pad) SELECT CONCAT('s', id % 50), total + {doubling}, pad FROM orders"
        );
        control.run(double).unwrap();
    }
    control.run("ANALYZE TABLE orders").unwrap();
}

fn planted_problems_are_named_with_their_counters(flavor: Flavor) {
    let users = Users::with(
        flavor,
        &[
            ("innodb_buffer_pool_size", "8388608"),
            ("innodb_log_buffer_size", "262144"),
            ("innodb_flush_log_at_trx_commit", "0"),
            ("sync_binlog", "0"),
        ],
    );
    make_tables(&users);
    let row_lock: &[&str] = &[
        "BEGIN",
        "UPDATE notes SET body = '{}' WHERE id = 1",
        "SELECT SLEEP(0.05)",
        "COMMIT",
    ];
    let connections: &[(&[&str], &[&str])] = &[
        (
            &[],
            &[
                "SELECT SUM(LENGTH(pad)) FROM orders WHERE id BETWEEN {} * 997 % 16000 AND {} * 997 % 16000 + 300",
            ],
        ),
        (
            &[],
            &["SELECT COUNT(*) FROM orders WHERE status = ? AND LENGTH(pad) > 5"],
        ),
        (
            &["SET SESSION big_tables = ON"],
            &["SELECT pad, COUNT(*) FROM orders WHERE id < 40 GROUP BY pad"],
        ),
        (
            &[],
            &["UPDATE notes SET body = REPEAT('y', 1500000 + {} % 7) WHERE id = 2"],
        ),
        (&[], row_lock),
        (&[], row_lock),
    ];
    let page = users.world.path("look.html");
    let json = under_load(&users.server().endpoint(), connections, || {
        let arguments = [
            "look",
            &users.url("app.cnf"),
            "--seconds",
            "6",
            "--json",
            "--report",
        ];
        let page = [page.to_str().unwrap()];
        report(&users.weir(&[&arguments[..], &page].concat()).output())
    });
    let named = problems(&json);
    let mut planted = vec!["buffer pool", "row locks", "temporary tables"];
    if flavor == Flavor::Mysql {
        // MariaDB 10.11 counts no such wait under this load, whatever its buffer.
        planted.push("log buffer");
    }
    for planted in planted {
        assert!(
            named.contains(planted),
            "{planted} is not in {named:?}: {json:#}"
        );
    }
    for unplanted in [
        "sorts",
        "joins",
        "table cache",
        "thread cache",
        "connections",
        "replica",
    ] {
        assert!(
            !named.contains(unplanted),
            "{unplanted} is in {named:?}: {json:#}"
        );
    }
    let missing = &json["report"]["missing_indexes"][0];
    assert_eq!(
        (&missing["table"], &missing["columns"][0]),
        (&"orders".into(), &"status".into()),
        "{json:#}"
    );
    let redundant = &json["report"]["indexes"][0];
    assert_eq!(redundant["name"], "redundant index");
    assert!(
        redundant["text"]
            .as_str()
            .unwrap()
            .contains("k_total (total) of sbtest.orders"),
        "{redundant}"
    );
    let heavy = &json["report"]["statements"]["digests"][0];
    assert!(heavy["share"].as_f64().unwrap() > 0.1, "{json:#}");
    let next = json["next"]["command"].as_str().unwrap();
    assert!(
        next.starts_with("weir ddl advise 'ALTER TABLE `sbtest`.`orders` ADD INDEX (`status`)'"),
        "{next}"
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Settings against counters") && page.contains("Innodb_log_waits"));
}

/// The plan of a change would lock its table, so its filter is explained as a query.
fn an_update_that_reads_the_whole_table_misses_an_index(flavor: Flavor) {
    let users = Users::with(flavor, &[("performance_schema", "ON")]);
    make_tables(&users);
    let update = "UPDATE orders SET total = total + 1 WHERE status = 'none {}'";
    let json = under_load(&users.server().endpoint(), &[(&[], &[update])], || {
        let arguments = ["look", &users.url("app.cnf"), "--seconds", "4", "--json"];
        report(&users.weir(&arguments).output())
    });
    let missing = &json["report"]["missing_indexes"][0];
    assert_eq!(
        (&missing["table"], &missing["columns"]),
        (&"orders".into(), &serde_json::json!(["status"])),
        "{json:#}"
    );
}

/// Settings of the server; without those that change by themselves.
fn settings(users: &Users) -> BTreeMap<String, String> {
    let rows: Vec<(String, String)> = connect(&users.server().endpoint())
        .rows("SHOW GLOBAL VARIABLES")
        .unwrap();
    let moves =
        |name: &str| name.starts_with("gtid_") || name == "innodb_buffer_pool_load_at_startup";
    rows.into_iter().filter(|(name, _)| !moves(name)).collect()
}

fn a_clean_server_has_no_problem_and_only_reading_statements_are_sent(flavor: Flavor) {
    let users = Users::with(
        flavor,
        &[
            ("general_log", "ON"),
            ("log_output", "TABLE"),
            ("innodb_buffer_pool_size", "134217728"),
            ("innodb_redo_log_capacity", "67108864"),
        ],
    );
    let endpoint = users.server().endpoint();
    make_tables(&users);
    let before = settings(&users);
    let connections: &[(&[&str], &[&str])] = &[
        (
            &[],
            &[
                "SELECT total FROM orders WHERE id = {} % 1000",
                "DO SLEEP(0.002)",
            ],
        ),
        (
            &[],
            &[
                "UPDATE orders SET pad = '{}' WHERE id = {} % 1000",
                "DO SLEEP(0.01)",
            ],
        ),
    ];
    let url = users.url("app.cnf");
    let json = under_load(&endpoint, connections, || {
        report(
            &users
                .weir(&["look", &url, "--seconds", "5", "--json"])
                .output(),
        )
    });
    assert!(problems(&json).is_empty(), "{json:#}");
    assert_eq!(
        json["report"]["missing_indexes"].as_array().unwrap().len(),
        0,
        "{json:#}"
    );
    assert!(json["report"]["questions_per_s"].as_f64().unwrap() > 20.0);
    assert_eq!(settings(&users), before);
    let sent: Vec<(String, Vec<u8>)> = connect(&endpoint)
        .rows("SELECT command_type, argument FROM mysql.general_log WHERE user_host LIKE 'app%'")
        .unwrap();
    assert!(sent.len() > 15, "{sent:?}");
    for (command, statement) in sent {
        let statement = String::from_utf8(statement).unwrap();
        let reads = ["SELECT ", "SHOW ", "EXPLAIN "]
            .iter()
            .any(|verb| statement.starts_with(verb));
        let is_session = matches!(command.as_str(), "Connect" | "Quit" | "Init DB");
        assert!(
            reads && !statement.contains(" FOR UPDATE") || is_session,
            "{command}: {statement}"
        );
    }
    assert_eq!(users.changes().len(), 0);
    users.world.assert_nothing_left();
}

/// A missing privilege or `performance_schema` is named, with all that they hide.
fn what_cannot_be_seen_is_told(flavor: Flavor) {
    let users = Users::with(flavor, &[("performance_schema", "OFF")]);
    let mut control = connect(&users.server().endpoint());
    for statement in [
        format!("CREATE USER reader@localhost IDENTIFIED BY '{PASSWORD}'"),
        "GRANT PROCESS, SELECT ON *.* TO reader@localhost".to_owned(),
    ] {
        control.run(statement).unwrap();
    }
    users.option_file("reader.cnf", "reader", PASSWORD);
    let unseen = |option_file: &str| -> String {
        let arguments = ["look", &users.url(option_file), "--seconds", "2", "--json"];
        let json = report(&users.weir(&arguments).output());
        assert!(problems(&json).is_empty(), "{json:#}");
        json["report"]["unseen"].to_string()
    };
    let least = unseen("reader.cnf");
    for words in [
        "waits, counts of statements",
        "performance_schema = OFF",
        "a restart",
        "replication",
    ] {
        assert!(least.contains(words), "{words}: {least}");
    }
    assert!(!least.contains("PROCESS"), "{least}");
    let poor = unseen("poor.cnf");
    for words in [
        "GRANT PROCESS",
        "size of the data",
        "open transactions",
        "own sessions only",
    ] {
        assert!(poor.contains(words), "{words}: {poor}");
    }
    let text = users
        .weir(&["look", &users.url("poor.cnf"), "--seconds", "2"])
        .succeeds()
        .stdout;
    assert!(
        text.contains("Weir runs none of it")
            && text.trim_end().lines().last().unwrap().contains("weir "),
        "{text}"
    );
    let error = users.weir(&["look", &users.url("wrong.cnf")]).fails();
    assert!(error.contains("Access denied"), "{error}");
}

fn a_server_that_ends_in_between_is_one_line(flavor: Flavor) {
    let mut users = Users::new(flavor);
    let arguments = ["look", &users.url("app.cnf"), "--watch", "2m"];
    let child = users.weir(&arguments).spawn();
    // Sessions before the one that looks are short: each asks what server it is.
    let mut seen = (None, Instant::now());
    wait_until("one session of the look lasts a second", || {
        let query = "SELECT MAX(ID) FROM information_schema.PROCESSLIST WHERE USER = 'app'";
        let id: Option<Option<u64>> = connect(&users.server().endpoint()).first(query).unwrap();
        if seen.0 != id.flatten() {
            seen = (id.flatten(), Instant::now());
        }
        seen.0.is_some() && seen.1.elapsed() > Duration::from_secs(1)
    });
    users.restart();
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(1));
    assert!(output.stdout.is_empty(), "{}", output.stdout);
    let error = output.stderr.lines().last().unwrap();
    assert!(
        error.starts_with("weir: cannot look at the server: "),
        "{error}"
    );
}

on_both_flavors! {
    planted_problems_are_named_with_their_counters
    an_update_that_reads_the_whole_table_misses_an_index
    a_clean_server_has_no_problem_and_only_reading_statements_are_sent
    what_cannot_be_seen_is_told
    a_server_that_ends_in_between_is_one_line
}
