//! Two schemas with the same rows, in which all differs that is no row.

use std::collections::BTreeMap;

use tempfile::TempDir;
use weir_model::{Endpoint, Flavor, Secret};
use weir_mysql::{Connection, Row, Value};
use weir_testing::PrivateServer;

use super::statements::RandomStatement;

const PASSWORD: &str = "of-the-test";

/// Outcome of a statement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) error: u16,
    affected: u64,
    rows: Vec<String>,
    /// Rows of the tables that it may have written, and of the variable.
    written: BTreeMap<&'static str, Vec<String>>,
}

impl Outcome {
    /// The same without the order of rows.
    pub(crate) fn in_any_order(&self) -> Self {
        let mut other = self.clone();
        other.rows.sort();
        other
    }
}

pub(crate) struct World {
    schemas: [Connection; 2],
    /// Has what others have locked.
    other: Connection,
    _server: PrivateServer,
    _directory: TempDir,
}

impl World {
    pub(crate) fn start(flavor: Flavor) -> Self {
        let (server, directory) = weir_testing::start_with(flavor, &weir_testing::LAZY_COMMITS);
        let mut root = weir_testing::connect(&server.endpoint());
        let schemas = ["one", "two"].map(|name| {
            root.run(format!("CREATE DATABASE {name}")).unwrap();
            root.run(format!(
                "CREATE USER app_{name}@'%' IDENTIFIED BY '{PASSWORD}'"
            ))
            .unwrap();
            root.run(format!("GRANT ALL ON {name}.* TO app_{name}@'%'"))
                .unwrap();
            let endpoint = Endpoint {
                user: format!("app_{name}"),
                password: Secret::new(PASSWORD),
                database: name.to_owned(),
                ..server.endpoint()
            };
            let mut connection = weir_testing::connect(&endpoint);
            fill(&mut connection, name == "two", flavor);
            connection
        });
        Self {
            schemas,
            other: root,
            _server: server,
            _directory: directory,
        }
    }

    /// Executes all statements in one schema, and then all in the other. Nothing of them stays.
    pub(crate) fn execute<'a>(
        &mut self,
        made: &'a [RandomStatement],
    ) -> Vec<(&'a RandomStatement, Outcome, Outcome)> {
        let [one, two] = &mut self.schemas;
        let first: Vec<_> = made
            .iter()
            .map(|made| outcome(one, &FIRST, &made.sql))
            .collect();
        for sql in [
            "BEGIN",
            "UPDATE two.locked SET k = k",
            "DO GET_LOCK('held', 5)",
        ] {
            self.other.run(sql).unwrap();
        }
        let both = made.iter().zip(first);
        let both = both.map(|(made, one)| (made, one, outcome(two, &SECOND, &made.sql)));
        let both = both.collect();
        for sql in ["ROLLBACK", "DO RELEASE_LOCK('held')"] {
            self.other.run(sql).unwrap();
        }
        both
    }
}

/// Statements before each one, which give their sessions another time and another state.
const FIRST: [&str; 5] = [
    "SET timestamp = 1700000000, @x = 1",
    "BEGIN",
    "SELECT LAST_INSERT_ID(3)",
    "SELECT 1",
    "DO 1",
];
const SECOND: [&str; 5] = [
    "SET timestamp = 1800012345, @x = 2",
    "BEGIN",
    "SELECT LAST_INSERT_ID(4)",
    "DO 1",
    "SELECT 1 UNION SELECT 2",
];

/// The same rows, but the other schema has them in another order and one more index.
fn fill(connection: &mut Connection, is_other: bool, flavor: Flavor) {
    let mut rows: Vec<_> = (1..=9)
        .map(|id| format!("({id}, {}, 'v{}')", id * 7 % 10, id * 3 % 10))
        .collect();
    if is_other {
        rows.reverse();
    }
    let rows = rows.join(", ");
    let mut all = vec![
        "CREATE TABLE t (id INT PRIMARY KEY, k INT, v TEXT)".to_owned(),
        "CREATE TABLE w (id INT PRIMARY KEY, k INT, v TEXT)".to_owned(),
        "CREATE TABLE locked (id INT PRIMARY KEY, k INT)".to_owned(),
        "CREATE TABLE heap (id INT, k INT, v TEXT)".to_owned(),
        format!("INSERT INTO t VALUES {rows}"),
        format!("INSERT INTO w VALUES {rows}"),
        format!("INSERT INTO heap VALUES {rows}"),
        "INSERT INTO locked VALUES (1, 1), (2, 2)".to_owned(),
    ];
    if is_other {
        all.push("CREATE INDEX more ON t (k)".to_owned());
    }
    if flavor == Flavor::Mariadb {
        let start = if is_other { 1_000 } else { 1 };
        all.push(format!("CREATE SEQUENCE numbers START WITH {start}"));
        all.push("DO NEXTVAL(numbers)".to_owned());
    }
    for sql in all {
        connection.run(sql).unwrap();
    }
}

fn outcome(connection: &mut Connection, before: &[&str], sql: &str) -> Outcome {
    for sql in before {
        if sql.starts_with("SELECT") {
            connection.rows::<Row>(sql).unwrap();
        } else {
            connection.run(sql).unwrap();
        }
    }
    let mut found = Outcome::default();
    let verb = sql.split_ascii_whitespace().next().unwrap();
    if ["SELECT", "WITH", "SHOW", "EXPLAIN", "(SELECT"].contains(&verb) {
        match texts(connection, sql) {
            Ok(rows) => found.rows = rows,
            Err(code) => found.error = code,
        }
    } else {
        match connection.run(sql) {
            Ok(effect) => found.affected = effect.affected_rows,
            Err(error) => found.error = error.code().unwrap(),
        }
    }
    for (name, sql) in [
        ("w", "SELECT * FROM w ORDER BY id"),
        ("heap", "SELECT * FROM heap ORDER BY id, v"),
        ("@y", "SELECT @y"),
    ] {
        found.written.insert(name, texts(connection, sql).unwrap());
    }
    for sql in [
        "ROLLBACK",
        "SET @y = NULL",
        "DO RELEASE_LOCK('held'), RELEASE_LOCK('free')",
    ] {
        connection.run(sql).unwrap();
    }
    found
}

fn texts(connection: &mut Connection, sql: &str) -> Result<Vec<String>, u16> {
    let rows: Result<Vec<Row>, _> = connection.rows(sql);
    let rows = rows.map_err(|error| error.code().unwrap_or_else(|| panic!("{sql}: {error}")))?;
    let text = |row: &Row| {
        let values: Vec<Value> = row.clone().unwrap();
        let values = values.iter().map(|value| value.as_sql(false));
        values.collect::<Vec<_>>().join(", ")
    };
    Ok(rows.iter().map(text).collect())
}
