//! What random histories found (`tests/oracle`), each as small as it became.

use std::thread;
use std::time::Duration;

use weir_flashback::{
    Diff, FlashbackError, FlashbackPlan, MomentRequest, Options, Private, State, TableName,
    find_like,
};
use weir_model::Flavor;
use weir_mysql::{Connection, Row, Value};
use weir_server::PrivateServer;

use crate::{connect, options, source, start};

/// A history of `shop.t`, and what is to be told of it.
struct Case {
    flavor: Option<Flavor>,
    before: &'static [&'static str],
    after: &'static [&'static str],
    /// What has to be the same then and now on the private server.
    query: &'static str,
    /// Or a part of the refusal.
    refused: &'static str,
    diff: &'static [&'static str],
}

const SET: &str = "CREATE TABLE shop.t (id INT PRIMARY KEY, c SET('0','1','2','3','4','5','6','7','8','9','10','11','12','13',\
    '14','15','16','17','18','19','20','21','22','23','24','25','26','27','28','29','30','31','32','33','34','35','36','37',\
    '38','39','40','41','42','43','44','45','46','47','48','49','50','51','52','53','54','55','56','57','58','59','60','61',\
    '62','63'))";
const PAIR: &str = "CREATE TABLE shop.t (id INT PRIMARY KEY, a INT, b INT)";

const CASES: &[Case] = &[
    // The new image of a key in part lacks its other part.
    Case {
        flavor: None,
        before: &[
            "CREATE TABLE shop.t (a INT, b INT, PRIMARY KEY (a, b))",
            "INSERT INTO shop.t VALUES (1, 1)",
        ],
        after: &[
            "SET SESSION binlog_row_image = MINIMAL",
            "UPDATE shop.t SET b = 2",
        ],
        query: "SELECT * FROM shop.t",
        refused: "",
        diff: &[
            "shop.t a=1 b=1: deleted since: a: 1, b: 1",
            "shop.t a=1 b=2: inserted since: a: 1, b: 2",
        ],
    },
    Case {
        flavor: None,
        before: &[
            SET,
            "INSERT INTO shop.t VALUES (1, '63'), (2, '0,53'), (3, '0')",
        ],
        after: &["UPDATE shop.t SET c = '1' WHERE id = 3"],
        query: "SELECT id, CAST(c AS UNSIGNED) FROM shop.t ORDER BY id",
        refused: "",
        diff: &["shop.t id=3: changed: c: '0' -> '1'"],
    },
    Case {
        flavor: Some(Flavor::Mysql),
        before: &[PAIR, "INSERT INTO shop.t VALUES (1, 1, 1), (2, 2, 2)"],
        after: &[
            "SET SESSION binlog_row_image = MINIMAL",
            "UPDATE shop.t SET a = 7 WHERE id = 1",
            "UPDATE shop.t SET b = 8 WHERE id = 1",
        ],
        query: "",
        refused: "has not the old value of `a`",
        diff: &["shop.t id=1: changed: a: (not logged) -> 7, b: (not logged) -> 8"],
    },
    // The server replaces the row by an update, of which it logs only what the statement names.
    Case {
        flavor: Some(Flavor::Mariadb),
        before: &[PAIR, "INSERT INTO shop.t VALUES (2, 2, 2)"],
        after: &[
            "SET SESSION binlog_row_image = MINIMAL",
            "REPLACE INTO shop.t (id, a) VALUES (2, 3)",
        ],
        query: "",
        refused: "has not the old value of `a`",
        diff: &["shop.t id=2: changed: a: (not logged) -> 3, b: (not logged) -> (not logged)"],
    },
    // The server finds rows by the first unique key of the definition, not of the alphabet.
    Case {
        flavor: None,
        before: &[
            "CREATE TABLE shop.t (id INT, a INT NOT NULL, b INT NOT NULL, UNIQUE KEY u (a), UNIQUE KEY k (b))",
            "INSERT INTO shop.t VALUES (1, 1, 1)",
        ],
        after: &[
            "INSERT INTO shop.t VALUES (2, 2, 2)",
            "UPDATE shop.t SET a = 3 WHERE id = 2",
        ],
        query: "SELECT * FROM shop.t",
        refused: "",
        diff: &["shop.t a=3: inserted since: id: 2, a: 3, b: 2"],
    },
    Case {
        flavor: Some(Flavor::Mysql),
        before: &[
            "CREATE TABLE shop.t (id INT PRIMARY KEY, d DOUBLE)",
            "INSERT INTO shop.t VALUES (1, 0)",
        ],
        after: &["UPDATE shop.t SET d = -0e0"],
        query: "SELECT * FROM shop.t",
        refused: "",
        diff: &["shop.t id=1: changed: d: 0 -> -0"],
    },
    Case {
        flavor: Some(Flavor::Mariadb),
        before: &[
            "CREATE TABLE shop.t (u UUID PRIMARY KEY, a INET6, b INET4)",
            "INSERT INTO shop.t VALUES ('00000000-0000-0000-0000-000000000000', '::', '0.0.0.0')",
        ],
        after: &["UPDATE shop.t SET a = '2001:db8::1', b = '10.0.0.1'"],
        query: "SELECT * FROM shop.t",
        refused: "",
        diff: &[
            "shop.t u='00000000-0000-0000-0000-000000000000': changed: a: '::' -> '2001:db8::1', b: '0.0.0.0' -> '10.0.0.1'",
        ],
    },
    Case {
        flavor: Some(Flavor::Mariadb),
        before: &[
            "CREATE TABLE shop.t (id INT PRIMARY KEY, c VARBINARY(9) DEFAULT (X'FF00FE275C'))",
            "INSERT INTO shop.t (id) VALUES (1)",
        ],
        after: &["INSERT INTO shop.t (id) VALUES (2)"],
        query: "SELECT id, HEX(c), HEX(DEFAULT(c)) FROM shop.t",
        refused: "",
        diff: &["shop.t id=2: inserted since: id: 2, c: '0xFF00FE275C'"],
    },
    Case {
        flavor: Some(Flavor::Mariadb),
        before: &[PAIR, "INSERT INTO shop.t VALUES (1, 1, 1)"],
        after: &[
            "SET SESSION binlog_alter_two_phase = ON",
            "ALTER TABLE shop.t ADD COLUMN c INT",
            "UPDATE shop.t SET b = 8, c = 9",
        ],
        query: "SELECT * FROM shop.t",
        refused: "",
        diff: &["shop.t id=1: changed: b: 1 -> 8, c: NULL -> 9"],
    },
    Case {
        flavor: Some(Flavor::Mariadb),
        before: &[
            "CREATE TABLE shop.t (id INT PRIMARY KEY, a INT CHECK (a > 0))",
            "SET SESSION check_constraint_checks = 0",
            "INSERT INTO shop.t VALUES (1, -1)",
        ],
        after: &["INSERT INTO shop.t VALUES (2, -2)"],
        query: "SELECT * FROM shop.t",
        refused: "",
        diff: &["shop.t id=2: inserted since: id: 2, a: -2"],
    },
    Case {
        flavor: Some(Flavor::Mariadb),
        before: &[
            "CREATE TABLE shop.t (id INT PRIMARY KEY, p POINT NOT NULL)",
            "INSERT IGNORE INTO shop.t VALUES (1, NULL), (2, POINT(1, 2))",
        ],
        after: &["DELETE FROM shop.t WHERE id = 2"],
        query: "",
        refused: "an empty value in a column of shapes",
        diff: &[
            "shop.t id=2: deleted since: id: 2, p: '0x000000000101000000000000000000F03F0000000000000040'",
        ],
    },
];

pub(crate) fn what_random_histories_found_is_right(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let source = source(&server);
    let of_flavor = |case: &&Case| case.flavor.is_none_or(|only| only == flavor);
    let (options, _work) = options();
    let private = private(&server, options.clone());
    for case in CASES.iter().filter(of_flavor) {
        let mut control = connect(&server);
        for statement in ["DROP DATABASE IF EXISTS shop", "CREATE DATABASE shop"] {
            control.run(statement).unwrap();
        }
        run(&mut control, case.before);
        let asked = end_of_log(&mut control, flavor);
        let expected = rows(&mut control, case.query);
        run(&mut control, case.after);
        let names = [TableName::read("shop.t", "")];
        let prepared = FlashbackPlan::new(&source, &names, &asked, options.clone()).unwrap();
        let mut diff = Diff::default();
        prepared
            .changes(&mut |change| diff.take(&prepared.tables[0], change))
            .unwrap();
        let lines = diff.lines(&prepared.tables);
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        assert_eq!(lines, case.diff, "{:?}", case.after);
        match prepared.make_on(&private, State::Then, "") {
            Ok(_) => {
                let found = rows(&mut private.connect(None).unwrap(), case.query);
                assert_eq!(found, expected, "{:?}", case.before);
            }
            Err(error) => is_refused(&error, case.refused),
        }
    }
}

/// A session that sets its time and begins a new file of the log does so at that time, as the log says.
pub(crate) fn a_file_that_was_begun_in_the_past_is_not_begun_with(flavor: Flavor) {
    let (server, _directory) = start(flavor, &[]);
    let mut control = connect(&server);
    run(
        &mut control,
        &[
            "CREATE DATABASE shop",
            PAIR,
            "INSERT INTO shop.t VALUES (1, 1, 1)",
        ],
    );
    thread::sleep(Duration::from_millis(1_100));
    let time: Option<String> = control.first("SELECT CAST(NOW(6) AS CHAR)").unwrap();
    thread::sleep(Duration::from_millis(1_100));
    run(
        &mut control,
        &[
            "DELETE FROM shop.t",
            "SET SESSION timestamp = 1700000000",
            "FLUSH BINARY LOGS",
        ],
    );
    let (options, _work) = options();
    let names = [TableName::read("shop.t", "")];
    let asked = MomentRequest::read(&time.unwrap());
    let prepared = FlashbackPlan::new(&source(&server), &names, &asked, options).unwrap();
    let mut changes = 0;
    prepared
        .changes(&mut |_| {
            changes += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(changes, 1);
}

/// A private server that can serve.
fn private(server: &PrivateServer, options: Options) -> Private {
    let mut control = connect(server);
    run(&mut control, &["CREATE DATABASE shop", PAIR]);
    let names = [TableName::read("shop.t", "")];
    let source = source(server);
    let prepared = FlashbackPlan::new(&source, &names, &MomentRequest::Start, options).unwrap();
    let binary = find_like(&source, Some(&server.binary().path)).unwrap();
    prepared.make(&binary, State::Now, "").unwrap().private
}

fn is_refused(error: &FlashbackError, why: &str) {
    let text = error.to_string();
    assert!(!why.is_empty() && text.contains(why), "{text}");
    assert!(matches!(error, FlashbackError::Refused { .. }), "{text}");
}

fn run(connection: &mut Connection, statements: &[&str]) {
    for statement in statements {
        connection.run(statement).unwrap();
    }
}

fn end_of_log(control: &mut Connection, flavor: Flavor) -> MomentRequest {
    let status = match flavor {
        Flavor::Mysql => "SHOW BINARY LOG STATUS",
        Flavor::Mariadb => "SHOW MASTER STATUS",
    };
    let row: Row = control.first(status).unwrap().unwrap();
    MomentRequest::At {
        file: row.get(0).unwrap(),
        position: row.get(1).unwrap(),
    }
}

fn rows(connection: &mut Connection, query: &str) -> Vec<Vec<Value>> {
    if query.is_empty() {
        return Vec::new();
    }
    let rows: Vec<Row> = connection.rows(query).unwrap();
    rows.into_iter().map(Row::unwrap).collect()
}
