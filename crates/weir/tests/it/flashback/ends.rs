//! How a flashback ends: stopped, without room, without the log, without leave; and what is left of it.

use std::fs;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use weir_model::Flavor;
use weir_mysql::Connection;

use super::{connection, now, one, shop, users, weir};
use crate::harness::{Output, is_alive, signal, wait_until};
use crate::users::Users;

/// Working directories of this test's calls.
fn work(users: &Users) -> String {
    users.world.path("work").display().to_string()
}

fn left_in_work(users: &Users) -> usize {
    fs::read_dir(work(users)).into_iter().flatten().count()
}

/// Connections that Weir has on the user's server.
fn connections(control: &mut Connection) -> String {
    one(
        control,
        "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.processlist WHERE user = 'app'",
    )
}

fn start(users: &Users, arguments: &[&str]) -> Child {
    let url = users.url("app.cnf");
    let work = work(users);
    weir(
        users,
        &[&[url.as_str()], arguments, &["--work", &work]].concat(),
    )
    .spawn()
}

/// Sends the signal of Ctrl-C, and looks at what is left.
fn stops(users: &Users, control: &mut Connection, child: Child) -> Output {
    signal(child.id(), "INT");
    let output = Output::from(child.wait_with_output().unwrap());
    assert!(
        !output.stderr.contains("weir: "),
        "{:?} {}",
        output.code,
        output.stderr
    );
    users.world.assert_nothing_left();
    wait_until("its connections are closed", || connections(control) == "0");
    output
}

/// While it reads the log slowly, while the user's server reads slowly, while the query runs, and while rows go into the
/// new table.
pub(super) fn a_stopped_flashback_leaves_nothing(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 30);
    let before = now(&mut control);
    let grow = "INSERT INTO shop.items SELECT id + (SELECT MAX(id) FROM shop.items), 1, 'x' FROM shop.items";
    for _ in 0..3 {
        control.run(grow).unwrap();
    }
    let reading = |limit: &str| {
        let child = start(
            &users,
            &[
                "--tables",
                "shop.items",
                "--as-of",
                &before,
                "--diff",
                "--limit",
                limit,
            ],
        );
        // At this pace it reads for minutes, of what the server has sent at once.
        thread::sleep(Duration::from_secs(2));
        assert!(is_alive(child.id()));
        child
    };
    let child = reading("100");
    let output = stops(&users, &mut control, child);
    assert_eq!(output.code, Some(130), "{}", output.stderr);
    assert!(output.stderr.contains("stopped: nothing of it is left"));

    for (query, is_private) in [
        (
            "SELECT id FROM shop.orders AS OF TIMESTAMP '{}' WHERE SLEEP(20) = 0",
            false,
        ),
        (
            "SELECT SLEEP(20) FROM shop.orders AS OF TIMESTAMP '{}'",
            true,
        ),
    ] {
        let child = start(&users, &[&query.replace("{}", &before)]);
        wait_until("the query runs", || {
            let sleeps = "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.processlist WHERE user = 'app' AND info LIKE '%SLEEP(20)%'";
            if is_private {
                left_in_work(&users) == 1 && connections(&mut control) == "0"
            } else {
                one(&mut control, sleeps) == "1"
            }
        });
        thread::sleep(Duration::from_millis(300));
        let output = stops(&users, &mut control, child);
        assert_eq!(output.code, Some(130), "{query}: {}", output.stderr);
    }
    // So many that copying them takes seconds.
    for _ in 0..15 {
        control.run(MORE_ORDERS).unwrap();
    }
    while !stops_while_it_copies(&users, &mut control) {
        assert!(
            fewer_than(&mut control, 10_000_000),
            "copying is too fast to be stopped"
        );
        control.run(MORE_ORDERS).unwrap();
    }
}

const MORE_ORDERS: &str = "INSERT INTO shop.orders SELECT id + (SELECT MAX(id) FROM shop.orders), status, total, note FROM shop.orders";

fn fewer_than(control: &mut Connection, rows: u64) -> bool {
    let found = one(control, "SELECT CAST(COUNT(*) AS CHAR) FROM shop.orders");
    found.parse::<u64>().unwrap() < rows
}

/// Whether the stop came before the last row: on a busy machine it may be late.
fn stops_while_it_copies(users: &Users, control: &mut Connection) -> bool {
    let soon = now(control);
    let child = start(
        users,
        &[
            "--tables",
            "shop.orders",
            "--as-of",
            &soon,
            "--into",
            "rescue.then",
            "--allow-write",
        ],
    );
    let made = "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.tables WHERE table_schema = 'rescue'";
    wait_until("the table is made", || one(control, made) == "1");
    let output = stops(users, control, child);
    if output.code == Some(0) {
        control.run("DROP TABLE rescue.`then`").unwrap();
        return false;
    }
    assert_eq!(output.code, Some(130), "{}{}", output.stdout, output.stderr);
    assert_eq!(one(control, made), "0");
    true
}

/// A client of the same user reads the tables as they were.
pub(super) fn a_private_server_serves_the_tables_until_it_is_stopped(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 5);
    let before = now(&mut control);
    control.run("DELETE FROM shop.orders").unwrap();
    control.run("UPDATE shop.items SET name = 'gone'").unwrap();
    let child = start(
        &users,
        &[
            "--tables",
            "shop.orders,shop.items",
            "--as-of",
            &before,
            "--serve",
            "--json",
        ],
    );
    let pid = child.id();
    let file = || {
        let made = fs::read_dir(work(&users)).into_iter().flatten().flatten();
        let files = made.map(|entry| entry.path().join("client.cnf"));
        files.filter(|file| file.exists()).last()
    };
    wait_until("the server is there", || file().is_some() || !is_alive(pid));
    let file = file().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let url = format!("{flavor}:///shop?option-file={}", file.display());
    let socket = text.lines().find_map(|line| line.strip_prefix("socket = "));
    let url: weir_model::ServerUrl = format!("{url}&socket={}", socket.unwrap()).parse().unwrap();
    let endpoint = weir_mysql::endpoint(&url, &weir_mysql::ClientConfig::default());
    let mut client = weir_testing::connect(&endpoint.unwrap());
    let joined = "SELECT CAST(COUNT(*) AS CHAR) FROM orders o JOIN items i ON i.order_id = o.id WHERE i.name <> 'gone'";
    assert_eq!(one(&mut client, joined), "5");
    drop(client);
    let output = stops(&users, &mut control, child);
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    let told: serde_json::Value = serde_json::from_str(output.stdout.trim()).unwrap();
    assert_eq!(told["tables"][1], "shop.items");
    assert_eq!(told["option_file"], file.display().to_string());
    assert_eq!(
        one(
            &mut control,
            "SELECT CAST(COUNT(*) AS CHAR) FROM shop.orders"
        ),
        "0"
    );
}

/// A disk that is full at once, and one that the private server fills.
pub(super) fn a_full_disk_is_told_in_one_line(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 1);
    control
        .run("ALTER TABLE shop.orders MODIFY note LONGTEXT")
        .unwrap();
    let before = now(&mut control);
    for id in 0..40 {
        control
            .run(format!(
                "INSERT INTO shop.items VALUES (5{id:02}, 1, 'x'), (6{id:02}, 1, 'y')"
            ))
            .unwrap();
        control
            .run(format!(
                "INSERT INTO shop.orders VALUES (5{id:02}, 'big', 1, REPEAT('0123456789abcdef', 256000))"
            ))
            .unwrap();
    }
    let soon = now(&mut control);
    let query = |time: &str| format!("SELECT COUNT(*) FROM shop.orders AS OF TIMESTAMP '{time}'");
    let rows = one(
        &mut control,
        "SELECT CAST(COUNT(*) AS CHAR) FROM shop.orders",
    );
    for (size, time) in [("10m", &before), ("230m", &soon)] {
        let output = on_a_small_disk(&users, size, &query(time));
        let errors: Vec<_> = output
            .stderr
            .lines()
            .filter(|line| line.starts_with("weir: "))
            .collect();
        assert_eq!(
            (output.code, errors.len()),
            (Some(1), 1),
            "{size}: {}{}",
            output.stdout,
            output.stderr
        );
        let told = errors[0].to_lowercase();
        assert!(
            ["space", "full"].iter().any(|word| told.contains(word)),
            "{size}: {told}"
        );
        users.world.assert_nothing_left();
    }
    assert_eq!(
        one(
            &mut control,
            "SELECT CAST(COUNT(*) AS CHAR) FROM shop.orders"
        ),
        rows
    );
    wait_until("its connections are closed", || {
        connections(&mut control) == "0"
    });
    assert_eq!(users.changes().len(), 0);
}

fn on_a_small_disk(users: &Users, size: &str, query: &str) -> Output {
    let work = users.world.path("work");
    fs::create_dir_all(&work).unwrap();
    let script = format!(
        "mount -t tmpfs -o size={size} none {} && exec \"$@\"",
        work.display()
    );
    let cache = weir_server::cache_directory();
    let output = Command::new("unshare")
        // Who is not root becomes it in a user namespace, where mounts are private as well.
        .args(["--map-root-user", "--mount", "sh", "-c", &script, "sh"])
        .args([
            env!("CARGO_BIN_EXE_weir"),
            "flashback",
            &users.url("app.cnf"),
            query,
        ])
        .args([
            "--server",
            &users.server().binary().path.display().to_string(),
        ])
        .arg("--work")
        .arg(&work)
        .env("XDG_RUNTIME_DIR", users.world.runtime.path())
        .env("XDG_STATE_HOME", users.world.path("state"))
        .env("XDG_CACHE_HOME", cache.ancestors().nth(2).unwrap())
        .output()
        .unwrap();
    Output::from(output)
}

/// The server keeps what is being read, whatever it is told to purge.
pub(super) fn a_log_that_is_purged_while_it_is_read_is_told_whole(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 20);
    let before = now(&mut control);
    // More than sockets hold, so that the server still sends while the log is purged.
    for id in (1..=20).chain(1..=20) {
        let change = format!(
            "UPDATE shop.orders SET note = REPEAT('x', 60000 - {id}), total = total + 1 WHERE id = {id}"
        );
        control.run(change).unwrap();
        if id % 5 == 0 {
            control.run("FLUSH BINARY LOGS").unwrap();
        }
    }
    let child = start(
        &users,
        &[
            "--tables",
            "shop.orders",
            "--as-of",
            &before,
            "--diff",
            "--limit",
            "600K",
        ],
    );
    let dumps = "SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'";
    wait_until("the log is read", || one(&mut control, dumps) != "0");
    // Looks at the files' beginnings are over.
    thread::sleep(Duration::from_millis(600));
    let name = match users.flavor {
        Flavor::Mysql => "SHOW BINARY LOG STATUS",
        Flavor::Mariadb => "SHOW MASTER STATUS",
    };
    let status: weir_mysql::Row = control.first(name).unwrap().unwrap();
    let file: String = status.get(0).unwrap();
    // MariaDB refuses to purge in part, MySQL says that it did.
    let _ = control.run(format!("PURGE BINARY LOGS TO '{file}'"));
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(0), "{}", output.stderr);
    assert_eq!(output.stdout.lines().count(), 20, "{}", output.stdout);
}

/// Each privilege that is missing is named, and those of `docs/flashback.md` are enough.
pub(super) fn what_may_not_be_read_is_named(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 3);
    let before = now(&mut control);
    control.run("DELETE FROM shop.orders WHERE id = 2").unwrap();
    let places = match flavor {
        Flavor::Mysql => "REPLICATION CLIENT",
        Flavor::Mariadb => "BINLOG MONITOR",
    };
    let query = format!("SELECT COUNT(*) FROM shop.orders AS OF TIMESTAMP '{before}'");
    let password = crate::users::PASSWORD;
    for (name, grants, missing) in [
        (
            "no_tables",
            vec![format!("REPLICATION SLAVE, {places} ON *.*")],
            "GRANT SELECT",
        ),
        (
            "no_places",
            vec![
                "SELECT ON shop.*".to_owned(),
                "REPLICATION SLAVE ON *.*".to_owned(),
            ],
            places,
        ),
        (
            "no_log",
            vec!["SELECT ON shop.*".to_owned(), format!("{places} ON *.*")],
            "REPLICATION SLAVE",
        ),
        (
            "enough",
            vec![
                "SELECT ON shop.*".to_owned(),
                format!("REPLICATION SLAVE, {places} ON *.*"),
            ],
            "",
        ),
    ] {
        control
            .run(format!(
                "CREATE USER {name}@localhost IDENTIFIED BY '{password}'"
            ))
            .unwrap();
        for grant in grants {
            control
                .run(format!("GRANT {grant} TO {name}@localhost"))
                .unwrap();
        }
        let file = format!("{name}.cnf");
        users.option_file(&file, name, password);
        let call = weir(
            &users,
            &[&users.url(&file), &query, "--work", &work(&users)],
        );
        if missing.is_empty() {
            assert_eq!(call.succeeds().stdout, "COUNT(*)\n3\n");
        } else {
            let error = call.fails();
            assert!(
                error.contains(missing) && error.contains("GRANT"),
                "{name}: {error}"
            );
        }
    }
}

/// Rows, changes and results, a line for each.
pub(super) fn answers_in_json_are_an_object_a_line(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    shop(&mut control, 3);
    control
        .run("ALTER TABLE shop.orders ADD COLUMN raw VARBINARY(10), ADD COLUMN f DOUBLE, ADD COLUMN big BIGINT UNSIGNED")
        .unwrap();
    control
        .run("UPDATE shop.orders SET raw = X'FF00', f = 0.5, big = 18446744073709551615, note = NULL WHERE id = 2")
        .unwrap();
    let before = now(&mut control);
    control
        .run("UPDATE shop.orders SET total = 9, note = 'back' WHERE id = 2")
        .unwrap();
    let url = users.url("app.cnf");
    let lines = |arguments: &[&str]| -> Vec<serde_json::Value> {
        let work = work(&users);
        let output = weir(&users, &[arguments, &["--json", "--work", &work]].concat()).succeeds();
        let lines = output.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    let query = format!("SELECT * FROM shop.orders AS OF TIMESTAMP '{before}' WHERE id = 2");
    let row = serde_json::json!({
        "id": 2, "status": "new", "total": "2.50", "note": null, "raw": "0xFF00", "f": 0.5, "big": u64::MAX,
    });
    assert_eq!(lines(&[&url, &query]), [row]);
    let tables = ["--tables", "shop.orders", "--as-of", &before];
    let columns = serde_json::json!([
        {"column": "total", "before": "2.50", "after": "9.00"},
        {"column": "note", "before": null, "after": "back"},
    ]);
    let diff = lines(&[&[&*url], &tables[..], &["--diff"]].concat());
    assert_eq!(diff.len(), 1);
    assert_eq!(
        (&diff[0]["key"], &diff[0]["columns"]),
        (&"id=2".into(), &columns)
    );
    let log = lines(&["log", &url, "shop.orders", "--key", "2", "--from", &before]);
    assert_eq!(
        (&log[0]["change"], &log[0]["columns"]),
        (&"update".into(), &columns)
    );
    let file = users.world.path("undo.sql");
    let undo = lines(&[&[&*url], &tables[..], &["--undo", file.to_str().unwrap()]].concat());
    assert_eq!(
        (&undo[0]["statements"], &undo[0]["applied_on_a_copy"]),
        (&1.into(), &1.into())
    );
    let into = lines(
        &[
            &[&*url],
            &tables[..],
            &["--into", "rescue.o", "--allow-write"],
        ]
        .concat(),
    );
    assert_eq!(into[0]["rows"], 3);
    let twice = format!("SELECT id, id FROM shop.orders AS OF TIMESTAMP '{before}'");
    let error = weir(&users, &[&url, &twice, "--json"]).fails();
    assert!(error.contains("two columns are called `id`"), "{error}");
}
