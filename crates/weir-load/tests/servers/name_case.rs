//! Names of tables, which a server compares with their case or without.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_load::{LoadPlan, prepare};
use weir_model::{Distribution, FileWorkload, Flavor, LoadSpec, WorkloadName, WorkloadSpec};
use weir_workload::Workload;

use super::settings_at_start::on_new_data;
use super::{Bench, go, users_gate};

weir_testing::on_both_flavors! {
    a_table_of_another_name_holds_nothing_back
    a_table_by_a_name_in_capitals_is_the_same_table
}

const EVENTS: u64 = 200;
/// A trigger that changes another schema.
const TRIGGER: &str = "BEFORE INSERT ON Visit FOR EACH ROW INSERT INTO hr.log VALUES (1)";

/// A table `visit` and a load that names it as `name`.
fn prepared(bench: &Bench, name: &str) -> LoadPlan {
    let text = format!(
        r#"
        [tables.visit]
        rows = 100
        create = "CREATE TABLE visit (id INT PRIMARY KEY)"
        columns = {{ id = "row" }}
        [[transactions]]
        name = "visit"
        statements = [{{ sql = "INSERT INTO {name} (id) VALUES (?)", values = [{{ sequence = 101 }}] }}]
    "#
    );
    let spec = WorkloadSpec::File(FileWorkload {
        path: "/nowhere/visits.toml".into(),
        text: text.into(),
        distribution: Distribution::Uniform,
    });
    let workload = Workload::try_from(&spec).unwrap();
    let mut tables = bench.tables();
    tables.workload = workload.clone();
    let stop = AtomicBool::new(false);
    prepare(&tables, &users_gate(), &stop, &mut |_, _| {}).unwrap();
    let mut oracle = bench.oracle();
    for statement in ["CREATE DATABASE hr", "CREATE TABLE hr.log (id INT)"] {
        oracle.run(statement).unwrap();
    }
    LoadPlan {
        workload,
        max_events: Some(EVENTS),
        load: LoadSpec {
            measure: Duration::from_mins(1).into(),
            ..bench.plan(WorkloadName::OltpInsert).load
        },
        ..bench.plan(WorkloadName::OltpInsert)
    }
}

fn a_table_of_another_name_holds_nothing_back(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let plan = prepared(&bench, "visit");
    let mut oracle = bench.oracle();
    oracle.run("CREATE TABLE Visit LIKE visit").unwrap();
    oracle.run(format!("CREATE TRIGGER far {TRIGGER}")).unwrap();
    assert_eq!(go(&plan).unwrap().counts_whole_run.transactions, EVENTS);
}

fn a_table_by_a_name_in_capitals_is_the_same_table(flavor: Flavor) {
    let bench = on_new_data(flavor, &[("lower_case_table_names", "1")]);
    let plan = prepared(&bench, "VISIT");
    // The numbers of the second run go on after those of the first.
    for _ in 0..2 {
        assert_eq!(go(&plan).unwrap().counts_whole_run.transactions, EVENTS);
    }
    let count: u64 = bench.value("SELECT COUNT(*) FROM visit");
    assert_eq!(count, 100 + 2 * EVENTS);
    let mut oracle = bench.oracle();
    oracle.run(format!("CREATE TRIGGER far {TRIGGER}")).unwrap();
    let refused = go(&plan).unwrap_err().to_string();
    assert!(refused.contains("has the trigger `far`"), "{refused}");
}
