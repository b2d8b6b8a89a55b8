//! The table of facts, and advice.

use std::collections::BTreeMap;
use std::env::temp_dir;
use std::time::Duration;

use weir_model::Flavor;
use weir_mysql::{Connection, Gate};
use weir_server::PrivateServer;
use weir_server::Stop;
use weir_server::ddl::{
    Advice, AdviceOptions, Advisor, Algorithm, DdlError, Facts, Lock, Severity, TrialServer, Work,
};
use weir_testing::{binary, connect, start};

/// Every row holds; a row that was falsified is found, and no other.
fn the_table_of_facts_holds_and_a_false_row_is_found(flavor: Flavor) {
    let binary = binary(flavor);
    let none = BTreeMap::new();
    let server = TrialServer::start(&binary, &temp_dir(), &none, &none, Stop::default()).unwrap();
    let facts = Facts::of_weir().unwrap();
    let checked = facts.check(&server, binary.version).unwrap();
    let differ: Vec<_> = checked.iter().filter(|row| row.differs.is_some()).collect();
    assert!(differ.is_empty(), "{differ:#?}");
    assert!(checked.len() > 50);

    let text = include_str!("../../src/ddl/facts/statements.toml");
    let (before, row) = text.split_once("name = \"drop an index\"").unwrap();
    let row = row.replacen("NONE", "SHARED", 2);
    let falsified = Facts::read(&format!("{before}name = \"drop an index\"{row}")).unwrap();
    let checked = falsified.check(&server, binary.version).unwrap();
    let differ: Vec<_> = checked.iter().filter(|row| row.differs.is_some()).collect();
    assert_eq!(differ.len(), 1, "{differ:#?}");
    assert_eq!(differ[0].operation, "drop an index");
    let differs = differ[0].differs.as_deref().unwrap();
    assert!(
        differs.contains("SHARED") && differs.contains("the server"),
        "{differs}"
    );
}

pub(crate) fn advisor(server: &PrivateServer) -> Advisor {
    let binary = server.binary();
    let options = AdviceOptions {
        server: Some(binary.path.clone()),
        work: temp_dir(),
        observe: Duration::from_millis(20),
        stop: Stop::default(),
    };
    let kind = (binary.flavor, binary.version);
    Advisor::open(&server.endpoint(), &Gate::reading(), kind, None, options).unwrap()
}

fn one<T: weir_mysql::FromRow>(connection: &mut Connection, query: &str) -> T {
    connection.first(query).unwrap().unwrap()
}

const SCHEMAS: &str = "SELECT COUNT(*) FROM information_schema.SCHEMATA";
const ALTERS: &str = "SHOW GLOBAL STATUS LIKE 'Com_alter_table'";

fn advice_agrees_with_the_table_of_facts(flavor: Flavor) {
    let (server, _directory) = start(flavor);
    let mut users = connect(&server.endpoint());
    let advisor = advisor(&server);
    let facts = Facts::of_weir().unwrap();
    let schemas: u64 = one(&mut users, SCHEMAS);
    let mut agreed = 0;
    for operation in &facts.operations {
        let Some(expected) = operation.expected(flavor, server.binary().version) else {
            continue;
        };
        users.run("CREATE DATABASE facts").unwrap();
        users.run("USE facts").unwrap();
        for table in facts.tables(operation).0 {
            users.run(&table.create).unwrap();
        }
        let statement = format!("ALTER TABLE facts.t {}", operation.alter);
        let advice = advisor.advise(&statement).unwrap();
        let way = &advice.trial.way;
        assert_eq!(
            expected.differs_from(way),
            None,
            "{}: {advice:#?}",
            operation.name
        );
        users.run("DROP DATABASE facts").unwrap();
        agreed += 1;
    }
    assert!(agreed > 50);
    assert_eq!(one::<u64>(&mut users, SCHEMAS), schemas);
    let alters: (String, String) = one(&mut users, ALTERS);
    assert_eq!(alters.1, "0");
}

pub(crate) fn about<'a>(advice: &'a Advice, about: &str) -> Option<&'a weir_server::ddl::Obstacle> {
    advice
        .obstacles
        .iter()
        .find(|obstacle| obstacle.about == about)
}

fn obstacles_of_a_table_are_told(flavor: Flavor) {
    let (server, _directory) = start(flavor);
    let mut users = connect(&server.endpoint());
    for statement in [
        "CREATE DATABASE shop",
        "USE shop",
        "CREATE TABLE customers (id INT NOT NULL PRIMARY KEY) ENGINE = InnoDB",
        "CREATE TABLE `order-s` (id INT NOT NULL PRIMARY KEY, customer INT, note VARCHAR(200), \
         FOREIGN KEY (customer) REFERENCES customers (id)) ENGINE = InnoDB",
        "CREATE TABLE items (id INT NOT NULL PRIMARY KEY, o INT, FOREIGN KEY (o) REFERENCES `order-s` (id)) ENGINE = InnoDB",
        "CREATE TRIGGER stamps BEFORE INSERT ON `order-s` FOR EACH ROW SET NEW.note = CONCAT(NEW.note, '!')",
        "CREATE VIEW v AS SELECT 1",
        "INSERT INTO `order-s` WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
         SELECT i, NULL, REPEAT('x', 150) FROM n",
        "ANALYZE TABLE `order-s`",
    ] {
        users.run(statement).unwrap();
    }
    let advisor = advisor(&server);
    let statement = "ALTER TABLE shop.`order-s` ADD INDEX k (note), ALGORITHM=COPY";
    let advice = advisor.advise(statement).unwrap();
    let way = &advice.trial.way;
    assert_eq!((way.lock, way.work), (Some(Lock::None), Work::Index));
    assert_ne!(way.algorithm, Some(Algorithm::Copy));
    let text = |name: &str| {
        about(&advice, name)
            .unwrap_or_else(|| panic!("{advice:#?}"))
            .text
            .clone()
    };
    assert!(text("foreign keys").contains("shop.customers"));
    assert!(text("triggers").contains("stamps"));
    assert!(text("free space").contains("not known"));
    assert!(about(&advice, "open transactions").is_none(), "{advice:#?}");
    let children = advice
        .obstacles
        .iter()
        .any(|one| one.text.contains("shop.items"));
    assert!(children, "{advice:#?}");
    // The index as it becomes is within the estimate.
    let space = advice.space.new_bytes;
    assert_eq!(advice.space.row_log_bytes, 128 << 20);
    users
        .run("ALTER TABLE `order-s` ADD INDEX k (note)")
        .unwrap();
    users.run("ANALYZE TABLE `order-s`").unwrap();
    let pages: u64 = one(
        &mut users,
        "SELECT stat_value FROM mysql.innodb_index_stats WHERE table_name = 'order-s' AND index_name = 'k' AND stat_name = 'size'",
    );
    assert!(
        space > 150_000 && pages * 16384 < space * 2,
        "{space}, {pages} pages"
    );

    // A table whose statistics are older than its rows.
    for statement in [
        "CREATE TABLE loaded (id INT NOT NULL PRIMARY KEY, note CHAR(200)) ENGINE = InnoDB STATS_AUTO_RECALC = 0",
        "INSERT INTO loaded SELECT 1000 * a.id + b.id, REPEAT('x', 200) FROM `order-s` a, `order-s` b WHERE a.id <= 20",
    ] {
        users.run(statement).unwrap();
    }
    let loaded = advisor
        .advise("ALTER TABLE shop.loaded ADD INDEX k (note)")
        .unwrap();
    assert!(loaded.space.new_bytes > 4_000_000, "{loaded:#?}");
    let note = about(&loaded, "statistics").unwrap_or_else(|| panic!("{loaded:#?}"));
    assert!(note.text.contains("its files"), "{note:?}");

    // An open transaction that has read the table.
    let mut other = connect(&server.endpoint());
    other.run("START TRANSACTION").unwrap();
    other.run("SELECT COUNT(*) FROM shop.`order-s`").unwrap();
    let statement = "ALTER TABLE shop.`order-s` ADD INDEX k2 (note)";
    let advice = advisor.advise(statement).unwrap();
    let found = about(&advice, "open transactions").unwrap();
    assert!(
        found.text.contains(&format!("connection {}", other.id())),
        "{found:?}"
    );
    let severity = match flavor {
        Flavor::Mysql => Severity::Blocks,
        Flavor::Mariadb => Severity::Risk,
    };
    assert_eq!((found.severity, &advice.obstacles[0]), (severity, found));

    let error = |sql: &str| advisor.advise(sql).unwrap_err();
    for (sql, words) in [
        ("ALTER TABLE shop.nothing ADD a INT", "it is not there"),
        ("ALTER TABLE shop.v ADD a INT", "only InnoDB's"),
        ("ALTER TABLE mysql.user ADD a INT", "the server's own"),
        (
            "ALTER TABLE shop.items DROP nothing",
            "correct the statement",
        ),
        ("DROP TABLE shop.items", "it is no ALTER TABLE"),
    ] {
        let error = error(sql).to_string();
        assert!(error.contains(words) && !error.contains('\n'), "{error}");
    }
    assert!(matches!(
        error("ALTER TABLE shop.items ADD id INT"),
        DdlError::Refused { .. }
    ));
}

/// A table without room for another version of its rows is rebuilt, and advice says so before the server does.
#[test]
fn row_versions_of_mysql_are_counted() {
    let (server, _directory) = start(Flavor::Mysql);
    let mut users = connect(&server.endpoint());
    users.run("CREATE DATABASE shop").unwrap();
    users
        .run("CREATE TABLE shop.t (id INT NOT NULL PRIMARY KEY) ENGINE = InnoDB")
        .unwrap();
    let advisor = advisor(&server);
    let statement = "ALTER TABLE shop.t ADD COLUMN a INT";
    let advice = advisor.advise(statement).unwrap();
    assert_eq!(advice.trial.way.algorithm, Some(Algorithm::Instant));
    assert!(
        about(&advice, "row versions")
            .unwrap()
            .text
            .contains("has 0 versions")
    );
    let mut versions = 0;
    let change = |number: u32| match number % 2 {
        0 => "ADD COLUMN a INT",
        _ => "DROP COLUMN a",
    };
    while users
        .run(format!(
            "ALTER TABLE shop.t ALGORITHM=INSTANT, {}",
            change(versions)
        ))
        .is_ok()
    {
        versions += 1;
    }
    let statement = format!("ALTER TABLE shop.t {}", change(versions));
    let advice = advisor.advise(&statement).unwrap();
    let found = about(&advice, "row versions").unwrap();
    assert_eq!(found.severity, Severity::Blocks);
    assert!(
        found
            .text
            .contains(&format!("has {versions} of {versions} ")),
        "{found:?}"
    );
    let way = &advice.trial.way;
    assert_eq!(
        (way.algorithm, way.work),
        (Some(Algorithm::InPlace), Work::Rebuild)
    );
}

weir_testing::on_both_flavors! {
    the_table_of_facts_holds_and_a_false_row_is_found
    advice_agrees_with_the_table_of_facts
    obstacles_of_a_table_are_told
}
