//! An undo script in the hands of the servers' own clients: all of it is kept or nothing, in every way to read it.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use weir_model::Flavor;
use weir_mysql::Connection;

use super::{connection, now, one, succeeds, users};
use crate::harness::wait_until;
use crate::users::Users;
use crate::window::Window;

/// How a client reads the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScriptReader {
    /// `client < script`
    Batch,
    /// `client --force < script`
    Forced,
    /// `client --execute='source script'`
    Source,
    /// `source script`, typed at its prompt.
    Typed,
}

const READINGS: [ScriptReader; 4] = [
    ScriptReader::Batch,
    ScriptReader::Forced,
    ScriptReader::Source,
    ScriptReader::Typed,
];
/// Settings of a session that decide when something is committed.
const SESSIONS: [&str; 3] = [
    "SET SESSION autocommit = 0, innodb_lock_wait_timeout = 1",
    "SET SESSION autocommit = 1, completion_type = 'CHAIN', innodb_lock_wait_timeout = 1",
    "SET SESSION completion_type = 'RELEASE', sql_mode = 'ANSI', innodb_lock_wait_timeout = 1",
];
const ROWS: &str =
    "SELECT GROUP_CONCAT(CONCAT_WS(' ', id, status) ORDER BY id SEPARATOR '; ') FROM shop.orders";
const AS_IT_WAS: &str = "1 new; 2 new; 3 new";
const AS_IT_IS: &str = "1 void; 2 void; 4 more";
/// Shows whether the session is as it was before the script.
const SESSION: &str = "SELECT CONCAT('settings', '-', @@SESSION.foreign_key_checks + 0, @@SESSION.time_zone, \
                       @@SESSION.sql_mode LIKE '%INVALID%') AS x;";

/// Clients of this machine for such a server: `MariaDB`'s, and `MySQL`'s own for `MySQL` if it is there.
fn clients(flavor: Flavor) -> Vec<&'static str> {
    if flavor == Flavor::Mariadb {
        return vec!["mariadb"];
    }
    let says = Command::new("mysql").arg("--version").output();
    let is_own = says.is_ok_and(|says| !String::from_utf8_lossy(&says.stdout).contains("MariaDB"));
    if is_own {
        vec!["mariadb", "mysql"]
    } else {
        weir_testing::skipped(
            "undo scripts in MySQL's own client",
            "`mysql` is not MySQL's on this machine",
        );
        vec!["mariadb"]
    }
}

fn arguments(users: &Users, client: &str, session: &str) -> Vec<String> {
    let mut arguments = vec![
        format!("--defaults-file={}", users.world.path("app.cnf").display()),
        format!("--socket={}", users.socket().display()),
        format!("--init-command={session}"),
    ];
    if client == "mariadb" {
        arguments.push("--skip-ssl".to_owned());
    } else {
        // Newer ones know `source` only with it.
        arguments.push("--loose-commands".to_owned());
    }
    arguments
}

/// Lets a client read the script; all that it says, and whether it calls that a success.
fn read(
    users: &Users,
    client: &str,
    reading: ScriptReader,
    session: &str,
    script: &Path,
) -> (String, bool) {
    let mut arguments = arguments(users, client, session);
    let source = format!("source {}", script.display());
    let mut input = Stdio::null();
    match reading {
        ScriptReader::Typed => return (typed(users, client, &arguments, &source), true),
        ScriptReader::Source => arguments.push(format!("--execute={source}")),
        ScriptReader::Batch => input = fs::File::open(script).unwrap().into(),
        ScriptReader::Forced => {
            arguments.push("--force".to_owned());
            input = fs::File::open(script).unwrap().into();
        }
    }
    let output = Command::new(client)
        .args(arguments)
        .stdin(input)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    (
        String::from_utf8_lossy(&said).into_owned(),
        output.status.success(),
    )
}

/// At the client's prompt; the settings of the session are what they were before.
fn typed(users: &Users, client: &str, arguments: &[String], source: &str) -> String {
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut window = Window::open_program(&users.world, client, &arguments);
    window.types(&format!("{source}\n{SESSION}\nexit\n"));
    window.child.wait().unwrap();
    wait_until("the client has said all", || window.text().contains("Bye"));
    let text = window.text();
    assert!(text.contains("settings-1SYSTEM0"), "{client}: {text}");
    text
}

/// The rows are as the bad transaction left them.
fn set_back(control: &mut Connection) {
    for statement in [
        "DELETE FROM shop.orders",
        "INSERT INTO shop.orders VALUES (1, 'void', 1), (2, 'void', 2), (4, 'more', 4)",
    ] {
        control.run(statement).unwrap();
    }
    assert_eq!(one(control, ROWS), AS_IT_IS);
}

pub(super) fn a_script_keeps_all_or_nothing_whoever_reads_it(flavor: Flavor) {
    let users = users(flavor, &[]);
    let mut control = connection(&users);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, status VARCHAR(20), total DECIMAL(10,2), UNIQUE KEY (total))",
        "INSERT INTO shop.orders VALUES (1, 'new', 1), (2, 'new', 2), (3, 'new', 3)",
    ] {
        control.run(statement).unwrap();
    }
    let before = now(&mut control);
    for statement in [
        "UPDATE shop.orders SET status = 'void'",
        "DELETE FROM shop.orders WHERE id = 3",
        "INSERT INTO shop.orders VALUES (4, 'more', 4)",
    ] {
        control.run(statement).unwrap();
    }
    let script = users.world.path("undo.sql");
    let undo = ["--tables", "shop.orders", "--as-of", &before, "--undo"];
    let told = succeeds(&users, &[&undo[..], &[script.to_str().unwrap()]].concat());
    assert!(
        told.stdout
            .contains("5 of 5 statements apply, and all rows are as before"),
        "{}",
        told.stdout
    );
    for client in clients(flavor) {
        for (reading, session) in READINGS.into_iter().zip(SESSIONS.into_iter().cycle()) {
            all_is_kept(&users, &mut control, (client, reading, session), &script);
            nothing_is_kept(&users, &mut control, (client, reading, session), &script);
        }
    }
}

type Way<'a> = (&'a str, ScriptReader, &'a str);

fn all_is_kept(users: &Users, control: &mut Connection, way: Way<'_>, script: &Path) {
    set_back(control);
    let (client, reading, session) = way;
    let (said, is_success) = read(users, client, reading, session, script);
    assert_eq!(one(control, ROWS), AS_IT_WAS, "{way:?}: {said}");
    assert!(
        said.contains("5 changes of rows are taken back") && is_success,
        "{way:?}: {said}"
    );
    // Once more: the rows are not the bad ones any longer.
    let (said, _) = read(users, client, reading, session, script);
    assert_eq!(one(control, ROWS), AS_IT_WAS, "{way:?}: {said}");
    assert!(said.contains("nothing was changed"), "{way:?}: {said}");
}

/// A row of another value, one that is locked, one whose key is taken, and a session that is lost in between.
fn nothing_is_kept(users: &Users, control: &mut Connection, way: Way<'_>, script: &Path) {
    let (client, reading, session) = way;
    let mut other = connection(users);
    for (change, undone, row, there) in [
        (
            "UPDATE shop.orders SET status = 'by hand' WHERE id = 2",
            "",
            "shop.orders id=2 is",
            "by hand",
        ),
        (
            "DELETE FROM shop.orders WHERE id = 1",
            "",
            "shop.orders id=1 is",
            "NULL",
        ),
        (
            "INSERT INTO shop.orders VALUES (8, 'x', 3)",
            "",
            "shop.orders id=3 is",
            "Duplicate entry '3.00'",
        ),
        (
            "SELECT * FROM shop.orders WHERE id = 2 FOR UPDATE",
            "ROLLBACK",
            "shop.orders id=2 is",
            "timeout exceeded",
        ),
    ] {
        set_back(control);
        other.run("START TRANSACTION").unwrap();
        other.run(change).unwrap();
        if undone.is_empty() {
            other.run("COMMIT").unwrap();
        }
        let rows = one(control, ROWS);
        let (said, is_success) = read(users, client, reading, session, script);
        if !undone.is_empty() {
            other.run(undone).unwrap();
        }
        assert_eq!(one(control, ROWS), rows, "{way:?}, {change}: {said}");
        assert!(said.contains(there), "{way:?}, {change}: {said}");
        // A client that stops at an error has not come to the report, and the server to its end.
        let stops = matches!(reading, ScriptReader::Batch | ScriptReader::Source);
        if !(stops && (there.starts_with("Dup") || there.starts_with("timeout"))) {
            assert!(
                said.contains(row) && said.contains("nothing was changed"),
                "{way:?}, {change}: {said}"
            );
        }
        // With `source` and with `--force` some clients end with success, whatever happened.
        if reading == ScriptReader::Batch {
            assert!(!is_success, "{way:?}, {change}: {said}");
        }
    }
    set_back(control);
    let text = fs::read_to_string(script).unwrap();
    let (start, end) = text.split_at(text.rfind("UPDATE `shop`").unwrap());
    let lost = users
        .world
        .write("lost.sql", &format!("{start}KILL CONNECTION_ID();\n{end}"));
    // A COMMIT that the server refuses is not called a success.
    let refused = text.replace("COMMIT AND NO CHAIN", "COMMIT AND NOTHING");
    let refused = users.world.write("refused.sql", &refused);
    for (what, file) in [("lost", lost), ("refused", refused)] {
        let (said, _) = read(users, client, reading, session, &file);
        assert_eq!(one(control, ROWS), AS_IT_IS, "{way:?}, {what}: {said}");
        // Not in a statement that the client repeats.
        let is_claimed = ["\n5 changes", "| 5 changes"]
            .iter()
            .any(|words| said.contains(words));
        assert!(!is_claimed, "{way:?}, {what}: {said}");
    }
}
