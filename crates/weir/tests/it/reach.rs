//! A load that would write further than its schema, through what the server has stored, is refused before
//! it begins.

use weir_model::Flavor;
use weir_testing::on_both_flavors;

use crate::harness::Weir;
use crate::users::Users;

/// A workload that changes two tables; the second is a view.
const WORKLOAD: &str = r#"
title = "Orders"

[values]
one = { key = { table = "orders" } }

[tables.orders]
rows = 10
create = "CREATE TABLE orders (id INT PRIMARY KEY, note VARCHAR(20) NULL)"
columns.id = "row"

[[transactions]]
name = "order"
statements = [
  { sql = "UPDATE orders SET note = 'x' WHERE id = ?", values = ["one"] },
  { sql = "UPDATE seen SET note = 'x' WHERE id = ?", values = ["one"] },
]
"#;

fn load(users: &Users, command: &str) -> Weir {
    let file = format!("--defaults-file={}", users.world.path("app.cnf").display());
    let socket = format!("--mysql-socket={}", users.socket().display());
    let workload = users.world.write("orders.toml", WORKLOAD);
    let workload = workload.to_str().unwrap();
    users.weir(&["load", workload, &file, &socket, "--events=20", command])
}

fn run(users: &Users, statements: &[&str]) {
    let mut session = users.server().session().unwrap();
    for statement in statements {
        session.run("set the test up", statement).unwrap();
    }
}

fn what_is_stored_does_not_reach_another_schema(flavor: Flavor) {
    let users = Users::new(flavor);
    load(&users, "prepare").succeeds();
    run(
        &users,
        &[
            "CREATE DATABASE hr",
            "CREATE TABLE hr.people (id INT PRIMARY KEY, note VARCHAR(20))",
            "CREATE TABLE sbtest.log (id INT, note VARCHAR(20))",
            "CREATE VIEW sbtest.seen AS SELECT id, note FROM sbtest.orders",
        ],
    );
    // A view and a trigger of the own schema hold nothing back.
    run(
        &users,
        &[
            "CREATE TRIGGER sbtest.own AFTER UPDATE ON sbtest.orders FOR EACH ROW \
           INSERT INTO log VALUES (NEW.id, OLD.note)",
        ],
    );
    load(&users, "run").succeeds();
    for (make, undo, told) in [
        (
            "CREATE OR REPLACE VIEW sbtest.seen AS SELECT id, note FROM hr.people",
            "CREATE OR REPLACE VIEW sbtest.seen AS SELECT id, note FROM sbtest.orders",
            "sbtest.seen: is a view of the schema `hr`",
        ),
        (
            "CREATE TRIGGER sbtest.far BEFORE UPDATE ON sbtest.orders FOR EACH ROW \
             BEGIN SET NEW.note = 'y'; UPDATE hr.people SET note = NEW.note; END",
            "DROP TRIGGER sbtest.far",
            "has the trigger `far` that names the schema `hr`",
        ),
        (
            "CREATE TABLE hr.children (id INT, FOREIGN KEY (id) REFERENCES sbtest.orders (id) \
             ON UPDATE CASCADE)",
            "DROP TABLE hr.children",
            "has a foreign key of `hr`.`children` that cascades",
        ),
    ] {
        run(&users, &[make]);
        let error = load(&users, "run").fails();
        assert!(error.contains(told), "{make}: {error}");
        run(&users, &[undo]);
    }
    load(&users, "run").succeeds();
    load(&users, "cleanup").succeeds();
}

on_both_flavors!(what_is_stored_does_not_reach_another_schema);
