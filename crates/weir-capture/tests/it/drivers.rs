//! Oracle: real clients through the proxy, and the server's own general log as the truth. Each session has in the capture
//! what the server logged of it, in that order, or the difference has a name.

mod truth;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use weir_capture::{Happening, Literals, Losses};
use weir_model::Flavor;
use weir_testing::skipped;

use crate::proxy::{Bench, PASSWORD, USER, records};
use truth::{SessionAction, differences};

weir_testing::on_both_flavors! {
    a_capture_of_real_clients_is_what_the_server_logged
}

/// A client, and the named differences of its sessions.
struct Client {
    name: &'static str,
    command: fn(&Path, &Target) -> Option<Process>,
    named: &'static [&'static str],
}

/// Where a client connects.
struct Target {
    port: u16,
    schema: String,
}

const CLIENTS: [Client; 6] = [
    Client {
        name: "mariadb and mysql command line",
        command: |directory, target| Some(command_line(directory, target)),
        named: &[],
    },
    Client {
        name: "PyMySQL",
        command: |_, target| python(target, "pymysql_sessions.py", ""),
        named: &["several statements in one text"],
    },
    Client {
        name: "mysql-connector-python, pure",
        command: |_, target| python(target, "connector.py", "pure"),
        named: &["several statements in one text", "prepared again", "reset"],
    },
    Client {
        name: "mysql-connector-python, C",
        command: |_, target| python(target, "connector.py", "c"),
        named: &["several statements in one text", "prepared again", "reset"],
    },
    Client {
        name: "mysql2 for Node.js",
        command: |_, target| node(target, "mysql2"),
        named: &["several statements in one text", "prepared again"],
    },
    Client {
        name: "mariadb for Node.js",
        command: |_, target| node(target, "mariadb"),
        named: &[
            "several statements in one text",
            "prepared again",
            "reset",
            "bulk execution",
        ],
    },
];

/// The client of the other flavour, too: each has its own character sets and ways to log in.
fn command_line(directory: &Path, target: &Target) -> Process {
    let script = directory.join("commands.sql");
    let text = "INSERT INTO item VALUES (31, 'a\\r\\nb'), (32, '# c');\n\
                SELECT id,\n  name\nFROM item WHERE name LIKE '%#%';\n\
                SET @x = 5;\nPREPARE p FROM 'SELECT name FROM item WHERE id = ?';\nEXECUTE p USING @x;\n\
                USE other;\nSELECT 'of the other schema';\nUSE nowhere;\nSELECT 'still there';\n\
                SELECT nothing;\nBEGIN;\nCREATE TABLE made (a INT);\nCOMMIT;\n";
    std::fs::write(&script, text).unwrap();
    let mut shell = Process::new("sh");
    // Each that is there, and one after the other.
    shell.args([
        "-c",
        "for client in mariadb mysql; do command -v $client >/dev/null || continue; \
         for charset in utf8mb4 latin1; do $client --no-defaults --force --host=127.0.0.1 --port=\"$1\" --user=\"$2\" \
         --default-character-set=$charset \"$3\" <\"$4\"; done; done",
        "sh",
    ]);
    shell.args([&target.port.to_string(), USER, &target.schema]);
    shell.arg(script).env("MYSQL_PWD", PASSWORD);
    shell
}

/// Where `scripts/setup.sh --tests` puts the drivers; without them, the client is named as left out.
fn drivers(file: &str, client: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/drivers");
    let found = folder.join(file);
    if found.exists() {
        return Some(found);
    }
    skipped(
        &format!("sessions of {client}"),
        "no target/drivers (scripts/setup.sh --tests makes it)",
    );
    None
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/it/drivers")
        .join(name)
}

/// Where a script connects, and in which form.
fn arguments(target: &Target, form: &str) -> [String; 6] {
    let port = target.port.to_string();
    ["127.0.0.1", &port, USER, PASSWORD, &target.schema, form].map(str::to_owned)
}

fn python(target: &Target, name: &str, form: &str) -> Option<Process> {
    let mut python = Process::new(drivers("bin/python", name)?);
    python.arg("-B").arg(script(name));
    python.args(arguments(target, form));
    Some(python)
}

fn node(target: &Target, form: &str) -> Option<Process> {
    let modules = drivers("node_modules", form)?;
    let mut node = Process::new("node");
    node.env("NODE_PATH", modules)
        .arg(script("node_sessions.cjs"));
    node.args(arguments(target, form));
    Some(node)
}

fn a_capture_of_real_clients_is_what_the_server_logged(flavor: Flavor) {
    let mut bench = Bench::start(flavor, Literals::Keep);
    let mut root = weir_testing::connect(&bench.server.endpoint());
    for sql in [
        "CREATE DATABASE other".to_owned(),
        "ALTER TABLE item DROP COLUMN price, MODIFY name LONGTEXT CHARACTER SET utf8mb4".to_owned(),
        format!("GRANT ALL ON *.* TO {USER}@'%'"),
        "SET GLOBAL log_output = 'TABLE'".to_owned(),
    ] {
        root.run(sql).unwrap();
    }
    // From now on, the server knows the password.
    drop(bench.connect());
    root.run("SET GLOBAL general_log = ON").unwrap();
    let directory = PathBuf::from(bench.directory.path());
    let target = Target {
        port: bench.port,
        schema: bench.server.endpoint().database,
    };
    let mut connected = Vec::new();
    for client in &CLIENTS {
        let before = truth::connections(&mut root);
        if let Some(mut command) = (client.command)(&directory, &target) {
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_python = command.get_program() != "sh";
            assert!(
                output.status.success() || !is_python,
                "{}: {said}",
                client.name
            );
        }
        let after = truth::connections(&mut root);
        connected.extend((before..after).map(|_| client));
        root.run("DELETE FROM item").unwrap();
    }
    root.run("SET GLOBAL general_log = OFF").unwrap();
    let tail = bench.finish();
    let logged = truth::sessions(&mut root);
    let captured = captured(&bench.path());
    assert_eq!(logged.len(), captured.len(), "{logged:?}\n{captured:?}");
    assert_eq!(logged.len(), connected.len());
    for ((logged, captured), client) in logged.iter().zip(&captured).zip(connected) {
        let (named, others) = differences(logged, captured);
        assert!(others.is_empty(), "{}: {others:#?}", client.name);
        let is_expected = named.keys().all(|name| client.named.contains(name));
        assert!(is_expected, "{}: {named:?}", client.name);
    }
    assert_eq!(tail.losses, Losses::default(), "{tail:?}");
}

/// What the capture has of each session of clients.
fn captured(path: &Path) -> Vec<Vec<SessionAction>> {
    let mut sessions: BTreeMap<u32, truth::Reader> = BTreeMap::new();
    for record in records(path) {
        let reader = sessions.entry(record.session).or_default();
        match record.happening {
            Happening::Opened(login) => reader.opened(&login),
            Happening::Started(started) => reader.started(&started),
            Happening::Ended(ended) => reader.ended(&ended),
            Happening::Closed => {}
        }
    }
    // The first is the look of the test itself.
    sessions
        .into_values()
        .skip(1)
        .map(truth::Reader::into_said)
        .collect()
}
