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
    a_capture_of_clients_in_scripts_is_what_the_server_logged
    a_capture_of_clients_of_the_distribution_is_what_the_server_logged
    a_capture_of_clients_in_java_is_what_the_server_logged
    a_capture_of_clients_that_encrypt_is_what_the_server_logged
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

const IN_SCRIPTS: [Client; 6] = [
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

const OF_DISTRIBUTION: [Client; 6] = [
    Client {
        name: "libmariadb",
        command: |_, target| program(target, "libmariadb-sessions"),
        named: &[
            "several statements in one text",
            "reset",
            "bulk execution",
            "no answer",
        ],
    },
    Client {
        name: "go-sql-driver",
        command: |_, target| program(target, "go-sessions"),
        named: &["several statements in one text", "prepared again"],
    },
    Client {
        name: "PHP's mysqli",
        command: |_, target| php(target, "mysqli"),
        named: &["several statements in one text", "prepared again"],
    },
    Client {
        name: "PHP's PDO",
        command: |_, target| php(target, "pdo"),
        named: &["several statements in one text", "prepared again"],
    },
    Client {
        name: "DBD::mysql",
        command: |_, target| perl(target, "mysql"),
        named: &["several statements in one text", "prepared again"],
    },
    Client {
        name: "DBD::MariaDB",
        command: |_, target| perl(target, "MariaDB"),
        named: &["several statements in one text", "prepared again"],
    },
];

const IN_JAVA: [Client; 2] = [
    Client {
        name: "Connector/J",
        command: |_, target| java(target, "mysql"),
        named: &["several statements in one text", "prepared again", "reset"],
    },
    Client {
        name: "MariaDB Connector/J",
        command: |_, target| java(target, "mariadb"),
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
         encryption=; case $SESSIONS_ENCRYPT/$($client --version) in /*) ;; *MariaDB*) encryption=--ssl ;; \
         *) encryption=--ssl-mode=REQUIRED ;; esac; \
         for charset in utf8mb4 latin1; do $client --no-defaults $encryption --force --host=127.0.0.1 --port=\"$1\" --user=\"$2\" \
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

/// A program that `scripts/setup.sh --tests` builds.
fn program(target: &Target, name: &str) -> Option<Process> {
    let mut program = Process::new(drivers(name, name)?);
    program.args(arguments(target, ""));
    Some(program)
}

fn java(target: &Target, form: &str) -> Option<Process> {
    let jars = drivers("java", &format!("the driver of Java for {form}"))?;
    let mut java = Process::new("java");
    // Started once and briefly: nothing is worth the time of a second compiler.
    java.arg("-XX:TieredStopAtLevel=1");
    java.arg("--class-path").arg(jars.join("*"));
    java.arg(script("JdbcSessions.java"));
    java.args(arguments(target, form));
    Some(java)
}

fn php(target: &Target, form: &str) -> Option<Process> {
    let mut php = installed(
        "php",
        &[
            "-r",
            "exit(extension_loaded('pdo_mysql') && function_exists('mysqli_init') ? 0 : 1);",
        ],
        form,
    )?;
    php.args(["-d", "mysqli.allow_local_infile=1"]);
    php.arg(script("php_sessions.php"));
    php.args(arguments(target, form));
    Some(php)
}

fn perl(target: &Target, form: &str) -> Option<Process> {
    let module = format!("-MDBD::{form}");
    let mut perl = installed("perl", &[&module, "-e", "1"], form)?;
    perl.arg(script("dbi_sessions.pl"));
    perl.args(arguments(target, form));
    Some(perl)
}

/// A program of the distribution, if it does what `look` asks of it.
fn installed(program: &str, look: &[&str], client: &str) -> Option<Process> {
    let found = Process::new(program).args(look).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(Process::new(program));
    }
    skipped(
        &format!("sessions of {client}"),
        &format!("no {program} with this driver (scripts/setup.sh --tests installs it)"),
    );
    None
}

fn a_capture_of_clients_in_scripts_is_what_the_server_logged(flavor: Flavor) {
    compare_plain(flavor, &IN_SCRIPTS);
}

fn a_capture_of_clients_of_the_distribution_is_what_the_server_logged(flavor: Flavor) {
    compare_plain(flavor, &OF_DISTRIBUTION);
}

fn a_capture_of_clients_in_java_is_what_the_server_logged(flavor: Flavor) {
    compare_plain(flavor, &IN_JAVA);
}

/// Clients that are asked to encrypt, all of them.
fn a_capture_of_clients_that_encrypt_is_what_the_server_logged(flavor: Flavor) {
    let clients = IN_SCRIPTS.iter().chain(&OF_DISTRIBUTION).chain(&IN_JAVA);
    let clients = clients.collect::<Vec<_>>();
    let directory = tempfile::tempdir().unwrap();
    let certificate = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    let file = |name: &str, content: String| {
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let key = file("key.pem", certificate.signing_key.serialize_pem());
    let certificate = file("certificate.pem", certificate.cert.pem());
    // MariaDB has no certificate of its own before 11.4.
    let variables = [
        ("ssl_ca", &*certificate),
        ("ssl_cert", &*certificate),
        ("ssl_key", &*key),
    ];
    let mut bench = Bench::start_with(flavor, Literals::Keep, &variables);
    let ways = compare(&mut bench, &clients, true);
    let are_encrypted = !ways.is_empty() && ways.iter().all(|way| way == "SSL/TLS");
    assert!(are_encrypted, "{ways:?}");
}

fn compare_plain(flavor: Flavor, clients: &'static [Client]) {
    let clients: Vec<_> = clients.iter().collect();
    compare(&mut Bench::start(flavor, Literals::Keep), &clients, false);
}

/// Lets clients have their sessions, and compares the capture with the log; the way by which the server says that each
/// session came.
fn compare(bench: &mut Bench, clients: &[&'static Client], encrypts: bool) -> Vec<String> {
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
    for &client in clients {
        let before = truth::connections(&mut root);
        if let Some(mut command) = (client.command)(&directory, &target) {
            if encrypts {
                command.env("SESSIONS_ENCRYPT", "yes");
            }
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
    let (logged, ways) = (truth::sessions(&mut root), truth::ways(&mut root));
    let captured = captured(&bench.path());
    assert_eq!(logged.len(), captured.len(), "{logged:?}\n{captured:?}");
    assert_eq!(logged.len(), connected.len());
    let (mut unanswered, mut sessions_unanswered) = (0, 0);
    for ((logged, captured), client) in logged.iter().zip(&captured).zip(connected) {
        let (named, others) = differences(logged, captured);
        assert!(others.is_empty(), "{}: {others:#?}", client.name);
        let count = named.get("no answer").copied().unwrap_or(0);
        unanswered += count as u64;
        sessions_unanswered += u64::from(count > 0);
        let is_expected = named.keys().all(|name| client.named.contains(name));
        assert!(is_expected, "{}: {named:?}", client.name);
    }
    let expected = Losses {
        unanswered,
        sessions_unanswered,
        ..Losses::default()
    };
    assert_eq!(tail.losses, expected, "{tail:?}");
    ways
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
