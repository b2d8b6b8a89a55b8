//! Tables as `prepare`, `prewarm` and `cleanup` make, warm and drop them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use weir_load::{LoadError, LoadPlan, PreparePlan, TableOptions, cleanup, prepare, prewarm};
use weir_model::{Flavor, LoadSpec, WorkloadName};
use weir_mysql::Connection;

use super::{Bench, ROWS, TABLES, checksum, go, make, users_gate};

weir_testing::on_both_flavors! {
    tables_have_sysbenchs_shape
    tables_are_made_as_the_options_say
    tables_are_read_into_the_pool_and_idle_connections_stay
    loading_can_be_interrupted_and_gone_on_with
    loading_goes_on_without_autocommit_once_others_have_ended
}

fn tables_have_sysbenchs_shape(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    let rows: u64 = oracle
        .first("SELECT COUNT(*) FROM sbtest2")
        .unwrap()
        .unwrap();
    assert_eq!(rows, ROWS);
    let strange: u64 = oracle
        .first(
            "SELECT COUNT(*) FROM sbtest1 WHERE k NOT BETWEEN 1 AND 3000 \
             OR c NOT REGEXP '^([0-9]{11}-){9}[0-9]{11}$' \
             OR pad NOT REGEXP '^([0-9]{11}-){4}[0-9]{11}$'",
        )
        .unwrap()
        .unwrap();
    assert_eq!(strange, 0);
    let columns: Vec<(String, String)> = oracle
        .rows("SELECT column_name, column_key FROM information_schema.columns \
                WHERE table_schema = DATABASE() AND table_name = 'sbtest1' ORDER BY ordinal_position")
        .unwrap();
    let columns: Vec<_> = columns
        .iter()
        .map(|(n, k)| (n.as_str(), k.as_str()))
        .collect();
    assert_eq!(
        columns,
        [("id", "PRI"), ("k", "MUL"), ("c", ""), ("pad", "")]
    );
    let before = checksum(&mut oracle, "sbtest1");
    make(&bench.tables()).unwrap();
    assert_eq!(
        before,
        checksum(&mut oracle, "sbtest1"),
        "a complete table is left"
    );
    let larger = PreparePlan {
        tables: TableOptions {
            rows: ROWS + 1,
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    let error = make(&larger).unwrap_err();
    assert!(
        error.to_string().contains("exists with 3000 rows"),
        "{error}"
    );
    cleanup(&bench.tables(), &users_gate()).unwrap();
    let error = go(&bench.plan(WorkloadName::OltpReadOnly)).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
}

fn columns_of(oracle: &mut Connection, sql: &str) -> Vec<String> {
    oracle.rows(sql).unwrap()
}

fn tables_are_made_as_the_options_say(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let tables = PreparePlan {
        tables: TableOptions {
            auto_increment: false,
            secondary_key: true,
            secondary_index: false,
            table_options: "COMMENT = 'of weir'".to_owned(),
            engine: "innodb".to_owned(),
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    make(&tables).unwrap();
    let mut oracle = bench.oracle();
    let of_table = |column: &str, table: &str| {
        format!(
            "SELECT {column} FROM information_schema.{table} \
             WHERE table_schema = DATABASE() AND table_name = 'sbtest1'"
        )
    };
    let indexes = columns_of(&mut oracle, &of_table("index_name", "statistics"));
    assert_eq!(indexes, ["xid"]);
    let comments = columns_of(&mut oracle, &of_table("table_comment", "tables"));
    assert_eq!(comments, ["of weir"]);
    let extras = columns_of(&mut oracle, &of_table("extra", "columns"));
    assert!(extras.iter().all(|extra| !extra.contains("auto_increment")));
    // Its rows need keys of their own then.
    let plan = LoadPlan {
        auto_increment: false,
        ..bench.plan(WorkloadName::OltpInsert)
    };
    let outcome = go(&plan).unwrap();
    assert_eq!(outcome.counts.errors, 0);
    let all = u64::from(TABLES) * ROWS + outcome.counts_whole_run.transactions;
    let counts: (u64, u64) = oracle
        .first(
            "SELECT COUNT(*), COUNT(DISTINCT id) FROM \
             (SELECT id FROM sbtest1 UNION ALL SELECT id + 3000000000 FROM sbtest2) AS both_tables",
        )
        .unwrap()
        .unwrap();
    assert_eq!(counts, (all, all));
    cleanup(&bench.tables(), &users_gate()).unwrap();
    let tables = PreparePlan {
        tables: TableOptions {
            engine: "myisam".to_owned(),
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    make(&tables).unwrap();
    let engines = columns_of(&mut oracle, &of_table("engine", "tables"));
    assert_eq!(engines, ["MyISAM"]);
}

fn tables_are_read_into_the_pool_and_idle_connections_stay(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let reads = || bench.counter("Handler_read_next");
    let before = reads();
    let told = AtomicU64::new(0);
    prewarm(
        &bench.tables(),
        &users_gate(),
        &AtomicBool::new(false),
        &|done, total| {
            assert!(done <= total);
            told.fetch_add(1, Ordering::Relaxed);
        },
    )
    .unwrap();
    assert_eq!(told.load(Ordering::Relaxed), u64::from(TABLES));
    // Both indexes of both tables; MySQL counts a whole index without reading row by row.
    let read = reads() - before;
    assert!(
        flavor == Flavor::Mysql || read >= 2 * u64::from(TABLES) * ROWS,
        "{read}"
    );
    let plan = LoadPlan {
        load: LoadSpec {
            idle_connections: 5,
            ..bench.plan(WorkloadName::OltpPointSelect).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let outcome = go(&plan).unwrap();
    assert_eq!(outcome.idle_connections, 5);
    let missing = PreparePlan {
        tables: TableOptions {
            tables: TABLES + 1,
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    let error = prewarm(&missing, &users_gate(), &AtomicBool::new(false), &|_, _| {}).unwrap_err();
    assert!(error.to_string().contains("sbtest3"), "{error}");
}

/// One table that takes a moment to load.
fn one_large_table(bench: &Bench) -> PreparePlan {
    PreparePlan {
        tables: TableOptions {
            tables: 1,
            rows: 100_000,
            ..bench.tables().tables
        },
        ..bench.tables()
    }
}

fn loading_can_be_interrupted_and_gone_on_with(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let plan = one_large_table(&bench);
    let stop = AtomicBool::new(false);
    let mut reached = 0;
    let error = prepare(&plan, &users_gate(), &stop, &mut |done, _| {
        // Some rows are in by then: one statement takes 8 MiB of them.
        reached = done;
        stop.fetch_or(done > 60_000, Ordering::Relaxed);
    })
    .unwrap_err();
    assert!(matches!(error, LoadError::Interrupted(_)), "{error}");
    assert!(reached < plan.tables.rows, "interrupted in time");
    let mut oracle = bench.oracle();
    let rows: u64 = oracle
        .first("SELECT COUNT(*) FROM sbtest1")
        .unwrap()
        .unwrap();
    assert!((1..plan.tables.rows).contains(&rows), "{rows}");
    let other_seed = PreparePlan {
        seed: 2,
        ..plan.clone()
    };
    let error = make(&other_seed).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("half loaded with other settings"),
        "{error}"
    );
    let mut first = None;
    prepare(
        &plan,
        &users_gate(),
        &AtomicBool::new(false),
        &mut |done, _| {
            first.get_or_insert(done);
        },
    )
    .unwrap();
    let resumed = checksum(&mut oracle, "sbtest1").1;
    let shown: (String, String) = oracle.first("SHOW CREATE TABLE sbtest1").unwrap().unwrap();
    cleanup(&plan, &users_gate()).unwrap();
    // The same as without an interruption, also by the other way to send rows.
    oracle.run("SET GLOBAL local_infile = OFF").unwrap();
    make(&plan).unwrap();
    assert_eq!(checksum(&mut oracle, "sbtest1").1, resumed);
    let whole: (String, String) = oracle.first("SHOW CREATE TABLE sbtest1").unwrap().unwrap();
    assert_eq!(shown, whole);
}

/// A server without autocommit keeps what was loaded; what another connection undoes on the table is awaited.
fn loading_goes_on_without_autocommit_once_others_have_ended(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let mut oracle = bench.oracle();
    for statement in [
        "SET GLOBAL local_infile = ON",
        "SET GLOBAL autocommit = OFF",
    ] {
        oracle.run(statement).unwrap();
    }
    let plan = one_large_table(&bench);
    let stop = AtomicBool::new(false);
    let error = prepare(&plan, &users_gate(), &stop, &mut |done, _| {
        stop.fetch_or(done > 60_000, Ordering::Relaxed);
    });
    assert!(matches!(error, Err(LoadError::Interrupted(_))), "{error:?}");
    let count = "SELECT COUNT(*) FROM sbtest1";
    let rows: u64 = oracle.first(count).unwrap().unwrap();
    assert!((1..plan.tables.rows).contains(&rows), "{rows}");
    let mut other = bench.oracle();
    other.run("DELETE FROM sbtest1 WHERE id <= 100").unwrap();
    std::thread::scope(|scope| {
        let loading = scope.spawn(|| make(&plan));
        let waits = "SELECT COUNT(*) FROM information_schema.processlist \
                     WHERE state = 'Waiting for table metadata lock'";
        while oracle.first::<u64>(waits).unwrap() == Some(0) {
            assert!(!loading.is_finished(), "it waits for the other connection");
            std::thread::sleep(Duration::from_millis(10));
        }
        other.run("ROLLBACK").unwrap();
        loading.join().unwrap().unwrap();
    });
    let resumed = checksum(&mut oracle, "sbtest1").1;
    cleanup(&plan, &users_gate()).unwrap();
    make(&plan).unwrap();
    assert_eq!(checksum(&mut oracle, "sbtest1").1, resumed);
}
