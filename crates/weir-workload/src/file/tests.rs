//! Files that are right and files that are wrong.

use std::path::Path;

use weir_model::Distribution;

use super::*;
use crate::{Step, Workload};

const GOOD: &str = r#"
title = "A shop"

[values]
customer = { key = { table = "customer", distribution = "zipfian" } }

[tables.customer]
rows = 100
create = "CREATE TABLE customer (id INT PRIMARY KEY, name VARCHAR(40), note VARCHAR(255))"
columns = { id = "row", name = { pattern = "@@@@ ##" }, note = "line" }
indexes = ["INDEX name (name)"]

[[transactions]]
name = "look"
weight = 9
statements = [{ sql = "SELECT '?', name FROM customer WHERE id = ?", values = ["customer"] }]

[[transactions]]
name = "change"
statements = [
  "BEGIN",
  { sql = "SELECT name FROM customer WHERE id = ? FOR UPDATE", values = ["customer"] },
  { sql = "UPDATE customer SET name = ?, note = ? WHERE id = ?", values = [{ choice = { a = 1, b = 2 } }, "now", "customer"] },
  "COMMIT",
]
"#;

fn read(text: &str) -> Result<WorkloadFile, String> {
    WorkloadFile::new(FileWorkload {
        path: "/nowhere/shop.toml".into(),
        text: text.into(),
        distribution: Distribution::Uniform,
    })
}

#[test]
fn a_file_becomes_tables_and_transactions() {
    let file = read(GOOD).unwrap();
    let tables = file.tables().unwrap();
    assert_eq!(tables[0].column_list(), "`id`, `name`, `note`");
    let script = file.script(1).unwrap();
    let shown: Vec<_> = script
        .transactions
        .iter()
        .map(|t| (t.name.as_str(), t.weight, t.steps.len(), t.is_explicit))
        .collect();
    assert_eq!(shown, [("look", 9, 1, false), ("change", 1, 4, true)]);
    // A named value is drawn before the first statement of each transaction that wants it.
    let draws: Vec<_> = script.transactions[1]
        .steps
        .iter()
        .map(|step| match step {
            Step::Execute(execution) => execution.draws.len(),
            Step::Bulk => panic!("no bulk here"),
        })
        .collect();
    assert_eq!(draws, [0, 1, 0, 0]);
}

#[test]
fn what_is_wrong_is_told_with_file_line_and_remedy() {
    for (right, wrong, told) in [
        ("rows = 100", "rowz = 100", "line 8: unknown key `rowz`"),
        (
            "\"customer\"] }]",
            "\"custome\"] }]",
            "line 16: no value `custome`; did you mean `customer`?",
        ),
        (
            "table = \"customer\",",
            "table = \"client\",",
            "line 5: no table `client`; define it",
        ),
        (
            "values = [\"customer\"] }]",
            "values = [] }]",
            "line 16: the statement has 1 question marks",
        ),
        (
            "note = \"line\"",
            "note = \"now\"",
            "line 10: a row must be the same",
        ),
        (
            "\"now\", \"customer\"",
            "\"row\", \"customer\"",
            "line 23: `row` is for the columns",
        ),
        (
            "{ a = 1, b = 2 }",
            "{ a = 0 }",
            "line 23: a choice needs a text",
        ),
        (
            "{ pattern =",
            "{ patern =",
            "line 10: unknown value `patern`; did you mean `pattern`?",
        ),
        ("weight = 9", "weight = -1", "line 15: "),
        ("rows = 100", "rows = 0", "must be 1 to 2147483647"),
    ] {
        assert!(GOOD.contains(right), "{right}");
        let error = read(&GOOD.replacen(right, wrong, 1)).unwrap_err();
        assert!(
            error.contains("shop.toml: ") && error.contains(told),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
    let missing = Workload::read("/nowhere/x.toml").unwrap_err();
    assert!(missing.contains("no such file"), "{missing}");
}

#[test]
fn the_workloads_that_come_with_weir_are_right() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    let mut count = 0;
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            Workload::read(path.to_str().unwrap()).unwrap();
            count += 1;
        }
    }
    assert!(count >= 2);
}

#[test]
fn the_example_of_the_guide_is_right() {
    let guide = include_str!("../../../../docs/workloads.md");
    let example = guide.split("```toml\n").nth(1).unwrap();
    let example = example.split("```").next().unwrap();
    let workload = read(example).unwrap();
    assert!(!workload.only_reads());
}
