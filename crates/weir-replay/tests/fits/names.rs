//! Names of tables, which a server compares with their case or without.

use weir_capture::Literals;
use weir_model::Flavor;
use weir_replay::fit::{FitResult, Tables, fit};

use crate::written::Log;

weir_testing::on_both_flavors! {
    tables_whose_names_differ_in_case_are_two_tables
}

/// A fit of searches in `orders` and `Orders`, each by its schema's name, too, to the tables that `statements` make.
fn fitted(flavor: Flavor, variables: &[(&str, &str)], statements: &[&str]) -> FitResult {
    let (server, directory) = weir_testing::start_with(flavor, variables);
    let endpoint = server.endpoint();
    let mut connection = weir_testing::connect(&endpoint);
    for statement in statements {
        connection.run(statement).unwrap();
    }
    let mut log = Log::new();
    for id in 0..200 {
        for table in ["orders", "Orders", "SBTEST.orders"] {
            log.query(8, &format!("SELECT v FROM {table} WHERE id = {}", id % 9));
        }
    }
    let capture = log.capture(&directory, Literals::Keep);
    let tables = Tables {
        connection: &mut connection,
        schema: &endpoint.database,
    };
    fit(&capture, Some(tables)).unwrap()
}

fn tables_whose_names_differ_in_case_are_two_tables(flavor: Flavor) {
    let fitted = fitted(
        flavor,
        &[],
        &[
            "CREATE TABLE orders (id INT PRIMARY KEY, v INT)",
            "CREATE TABLE Orders (id INT PRIMARY KEY, w INT)",
            "INSERT INTO orders VALUES (1, 1), (2, 2), (3, 3)",
            "INSERT INTO Orders VALUES (4, 4)",
        ],
    );
    let text = &fitted.text;
    assert_eq!(fitted.tables, 2, "{text}");
    for (table, rows, columns) in [("orders", 3, ["id", "v"]), ("Orders", 1, ["id", "w"])] {
        let section = text
            .split("[tables.")
            .find(|section| section.starts_with(&format!("\"{table}\"")));
        let section = section.unwrap_or_else(|| panic!("{table}: {text}"));
        assert!(section.contains(&format!("rows = {rows}\n")), "{text}");
        let found = section
            .lines()
            .filter_map(|line| line.strip_prefix("columns.\"")?.split('"').next());
        assert_eq!(found.collect::<Vec<_>>(), columns, "{text}");
    }
    assert_eq!(fitted.kinds, 3, "{text}");
    for statement in ["FROM orders", "FROM Orders", "FROM SBTEST.orders"] {
        assert!(text.contains(statement), "{text}");
    }
}

#[test]
fn names_of_one_table_are_one_table() {
    let variables = [("lower_case_table_names", "1")];
    let statements = [
        "CREATE TABLE orders (id INT PRIMARY KEY, v INT)",
        "INSERT INTO orders VALUES (0, 1), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 6), (7, 7), (8, 8)",
    ];
    let fitted = fitted(Flavor::Mariadb, &variables, &statements);
    let text = &fitted.text;
    assert_eq!(fitted.tables, 1, "{text}");
    assert!(!text.contains("SBTEST.orders"), "{text}");
    // All searches are one statement, by the key of this table.
    let by_key = text.matches("{ key = { table = \"orders\"").count();
    assert_eq!((by_key, fitted.kinds), (1, 1), "{text}");
}
