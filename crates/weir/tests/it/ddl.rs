//! `weir ddl advise` on a user's server, and `weir facts ddl` on a table with a false row.

use std::fs;

use serde_json::Value;
use weir_model::Flavor;
use weir_testing::connect;

use crate::users::{PASSWORD, Users};

const FACTS: &str = r#"
create = "CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a INT) ENGINE = InnoDB"
[[operation]]
name = "add an index"
alter = "ADD INDEX k (a)"
mysql = [{ algorithm = "INPLACE", lock = "NONE", work = "index" }]
mariadb = [{ algorithm = "NOCOPY", lock = "NONE", work = "index" }]
[[operation]]
name = "falsified"
alter = "DROP COLUMN a"
mysql = [{ algorithm = "COPY", lock = "SHARED", work = "rebuild" }]
mariadb = [{ algorithm = "COPY", lock = "SHARED", work = "rebuild" }]
"#;

fn advice_and_facts_come_in_text_and_json_and_leave_nothing(flavor: Flavor) {
    let users = Users::new(flavor);
    let mut control = connect(&users.server().endpoint());
    for statement in [
        "CREATE TABLE orders (id INT NOT NULL PRIMARY KEY, status VARCHAR(20)) ENGINE = InnoDB",
        "INSERT INTO orders VALUES (1, 'new'), (2, 'paid')",
    ] {
        control.run(statement).unwrap();
    }
    let url = users.url("app.cnf");
    let call = |arguments: &[&str]| users.weir_with_servers(arguments);
    let advise = [
        "ddl",
        "advise",
        "ALTER TABLE orders ADD INDEX k (status)",
        &url,
    ];
    let advice = call(&advise).succeeds();
    for words in [
        "algorithm   ",
        "NONE: others read and write meanwhile",
        "reads the table and builds an index",
        "ALTER TABLE `sbtest`.`orders` ALGORITHM=",
    ] {
        assert!(advice.stdout.contains(words), "{}", advice.stdout);
    }
    let json = call(&[&advise[..], &["--json", "--observe", "0s"]].concat()).succeeds();
    assert!(!json.stdout.contains(PASSWORD) && !json.stderr.contains(PASSWORD));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(
        (&json["table"], &json["way"]["work"]),
        (&"sbtest.orders".into(), &"index".into())
    );
    assert!(json["space"]["free_bytes"].as_u64().unwrap() > 0);

    let error = call(&["ddl", "advise", "ALTER TABLE nothing DROP a", &url]).fails();
    assert!(
        error.contains("sbtest.nothing") && error.contains("; "),
        "{error}"
    );
    assert_eq!(users.changes().len(), 0);
    users.world.assert_nothing_left();

    let facts = users.world.path("facts.toml");
    fs::write(&facts, FACTS).unwrap();
    let program = users.server().binary().path.display().to_string();
    let facts = facts.to_str().unwrap();
    let checked = call(&["facts", "ddl", "--server", &program, "--table", facts]).output();
    assert_eq!(checked.code, Some(1), "{}", checked.stderr);
    let row = |name: &str| {
        checked
            .stdout
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap()
    };
    assert!(row("add an index").ends_with("holds"), "{}", checked.stdout);
    assert!(
        row("falsified").contains("says COPY SHARED rebuild"),
        "{}",
        checked.stdout
    );
    users.world.assert_nothing_left();
}

weir_testing::on_both_flavors! {
    advice_and_facts_come_in_text_and_json_and_leave_nothing
}
