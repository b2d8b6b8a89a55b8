//! The numbers that runs give to new rows: those of one do not meet those of another.

use weir_load::{LoadPlan, TableOptions, prepare};
use weir_model::{Distribution, FileWorkload, Flavor, WorkloadName, WorkloadSpec};
use weir_workload::Workload;

use super::{Bench, ROWS, TABLES, go, users_gate};

weir_testing::on_both_flavors! {
    rows_of_runs_without_auto_increment_do_not_meet
    runs_go_on_after_each_other_when_all_beginnings_are_taken
    numbers_of_a_users_workload_do_not_meet
}

/// Of all tables.
fn rows(bench: &Bench) -> u64 {
    let count = |table| bench.value::<u64>(&format!("SELECT COUNT(*) FROM sbtest{table}"));
    (1..=TABLES).map(count).sum()
}

fn without_auto_increment(flavor: Flavor) -> Bench {
    let bench = Bench::empty(flavor);
    let mut plan = bench.tables();
    plan.tables = TableOptions {
        auto_increment: false,
        ..plan.tables
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    prepare(&plan, &users_gate(), &stop, &mut |_, _| {}).unwrap();
    bench
}

fn inserts(bench: &Bench, seed: u64, events: u64) -> LoadPlan {
    LoadPlan {
        auto_increment: false,
        seed,
        max_events: Some(events),
        ..bench.plan(WorkloadName::OltpInsert)
    }
}

fn rows_of_runs_without_auto_increment_do_not_meet(flavor: Flavor) {
    let bench = without_auto_increment(flavor);
    let mut expected = u64::from(TABLES) * ROWS;
    let mut check = |inserted: u64| {
        expected += inserted;
        assert_eq!(rows(&bench), expected);
    };
    // Twice with one seed, with another, and over tables that are said to be smaller.
    for (seed, said) in [(1, ROWS), (1, ROWS), (2, ROWS), (1, ROWS / 2)] {
        let plan = LoadPlan {
            rows: said,
            ..inserts(&bench, seed, 2_000)
        };
        check(go(&plan).unwrap().counts_whole_run.transactions);
    }
    let plan = inserts(&bench, 1, 2_000);
    let both = std::thread::scope(|scope| {
        let runs = [scope.spawn(|| go(&plan)), scope.spawn(|| go(&plan))];
        let runs = runs.map(|run| run.join().unwrap().unwrap());
        runs.map(|run| run.counts_whole_run.transactions)
    });
    check(both.iter().sum());
}

/// As many runs as there are places to begin at are taken, and two more.
fn runs_go_on_after_each_other_when_all_beginnings_are_taken(flavor: Flavor) {
    let bench = without_auto_increment(flavor);
    let mut expected = u64::from(TABLES) * ROWS;
    for seed in 0..66 {
        let inserted = go(&inserts(&bench, seed, 40)).unwrap();
        expected += inserted.counts_whole_run.transactions;
    }
    assert_eq!(rows(&bench), expected);
}

fn numbers_of_a_users_workload_do_not_meet(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let text = r#"
        [tables.visit]
        rows = 100
        create = "CREATE TABLE visit (id INT PRIMARY KEY, number BIGINT UNSIGNED NOT NULL UNIQUE, at INT)"
        columns = { id = "row", number = "row", at = { integer = [1, 9] } }
        [values]
        id = { unique = [1_000, 9_000_000] }
        [[transactions]]
        name = "visit"
        statements = [
            "BEGIN",
            { sql = "INSERT INTO visit (id, number, at) VALUES (?, ?, ?)", values = ["id", { sequence = 101 }, { integer = [1, 9] }] },
            "COMMIT",
        ]
    "#;
    let spec = WorkloadSpec::File(FileWorkload {
        path: "/nowhere/visits.toml".into(),
        text: text.into(),
        distribution: Distribution::Uniform,
    });
    let workload = Workload::try_from(&spec).unwrap();
    let mut tables = bench.tables();
    tables.workload = workload.clone();
    let stop = std::sync::atomic::AtomicBool::new(false);
    prepare(&tables, &users_gate(), &stop, &mut |_, _| {}).unwrap();
    let mut expected = 100;
    for _ in 0..3 {
        let plan = LoadPlan {
            workload: workload.clone(),
            max_events: Some(1_000),
            ..bench.plan(WorkloadName::OltpInsert)
        };
        expected += go(&plan).unwrap().counts_whole_run.transactions;
    }
    let count: u64 = bench.value("SELECT COUNT(*) FROM visit");
    assert_eq!(count, expected);
    let greatest: u64 = bench.value("SELECT MAX(number) FROM visit");
    assert!((expected..2 * expected).contains(&greatest), "{greatest}");
}
