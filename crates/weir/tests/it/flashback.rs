//! `weir flashback` on servers of the user's, played by private ones.

mod clients;
mod ends;
mod night;
mod refusals;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clients::a_script_keeps_all_or_nothing_whoever_reads_it;
use ends::{
    a_full_disk_is_told_in_one_line, a_log_that_is_purged_while_it_is_read_is_told_whole,
    a_private_server_serves_the_tables_until_it_is_stopped, a_stopped_flashback_leaves_nothing,
    answers_in_json_are_an_object_a_line, what_may_not_be_read_is_named,
};
use night::somebody_ran_update_without_where;
use refusals::what_cannot_be_told_is_refused;
use weir_model::Flavor;
use weir_mysql::{ClientError, Connection};
use weir_testing::connect;

use crate::harness::{Output, Weir, wait_until};
use crate::users::{PASSWORD, Users};

/// A server that logs rows.
fn users(flavor: Flavor, more: &[(&str, &str)]) -> Users {
    let mut variables = vec![("log_bin", "binlog"), ("server_id", "7")];
    match flavor {
        Flavor::Mysql => variables.push(("binlog_rows_query_log_events", "ON")),
        Flavor::Mariadb => variables.push(("binlog_format", "ROW")),
    }
    variables.extend(more);
    Users::with(flavor, &variables)
}

fn connection(users: &Users) -> Connection {
    connect(&users.server().endpoint())
}

fn weir(users: &Users, arguments: &[&str]) -> Weir {
    users.flashback(arguments)
}

fn flashback(users: &Users, arguments: &[&str]) -> Output {
    let url = users.url("app.cnf");
    weir(users, &[&[url.as_str()], arguments].concat()).output()
}

fn succeeds(users: &Users, arguments: &[&str]) -> Output {
    let output = flashback(users, arguments);
    assert_eq!(output.code, Some(0), "{}{}", output.stdout, output.stderr);
    assert!(!output.stdout.contains(PASSWORD) && !output.stderr.contains(PASSWORD));
    output
}

/// The one line of a refusal; nothing is left running, and the server's tables are what they were.
fn refused(users: &Users, arguments: &[&str]) -> String {
    let url = users.url("app.cnf");
    let error = weir(users, &[&[url.as_str()], arguments].concat()).fails();
    users.world.assert_nothing_left();
    assert_eq!(users.changes().len(), 0);
    error
}

fn one(connection: &mut Connection, query: &str) -> String {
    connection.first::<String>(query).unwrap().unwrap()
}

/// The server's clock, after a pause that also a log of whole seconds sees.
fn now(connection: &mut Connection) -> String {
    thread::sleep(Duration::from_millis(1_100));
    let now = one(connection, "SELECT CAST(NOW(6) AS CHAR)");
    thread::sleep(Duration::from_millis(1_100));
    now
}

fn shop(connection: &mut Connection, orders: u32) {
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20) NOT NULL, total DECIMAL(10,2), note TEXT)",
        "CREATE TABLE shop.items (id INT PRIMARY KEY, order_id INT, name VARCHAR(20))",
    ] {
        connection.run(statement).unwrap();
    }
    for id in 1..=orders {
        connection
            .run(format!(
                "INSERT INTO shop.orders VALUES ({id}, 'new', {id}.50, 'it''s order {id}')"
            ))
            .unwrap();
    }
    connection
        .run("INSERT INTO shop.items SELECT id, id, CONCAT('item ', id) FROM shop.orders")
        .unwrap();
}

/// Writes to the table until it is stopped; counts and the longest statement.
struct Load {
    stop: Arc<AtomicBool>,
    statements: Arc<AtomicU64>,
    thread: thread::JoinHandle<Duration>,
}

impl Load {
    fn start(users: &Users) -> Self {
        let (stop, statements) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU64::new(0)),
        );
        let mut connection = connection(users);
        let (stop_there, count) = (Arc::clone(&stop), Arc::clone(&statements));
        let thread = thread::spawn(move || {
            let mut longest = Duration::ZERO;
            let mut number = 0_u64;
            while !stop_there.load(Ordering::Relaxed) {
                number += 1;
                let id = 10_000 + number;
                let began = Instant::now();
                connection
                    .run(format!(
                        "INSERT INTO shop.orders VALUES ({id}, 'load', 1, NULL)"
                    ))
                    .unwrap();
                connection
                    .run(format!(
                        "UPDATE shop.items SET name = 'load {number}' WHERE id = {}",
                        1 + number % 50
                    ))
                    .unwrap();
                longest = longest.max(began.elapsed() / 2);
                count.fetch_add(1, Ordering::Relaxed);
                thread::sleep(Duration::from_millis(2));
            }
            longest
        });
        Self {
            stop,
            statements,
            thread,
        }
    }

    fn wait_for(&self, more: u64) {
        let target = self.statements.load(Ordering::Relaxed) + more;
        wait_until("the load goes on", || {
            self.statements.load(Ordering::Relaxed) >= target
        });
    }

    /// The longest statement.
    fn stop(self) -> Duration {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// The statements of a script.
fn statements(script: &str) -> Vec<String> {
    let lines = script.lines().filter(|line| !line.starts_with("--"));
    let text = lines.collect::<Vec<_>>().join("\n") + "\n";
    let parts = text.split(";\n").map(|one| one.trim().to_owned());
    parts.filter(|one| !one.is_empty()).collect()
}

/// Runs a script as a client would, which stops at the first error.
fn run_script(connection: &mut Connection, script: &str) -> Result<(), ClientError> {
    for statement in statements(script) {
        connection.run(statement)?;
    }
    Ok(())
}

/// A script that is run twice finds other rows than it made and keeps nothing.
fn a_script_stops_where_the_rows_are_others(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 5);
    let before = now(&mut control);
    control.run("DELETE FROM shop.orders WHERE id = 3").unwrap();
    control
        .run("UPDATE shop.orders SET total = 9 WHERE id = 4")
        .unwrap();
    let file = users.world.path("undo.sql");
    let undo = [
        "--tables",
        "shop.orders",
        "--as-of",
        &before,
        "--undo",
        file.to_str().unwrap(),
    ];
    succeeds(&users, &undo);
    // Of one row only, by what it is now or was then.
    for (condition, statement) in [("total = 9", "UPDATE"), ("id = 3", "INSERT")] {
        let one_row = users.world.path(&format!("{statement}.sql"));
        let mut undo_one = undo.to_vec();
        undo_one[5] = one_row.to_str().unwrap();
        succeeds(&users, &[&undo_one[..], &["--where", condition]].concat());
        let script = fs::read_to_string(&one_row).unwrap();
        let changes: Vec<_> = statements(&script)
            .into_iter()
            .filter(|one| {
                ["UPDATE", "INSERT", "DELETE"]
                    .iter()
                    .any(|verb| one.starts_with(verb))
            })
            .collect();
        assert_eq!(changes.len(), 1, "{script}");
        assert!(changes[0].starts_with(statement), "{script}");
    }
    let error = refused(&users, &undo);
    assert!(error.contains("name a new file"), "{error}");
    let script = fs::read_to_string(&file).unwrap();
    control
        .run("UPDATE shop.orders SET note = 'other' WHERE id = 4")
        .unwrap();
    let mut somebody = connection(&users);
    let error = run_script(&mut somebody, &script).unwrap_err();
    assert!(error.to_string().contains("nothing was changed"), "{error}");
    drop(somebody);
    // The transaction with the conflict came first and kept nothing.
    wait_until("the connection is gone", || {
        one(
            &mut control,
            "SELECT CAST(total AS CHAR) FROM shop.orders WHERE id = 4",
        ) == "9.00"
    });
}

/// A server without a log, and one that does not log the schema.
fn what_is_not_logged_is_refused(flavor: Flavor) {
    let off: &[(&str, &str)] = match flavor {
        Flavor::Mysql => &[("skip_log_bin", "1")],
        Flavor::Mariadb => &[],
    };
    let without = Users::with(flavor, off);
    let mut control = connection(&without);
    shop(&mut control, 1);
    let query = "SELECT * FROM shop.orders AS OF TIMESTAMP NOW()";
    let error = refused(&without, &[query]);
    assert!(error.contains("log_bin is OFF"), "{error}");
    let ignoring = users(flavor, &[("binlog_ignore_db", "shop")]);
    let mut control = connection(&ignoring);
    shop(&mut control, 1);
    let error = refused(&ignoring, &[query]);
    assert!(error.contains("binlog_ignore_db"), "{error}");
}

/// `MariaDB`'s own versions of rows.
#[test]
fn a_versioned_table_is_answered_by_the_server() {
    let users = users(Flavor::Mariadb, &[]);
    let mut control = connection(&users);
    control.run("CREATE DATABASE shop").unwrap();
    control
        .run("CREATE TABLE shop.prices (id INT PRIMARY KEY, price INT) WITH SYSTEM VERSIONING")
        .unwrap();
    control
        .run("INSERT INTO shop.prices VALUES (1, 10), (2, 20)")
        .unwrap();
    for price in 0..20 {
        let time = one(&mut control, "SELECT CAST(NOW(6) AS CHAR)");
        let expected: Vec<(i32, i32)> = control
            .rows("SELECT id, price FROM shop.prices ORDER BY id")
            .unwrap();
        thread::sleep(Duration::from_millis(20));
        control
            .run(format!(
                "UPDATE shop.prices SET price = {price} WHERE id = {}",
                1 + price % 2
            ))
            .unwrap();
        let query =
            format!("SELECT id, price FROM shop.prices AS OF TIMESTAMP '{time}' ORDER BY id");
        let answer = succeeds(&users, &[&query]);
        let lines: Vec<_> = expected
            .iter()
            .map(|(id, price)| format!("{id}\t{price}\n"))
            .collect();
        assert_eq!(
            answer.stdout,
            format!("id\tprice\n{}", lines.concat()),
            "{time}"
        );
        assert!(
            answer.stderr.contains("system-versioned"),
            "{}",
            answer.stderr
        );
    }
}

weir_testing::on_both_flavors! {
    somebody_ran_update_without_where
    a_script_stops_where_the_rows_are_others
    a_script_keeps_all_or_nothing_whoever_reads_it
    what_cannot_be_told_is_refused
    what_is_not_logged_is_refused
    a_stopped_flashback_leaves_nothing
    a_private_server_serves_the_tables_until_it_is_stopped
    a_full_disk_is_told_in_one_line
    a_log_that_is_purged_while_it_is_read_is_told_whole
    what_may_not_be_read_is_named
    answers_in_json_are_an_object_a_line
}
