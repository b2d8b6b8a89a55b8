//! The gate before servers of the user's, tried on real ones: statements that would change another schema
//! do not get there, and those of an ordinary application do.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on must fail")]

use std::collections::BTreeMap;

use weir_model::{Endpoint, Flavor};
use weir_mysql::{ClientError, Connection, Connector, Gate, Patience, Permissions};
use weir_server::PrivateServer;
use weir_testing::on_both_flavors;

/// Statements that change the schema `hr` where they are allowed to, on one of the flavours at least. The
/// connection is in the schema `shop`, which has a table called `hr`, too.
const ODD: [&str; 51] = [
    "UPDATE hr.people SET pay = 1",
    "UPDATE `hr`.people SET pay = 1",
    "UPDATE hr . people SET pay = 1",
    "UPDATE/**/hr/**/./**/people SET pay = 1",
    "UPDATE hr.people # x\n SET pay = 1",
    "UPDATE hr.people -- x\n SET pay = 1",
    "UPDATE /*!hr.*/people SET pay = 1",
    "UPDATE /*!50000 hr.people */ SET pay = 1",
    "UPDATE /*M!50000 hr.people */ SET pay = 1",
    "update HR.people set pay = 1",
    "UPDATE hr, hr.people SET people.pay = 1",
    "UPDATE hr JOIN (orders, hr.people) ON 1 SET people.pay = 1",
    "UPDATE hr JOIN orders ON hr.id = orders.id, hr.people SET people.pay = 1",
    "UPDATE orders o, hr.people p SET p.pay = 1",
    "WITH x AS (SELECT 1 AS a) UPDATE hr.people, x SET pay = a",
    "INSERT INTO hr.people VALUES (9, 9)",
    "INSERT hr.people VALUES (9, 9)",
    "INSERT INTO hr.people (id, pay) SELECT 9, 9",
    "INSERT INTO hr.people SET id = 9, pay = 9",
    "REPLACE hr.people VALUES (1, 9)",
    "REPLACE INTO hr.people SET id = 1, pay = 9",
    "DELETE FROM hr.people",
    "DELETE hr.people FROM hr.people JOIN orders",
    "DELETE FROM hr.people USING hr.people JOIN orders",
    "DELETE people FROM hr.people JOIN orders",
    "TRUNCATE hr.people",
    "TRUNCATE TABLE hr.people",
    "DROP TABLE hr.people",
    "DROP TABLE hr, hr.people",
    "DROP TABLE IF EXISTS hr.people",
    "CREATE TABLE hr.more (a INT)",
    "CREATE TABLE hr.more LIKE orders",
    "CREATE TABLE hr.more AS SELECT 1 AS a",
    "ALTER TABLE hr.people ADD b INT",
    "ALTER TABLE hr RENAME hr.more",
    "ALTER TABLE hr RENAME AS hr.more",
    "ALTER TABLE hr RENAME TO hr.more",
    "ALTER TABLE parts EXCHANGE PARTITION p WITH TABLE hr.people",
    "RENAME TABLE hr TO hr.more",
    "RENAME TABLE hr TO other, hr.people TO people",
    "RENAME TABLE hr.people TO people",
    "CREATE INDEX i ON hr.people (pay)",
    "CALL hr.raise_all()",
    "SELECT hr.raise_one(1)",
    "DO hr.raise_one(1)",
    "SET @a = hr.raise_one(1)",
    "INSERT INTO orders VALUES (9, hr.raise_one(1))",
    "SELECT 1; DROP TABLE hr.people",
    "DROP DATABASE hr",
    "CREATE OR REPLACE DATABASE hr",
    "UPDATE \"hr\".\"people\" SET pay = 1",
];

/// As [`ODD`], in modes of SQL that read quotes otherwise.
const ODD_IN_MODES: [(&str, &str); 6] = [
    ("ANSI_QUOTES", "UPDATE \"hr\".\"people\" SET pay = 1"),
    ("ANSI_QUOTES", "UPDATE \"hr\" . people SET pay = 1"),
    ("ANSI_QUOTES", "INSERT INTO \"hr\".people VALUES (9, 9)"),
    (
        "NO_BACKSLASH_ESCAPES",
        "UPDATE hr SET hr.id = '\\' WHERE 0 OR ' -- '='' AND hr.id IN (SELECT hr.raise_one(1))",
    ),
    (
        "NO_BACKSLASH_ESCAPES",
        "UPDATE orders SET note = CONCAT('\\', hr.raise_one(1), ' \\')",
    ),
    (
        "NO_BACKSLASH_ESCAPES",
        "DELETE people FROM orders JOIN hr ON '\\' <> ' x' JOIN hr.people ON ' x' <> '\\'",
    ),
];

/// Statements of applications, with tables of their own.
const ORDINARY: [&str; 45] = [
    "BEGIN",
    "COMMIT",
    "START TRANSACTION READ ONLY",
    "ROLLBACK",
    "BEGIN WORK",
    "SAVEPOINT s",
    "RELEASE SAVEPOINT s",
    "COMMIT",
    "SET NAMES utf8mb4",
    "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET @n = (SELECT COUNT(*) FROM orders), @m = 2",
    "SET autocommit = 1, sql_mode = 'STRICT_ALL_TABLES'",
    "SELECT * FROM orders WHERE id = 1 FOR UPDATE",
    "SELECT id INTO @a FROM orders LIMIT 1",
    "SELECT o.id, (SELECT MAX(h.id) FROM hr h WHERE h.id <= o.id) FROM orders AS o ORDER BY o.id",
    "SELECT 'it''s', \"a.b\", note LIKE 'x%' FROM orders",
    "SELECT pay FROM hr.people",
    "(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1",
    "WITH x (a) AS (SELECT 1) SELECT a FROM x",
    "WITH RECURSIVE x AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM x WHERE a < 3) SELECT * FROM x",
    "SELECT own_function(1)",
    "CALL own_procedure()",
    "INSERT INTO orders (id, note) VALUES (100, 'a.b'), (101, 'c')",
    "INSERT INTO shop.orders VALUES (102, 'x')",
    "INSERT IGNORE INTO orders VALUES (100, 'x')",
    "INSERT INTO orders (id, note) SELECT o.id + 200, o.note FROM orders o JOIN hr h ON h.id = o.id",
    "INSERT INTO orders VALUES (100, 'z') ON DUPLICATE KEY UPDATE note = CONCAT(orders.note, VALUES(note))",
    "INSERT INTO orders VALUES (LAST_INSERT_ID() + 900, EXTRACT(YEAR FROM NOW()))",
    "REPLACE INTO orders SET id = 103, note = REPLACE('abc', 'b', 'x')",
    "UPDATE orders o JOIN (SELECT MAX(id) AS top FROM hr) AS m ON m.top >= o.id SET o.note = 'y'",
    "UPDATE orders, hr SET orders.note = 'z' WHERE orders.id = hr.id AND orders.id IN (1.0, 2.0)",
    "UPDATE orders SET note = TRIM(LEADING 'x' FROM orders.note) WHERE id BETWEEN 1 AND 2 LIMIT 1",
    "DELETE o FROM orders o JOIN hr h ON h.id = o.id WHERE o.id = 103",
    "DELETE FROM o USING orders AS o JOIN hr ON hr.id = o.id WHERE o.id > 1000",
    "DELETE FROM orders WHERE id > 100 ORDER BY id LIMIT 3",
    "LOCK TABLES orders WRITE",
    "UNLOCK TABLES",
    "CREATE TABLE IF NOT EXISTS items (id INT PRIMARY KEY, price DECIMAL(9,2) NOT NULL DEFAULT 1.5, \
     data JSON, CHECK (price > 0.5)) ENGINE = InnoDB COMMENT = 'a.b'",
    "CREATE TABLE `t1` LIKE orders",
    "ALTER TABLE items ADD KEY price (price), ADD COLUMN at TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
    "CREATE UNIQUE INDEX u ON items (id, price)",
    "ALTER TABLE items RENAME COLUMN data TO doc, RENAME TO things",
    "TRUNCATE TABLE things",
    "ANALYZE TABLE orders",
    "DROP TABLE IF EXISTS things, t1",
];

struct Bench {
    server: PrivateServer,
    _directory: tempfile::TempDir,
}

impl Bench {
    fn start(flavor: Flavor) -> Self {
        let (server, directory) = weir_testing::start(flavor);
        Self {
            server,
            _directory: directory,
        }
    }

    /// Both schemas as they begin.
    fn reset(&self) {
        let mut session = self.server.session().unwrap();
        for statement in [
            "DROP DATABASE IF EXISTS hr",
            "DROP DATABASE IF EXISTS shop",
            "CREATE DATABASE hr",
            "CREATE DATABASE shop",
            "CREATE TABLE hr.people (id INT PRIMARY KEY, pay INT)",
            "INSERT INTO hr.people VALUES (1, 100), (2, 200)",
            "CREATE TABLE shop.orders (id INT PRIMARY KEY, note VARCHAR(50))",
            "INSERT INTO shop.orders VALUES (1, 'a'), (2, 'b')",
            "CREATE TABLE shop.hr (id INT PRIMARY KEY, pay INT)",
            "INSERT INTO shop.hr VALUES (1, 1), (2, 2)",
            "CREATE TABLE shop.parts (id INT PRIMARY KEY, pay INT) PARTITION BY RANGE (id) \
             (PARTITION p VALUES LESS THAN (100))",
            "CREATE PROCEDURE hr.raise_all() UPDATE hr.people SET pay = pay + 1",
            "CREATE FUNCTION hr.raise_one(i INT) RETURNS INT DETERMINISTIC BEGIN \
             UPDATE hr.people SET pay = pay + 1 WHERE id = i; RETURN i; END",
            "CREATE PROCEDURE shop.own_procedure() DO 1",
            "CREATE FUNCTION shop.own_function(i INT) RETURNS INT DETERMINISTIC RETURN i",
        ] {
            session.run("begin anew", statement).unwrap();
        }
    }

    /// A connection to the schema `shop`.
    fn connect(&self, gate: &Gate) -> Connection {
        let endpoint = Endpoint {
            database: "shop".to_owned(),
            ..self.server.endpoint()
        };
        let connector = Connector::new(endpoint, None, gate.clone()).unwrap();
        Connection::connect(&connector, true, Patience::Endless).unwrap()
    }

    /// Sends a statement from the schema `shop`.
    fn send(&self, gate: &Gate, mode: &str, sql: &str) -> Result<(), ClientError> {
        let mut connection = self.connect(gate);
        if !mode.is_empty() {
            let set = format!("SET SESSION sql_mode = '{mode}'");
            connection.run(set).unwrap();
        }
        connection.run(sql).map(drop)
    }

    /// Rows, columns and indexes of all tables of `hr`, by table.
    fn people(&self) -> BTreeMap<String, String> {
        let mut connection = weir_testing::connect(&Endpoint {
            database: "mysql".to_owned(),
            ..self.server.endpoint()
        });
        let tables: Vec<String> = connection
            .rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'hr'")
            .unwrap();
        let look = |table: String| {
            let rows = format!("SELECT CAST(SUM(id * 1000 + pay) AS CHAR) FROM hr.{table}");
            let rows = connection.first::<Option<String>>(&rows).ok();
            let mut count = |of: &str| {
                let sql = format!(
                    "SELECT COUNT(*) FROM information_schema.{of} \
                     WHERE table_schema = 'hr' AND table_name = '{table}'"
                );
                connection.first::<u64>(&sql).unwrap()
            };
            let shape = (count("columns"), count("statistics"));
            (table, format!("{rows:?} {shape:?}"))
        };
        tables.into_iter().map(look).collect()
    }
}

fn of_shop() -> Gate {
    Gate::new(Permissions {
        schema: Some("shop".to_owned()),
        ..Permissions::default()
    })
}

fn no_statement_reaches_another_schema(flavor: Flavor) {
    let bench = Bench::start(flavor);
    bench.reset();
    let before = bench.people();
    let odd = ODD.iter().map(|sql| ("", *sql)).chain(ODD_IN_MODES);
    let (mut potent, mut through) = (0, Vec::new());
    for (mode, sql) in odd {
        // What the server makes of it, where nothing holds it back.
        let _ = bench.send(&Gate::own(), mode, sql);
        if bench.people() != before {
            potent += 1;
            bench.reset();
        }
        let sent = bench.send(&of_shop(), mode, sql);
        if bench.people() != before {
            through.push((mode, sql));
            bench.reset();
        }
        assert!(sent.is_err(), "{sql} did something");
    }
    assert!(through.is_empty(), "{through:#?}");
    // The others are not what this flavour understands.
    assert!(
        potent >= 45,
        "only {potent} of the statements change anything"
    );
}

fn an_application_is_not_held_back(flavor: Flavor) {
    let bench = Bench::start(flavor);
    bench.reset();
    let mut connection = bench.connect(&of_shop());
    for sql in ORDINARY {
        let sent = connection.run(sql);
        assert!(sent.is_ok(), "{sql}: {sent:?}");
    }
}

on_both_flavors!(
    no_statement_reaches_another_schema
    an_application_is_not_held_back
);
