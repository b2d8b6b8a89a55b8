//! Logs that real servers wrote once, kept as files: what is read of them does not change unseen.
//!
//! `WEIR_UPDATE_FIXTURES=1` writes the readings anew; with `WEIR_UPDATE_LOGS=1`, also the logs, by the servers that are
//! here.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use weir_capture::{CaptureReader, Command, Happening, Literals, import_log, log_format};
use weir_model::Flavor;
use weir_testing::PrivateServer;

/// Each log, the server that wrote it, and its settings.
const LOGS: [(&str, Flavor, &[&str]); 9] = [
    ("mysql-9.7-slow.log", Flavor::Mysql, &["slow_query_log"]),
    (
        "mysql-9.7-slow-extra.log",
        Flavor::Mysql,
        &["log_slow_extra", "slow_query_log"],
    ),
    ("mysql-9.7-slow_log.CSV", Flavor::Mysql, &["slow_query_log"]),
    ("mysql-9.7-general.log", Flavor::Mysql, &["general_log"]),
    ("mysql-9.7-general_log.CSV", Flavor::Mysql, &["general_log"]),
    (
        "mariadb-10.11-slow.log",
        Flavor::Mariadb,
        &["slow_query_log"],
    ),
    (
        "mariadb-10.11-slow_log.CSV",
        Flavor::Mariadb,
        &["slow_query_log"],
    ),
    (
        "mariadb-10.11-general.log",
        Flavor::Mariadb,
        &["general_log"],
    ),
    (
        "mariadb-10.11-general_log.CSV",
        Flavor::Mariadb,
        &["general_log"],
    ),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// All that a capture says, a line each.
fn listing(path: &Path) -> String {
    let mut reader = CaptureReader::open(path).unwrap();
    let mut text = format!("source {}\n", reader.head().source.name());
    while let Some(record) = reader.next_record().unwrap() {
        let _ = write!(text, "{:>9} {} ", record.at_us, record.session);
        let _ = match record.happening {
            Happening::Opened(login) => writeln!(text, "opened {} {}", login.user, login.schema),
            Happening::Closed => writeln!(text, "closed"),
            Happening::Started(started) => {
                let what = if started.command == Command::UseSchema {
                    "schema"
                } else {
                    "asked"
                };
                writeln!(
                    text,
                    "{what} {:?}",
                    String::from_utf8_lossy(&started.text())
                )
            }
            Happening::Ended(ended) => writeln!(
                text,
                "ended rows {:?} affected {:?} error {:?}",
                ended.rows, ended.affected, ended.error
            ),
        };
    }
    let _ = writeln!(text, "{:?}", reader.tail().unwrap());
    text
}

#[test]
fn golden_logs_are_read_as_before() {
    let updates = std::env::var_os("WEIR_UPDATE_FIXTURES").is_some();
    if std::env::var_os("WEIR_UPDATE_LOGS").is_some() {
        write_logs();
    }
    let directory = tempfile::tempdir().unwrap();
    for (name, ..) in LOGS {
        let log = folder().join(name);
        let to = directory.path().join(format!("{name}.weircap"));
        let format = log_format(&log).unwrap();
        import_log(&log, format, &to, Literals::Keep).unwrap();
        let found = listing(&to);
        let expected = folder().join(format!("{name}.expected"));
        if updates {
            fs::write(&expected, &found).unwrap();
        }
        assert_eq!(found, fs::read_to_string(&expected).unwrap(), "{name}");
        assert!(
            found.contains("it''s; a screw") && !found.contains("unread_lines: 1"),
            "{found}"
        );
    }
}

/// Lets the servers that are here write each log.
fn write_logs() {
    fs::create_dir_all(folder()).unwrap();
    for flavor in [Flavor::Mysql, Flavor::Mariadb] {
        let (server, directory) = weir_testing::start(flavor);
        let mut root = weir_testing::connect(&server.endpoint());
        root.run("SET GLOBAL long_query_time = 0").unwrap();
        if flavor == Flavor::Mariadb {
            root.run("SET GLOBAL log_slow_filter = ''").unwrap();
        }
        for (name, _, settings) in LOGS.iter().filter(|log| log.1 == flavor) {
            let file = directory.path().join(name);
            write_log(&server, settings, name, &file);
            let text = String::from_utf8(fs::read(&file).unwrap()).unwrap();
            // The first lines have paths of this machine.
            let is_first =
                |line: &&str| line.contains("started with:") || line.starts_with("Tcp port:");
            let lines = text.lines().map(|line| {
                if is_first(&line) {
                    plain(line)
                } else {
                    line.to_owned()
                }
            });
            let lines: Vec<_> = lines.collect();
            fs::write(folder().join(name), lines.join("\n") + "\n").unwrap();
        }
    }
}

fn plain(line: &str) -> String {
    match line.split_once(", Version:") {
        Some((_, version)) => format!("/usr/sbin/server, Version:{version}"),
        None => "Tcp port: 0  Unix socket: /run/server.sock".to_owned(),
    }
}

fn write_log(server: &PrivateServer, settings: &[&str], name: &str, file: &Path) {
    let mut root = weir_testing::connect(&server.endpoint());
    let is_table = Path::new(name)
        .extension()
        .is_some_and(|kind| kind == "CSV");
    let output = if is_table { "TABLE" } else { "FILE" };
    root.run(format!("SET GLOBAL log_output = '{output}'"))
        .unwrap();
    let kind = if settings.contains(&"general_log") {
        "general_log"
    } else {
        "slow_query_log"
    };
    root.run(format!("SET GLOBAL {kind}_file = '{}'", file.display()))
        .unwrap();
    for setting in settings {
        root.run(format!("SET GLOBAL {setting} = ON")).unwrap();
    }
    let mut client = weir_testing::connect(&server.endpoint());
    client
        .run("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(40))")
        .unwrap();
    client
        .run("INSERT INTO item VALUES (1, 'nail'), (2, 'it''s; a screw')")
        .unwrap();
    client
        .run("SELECT name\n  FROM item\n WHERE name = \"a\\\\b\" OR id = 2")
        .unwrap();
    assert!(client.run("SELECT nothing FROM item").is_err());
    let rows: Vec<(String,)> = client
        .execute("SELECT name FROM item WHERE id = ?", (1,))
        .unwrap();
    assert_eq!(rows.len(), 1);
    client.run("DROP TABLE item").unwrap();
    drop(client);
    root.run(format!("SET GLOBAL {kind} = OFF")).unwrap();
    if settings.contains(&"log_slow_extra") {
        root.run("SET GLOBAL log_slow_extra = OFF").unwrap();
    }
    if is_table {
        let data: Option<(String,)> = root.first("SELECT @@datadir").unwrap();
        let table = if kind == "general_log" {
            "general_log"
        } else {
            "slow_log"
        };
        fs::copy(
            Path::new(&data.unwrap().0).join(format!("mysql/{table}.CSV")),
            file,
        )
        .unwrap();
        root.run(format!("TRUNCATE mysql.{table}")).unwrap();
    }
}
