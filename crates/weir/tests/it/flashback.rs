//! `weir flashback` on servers of the user's, played by private ones.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::Flavor;
use weir_mysql::Connection;
use weir_server::cache_directory;
use weir_server::testing::connect;

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

/// A call that finds this machine's servers and empty data directories, though its home is the test's.
fn weir(users: &Users, arguments: &[&str]) -> Weir {
    let program = users.server().binary().path.clone();
    let weir = users.weir(&[&["flashback"], arguments].concat());
    let weir = weir.env(
        "XDG_CACHE_HOME",
        cache_directory().ancestors().nth(2).unwrap(),
    );
    match program.ancestors().nth(3) {
        Some(servers) => weir.env("WEIR_SERVERS", servers),
        None => weir,
    }
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

/// 14:02: somebody ran UPDATE without WHERE while the shop was open. The five commands of `docs/flashback.md`.
fn somebody_ran_update_without_where(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 50);
    let load = Load::start(&users);
    load.wait_for(20);
    let before = now(&mut control);
    control
        .run("SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON")
        .unwrap();
    let mut somebody = connection(&users);
    let broken = somebody
        .run("UPDATE shop.orders SET status = 'void' WHERE id < 10000")
        .unwrap();
    assert_eq!(broken.affected_rows, 50);
    load.wait_for(20);

    // 1. What happened to an order that one knows of.
    let url = users.url("app.cnf");
    let told = weir(&users, &["log", &url, "shop.orders", "--key", "42"]).succeeds();
    let line = told
        .stdout
        .lines()
        .find(|line| line.contains("update"))
        .unwrap_or_else(|| panic!("{}", told.stdout));
    assert!(
        told.stdout.contains("status: 'new' -> 'void'"),
        "{}",
        told.stdout
    );
    assert!(
        told.stdout
            .contains("UPDATE shop.orders SET status = 'void'"),
        "{}",
        told.stdout
    );
    let gtid = line.split_whitespace().nth(1).unwrap();

    // 2. The orders as they were, joined with what was in them.
    let query = format!(
        "SELECT o.status, COUNT(*), SUM(o.total) FROM shop.orders AS OF TIMESTAMP '{before}' o \
         JOIN shop.items AS OF TIMESTAMP '{before}' i ON i.order_id = o.id WHERE o.id < 10000 GROUP BY o.status"
    );
    let answer = succeeds(&users, &[&query]);
    assert_eq!(
        answer.stdout, "status\tCOUNT(*)\tSUM(o.total)\nnew\t50\t1300.00\n",
        "{}",
        answer.stderr
    );
    assert!(
        answer.stderr.contains("the first one after it is"),
        "{}",
        answer.stderr
    );
    let narrow = format!(
        "SELECT id, status, note FROM shop.orders AS OF TIMESTAMP '{before}' WHERE id BETWEEN 7 AND 8"
    );
    let answer = succeeds(&users, &[&narrow]);
    assert_eq!(
        answer.stdout,
        "id\tstatus\tnote\n7\tnew\tit's order 7\n8\tnew\tit's order 8\n"
    );
    assert!(
        answer.stderr.contains("shop.orders: 2 rows read"),
        "{}",
        answer.stderr
    );

    // 3. What changed by that transaction and since.
    let tables = ["--tables", "shop.orders"];
    let diff = succeeds(
        &users,
        &[&tables[..], &["--before-gtid", gtid, "--diff"]].concat(),
    );
    assert!(
        diff.stdout
            .contains("shop.orders id=42: changed: status: 'new' -> 'void'"),
        "{}",
        diff.stdout
    );
    assert!(
        diff.stdout.contains("inserted since: id: "),
        "{}",
        diff.stdout
    );

    // 4. A side table: not without leave.
    let into = [
        "--as-of",
        &before,
        "--where",
        "id < 10000",
        "--into",
        "rescue.orders_1402",
    ];
    let error = refused(&users, &[&tables[..], &into].concat());
    assert!(error.contains("--allow-write"), "{error}");
    let made = succeeds(&users, &[&tables[..], &into, &["--allow-write"]].concat());
    assert!(
        made.stdout.contains("rescue.orders_1402: 50 rows"),
        "{}",
        made.stdout
    );
    let same = "SELECT CAST(COUNT(*) AS CHAR) FROM rescue.orders_1402 r JOIN shop.orders o USING (id) \
                WHERE r.status = 'new' AND o.status = 'void' AND r.note = o.note";
    assert_eq!(one(&mut control, same), "50");
    assert!(users.changes_with("rescue") >= 2);

    // 5. The way back. A row that somebody repaired by hand is a conflict.
    control
        .run("UPDATE shop.orders SET status = 'by hand' WHERE id = 7")
        .unwrap();
    let file = users.world.path("undo.sql");
    let undo = [
        "--before-gtid",
        gtid,
        "--gtid",
        gtid,
        "--undo",
        file.to_str().unwrap(),
    ];
    let told = succeeds(&users, &[&tables[..], &undo].concat());
    assert!(
        told.stdout.contains("takes back 49 rows of 1 transactions; 1 conflicts are left alone; tried on a copy: 49 of 49"),
        "{}{}",
        told.stdout,
        told.stderr
    );
    assert!(
        told.stderr.contains("conflict: shop.orders id=7"),
        "{}",
        told.stderr
    );
    assert_eq!(
        one(&mut control, "SELECT status FROM shop.orders WHERE id = 42"),
        "void"
    );
    run_script(&mut somebody, &fs::read_to_string(&file).unwrap());
    assert_eq!(
        one(
            &mut control,
            "SELECT CAST(COUNT(*) AS CHAR) FROM shop.orders WHERE id < 10000 AND status = 'new'"
        ),
        "49"
    );
    assert_eq!(
        one(&mut control, "SELECT status FROM shop.orders WHERE id = 7"),
        "by hand"
    );

    // Of all that the account sent in that time, nothing locks.
    control.run("SET GLOBAL general_log = OFF").unwrap();
    let sent: Vec<String> = control
        .rows(
            "SELECT CONVERT(argument USING utf8mb4) FROM mysql.general_log WHERE user_host LIKE 'app[%' \
             AND command_type IN ('Query', 'Execute', 'Prepare')",
        )
        .unwrap();
    assert!(
        sent.iter().any(|one| one.contains("CONSISTENT SNAPSHOT")),
        "{sent:?}"
    );
    let locks = sent.iter().find(|one| {
        let upper = one.to_uppercase();
        upper.contains("LOCK") || upper.contains("FLUSH") || upper.contains("FOR UPDATE")
    });
    assert_eq!(locks, None);
    let longest = load.stop();
    assert!(longest < Duration::from_secs(5), "{longest:?}");
    users.world.assert_nothing_left();
}

/// Runs a script as a client would, which stops at the first error.
fn run_script(connection: &mut Connection, script: &str) {
    let text: String = script
        .lines()
        .filter(|line| !line.starts_with("--"))
        .map(|line| format!("{line}\n"))
        .collect();
    for statement in text
        .split(";\n")
        .map(str::trim)
        .filter(|one| !one.is_empty())
    {
        connection
            .run(statement)
            .unwrap_or_else(|error| panic!("{error}"));
    }
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
    let error = refused(&users, &undo);
    assert!(error.contains("name a new file"), "{error}");
    let script = fs::read_to_string(&file).unwrap();
    control
        .run("UPDATE shop.orders SET note = 'other' WHERE id = 4")
        .unwrap();
    let mut failed = None;
    let text: String = script
        .lines()
        .filter(|line| !line.starts_with("--"))
        .map(|line| format!("{line}\n"))
        .collect();
    let mut somebody = connection(&users);
    for statement in text
        .split(";\n")
        .map(str::trim)
        .filter(|one| !one.is_empty())
    {
        if let Err(error) = somebody.run(statement) {
            failed = Some(error.to_string());
            break;
        }
    }
    assert!(failed.is_some_and(|error| error.contains("1242")));
    drop(somebody);
    // The transaction with the conflict came first and kept nothing.
    wait_until("the connection is gone", || {
        one(
            &mut control,
            "SELECT CAST(total AS CHAR) FROM shop.orders WHERE id = 4",
        ) == "9.00"
    });
}

/// Each in one line with place and remedy.
fn what_cannot_be_told_is_refused(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 5);
    control.run("CREATE TABLE shop.nokey (a INT)").unwrap();
    control
        .run("CREATE VIEW shop.seen AS SELECT * FROM shop.orders")
        .unwrap();
    control
        .run(
            "CREATE TABLE shop.child (id INT PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES shop.orders (id) ON DELETE CASCADE)",
        )
        .unwrap();
    let before = now(&mut control);
    let ask = |table: &str, time: &str| format!("SELECT * FROM {table} AS OF TIMESTAMP '{time}'");
    let says = |query: &str, words: &[&str]| {
        let error = refused(&users, &[query]);
        for word in words {
            assert!(error.contains(word), "{query}: {error}");
        }
    };
    says("SELECT 1", &["AS OF TIMESTAMP"]);
    says(
        &ask("shop.nothing", &before),
        &["no table shop.nothing", "GRANT SELECT"],
    );
    says(&ask("shop.nokey", &before), &["shop.nokey", "primary key"]);
    says(&ask("shop.seen", &before), &["shop.seen", "view"]);
    says(&ask("mysql.user", &before), &["mysql.user", "server's own"]);
    says(&ask("shop.orders", "2031-01-01 00:00:00"), &["future"]);
    says(
        &ask("shop.orders", "2020-01-01 00:00:00"),
        &["the log begins at", "backup"],
    );
    says(
        &ask("shop.orders", "yesterday"),
        &["yesterday", "YYYY-MM-DD"],
    );
    let is_logged = flavor == Flavor::Mysql;
    if is_logged {
        succeeds(&users, &[&ask("shop.child", &before)]);
    } else {
        says(
            &ask("shop.child", &before),
            &["foreign key", "--ignore-cascades"],
        );
        succeeds(&users, &[&ask("shop.child", &before), "--ignore-cascades"]);
    }
    let error = refused(
        &users,
        &[
            "--tables",
            "shop.orders",
            "--as-of-gtid",
            "0-9-99",
            "--diff",
        ],
    );
    assert!(error.contains("not in the server's log"), "{error}");
    let error = refused(
        &users,
        &[
            "--tables",
            "shop.orders",
            "--as-of",
            "binlog.999999:4",
            "--diff",
        ],
    );
    assert!(error.contains("no log file binlog.999999"), "{error}");
    let query = ask("shop.orders", &before);
    let joined = format!("{query} JOIN shop.items USING (id)");
    let error = refused(&users, &[&joined]);
    assert!(error.contains("AS OF TIMESTAMP after each"), "{error}");
    let poor = users.url("poor.cnf");
    let error = weir(&users, &[&poor, &query]).fails();
    assert!(error.contains("GRANT"), "{error}");
    let error = refused(&users, &[&query, "--server", "/bin/true"]);
    assert!(error.contains("/bin/true"), "{error}");
    let error = refused(&users, &[&query, "--work", "/proc/nowhere"]);
    assert!(error.contains("/proc/nowhere"), "{error}");

    // Definitions in between, each on a table of its own.
    for (table, statement, words) in [
        ("t1", "TRUNCATE TABLE shop.t1", "emptied"),
        (
            "t2",
            "ALTER TABLE shop.t2 MODIFY status VARCHAR(50) NOT NULL, MODIFY total DOUBLE",
            "definition",
        ),
        ("t3", "ALTER TABLE shop.t3 DROP COLUMN note", "definition"),
        (
            "t4",
            "RENAME TABLE shop.t4 TO shop.t4b, shop.t4b TO shop.t4",
            "renamed",
        ),
    ] {
        control
            .run(format!("CREATE TABLE shop.{table} LIKE shop.orders"))
            .unwrap();
        control
            .run(format!(
                "INSERT INTO shop.{table} SELECT * FROM shop.orders"
            ))
            .unwrap();
        let before = now(&mut control);
        control.run(statement).unwrap();
        let start: String = statement.chars().take(20).collect();
        says(
            &ask(&format!("shop.{table}"), &before),
            &[words, &start, "binlog.", "backup"],
        );
    }
    control.run("DROP TABLE shop.t1").unwrap();
    says(&ask("shop.t1", &before), &["no table shop.t1"]);

    // Statements and images that lack the rows.
    let mut session = connection(&users);
    session
        .run("SET SESSION binlog_row_image = 'MINIMAL'")
        .unwrap();
    session
        .run("UPDATE shop.orders SET status = 'x' WHERE id = 1")
        .unwrap();
    says(&query, &["binlog_row_image", "old value", "binlog."]);
    let before = now(&mut control);
    session
        .run("INSERT INTO shop.orders VALUES (900, 'new', 1, NULL)")
        .unwrap();
    succeeds(&users, &[&ask("shop.orders", &before)]);
    session
        .run("SET SESSION binlog_row_image = 'FULL', SESSION binlog_format = 'STATEMENT'")
        .unwrap();
    session
        .run("UPDATE shop.orders SET status = 'y' WHERE id = 2")
        .unwrap();
    says(
        &ask("shop.orders", &before),
        &["statement", "UPDATE shop.orders", "binlog."],
    );
    let before = now(&mut control);
    control.run("FLUSH BINARY LOGS").unwrap();
    let last = one(&mut control, "SELECT CAST(NOW() AS CHAR)");
    let name = match flavor {
        Flavor::Mysql => "SHOW BINARY LOG STATUS",
        Flavor::Mariadb => "SHOW MASTER STATUS",
    };
    let status: weir_mysql::Row = control.first(name).unwrap().unwrap();
    let file: String = status.get(0).unwrap();
    thread::sleep(Duration::from_millis(1_100));
    control
        .run(format!("PURGE BINARY LOGS TO '{file}'"))
        .unwrap();
    says(&ask("shop.orders", &before), &["the log begins at"]);
    let _ = last;
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

weir_server::on_both_flavors! {
    somebody_ran_update_without_where
    a_script_stops_where_the_rows_are_others
    what_cannot_be_told_is_refused
    what_is_not_logged_is_refused
}
