//! Names that differ in case or accents: of two tables on one server, of one table on another.

use std::collections::BTreeMap;

use weir_model::{CopyWay, Flavor};
use weir_mysql::{Connection, Gate};
use weir_server::PrivateServer;
use weir_server::ddl::{AlterStatement, DdlError, TableCopier, leftovers};
use weir_testing::{binary, connect, start_shaped};

use crate::advice::{about, advisor};
use crate::copiers::NEVER;

fn run_all(connection: &mut Connection, statements: &[&str]) {
    for statement in statements {
        connection.run(statement).unwrap();
    }
}

/// Copies the table of `sql` by triggers; rows copied.
fn copy(server: &PrivateServer, sql: &str) -> Result<u64, DdlError> {
    let mut connection = connect(&server.endpoint());
    let alter = AlterStatement::read(sql, "").unwrap();
    let copier = TableCopier {
        endpoint: server.endpoint(),
        gate: Gate::own(),
        alter: alter.spelled_by_server(&mut connection).unwrap(),
        way: CopyWay::Triggers,
        session: BTreeMap::new(),
    };
    Ok(copier.run(NEVER)?.rows)
}

/// `orders` stands alone; tables whose names differ in case or accents have triggers and foreign keys.
fn tables_of_other_case_are_other_tables(flavor: Flavor) {
    let (server, _directory) = start_shaped(&binary(flavor), &[], &[]);
    let mut users = connect(&server.endpoint());
    run_all(
        &mut users,
        &[
            "CREATE DATABASE shop",
            "USE shop",
            "CREATE TABLE orders (id INT PRIMARY KEY, note INT) ENGINE = InnoDB",
            "INSERT INTO orders VALUES (1, 1), (2, 2)",
        ],
    );
    for (number, other) in ["Orders", "ord\u{e9}rs"].into_iter().enumerate() {
        run_all(
            &mut users,
            &[
                &format!("CREATE TABLE `{other}` (id INT PRIMARY KEY, note INT) ENGINE = InnoDB"),
                &format!(
                    "CREATE TABLE `items of {other}` (id INT PRIMARY KEY, o INT, \
                     CONSTRAINT key_{number} FOREIGN KEY (o) REFERENCES `{other}` (id)) ENGINE = InnoDB"
                ),
                &format!(
                    "CREATE TRIGGER stamps_{number} BEFORE INSERT ON `{other}` FOR EACH ROW SET NEW.note = 7"
                ),
            ],
        );
    }
    let advisor = advisor(&server);
    let advice = advisor.advise("ALTER TABLE shop.orders ADD a INT").unwrap();
    assert!(about(&advice, "foreign keys").is_none(), "{advice:#?}");
    assert!(about(&advice, "triggers").is_none(), "{advice:#?}");
    let advice = advisor.advise("ALTER TABLE shop.Orders ADD a INT").unwrap();
    let text = &about(&advice, "triggers").unwrap().text;
    assert!(text.contains("(stamps_0)"), "{text}");
    let missing = advisor
        .advise("ALTER TABLE shop.ORDERS ADD a INT")
        .unwrap_err();
    assert!(missing.to_string().contains("is not there"), "{missing}");

    assert_eq!(
        copy(&server, "ALTER TABLE shop.orders ADD a INT").unwrap(),
        2
    );
    let refused = copy(&server, "ALTER TABLE shop.Orders ADD a INT").unwrap_err();
    assert!(refused.to_string().contains("triggers"), "{refused}");
}

/// One table under three spellings.
fn one_table_is_found_by_each_spelling(flavor: Flavor) {
    let shaping = [("lower_case_table_names", "1")];
    let (server, _directory) = start_shaped(&binary(flavor), &shaping, &[]);
    let mut users = connect(&server.endpoint());
    run_all(
        &mut users,
        &[
            "CREATE DATABASE Shop",
            "USE shop",
            "CREATE TABLE Customers (id INT PRIMARY KEY) ENGINE = InnoDB",
            "CREATE TABLE Orders (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES CUSTOMERS (id)) ENGINE = InnoDB",
            "CREATE TABLE Items (id INT PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES orders (id)) ENGINE = InnoDB",
            "CREATE TRIGGER stamps BEFORE INSERT ON ORDERS FOR EACH ROW SET NEW.c = 7",
            "CREATE TABLE Notes (id INT PRIMARY KEY, note VARCHAR(20), other INT) ENGINE = InnoDB",
            "INSERT INTO Notes VALUES (1, 'one', 1), (2, 'two', 2)",
        ],
    );
    let advisor = advisor(&server);
    for table in ["shop.orders", "SHOP.ORDERS", "Shop.Orders"] {
        let advice = advisor
            .advise(&format!(
                "ALTER TABLE {table} ADD customer INT, ADD FOREIGN KEY (customer) REFERENCES CUSTomers (id)"
            ))
            .unwrap();
        assert_eq!(advice.table, "shop.orders");
        let found = advice.obstacles.iter().map(|found| found.text.as_str());
        let found = found.collect::<Vec<_>>().join("\n");
        for name in ["shop.customers", "shop.items", "stamps"] {
            assert!(found.contains(name), "{table}: {found}");
        }
    }
    // Names of columns are one in each spelling: no column is left empty.
    let alter = "ALTER TABLE SHOP.NOTES MODIFY NOTE VARCHAR(40), MODIFY ID BIGINT NOT NULL";
    assert_eq!(copy(&server, alter).unwrap(), 2);
    let rows: Vec<(i64, String, i64)> = users.rows("SELECT * FROM shop.notes").unwrap();
    let expected = [(1, "one".to_owned(), 1), (2, "two".to_owned(), 2)];
    assert_eq!(rows, expected);
    assert_eq!(leftovers(&mut users, "shop").unwrap(), []);
}

weir_testing::on_both_flavors! {
    tables_of_other_case_are_other_tables
    one_table_is_found_by_each_spelling
}
