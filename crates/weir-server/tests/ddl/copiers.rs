//! Copies of a table under a load that knows what each row has to be.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weir_model::{CopyWay, Endpoint, Flavor};
use weir_mysql::{Connection, Gate};
use weir_server::ddl::{AlterStatement, DdlError, TableCopier, leftovers, remove_leftovers};
use weir_testing::{LAZY_COMMITS, PrivateServer, connect, start_with};

use crate::ledger::{self, Ledger};

/// Copies of each way; `WEIR_COPIES` has another number.
const COPIES: u64 = 3;
pub(crate) const THREADS: i64 = 3;
pub(crate) const NEVER: &dyn Fn() -> bool = &|| false;

pub(crate) fn server(flavor: Flavor) -> (PrivateServer, tempfile::TempDir) {
    let logs = [
        ("log_bin", "binlog"),
        ("server_id", "7"),
        ("binlog_format", "ROW"),
    ];
    start_with(flavor, &[&logs[..], &LAZY_COMMITS[..]].concat())
}

fn copier(endpoint: &Endpoint, way: CopyWay, change: &str) -> TableCopier {
    TableCopier {
        endpoint: endpoint.clone(),
        gate: Gate::own(),
        alter: AlterStatement::read(&format!("ALTER TABLE shop.ledger {change}"), "").unwrap(),
        way,
        session: BTreeMap::from([("lock_wait_timeout".to_owned(), "20".to_owned())]),
    }
}

pub(crate) fn has_column(connection: &mut Connection) -> bool {
    let count: Option<u64> = connection
        .first("SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'shop' AND TABLE_NAME = 'ledger' AND COLUMN_NAME = 'h'")
        .unwrap();
    count == Some(1)
}

/// Waits until the load has made some changes more.
pub(crate) fn go_on(load: &Ledger) {
    let until = load.changes() + 50;
    let began = Instant::now();
    while load.changes() < until {
        assert!(
            began.elapsed() < Duration::from_mins(1),
            "the load stands still"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

fn copies_lose_no_change_of_the_load(flavor: Flavor) {
    let (server, _directory) = server(flavor);
    let mut control = connect(&server.endpoint());
    let copies = std::env::var("WEIR_COPIES")
        .ok()
        .and_then(|copies| copies.parse().ok());
    for number in 0..copies.unwrap_or(COPIES) {
        for way in [CopyWay::Triggers, CopyWay::Log] {
            ledger::make(&mut control, THREADS);
            let load = Ledger::start(&server.endpoint(), THREADS, number + 1);
            go_on(&load);
            let before = load.changes();
            let copier = copier(
                &server.endpoint(),
                way,
                "ADD COLUMN h INT NOT NULL DEFAULT 3",
            );
            let copied = copier.run(NEVER).unwrap();
            let during = load.changes() - before;
            go_on(&load);
            let expected = load.stop();
            assert!(has_column(&mut control));
            assert_eq!(
                ledger::rows(&mut control),
                expected,
                "{way:?}, copy {number}"
            );
            assert_eq!(leftovers(&mut control, "shop").unwrap(), []);
            assert!(
                copied.rows > 0 && copied.chunks > 0 && during > 0,
                "{copied:?}, {during}"
            );
        }
    }
}

/// The server ends a connection of the copier at some moment of the copy.
fn a_copy_that_is_killed_leaves_the_table_as_it_was(flavor: Flavor) {
    let (server, _directory) = server(flavor);
    let mut control = connect(&server.endpoint());
    let mut killed = 0;
    for way in [CopyWay::Triggers, CopyWay::Log] {
        for pause_ms in [1, 6, 15, 40] {
            ledger::make(&mut control, THREADS);
            let load = Ledger::start(&server.endpoint(), THREADS, pause_ms);
            go_on(&load);
            let copier = copier(
                &server.endpoint(),
                way,
                "ADD COLUMN h INT NOT NULL DEFAULT 3",
            );
            let own: Vec<u64> = ids(&mut control);
            let is_done = AtomicBool::new(false);
            let copied = thread::scope(|scope| {
                let copying = scope.spawn(|| {
                    let copied = copier.run(NEVER);
                    is_done.store(true, Ordering::Relaxed);
                    copied
                });
                thread::sleep(Duration::from_millis(pause_ms));
                let is_over = || is_done.load(Ordering::Relaxed);
                let mut of_copier = || {
                    let mut found = ids(&mut control);
                    found.retain(|id| !own.contains(id));
                    found
                };
                let mut found = of_copier();
                // Its first connection, however long it takes to come: one kill at least meets a copy.
                while pause_ms == 1 && found.is_empty() && !is_over() {
                    found = of_copier();
                }
                // Those that come after the error are the ones that clear up.
                for id in found {
                    if !is_over() {
                        let _ = control.run(format!("KILL {id}"));
                    }
                }
                copying.join().unwrap()
            });
            go_on(&load);
            let expected = load.stop();
            killed += u32::from(copied.is_err());
            assert_eq!(has_column(&mut control), copied.is_ok(), "{copied:?}");
            assert_eq!(
                ledger::rows(&mut control),
                expected,
                "{way:?}, {pause_ms} ms, {copied:?}"
            );
            assert_eq!(leftovers(&mut control, "shop").unwrap(), []);
        }
    }
    assert!(killed > 0);
}

fn ids(connection: &mut Connection) -> Vec<u64> {
    let query =
        "SELECT ID FROM information_schema.PROCESSLIST WHERE COMMAND <> 'Daemon' AND USER = 'weir'";
    connection.rows(query).unwrap()
}

fn leftovers_are_named_and_removed_and_tables_that_a_copy_would_harm_are_refused(flavor: Flavor) {
    let (server, _directory) = server(flavor);
    let mut control = connect(&server.endpoint());
    ledger::make(&mut control, THREADS);
    control.run("USE shop").unwrap();
    // As a copier leaves them whose process is killed.
    for statement in [
        "CREATE TABLE ledger_weir_new LIKE ledger",
        "CREATE TRIGGER ledger_weir_ins AFTER INSERT ON ledger FOR EACH ROW REPLACE INTO ledger_weir_new VALUES (NEW.id, NEW.v, NEW.note)",
        "CREATE TABLE weir_notes (a INT)",
    ] {
        control.run(statement).unwrap();
    }
    let found = remove_leftovers(&mut control, "shop").unwrap();
    let names: Vec<_> = found.iter().map(weir_server::ddl::Leftover::name).collect();
    assert_eq!(names, ["ledger_weir_ins", "ledger_weir_new"]);
    assert_eq!(leftovers(&mut control, "shop").unwrap(), []);

    let endpoint = server.endpoint();
    let refused = |change: &str| {
        let copied = copier(&endpoint, CopyWay::Triggers, change).run(NEVER);
        copied.unwrap_err().to_string()
    };
    assert!(refused("DROP COLUMN nothing").contains("correct the statement"));
    assert!(refused("RENAME COLUMN v TO w").contains("would lose what is renamed"));
    assert!(refused("DROP PRIMARY KEY").contains("another primary key"));
    let over: &dyn Fn() -> bool = &|| true;
    let stopped = copier(&endpoint, CopyWay::Log, "ADD COLUMN h INT").run(over);
    assert!(matches!(stopped, Err(DdlError::Stopped)));
    control
        .run("CREATE TRIGGER own BEFORE INSERT ON ledger FOR EACH ROW SET NEW.v = 1")
        .unwrap();
    assert!(refused("ADD COLUMN h INT").contains("it has triggers"));
    assert_eq!(leftovers(&mut control, "shop").unwrap(), []);
    assert!(!has_column(&mut control));
}

/// Servers count characters, of which each of these has two bytes.
fn a_name_may_have_as_many_letters_as_the_server_lets_it(flavor: Flavor) {
    let (server, _directory) = server(flavor);
    let endpoint = server.endpoint();
    let mut control = connect(&endpoint);
    control.run("CREATE DATABASE shop").unwrap();
    let mut copied = |letters: usize| {
        let name = "\u{44f}".repeat(letters);
        control
            .run(format!("CREATE TABLE shop.`{name}` (id INT PRIMARY KEY)"))
            .unwrap();
        let statement = format!("ALTER TABLE shop.`{name}` ADD COLUMN h INT");
        let mut copier = copier(&endpoint, CopyWay::Triggers, "ADD COLUMN h INT");
        copier.alter = AlterStatement::read(&statement, "").unwrap();
        copier.run(NEVER).map(drop)
    };
    copied(28).unwrap();
    // With `_weir_new` it has 64.
    copied(55).unwrap();
    let refused = copied(56).unwrap_err().to_string();
    assert!(refused.contains("its name is too long"), "{refused}");
}

weir_testing::on_both_flavors! {
    a_name_may_have_as_many_letters_as_the_server_lets_it
    copies_lose_no_change_of_the_load
    a_copy_that_is_killed_leaves_the_table_as_it_was
    leftovers_are_named_and_removed_and_tables_that_a_copy_would_harm_are_refused
}
