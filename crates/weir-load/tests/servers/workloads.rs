//! Statements of the workloads, held against the servers' counts and rows.

use std::collections::BTreeSet;
use std::path::Path;

use weir_load::{LoadPlan, PreparePlan, Workload, cleanup};
use weir_model::{Distribution, Flavor, LoadSpec, SysbenchWorkload, WorkloadName};
use weir_mysql::Connection;

use super::{Bench, ROWS, go, make, users_gate};

weir_testing::on_both_flavors! {
    writes_leave_as_many_rows_as_there_were
    reads_are_counted_as_the_server_counts_them
    simple_workloads_send_what_sysbench_sends
    inserted_and_deleted_rows_are_there_and_gone
    text_is_read_and_written_and_mixes_with_other_workloads
    without_prepared_statements_the_same_is_asked_as_text
    workload_files_are_prepared_and_run
    bulk_inserts_fill_a_table_per_connection
}

/// Transactions of a run.
const EVENTS: u64 = 100;

/// So many transactions, however fast the machine is.
fn counted(plan: LoadPlan) -> LoadPlan {
    LoadPlan {
        max_events: Some(EVENTS),
        load: LoadSpec {
            measure: weir_model::Duration::default(),
            ..plan.load
        },
        ..plan
    }
}

fn writes_leave_as_many_rows_as_there_were(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let before: Vec<u64> = ["Com_commit", "Com_begin", "Com_insert", "Com_delete"]
        .map(|name| bench.counter(name))
        .into();
    let outcome = go(&counted(bench.plan(WorkloadName::OltpWriteOnly))).unwrap();
    let counts = outcome.counts_whole_run;
    assert_eq!(counts.transactions, EVENTS, "{counts:?}");
    let tries = counts.transactions + counts.errors;
    let after = |index: usize, name| bench.counter(name) - before[index];
    assert_eq!(after(0, "Com_commit"), counts.transactions);
    assert_eq!(after(1, "Com_begin"), tries);
    let completed_to_tried = counts.transactions..=tries;
    assert!(completed_to_tried.contains(&after(2, "Com_insert")));
    assert!(completed_to_tried.contains(&after(3, "Com_delete")));
    let mut oracle = bench.oracle();
    for table in ["sbtest1", "sbtest2"] {
        let (rows, keys): (u64, u64) = oracle
            .first(format!("SELECT COUNT(*), COUNT(DISTINCT id) FROM {table}"))
            .unwrap()
            .unwrap();
        assert_eq!((rows, keys), (ROWS, ROWS), "{table}");
        let check: (String, String, String, String) = oracle
            .first(format!("CHECK TABLE {table}"))
            .unwrap()
            .unwrap();
        assert_eq!(check.3, "OK", "{table}");
    }
}

fn reads_are_counted_as_the_server_counts_them(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    for (workload, selects) in [
        (WorkloadName::OltpPointSelect, 1),
        (WorkloadName::OltpReadOnly, 14),
    ] {
        let before = bench.counter("Com_stmt_execute");
        let outcome = go(&counted(bench.plan(workload))).unwrap();
        let counts = outcome.counts_whole_run;
        assert_eq!(counts.transactions, EVENTS, "{workload}: {counts:?}");
        assert_eq!(counts.errors, 0, "{workload}");
        assert_eq!(counts.reads, selects * counts.transactions, "{workload}");
        let executed = bench.counter("Com_stmt_execute") - before;
        // BEGIN is prepared where the server can, and sent as text where it cannot.
        let as_text = counts.queries - executed;
        assert!(
            as_text == 0
                || as_text == counts.transactions && workload != WorkloadName::OltpPointSelect,
            "{workload}: {counts:?}, {executed} executed"
        );
    }
}

/// Statements that the server logged, without their values: digits become one `9`.
fn logged(oracle: &mut Connection) -> BTreeSet<String> {
    let log: Vec<(String, String)> = oracle
        .rows("SELECT command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log")
        .unwrap();
    log.into_iter()
        .filter(|(kind, sql)| {
            ["Execute", "Query"].contains(&kind.as_str()) && sql.contains("sbtest")
        })
        .map(|(_, sql)| {
            let mut shape = String::new();
            for c in sql.chars() {
                let c = if c.is_ascii_digit() { '9' } else { c };
                if c != '9' || !shape.ends_with('9') {
                    shape.push(c);
                }
            }
            shape
        })
        .collect()
}

/// The log of a server of sysbench 1.0.20's run of these workloads is in the same form, with line
/// breaks taken out.
fn simple_workloads_send_what_sysbench_sends(flavor: Flavor) {
    let groups = |count| vec!["9"; count].join("-");
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    let points = ["9"; 10].join(", ");
    let ranges = ["k BETWEEN 9 AND 9"; 10].join(" OR ");
    let (c, pad) = (groups(10), groups(5));
    let cases = [
        (
            WorkloadName::OltpInsert,
            format!("INSERT INTO sbtest9 (id, k, c, pad) VALUES (9, 9, '{c}', '{pad}')"),
        ),
        (
            WorkloadName::OltpUpdateIndex,
            "UPDATE sbtest9 SET k=k+9 WHERE id=9".to_owned(),
        ),
        (
            WorkloadName::OltpUpdateNonIndex,
            format!("UPDATE sbtest9 SET c='{c}' WHERE id=9"),
        ),
        (
            WorkloadName::SelectRandomPoints,
            format!("SELECT id, k, c, pad FROM sbtest9 WHERE k IN ({points})"),
        ),
        (
            WorkloadName::SelectRandomRanges,
            format!("SELECT count(k) FROM sbtest9 WHERE {ranges}"),
        ),
        (
            WorkloadName::OltpDelete,
            "DELETE FROM sbtest9 WHERE id=9".to_owned(),
        ),
    ];
    oracle.run("SET GLOBAL log_output = 'TABLE'").unwrap();
    for (workload, expected) in cases {
        oracle.run("TRUNCATE TABLE mysql.general_log").unwrap();
        let plan = counted(bench.plan(workload));
        oracle.run("SET GLOBAL general_log = ON").unwrap();
        let outcome = go(&plan).unwrap();
        oracle.run("SET GLOBAL general_log = OFF").unwrap();
        assert_eq!(outcome.counts.transactions, EVENTS, "{workload}");
        assert_eq!(outcome.counts.queries, EVENTS, "{workload}");
        let mut shapes = logged(&mut oracle);
        // The checks before the run.
        shapes.retain(|shape| {
            !shape.starts_with("SELECT MAX")
                && !shape.starts_with("SELECT COUNT")
                && !shape.contains("information_schema")
        });
        assert_eq!(shapes, BTreeSet::from([expected]), "{workload}");
    }
}

fn inserted_and_deleted_rows_are_there_and_gone(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    let mut rows = || -> u64 {
        oracle
            .first("SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)")
            .unwrap()
            .unwrap()
    };
    let before = rows();
    let inserted = go(&bench.plan(WorkloadName::OltpInsert))
        .unwrap()
        .counts_whole_run;
    assert!(inserted.transactions > 0);
    assert_eq!(rows(), before + inserted.transactions);
    // So many that some ask for a row that has gone: of 6,000 rows, some 30 do.
    let deletes = LoadPlan {
        max_events: Some(600),
        ..counted(bench.plan(WorkloadName::OltpDelete))
    };
    let deleted = go(&deletes).unwrap().counts_whole_run;
    // A row that has gone already makes the delete an `other`, as in sysbench.
    assert_eq!(deleted.writes + deleted.others, deleted.transactions);
    assert!(deleted.writes > 0 && deleted.others > 0, "{deleted:?}");
    assert_eq!(rows(), before + inserted.transactions - deleted.writes);
}

fn text_is_read_and_written_and_mixes_with_other_workloads(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let tables = PreparePlan {
        workload: WorkloadName::OltpTextReadWrite.into(),
        ..bench.tables()
    };
    make(&tables).unwrap();
    let mut oracle = bench.oracle();
    let (lines, empty, longest): (u64, u64, u64) = oracle
        .first(
            "SELECT COUNT(DISTINCT data1), SUM(data2 = ''), MAX(CHAR_LENGTH(data1)) FROM sbtest1",
        )
        .unwrap()
        .unwrap();
    assert!(
        lines > ROWS / 2 && empty == 0 && longest <= 255,
        "{lines} {empty} {longest}"
    );
    for workload in [
        "oltp_text_read_only",
        "oltp_text_write_only",
        "oltp_text_read_write",
        "oltp_text_read_only:1,oltp_write_only:1,oltp_point_select:2",
    ] {
        let plan = LoadPlan {
            workload: Workload::read(workload).unwrap(),
            ..counted(bench.plan(WorkloadName::OltpReadWrite))
        };
        let counts = go(&plan).unwrap().counts_whole_run;
        assert_eq!(counts.transactions, EVENTS, "{workload}: {counts:?}");
        let is_read_only = workload == "oltp_text_read_only";
        assert_eq!(counts.writes == 0, is_read_only, "{workload}: {counts:?}");
        assert!(
            workload.contains("write_only") || counts.reads > 0,
            "{counts:?}"
        );
    }
    let rows: u64 = oracle
        .first("SELECT COUNT(*) FROM sbtest1")
        .unwrap()
        .unwrap();
    assert_eq!(rows, ROWS);
}

fn without_prepared_statements_the_same_is_asked_as_text(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let mut oracle = bench.oracle();
    let book = bench.directory.path().join("book.txt");
    let lines = [
        r"it's a \ backslash",
        r"'; DROP TABLE sbtest1 -- \",
        "is it? \"yes\"",
    ];
    std::fs::write(&book, lines.join("\n")).unwrap();
    let tables = PreparePlan {
        workload: of_book("oltp_text_read_write", &book),
        ..bench.tables()
    };
    make(&tables).unwrap();
    let executed = bench.counter("Com_stmt_execute");
    for mode in ["", "NO_BACKSLASH_ESCAPES"] {
        let set = format!("SET GLOBAL sql_mode = '{mode}'");
        oracle.run(set).unwrap();
        for workload in [
            "oltp_text_read_write",
            "oltp_read_write",
            "select_random_points",
        ] {
            let plan = LoadPlan {
                workload: of_book(workload, &book),
                prepared_statements: false,
                ..counted(bench.plan(WorkloadName::OltpReadWrite))
            };
            let counts = go(&plan).unwrap().counts_whole_run;
            assert_eq!(counts.transactions, EVENTS, "{workload}: {counts:?}");
            assert!(counts.reads > 0, "{workload}: {counts:?}");
        }
    }
    assert_eq!(bench.counter("Com_stmt_execute"), executed);
    let written: Vec<(String, String)> = oracle
        .rows("SELECT DISTINCT data1, data2 FROM sbtest1 WHERE data1 <> '' AND data2 <> ''")
        .unwrap();
    assert!(written.len() > 1);
    for (data1, data2) in &written {
        for text in [data1, data2] {
            assert!(lines.contains(&text.as_str()), "{text}");
        }
    }
}

fn workload_files_are_prepared_and_run(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    for (name, tables) in [("shop.toml", 3), ("ledger.toml", 2)] {
        let path = directory.join(name);
        let text = std::fs::read_to_string(&path)
            .unwrap()
            .replace("00_000\n", "_000\n");
        let copy = bench.directory.path().join(name);
        std::fs::write(&copy, text).unwrap();
        let workload: Workload = Workload::read(copy.to_str().unwrap()).unwrap();
        let plan = PreparePlan {
            workload: workload.clone(),
            ..bench.tables()
        };
        make(&plan).unwrap();
        make(&plan).unwrap();
        let load = LoadPlan {
            workload,
            ..counted(bench.plan(WorkloadName::OltpReadWrite))
        };
        let counts = go(&load).unwrap().counts_whole_run;
        assert!(
            counts.transactions == EVENTS && counts.reads > 0,
            "{name}: {counts:?}"
        );
        assert!(counts.writes > 0, "{name}: {counts:?}");
        let mut oracle = bench.oracle();
        let made: Vec<String> = oracle.rows("SHOW TABLES").unwrap();
        assert_eq!(made.len(), tables, "{made:?}");
        if name == "ledger.toml" {
            // Every transfer's entries add up, and none is half there.
            let sum: i64 = oracle
                .first("SELECT CAST(COALESCE(SUM(amount), 0) AS SIGNED) FROM entry WHERE id > 1000")
                .unwrap()
                .unwrap();
            assert_eq!(sum, 0);
        }
        cleanup(&plan, &users_gate()).unwrap();
        let made: Vec<String> = oracle.rows("SHOW TABLES").unwrap();
        assert!(made.is_empty(), "{made:?}");
    }
}

fn bulk_inserts_fill_a_table_per_connection(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let plan = LoadPlan {
        max_events: Some(120_000),
        load: LoadSpec {
            connections: 2,
            measure: weir_model::Duration::default(),
            ..bench.plan(WorkloadName::BulkInsert).load
        },
        ..bench.plan(WorkloadName::BulkInsert)
    };
    let error = go(&plan).unwrap_err().to_string();
    assert!(
        error.contains("does not exist, but 2 connections"),
        "{error}"
    );
    let tables = PreparePlan {
        workload: WorkloadName::BulkInsert.into(),
        ..bench.tables()
    };
    make(&tables).unwrap();
    let outcome = go(&plan).unwrap();
    assert_eq!(outcome.counts.transactions, 120_000);
    // As under sysbench: 39,033 rows fit the first statement of a table.
    assert!((4..=5).contains(&outcome.counts.writes), "{outcome:?}");
    let mut oracle = bench.oracle();
    let mut total = 0;
    for table in ["sbtest1", "sbtest2"] {
        let (rows, last, odd): (u64, u64, u64) = oracle
            .first(format!(
                "SELECT COUNT(*), MAX(id), SUM(k <> id) FROM {table}"
            ))
            .unwrap()
            .unwrap();
        assert_eq!((rows, odd), (last, 0), "{table}");
        assert!(rows >= 39_033, "{table}: {rows}");
        total += rows;
    }
    assert_eq!(total, 120_000);
    let error = go(&plan).unwrap_err().to_string();
    assert!(error.contains("has rows"), "{error}");
}

/// sysbench's workload of this name, with the lines of a book.
fn of_book(name: &str, book: &Path) -> Workload {
    let workload = SysbenchWorkload {
        shares: name.parse().unwrap(),
        text_file: Some(book.to_owned()),
        distribution: Distribution::Uniform,
        ..SysbenchWorkload::default()
    };
    workload.into()
}
