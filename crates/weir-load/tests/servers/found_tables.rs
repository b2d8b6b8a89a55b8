//! Tables as users' servers have them: other than they would be made, with rows gone, with names that are keywords.

use std::sync::atomic::{AtomicBool, Ordering};

use weir_load::{
    LoadPlan, PreparePlan, Progress, TableOptions, Workload, cleanup, prepare, prewarm,
    run_observed,
};
use weir_model::{Distribution, FileWorkload, Flavor, LoadSpec, WorkloadName, WorkloadSpec};

use super::{Bench, ROWS, go, make, users_gate};

weir_testing::on_both_flavors! {
    a_table_that_is_another_one_is_not_taken_for_ours
    a_table_that_the_server_makes_otherwise_is_told
    unfinished_tables_are_compared_before_any_is_loaded
    a_run_after_deletes_goes_on_and_says_so
    empty_tables_are_filled_by_inserts
    nothing_is_prepared_where_nothing_is_to_be
    names_and_statements_are_what_the_server_makes_of_them
}

/// A plan of so many transactions.
fn counted(bench: &Bench, workload: WorkloadName, events: u64) -> LoadPlan {
    let plan = bench.plan(workload);
    LoadPlan {
        max_events: Some(events),
        load: LoadSpec {
            measure: weir_model::Duration::default(),
            ..plan.load.clone()
        },
        ..plan
    }
}

fn a_table_that_is_another_one_is_not_taken_for_ours(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    make(&bench.tables()).unwrap();
    for (change, back, words) in [
        (
            "ENGINE = MyISAM",
            "ENGINE = InnoDB",
            "is a table of MyISAM, not of innodb",
        ),
        (
            "ROW_FORMAT = COMPACT",
            "ROW_FORMAT = DYNAMIC",
            "row format compact",
        ),
        ("ADD more INT", "DROP more", "further column `more`"),
        (
            "DROP INDEX k_1",
            "ADD INDEX k_1 (k)",
            "has not an index on k",
        ),
        ("ADD INDEX x (c)", "DROP INDEX x", "has also an index on c"),
        (
            "RENAME COLUMN pad TO paddy",
            "RENAME COLUMN paddy TO pad",
            "no column `pad`",
        ),
    ] {
        oracle.run(format!("ALTER TABLE sbtest1 {change}")).unwrap();
        let error = make(&bench.tables()).unwrap_err().to_string();
        assert!(error.contains(words), "{change}: {error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        oracle.run(format!("ALTER TABLE sbtest1 {back}")).unwrap();
    }
    make(&bench.tables()).unwrap();
}

/// A user's workload of one table.
fn one_table(bench: &Bench, end: &str) -> PreparePlan {
    let text = format!(
        r#"
        [tables.visit]
        rows = 10
        create = "CREATE TABLE visit (id INT PRIMARY KEY, at INT) {end}"
        columns = {{ id = "row", at = {{ integer = [1, 9] }} }}
        [values]
        id = {{ key = {{ table = "visit" }} }}
        [[transactions]]
        name = "look"
        statements = [{{ sql = "SELECT at FROM visit WHERE id = ?", values = ["id"] }}]
        "#
    );
    let spec = WorkloadSpec::File(FileWorkload {
        path: "/nowhere/visits.toml".into(),
        text: text.into(),
        distribution: Distribution::Uniform,
    });
    PreparePlan {
        workload: Workload::try_from(&spec).unwrap(),
        ..bench.tables()
    }
}

/// The one line in which such a table is refused, twice of twice; nothing is left.
fn refused(bench: &Bench, tables: &PreparePlan) -> String {
    let refusal = || {
        let error = make(tables).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{error}");
        let left: Vec<String> = bench.oracle().rows("SHOW TABLES").unwrap();
        assert!(left.is_empty(), "{left:?} after {error}");
    };
    refusal();
    refusal();
    make(tables).unwrap_err().to_string()
}

/// Servers that are lenient make another table, with a warning that nobody sees.
fn a_table_that_the_server_makes_otherwise_is_told(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let set = |what: &str| {
        let set = format!("SET GLOBAL {what}");
        bench.oracle().run(set).unwrap();
    };
    set("sql_mode = '', GLOBAL innodb_strict_mode = 0");
    let mut unknown_engine = bench.tables();
    "nonsense".clone_into(&mut unknown_engine.tables.engine);
    let mut other_format = bench.tables();
    "ROW_FORMAT=FIXED".clone_into(&mut other_format.tables.table_options);
    for (tables, words) in [
        (&unknown_engine, "nonsense"),
        (&other_format, "ROW_FORMAT"),
        (&one_table(&bench, "ENGINE=nonsense"), "nonsense"),
        (&one_table(&bench, "ROW_FORMAT=FIXED"), "ROW_FORMAT"),
    ] {
        let error = refused(&bench, tables);
        assert!(error.contains(words), "{error}");
    }
    if flavor == Flavor::Mariadb {
        set("enforce_storage_engine = 'MyISAM'");
        let error = refused(&bench, &bench.tables());
        assert!(error.contains("MyISAM"), "{error}");
        set("enforce_storage_engine = NULL");
    }
    set("max_error_count = 0");
    let error = refused(&bench, &unknown_engine);
    assert!(error.contains("InnoDB, not of nonsense"), "{error}");
}

/// Tables as earlier tries left them, empty or half loaded, with and without the mark of a load.
fn unfinished_tables_are_compared_before_any_is_loaded(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let mut oracle = bench.oracle();
    // The load itself leaves a half-loaded table with its mark.
    let stop = AtomicBool::new(false);
    let large = PreparePlan {
        tables: TableOptions {
            rows: 100_000,
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    let mut stop_early = |done: u64, _: u64| {
        if done > 0 {
            stop.store(true, Ordering::Relaxed);
        }
    };
    prepare(&large, &users_gate(), &stop, &mut stop_early).unwrap_err();
    for (change, back, words) in [
        ("ENGINE = MyISAM", "ENGINE = InnoDB", "MyISAM"),
        (
            "ROW_FORMAT = COMPACT",
            "ROW_FORMAT = DYNAMIC",
            "row format compact",
        ),
        ("ADD more INT", "DROP more", "further column `more`"),
        ("ADD INDEX x (c)", "DROP INDEX x", "has also an index on c"),
    ] {
        let rows = "SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)";
        oracle.run(format!("ALTER TABLE sbtest2 {change}")).unwrap();
        let before: Option<u64> = oracle.first(rows).unwrap();
        let error = make(&large).unwrap_err().to_string();
        assert!(error.contains(words), "{change}: {error}");
        // Not even the first table got a row.
        assert_eq!(oracle.first::<u64>(rows).unwrap(), before, "{change}");
        oracle.run(format!("ALTER TABLE sbtest2 {back}")).unwrap();
    }
    make(&large).unwrap();
    for statement in [
        "DELETE FROM sbtest1",
        "ALTER TABLE sbtest1 DROP INDEX k_1, ENGINE = MyISAM",
    ] {
        oracle.run(statement).unwrap();
    }
    let error = make(&large).unwrap_err().to_string();
    assert!(
        error.contains("is a table of MyISAM, not of innodb"),
        "{error}"
    );
    // A user's table, whose statement names the engine.
    let visit = one_table(&bench, "ENGINE=InnoDB");
    make(&visit).unwrap();
    for statement in ["DELETE FROM visit", "ALTER TABLE visit ENGINE = MyISAM"] {
        oracle.run(statement).unwrap();
    }
    let error = make(&visit).unwrap_err().to_string();
    assert!(error.contains("visit: is a table of MyISAM"), "{error}");
}

/// The warnings of a run.
fn warnings(plan: &LoadPlan) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut note = |progress: Progress<'_>| {
        if let Progress::Warning(warning) = progress {
            warnings.push(warning.to_owned());
        }
    };
    let stop = AtomicBool::new(false);
    run_observed(plan, &users_gate(), &stop, &mut note).unwrap();
    warnings
}

fn a_run_after_deletes_goes_on_and_says_so(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = counted(&bench, WorkloadName::OltpReadOnly, 20);
    assert_eq!(warnings(&plan), Vec::<String>::new());
    let mut oracle = bench.oracle();
    oracle
        .run(format!("DELETE FROM sbtest1 WHERE id > {ROWS} - 5"))
        .unwrap();
    assert_eq!(warnings(&plan), Vec::<String>::new());
    for table in ["sbtest1", "sbtest2"] {
        oracle
            .run(format!("DELETE FROM {table} WHERE id < {ROWS} - 20"))
            .unwrap();
    }
    let told = warnings(&plan).join("\n");
    assert!(told.contains("about 0 % of the 3000 rows"), "{told}");
    // Made for fewer rows than are asked for, as before.
    oracle
        .run(format!("DELETE FROM sbtest1 WHERE id > {ROWS} / 2"))
        .unwrap();
    let error = go(&plan).unwrap_err().to_string();
    assert!(error.contains("rows up to id"), "{error}");
}

fn empty_tables_are_filled_by_inserts(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let tables = PreparePlan {
        tables: TableOptions {
            rows: 0,
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    make(&tables).unwrap();
    make(&tables).unwrap();
    let plan = LoadPlan {
        rows: 0,
        ..counted(&bench, WorkloadName::OltpInsert, 50)
    };
    assert_eq!(go(&plan).unwrap().counts_whole_run.transactions, 50);
    let rows = "SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)";
    assert_eq!(bench.oracle().first::<u64>(rows).unwrap(), Some(50));
}

fn nothing_is_prepared_where_nothing_is_to_be(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    bench
        .oracle()
        .run("SET GLOBAL max_prepared_stmt_count = 0")
        .unwrap();
    let before = bench.counter("Com_stmt_prepare");
    for workload in [WorkloadName::OltpReadWrite, WorkloadName::OltpPointSelect] {
        let plan = LoadPlan {
            prepared_statements: false,
            ..counted(&bench, workload, 20)
        };
        assert_eq!(go(&plan).unwrap().counts_whole_run.transactions, 20);
    }
    assert_eq!(bench.counter("Com_stmt_prepare"), before);
}

/// Keywords and odd characters as names; comments, quotes and semicolons in statements.
const ODD: &str = r#"
[tables.groups]
rows = 100
create = "CREATE TABLE `groups` (`key` INT PRIMARY KEY, `order` INT NOT NULL, `a-b c` INT NOT NULL)"
columns = { "key" = "row", "order" = { integer = [1, 9] }, "a-b c" = { integer = [1, 9] } }

[tables."odd`na-me"]
rows = 10
create = "CREATE TABLE `odd``na-me` (`rank` INT PRIMARY KEY)"
columns = { rank = "row" }

[values]
it = { key = { table = "groups" } }

[[transactions]]
name = "odd"
statements = [
  "BEGIN;",
  { sql = "SELECT /* what's hot? */ `order` FROM `groups` WHERE `key` = ? -- is it there?", values = ["it"] },
  { sql = "UPDATE `groups` SET `order` = `order` + 1 WHERE `key` = ? AND 'it\\'s ?' <> '' # why?", values = ["it"] },
  "/* all of it; */ COMMIT ;",
]
"#;

fn names_and_statements_are_what_the_server_makes_of_them(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let path = bench.directory.path().join("odd.toml");
    std::fs::write(&path, ODD).unwrap();
    let workload = Workload::read(path.to_str().unwrap()).unwrap();
    let tables = PreparePlan {
        workload: workload.clone(),
        ..bench.tables()
    };
    make(&tables).unwrap();
    prewarm(&tables, &users_gate(), &AtomicBool::new(false), &|_, _| {}).unwrap();
    let sum = "SELECT CAST(SUM(`order`) AS SIGNED) FROM `groups`";
    for prepared_statements in [true, false] {
        let before: Option<i64> = bench.oracle().first(sum).unwrap();
        let plan = LoadPlan {
            workload: workload.clone(),
            prepared_statements,
            ..counted(&bench, WorkloadName::OltpReadWrite, 30)
        };
        let counts = go(&plan).unwrap().counts_whole_run;
        assert_eq!(
            (counts.transactions, counts.reads, counts.writes),
            (30, 30, 30)
        );
        let after: Option<i64> = bench.oracle().first(sum).unwrap();
        assert_eq!(after, before.map(|before| before + 30));
    }
    cleanup(&tables, &users_gate()).unwrap();
    let left: Vec<String> = bench.oracle().rows("SHOW TABLES").unwrap();
    assert!(left.is_empty(), "{left:?}");
}
