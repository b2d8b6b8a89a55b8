//! Logs that real servers wrote become captures.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use weir_capture::{
    CaptureReader, CaptureSource, Command, CommandEnd, CommandStart, Happening, ImportResult,
    Literals, LogFormat, import_log, log_format,
};
use weir_model::{Endpoint, Flavor};
use weir_mysql::Connection;
use weir_testing::PrivateServer;

weir_testing::on_both_flavors! {
    a_slow_log_becomes_a_capture
    a_general_log_becomes_a_capture
    log_tables_become_captures
}

#[test]
fn a_slow_log_with_more_in_it_becomes_a_capture() {
    slow(Flavor::Mysql, true);
}

struct Bench {
    server: PrivateServer,
    directory: TempDir,
}

impl Bench {
    fn start(flavor: Flavor) -> Self {
        let (server, directory) = weir_testing::start(flavor);
        let bench = Self { server, directory };
        let mut root = bench.connect();
        root.run("CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(40))")
            .unwrap();
        bench
    }

    fn connect(&self) -> Connection {
        weir_testing::connect(&self.server.endpoint())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }
}

/// What all logs are of.
fn work(bench: &Bench) {
    let mut client = bench.connect();
    client
        .run("INSERT INTO item VALUES (1, 'nail'), (2, 'it''s; a screw')")
        .unwrap();
    client
        .run("SELECT name\n  FROM item\n WHERE id = 2 -- #1")
        .unwrap();
    client.run("SELECT SLEEP(1)").unwrap();
    assert!(client.run("SELECT nothing FROM item").is_err());
    let rows: Vec<(String,)> = client
        .execute("SELECT name FROM item WHERE id = ?", (1,))
        .unwrap();
    assert_eq!(rows.len(), 1);
    client
        .run("UPDATE item SET name = 'x' WHERE id = 2")
        .unwrap();
    client.run("SELECT /* time of day */ 7").unwrap();
}

/// The statements of the session that did the work, with how they ended and when they began and ended.
fn statements(path: &Path) -> Vec<(String, CommandStart, CommandEnd, u64, u64)> {
    let mut statements: Vec<(String, CommandStart, CommandEnd, u64, u64)> = Vec::new();
    let mut session = None;
    for record in CaptureReader::open(path).unwrap().map(Result::unwrap) {
        match record.happening {
            Happening::Started(started) if started.command == Command::Query => {
                let text = String::from_utf8(started.text()).unwrap();
                if text.starts_with("INSERT INTO item") {
                    session = Some(record.session);
                }
                if session == Some(record.session) {
                    statements.push((text, started, CommandEnd::default(), record.at_us, 0));
                }
            }
            Happening::Ended(ended) if session == Some(record.session) => {
                if let Some(last) = statements.last_mut().filter(|last| last.4 == 0) {
                    (last.2, last.4) = (ended, record.at_us);
                }
            }
            _ => {}
        }
    }
    statements
}

fn assert_texts(statements: &[(String, CommandStart, CommandEnd, u64, u64)]) {
    let texts: Vec<_> = statements
        .iter()
        .map(|statement| statement.0.as_str())
        .collect();
    let at = |text: &str| {
        let found = texts.iter().position(|found| found.contains(text));
        found.unwrap_or_else(|| panic!("{text}: {texts:?}"))
    };
    let order = [
        at("INSERT INTO item VALUES (1, 'nail'), (2, 'it''s; a screw')"),
        at("WHERE id = 2"),
        at("SELECT SLEEP(1)"),
        at("SELECT nothing FROM item"),
        at("SELECT name FROM item WHERE id = 1"),
        at("UPDATE item SET name = 'x' WHERE id = 2"),
    ];
    assert!(order.is_sorted(), "{texts:?}");
    assert!(statements.iter().all(|statement| !statement.1.is_truncated));
}

fn slow(flavor: Flavor, has_extra: bool) {
    let bench = Bench::start(flavor);
    let log = bench.path("slow.log");
    let mut root = bench.connect();
    root.run(format!(
        "SET GLOBAL slow_query_log_file = '{}'",
        log.display()
    ))
    .unwrap();
    root.run("SET GLOBAL long_query_time = 0").unwrap();
    match flavor {
        Flavor::Mysql if has_extra => drop(root.run("SET GLOBAL log_slow_extra = ON").unwrap()),
        Flavor::Mysql => {}
        Flavor::Mariadb => drop(root.run("SET GLOBAL log_slow_filter = ''").unwrap()),
    }
    root.run("SET GLOBAL slow_query_log = ON").unwrap();
    work(&bench);
    root.run("SET GLOBAL slow_query_log = OFF").unwrap();
    let capture = bench.path("slow.weircap");
    let ImportResult { head, tail } =
        import_log(&log, LogFormat::Slow, &capture, Literals::Keep).unwrap();
    let expected = match (flavor, has_extra) {
        (Flavor::Mariadb, _) => CaptureSource::SlowLogMariadb,
        (_, true) => CaptureSource::SlowLogExtra,
        (_, false) => CaptureSource::SlowLog,
    };
    assert_eq!(head.source, expected);
    assert_eq!(
        (tail.losses.truncated, tail.losses.unread_lines),
        (0, 0),
        "{tail:?}"
    );
    let statements = statements(&capture);
    assert_texts(&statements);
    let of = |text: &str| {
        statements
            .iter()
            .find(|statement| statement.0.contains(text))
            .unwrap()
    };
    let (_, _, ended, began_us, ended_us) = of("SLEEP(1)");
    assert!(
        (1_000_000..3_000_000).contains(&(ended_us - began_us)),
        "{began_us} {ended_us}"
    );
    assert_eq!(ended.rows, Some(1));
    let is_exact = flavor == Flavor::Mysql;
    let after_us = began_us - of("WHERE id = 2").4;
    assert!(!is_exact || after_us < 1_000_000, "{after_us}");
    match expected {
        CaptureSource::SlowLogExtra => assert_eq!(of("SELECT nothing").2.error, Some(1054)),
        CaptureSource::SlowLogMariadb => assert_eq!(of("UPDATE item").2.affected, Some(1)),
        _ => assert_eq!(of("UPDATE item").2.affected, None),
    }
}

fn a_slow_log_becomes_a_capture(flavor: Flavor) {
    slow(flavor, false);
}

fn a_general_log_becomes_a_capture(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let log = bench.path("general.log");
    let mut root = bench.connect();
    root.run(format!("SET GLOBAL general_log_file = '{}'", log.display()))
        .unwrap();
    root.run("SET GLOBAL general_log = ON").unwrap();
    work(&bench);
    root.run("SET GLOBAL general_log = OFF").unwrap();
    let capture = bench.path("general.weircap");
    let imported = import_log(&log, LogFormat::General, &capture, Literals::Keep).unwrap();
    assert_eq!(imported.head.source, CaptureSource::GeneralLog);
    let losses = imported.tail.losses;
    assert_eq!(
        (losses.truncated, losses.unread_lines),
        (0, 0),
        "{losses:?}"
    );
    assert_texts(&statements(&capture));
    let records: Vec<_> = CaptureReader::open(&capture)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let Endpoint {
        user: account,
        database: schema,
        ..
    } = bench.server.endpoint();
    let is_it = |happening: &Happening| matches!(happening, Happening::Opened(login) if login.user == account && login.schema == schema);
    assert!(
        records.iter().any(|record| is_it(&record.happening)),
        "{records:?}"
    );
}

/// The files of the tables, and whether a slow log's time is that of the end: `SLEEP` of one second says so.
fn log_tables_become_captures(flavor: Flavor) {
    let bench = Bench::start(flavor);
    let mut root = bench.connect();
    for sql in [
        "SET GLOBAL log_output = 'TABLE'",
        "SET GLOBAL long_query_time = 0",
        "SET GLOBAL general_log = ON",
        "SET GLOBAL slow_query_log = ON",
    ] {
        root.run(sql).unwrap();
    }
    if flavor == Flavor::Mariadb {
        root.run("SET GLOBAL log_slow_filter = ''").unwrap();
    }
    work(&bench);
    root.run("SET GLOBAL slow_query_log = OFF").unwrap();
    root.run("SET GLOBAL general_log = OFF").unwrap();
    let data: Option<(String,)> = root.first("SELECT @@datadir").unwrap();
    let data = PathBuf::from(data.unwrap().0);
    let mut sleeps = Vec::new();
    for (name, source) in [
        ("slow_log", CaptureSource::SlowLogTable),
        ("general_log", CaptureSource::GeneralLog),
    ] {
        let (log, capture) = (bench.path(name), bench.path(&format!("{name}.weircap")));
        std::fs::copy(data.join(format!("mysql/{name}.CSV")), &log).unwrap();
        assert_eq!(log_format(&log).unwrap(), LogFormat::Table);
        let imported = import_log(&log, LogFormat::Table, &capture, Literals::Keep).unwrap();
        assert_eq!(imported.head.source, source);
        assert_eq!(imported.tail.losses.unread_lines, 0, "{imported:?}");
        let statements = statements(&capture);
        assert_texts(&statements);
        let slept = statements
            .iter()
            .find(|statement| statement.0.contains("SLEEP(1)"))
            .unwrap();
        sleeps.push((
            imported.head.began_unix_us + slept.3.cast_signed(),
            slept.4 - slept.3,
        ));
    }
    // The general log tells the beginning, and the slow log the same.
    assert!((sleeps[0].0 - sleeps[1].0).abs() < 500_000, "{sleeps:?}");
    assert!((1_000_000..1_500_000).contains(&sleeps[0].1), "{sleeps:?}");
}

#[test]
fn a_statement_that_was_cut_is_counted_and_marked() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("slow.log");
    let entry = |text: &str| {
        format!(
            "# Time: 2026-11-25T14:00:00.000001Z\n# User@Host: app[app] @ db1 []  Id:     8\n\
             # Query_time: 0.000123  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 1\n\
             use shop;\nSET timestamp=1764079200;\n{text};\n"
        )
    };
    // Also one that does not end as servers end it.
    let text =
        entry("SELECT 1") + &entry("UPDATE t SET a = 'x") + &entry("SELECT 2") + "an odd line\n";
    std::fs::write(&log, &text).unwrap();
    let to = directory.path().join("a.weircap");
    let imported = import_log(&log, LogFormat::Slow, &to, Literals::Keep).unwrap();
    assert_eq!(imported.tail.losses.truncated, 2);
    let cut: Vec<_> = CaptureReader::open(&to)
        .unwrap()
        .filter_map(|record| match record.unwrap().happening {
            Happening::Started(started) => Some((started.is_truncated, started.is_unusable)),
            _ => None,
        })
        .collect();
    assert!(
        cut.contains(&(true, true)) && cut.contains(&(false, false)),
        "{cut:?}"
    );
    let no_log = import_log(
        &log,
        LogFormat::General,
        &directory.path().join("b.weircap"),
        Literals::Keep,
    );
    let error = no_log.unwrap_err().to_string();
    assert!(
        error.contains("no entry of this format") && error.lines().count() == 1,
        "{error}"
    );
    without_its_where(&directory);
    // Whatever stands in a log, reading it ends.
    for end in (0..text.len()).step_by(7) {
        std::fs::write(&log, &text[..end]).unwrap();
        let to = directory.path().join(format!("{end}.weircap"));
        for format in [LogFormat::Slow, LogFormat::General] {
            let _ = import_log(&log, format, &to, Literals::Hash);
            let _ = std::fs::remove_file(&to);
        }
    }
}

/// A log that ends within a statement: its remainder looks whole, and is never sent.
fn without_its_where(directory: &TempDir) {
    let slow = "# Time: 2026-11-25T14:00:00.000001Z\n# User@Host: app[app] @ db1 []  Id:     8\n\
                # Query_time: 0.000123  Lock_time: 0.000001 Rows_sent: 1  Rows_examined: 1\n\
                use shop;\nSET timestamp=1764079200;\n";
    let general = "2026-11-25T14:00:00.000001Z\t    8 Query\t";
    let table = "\"2026-11-25 10:00:02.500000\",\"app[app] @ localhost []\",8,1,\"Query\",\"";
    let statement = "UPDATE t SET a = 1\nWHERE id = 1";
    for (format, before, after) in [
        (LogFormat::Slow, slow, ";\n"),
        (LogFormat::General, general, "\n"),
        (LogFormat::Table, table, "\"\n"),
    ] {
        let in_table = format == LogFormat::Table;
        let line_end = if in_table { "\\n" } else { "\n" };
        let written = statement.replace('\n', line_end);
        let whole = format!("{before}{written}{after}");
        let cut_at = before.len() + "UPDATE t SET a = 1".len();
        for (end, truncated) in [(whole.len(), 0), (cut_at, 1)] {
            let log = directory.path().join("end.log");
            // The table's reader wants a whole row before.
            let text = whole[..end].to_owned();
            let text = if in_table {
                whole.clone() + &text
            } else {
                text
            };
            std::fs::write(&log, text).unwrap();
            let to = directory.path().join("end.weircap");
            let imported = import_log(&log, format, &to, Literals::Keep).unwrap();
            let losses = imported.tail.losses;
            assert_eq!(
                losses.truncated + losses.unread_lines,
                truncated,
                "{format:?} {losses:?}"
            );
            let sent = CaptureReader::open(&to).unwrap().filter_map(|record| {
                let happening = record.unwrap().happening;
                matches!(happening, Happening::Started(started) if !started.is_unusable)
                    .then_some(())
            });
            let rows = usize::from(in_table) + usize::from(truncated == 0);
            assert_eq!(sent.count(), rows, "{format:?}");
            std::fs::remove_file(&to).unwrap();
        }
    }
}
