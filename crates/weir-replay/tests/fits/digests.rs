//! Reports of digests, fitted with and without a server that has their tables.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use tempfile::TempDir;
use weir_capture::{Literals, LogFormat, import_log};
use weir_load::{LoadPlan, PreparePlan, TableOptions, Workload, prepare, run};
use weir_model::{Flavor, LoadSpec};
use weir_mysql::{Connection, Gate};
use weir_replay::fit::{FitError, FitResult, Tables, fit};

use crate::written::workload;

weir_testing::on_both_flavors! { counters_of_statements_become_a_workload_that_runs }

/// Kinds of statements, with their counts and their example, if there is one.
const KINDS: [(&str, u64, &str); 8] = [
    ("select name from item where id = ?", 6_000, ""),
    (
        "select id from item where price between ? and ? order by price limit ?",
        1_000,
        "",
    ),
    ("select id from item where id in (?+)", 1_000, ""),
    ("update item set price = ? where id = ?", 1_000, ""),
    ("insert into sold (item, at, note) values (?+)", 900, ""),
    (
        "select count(*) from sold where note like ?",
        600,
        "SELECT COUNT(*) FROM sold WHERE note LIKE 'a%'",
    ),
    ("commit", 500, "COMMIT"),
    ("insert into sold values (?+)", 40, ""),
];

/// A report as `pt-query-digest --output json` writes it.
fn capture(directory: &TempDir) -> PathBuf {
    let mut classes = String::new();
    for (fingerprint, count, example) in KINDS {
        let comma = if classes.is_empty() { "" } else { "," };
        let seconds = count as f64 / 1e3;
        let _ = write!(
            classes,
            "{comma}{{\"fingerprint\": \"{fingerprint}\", \"query_count\": {count}, \"example\": {{\"query\": \"{example}\"}}, \
             \"ts_min\": \"2026-11-25 10:00:00\", \"ts_max\": \"2026-11-25 10:10:00\", \
             \"metrics\": {{\"Query_time\": {{\"sum\": \"{seconds}\"}}, \"db\": {{\"value\": \"test\"}}}}}}"
        );
    }
    let all: u64 = KINDS.iter().map(|(_, count, _)| count).sum();
    let report = format!(
        "{{\"classes\": [{classes}], \"global\": {{\"query_count\": {all}, \
         \"metrics\": {{\"Query_time\": {{\"sum\": \"{}\"}}}}}}}}",
        all as f64 / 1e3
    );
    let from = directory.path().join("report.json");
    std::fs::write(&from, report).unwrap();
    let to = directory.path().join("report.weircap");
    import_log(&from, LogFormat::Digests, &to, Literals::Keep).unwrap();
    to
}

fn fill(connection: &mut Connection) {
    for sql in [
        "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2))",
        "CREATE TABLE sold (id INT AUTO_INCREMENT PRIMARY KEY, item INT, at DATETIME, note VARCHAR(60))",
    ] {
        connection.run(sql).unwrap();
    }
    let items: Vec<_> = (1..=2_000)
        .map(|id| format!("({id}, 'item {id}', {}.5)", id % 300))
        .collect();
    connection
        .run(format!("INSERT INTO item VALUES {}", items.join(", ")))
        .unwrap();
    let sold: Vec<_> = (1..=500)
        .map(|id| {
            format!(
                "({}, '2026-11-0{} 10:00:00', 'note {id}')",
                id * 3,
                1 + id % 9
            )
        })
        .collect();
    connection
        .run(format!(
            "INSERT INTO sold (item, at, note) VALUES {}",
            sold.join(", ")
        ))
        .unwrap();
}

fn is_told(fitted: &FitResult, part: &str) -> bool {
    let left_out = fitted.left_out.iter().map(|(what, _)| what);
    left_out
        .chain(&fitted.remarks)
        .any(|what| what.contains(part))
}

fn counters_of_statements_become_a_workload_that_runs(flavor: Flavor) {
    let (server, directory) = weir_testing::start_with(flavor, &weir_testing::LAZY_COMMITS);
    let capture = capture(&directory);
    let mut connection = weir_testing::connect(&server.endpoint());
    fill(&mut connection);
    let schema = server.endpoint().database;
    let tables = Tables {
        connection: &mut connection,
        schema: &schema,
    };
    let fitted = fit(&capture, Some(tables)).unwrap();
    assert_eq!(
        (fitted.kinds, fitted.tables, fitted.sessions),
        (6, 2, 0),
        "{}",
        fitted.text
    );
    for part in [
        "insert into sold values (?+) (its values and the names of their columns are not known)",
        "made of counts: each statement is a transaction of its own",
        "the load had 500 COMMIT and ROLLBACK",
        "values are drawn from their column",
        "values are always those of an example",
        "values are invented: LIMIT 10",
    ] {
        assert!(
            is_told(&fitted, part),
            "{part}: {:?} {:?}",
            fitted.left_out,
            fitted.remarks
        );
    }
    // A workload's tables are its own: those of production give way.
    for table in ["item", "sold"] {
        connection.run(format!("DROP TABLE {table}")).unwrap();
    }
    let fitted = Workload::try_from(&workload(&fitted.text)).unwrap();
    let plan = PreparePlan {
        threads: 2,
        tables: TableOptions::default(),
        ..PreparePlan::new(server.endpoint(), fitted.clone())
    };
    prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    let plan = LoadPlan {
        max_events: Some(4_000),
        load: LoadSpec {
            connections: 2,
            measure: weir_model::Duration::default(),
            ..LoadSpec::default()
        },
        ..LoadPlan::new(server.endpoint(), fitted)
    };
    let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(outcome.counts_whole_run.transactions, 4_000);
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    // 900 of 10,500 statements insert: within five standard deviations.
    let inserted: Option<(f64,)> = connection.first("SELECT COUNT(*) - 500 FROM sold").unwrap();
    let (expected, inserted) = (4_000.0 * 900.0 / 10_500.0, inserted.unwrap().0);
    assert!(
        (inserted - expected).abs() < 5.0 * f64::sqrt(expected),
        "{inserted}"
    );
    let found: Option<(u64,)> = connection
        .first("SELECT COUNT(*) FROM sold JOIN item ON item.id = sold.item WHERE sold.id > 500")
        .unwrap();
    assert!(found.unwrap().0 > 0);
}

/// Without a server there are the values of examples, and those of a `LIMIT`.
#[test]
fn without_tables_kinds_need_an_example() {
    let directory = tempfile::tempdir().unwrap();
    let fitted = fit(&capture(&directory), None).unwrap();
    assert_eq!(fitted.kinds, 1, "{}", fitted.text);
    let why = "its values are not known; give the URL of a server that has its tables";
    let unknown = fitted
        .left_out
        .iter()
        .filter(|(what, _)| what.contains(why));
    assert_eq!(unknown.map(|(_, count)| count).sum::<u64>(), 9_900);
    let report = directory.path().join("other.json");
    let text = "{\"rows\": [{\"fingerprint\": \"select ?\", \"rank\": 1, \"metrics\": {\"query_time\": {\"stats\": {\"cnt\": 5}}}}]}";
    std::fs::write(&report, text).unwrap();
    let capture = directory.path().join("other.weircap");
    import_log(&report, LogFormat::Digests, &capture, Literals::Keep).unwrap();
    let refused = fit(&capture, None).unwrap_err();
    assert!(
        matches!(refused, FitError::NoValuesOfDigests { .. }),
        "{refused}"
    );
}
