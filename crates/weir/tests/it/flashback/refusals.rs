//! What cannot be told is refused in one line, with place and remedy, and leaves nothing behind.

use std::thread;
use std::time::Duration;

use weir_model::Flavor;
use weir_mysql::{Connection, Row};

use super::{connection, now, refused, shop, succeeds, users, weir};
use crate::users::Users;

pub(super) fn what_cannot_be_told_is_refused(flavor: Flavor) {
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
    names_and_times(&users, &before);
    definitions_in_between(&users, &mut control);
    rows_that_are_not_in_the_log(&users, &mut control);
}

fn ask(table: &str, time: &str) -> String {
    format!("SELECT * FROM {table} AS OF TIMESTAMP '{time}'")
}

fn says(users: &Users, query: &str, words: &[&str]) {
    let error = refused(users, &[query]);
    for word in words {
        assert!(error.contains(word), "{query}: {error}");
    }
}

fn names_and_times(users: &Users, before: &str) {
    says(users, "SELECT 1", &["AS OF TIMESTAMP"]);
    says(
        users,
        &ask("shop.nothing", before),
        &["no table shop.nothing", "GRANT SELECT"],
    );
    let diff = ["--tables", "shop.nokey", "--as-of", before, "--diff"];
    let error = refused(users, &diff);
    assert!(
        error.contains("shop.nokey") && error.contains("primary key"),
        "{error}"
    );
    says(users, &ask("shop.seen", before), &["shop.seen", "view"]);
    says(
        users,
        &ask("mysql.user", before),
        &["mysql.user", "server's own"],
    );
    says(
        users,
        &ask("shop.orders", "2031-01-01 00:00:00"),
        &["future"],
    );
    says(
        users,
        &ask("shop.orders", "2020-01-01 00:00:00"),
        &["the log begins at", "backup"],
    );
    says(
        users,
        &ask("shop.orders", "yesterday"),
        &["yesterday", "YYYY-MM-DD"],
    );
    let is_logged = users.flavor == Flavor::Mysql;
    if is_logged {
        succeeds(users, &[&ask("shop.child", before)]);
    } else {
        says(
            users,
            &ask("shop.child", before),
            &["foreign key", "--ignore-cascades"],
        );
        succeeds(users, &[&ask("shop.child", before), "--ignore-cascades"]);
    }
    let error = refused(
        users,
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
        users,
        &[
            "--tables",
            "shop.orders",
            "--as-of",
            "binlog.999999:4",
            "--diff",
        ],
    );
    assert!(error.contains("no log file binlog.999999"), "{error}");
    let query = ask("shop.orders", before);
    let joined = format!("{query} JOIN shop.items USING (id)");
    let error = refused(users, &[&joined]);
    assert!(error.contains("AS OF TIMESTAMP after each"), "{error}");
    let poor = users.url("poor.cnf");
    let error = weir(users, &[&poor, &query]).fails();
    assert!(error.contains("GRANT"), "{error}");
    let error = refused(users, &[&query, "--server", "/bin/true"]);
    assert!(error.contains("/bin/true"), "{error}");
    let error = refused(users, &[&query, "--work", "/proc/nowhere"]);
    assert!(error.contains("/proc/nowhere"), "{error}");
}

/// Each on a table of its own.
fn definitions_in_between(users: &Users, control: &mut Connection) {
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
        let before = now(control);
        control.run(statement).unwrap();
        let start: String = statement.chars().take(20).collect();
        says(
            users,
            &ask(&format!("shop.{table}"), &before),
            &[words, &start, "binlog.", "backup"],
        );
    }
    control.run("DROP TABLE shop.t1").unwrap();
    says(users, &ask("shop.t1", "2031-01-01"), &["no table shop.t1"]);
}

/// Statements, images that lack columns, files that are gone.
fn rows_that_are_not_in_the_log(users: &Users, control: &mut Connection) {
    let before = now(control);
    let query = ask("shop.orders", &before);
    let mut session = connection(users);
    session
        .run("SET SESSION binlog_row_image = 'MINIMAL'")
        .unwrap();
    session
        .run("UPDATE shop.orders SET status = 'x' WHERE id = 1")
        .unwrap();
    says(users, &query, &["binlog_row_image", "old value", "binlog."]);
    let before = now(control);
    session
        .run("INSERT INTO shop.orders VALUES (900, 'new', 1, NULL)")
        .unwrap();
    succeeds(users, &[&ask("shop.orders", &before)]);
    session
        .run("SET SESSION binlog_row_image = 'FULL', SESSION binlog_format = 'STATEMENT'")
        .unwrap();
    session
        .run("UPDATE shop.orders SET status = 'y' WHERE id = 2")
        .unwrap();
    says(
        users,
        &ask("shop.orders", &before),
        &["statement", "UPDATE shop.orders", "binlog."],
    );
    let before = now(control);
    control.run("FLUSH BINARY LOGS").unwrap();
    let name = match users.flavor {
        Flavor::Mysql => "SHOW BINARY LOG STATUS",
        Flavor::Mariadb => "SHOW MASTER STATUS",
    };
    let status: Row = control.first(name).unwrap().unwrap();
    let file: String = status.get(0).unwrap();
    thread::sleep(Duration::from_millis(1_100));
    control
        .run(format!("PURGE BINARY LOGS TO '{file}'"))
        .unwrap();
    says(users, &ask("shop.orders", &before), &["the log begins at"]);
}
