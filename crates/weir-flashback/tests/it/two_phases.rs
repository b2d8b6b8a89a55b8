//! Transactions of two phases (XA).

use std::thread;
use std::time::Duration;

use weir_flashback::{
    Diff, FlashbackPlan, MomentRequest, State, TransactionFilter, Undo, find_like, rehearse,
};
use weir_model::Flavor;
use weir_mysql::Connection;
use weir_server::PrivateServer;

use crate::{connect, options, orders, source, start};

const ROWS: &str = "SELECT id, c FROM shop.orders ORDER BY id";

fn begin(flavor: Flavor) -> (PrivateServer, tempfile::TempDir, Connection) {
    let (server, directory) = start(flavor, &[]);
    let mut control = connect(&server);
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT PRIMARY KEY, c VARCHAR(20))",
        "INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd'), (5, 'e'), (6, 'f')",
    ] {
        control.run(statement).unwrap();
    }
    (server, directory, control)
}

/// Changes in a branch of a connection of its own, which it loses at the end: so may a branch that is prepared.
fn prepare(server: &PrivateServer, name: &str, changes: &[&str]) {
    let mut connection = connect(server);
    connection.run(format!("XA START '{name}'")).unwrap();
    for change in changes {
        connection.run(change).unwrap();
    }
    connection.run(format!("XA END '{name}'")).unwrap();
    connection.run(format!("XA PREPARE '{name}'")).unwrap();
}

/// Ends a branch, once the server knows that its connection is gone.
fn end(control: &mut Connection, statement: &str) {
    for _ in 0..200 {
        if control.run(statement).is_ok() {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("never: {statement}");
}

fn now(control: &mut Connection) -> MomentRequest {
    thread::sleep(Duration::from_millis(1_100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1_100));
    MomentRequest::read(&time.unwrap())
}

/// Prepared before a time and committed or taken back after it, all of it after, at once, and not ended.
pub(crate) fn a_branch_counts_from_its_commit(flavor: Flavor) {
    let (server, _directory, mut control) = begin(flavor);
    prepare(
        &server,
        "over",
        &["UPDATE shop.orders SET c = 'over' WHERE id = 1"],
    );
    prepare(&server, "back", &["DELETE FROM shop.orders WHERE id = 2"]);
    prepare(
        &server,
        "done",
        &["UPDATE shop.orders SET c = 'done' WHERE id = 3"],
    );
    end(&mut control, "XA COMMIT 'done'");
    let asked = now(&mut control);
    let expected: Vec<(i32, String)> = control.rows(ROWS).unwrap();
    assert_eq!(expected[0].1, "a");
    end(&mut control, "XA COMMIT 'over'");
    end(&mut control, "XA ROLLBACK 'back'");
    control
        .run("UPDATE shop.orders SET c = 'later' WHERE id IN (1, 2)")
        .unwrap();
    prepare(
        &server,
        "after",
        &[
            "UPDATE shop.orders SET c = 'x' WHERE id = 4",
            "INSERT INTO shop.orders VALUES (7, 'g')",
        ],
    );
    end(&mut control, "XA COMMIT 'after'");
    for statement in [
        "XA START 'at once'",
        "UPDATE shop.orders SET c = 'y' WHERE id = 5",
        "XA END 'at once'",
        "XA COMMIT 'at once' ONE PHASE",
    ] {
        control.run(statement).unwrap();
    }
    prepare(&server, "never", &["DELETE FROM shop.orders WHERE id = 6"]);

    let source = source(&server);
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    let (options, _work) = options();
    let prepared = FlashbackPlan::new(&source, &orders(), &asked, options).unwrap();
    let made = prepared.make(&binary, State::Then, "").unwrap();
    let mut then = made.private.connect(None).unwrap();
    assert_eq!(then.rows::<(i32, String)>(ROWS).unwrap(), expected);
    assert_eq!(made.told.pending, 1);

    let (mut diff, mut undo) = (Diff::default(), Undo::new(TransactionFilter::default()));
    let told = prepared
        .changes(&mut |change| {
            diff.take(&prepared.tables[0], change)?;
            undo.take(&prepared.tables[0], change)
        })
        .unwrap();
    let lines = diff.lines(&prepared.tables);
    let changed: Vec<_> = lines.iter().map(|line| line.key.as_str()).collect();
    assert_eq!(changed, ["id=1", "id=2", "id=4", "id=7", "id=5"]);
    let script = undo.script(&prepared.tables, "here", "then", &told);
    let made = prepared.make(&binary, State::Now, "").unwrap();
    assert_eq!(rehearse(&made.private, &script).unwrap(), None);
    let mut back = made.private.connect(None).unwrap();
    assert_eq!(back.rows::<(i32, String)>(ROWS).unwrap(), expected);
    control.run("XA ROLLBACK 'never'").ok();
}

/// Its rows lie before the file in which the reading begins.
pub(crate) fn a_branch_of_an_older_file_is_refused(flavor: Flavor) {
    let (server, _directory, mut control) = begin(flavor);
    prepare(
        &server,
        "old",
        &["UPDATE shop.orders SET c = 'old' WHERE id = 1"],
    );
    thread::sleep(Duration::from_millis(3_100));
    control.run("FLUSH BINARY LOGS").unwrap();
    // MySQL's files are told apart by their transactions.
    control
        .run("INSERT INTO shop.orders VALUES (9, 'i')")
        .unwrap();
    thread::sleep(Duration::from_millis(3_100));
    let asked = now(&mut control);
    end(&mut control, "XA COMMIT 'old'");
    let source = source(&server);
    let (options, _work) = options();
    let prepared = FlashbackPlan::new(&source, &orders(), &asked, options).unwrap();
    let error = prepared.changes(&mut |_| Ok(())).unwrap_err().to_string();
    assert!(
        error.contains("(XA)") && error.contains("binlog."),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
    let told = prepared.known_changes(&mut |_| Ok(())).unwrap();
    assert_eq!(told.statements.len(), 1);
}
