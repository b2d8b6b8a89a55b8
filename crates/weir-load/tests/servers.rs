//! The engine on real servers of both flavours.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mysql::Conn;
use mysql::prelude::Queryable as _;
use tempfile::TempDir;
use weir_load::{
    ArrivalKind, Distribution, LoadError, LoadOutcome, LoadPlan, PreparePlan, Rate, ReactorKind,
    Tolerated, Workload, cleanup, prepare, prewarm, run,
};
use weir_model::{Flavor, Secret, WorkloadName};
use weir_server::{PrivateServer, testing};

const TABLES: u32 = 2;
const ROWS: u64 = 3_000;

/// A server with loaded tables. The server goes before its directory.
struct Bench {
    server: PrivateServer,
    directory: TempDir,
}

impl Bench {
    fn empty(flavor: Flavor) -> Self {
        let (server, directory) = testing::start(flavor);
        Self { server, directory }
    }

    fn loaded(flavor: Flavor) -> Self {
        let bench = Self::empty(flavor);
        let mut progress = Vec::new();
        prepare(
            &bench.tables(),
            &AtomicBool::new(false),
            &mut |done, total| {
                progress.push((done, total));
            },
        )
        .unwrap();
        let all = u64::from(TABLES) * ROWS;
        assert_eq!(progress.last(), Some(&(all, all)));
        bench
    }

    fn tables(&self) -> PreparePlan {
        PreparePlan {
            tables: TABLES,
            rows: ROWS,
            threads: 2,
            ..PreparePlan::new(self.server.endpoint(), WorkloadName::OltpReadWrite)
        }
    }

    fn plan(&self, workload: WorkloadName) -> LoadPlan {
        LoadPlan {
            tables: TABLES,
            rows: ROWS,
            connections: 4,
            measure: Some(Duration::from_secs(1)),
            distribution: Distribution::Uniform,
            ..LoadPlan::new(self.server.endpoint(), workload)
        }
    }

    fn oracle(&self) -> Conn {
        testing::connect(&self.server.endpoint())
    }

    fn counter(&self, name: &str) -> u64 {
        status(&self.server.status().unwrap(), name)
    }
}

fn status(status: &BTreeMap<String, String>, name: &str) -> u64 {
    status[name].parse().unwrap()
}

fn go(plan: &LoadPlan) -> Result<LoadOutcome, LoadError> {
    run(plan, &AtomicBool::new(false), &mut |_| {})
}

fn tables_have_sysbenchs_shape(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    let rows: u64 = oracle
        .query_first("SELECT COUNT(*) FROM sbtest2")
        .unwrap()
        .unwrap();
    assert_eq!(rows, ROWS);
    let strange: u64 = oracle
        .query_first(
            "SELECT COUNT(*) FROM sbtest1 WHERE k NOT BETWEEN 1 AND 3000 \
             OR c NOT REGEXP '^([0-9]{11}-){9}[0-9]{11}$' \
             OR pad NOT REGEXP '^([0-9]{11}-){4}[0-9]{11}$'",
        )
        .unwrap()
        .unwrap();
    assert_eq!(strange, 0);
    let columns: Vec<(String, String)> = oracle
        .query("SELECT column_name, column_key FROM information_schema.columns \
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
    prepare(&bench.tables(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    assert_eq!(
        before,
        checksum(&mut oracle, "sbtest1"),
        "a complete table is left"
    );
    let larger = PreparePlan {
        rows: ROWS + 1,
        ..bench.tables()
    };
    let error = prepare(&larger, &AtomicBool::new(false), &mut |_, _| {}).unwrap_err();
    assert!(
        error.to_string().contains("exists with 3000 rows"),
        "{error}"
    );
    cleanup(&bench.tables()).unwrap();
    let error = go(&bench.plan(WorkloadName::OltpReadOnly)).unwrap_err();
    assert!(error.to_string().contains("does not exist"), "{error}");
}

fn writes_leave_as_many_rows_as_there_were(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let before: Vec<u64> = ["Com_commit", "Com_begin", "Com_insert", "Com_delete"]
        .map(|name| bench.counter(name))
        .into();
    let outcome = go(&bench.plan(WorkloadName::OltpWriteOnly)).unwrap();
    let counts = outcome.counts_whole_run;
    assert!(counts.transactions > 10, "{counts:?}");
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
            .query_first(format!("SELECT COUNT(*), COUNT(DISTINCT id) FROM {table}"))
            .unwrap()
            .unwrap();
        assert_eq!((rows, keys), (ROWS, ROWS), "{table}");
        let check: (String, String, String, String) = oracle
            .query_first(format!("CHECK TABLE {table}"))
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
        let outcome = go(&bench.plan(workload)).unwrap();
        let counts = outcome.counts_whole_run;
        assert!(counts.transactions > 10, "{workload}: {counts:?}");
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
fn logged(oracle: &mut Conn) -> BTreeSet<String> {
    let log: Vec<(String, String)> = oracle
        .query("SELECT command_type, CONVERT(argument USING utf8mb4) FROM mysql.general_log")
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

/// What a server logged of sysbench 1.0.20's run of these workloads, in the same form, with line
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
    oracle
        .query_drop("SET GLOBAL log_output = 'TABLE'")
        .unwrap();
    for (workload, expected) in cases {
        oracle
            .query_drop("TRUNCATE TABLE mysql.general_log")
            .unwrap();
        let plan = LoadPlan {
            max_events: Some(100),
            measure: None,
            ..bench.plan(workload)
        };
        oracle.query_drop("SET GLOBAL general_log = ON").unwrap();
        let outcome = go(&plan).unwrap();
        oracle.query_drop("SET GLOBAL general_log = OFF").unwrap();
        assert_eq!(outcome.counts.transactions, 100, "{workload}");
        assert_eq!(outcome.counts.queries, 100, "{workload}");
        let mut shapes = logged(&mut oracle);
        // The checks before the run.
        shapes.retain(|shape| !shape.starts_with("SELECT MAX"));
        assert_eq!(shapes, BTreeSet::from([expected]), "{workload}");
    }
}

fn inserted_and_deleted_rows_are_there_and_gone(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    let mut rows = || -> u64 {
        oracle
            .query_first("SELECT (SELECT COUNT(*) FROM sbtest1) + (SELECT COUNT(*) FROM sbtest2)")
            .unwrap()
            .unwrap()
    };
    let before = rows();
    let inserted = go(&bench.plan(WorkloadName::OltpInsert))
        .unwrap()
        .counts_whole_run;
    assert!(inserted.transactions > 0);
    assert_eq!(rows(), before + inserted.transactions);
    let deleted = go(&bench.plan(WorkloadName::OltpDelete))
        .unwrap()
        .counts_whole_run;
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
    prepare(&tables, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    let mut oracle = bench.oracle();
    let (lines, empty, longest): (u64, u64, u64) = oracle
        .query_first(
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
            workload: workload.parse().unwrap(),
            ..bench.plan(WorkloadName::OltpReadWrite)
        };
        let counts = go(&plan).unwrap().counts_whole_run;
        assert!(counts.transactions > 10, "{workload}: {counts:?}");
        let is_read_only = workload == "oltp_text_read_only";
        assert_eq!(counts.writes == 0, is_read_only, "{workload}: {counts:?}");
        assert!(
            workload.contains("write_only") || counts.reads > 0,
            "{counts:?}"
        );
    }
    let rows: u64 = oracle
        .query_first("SELECT COUNT(*) FROM sbtest1")
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
        workload: WorkloadName::OltpTextReadWrite.into(),
        text_file: Some(book.clone()),
        ..bench.tables()
    };
    prepare(&tables, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    let executed = bench.counter("Com_stmt_execute");
    for mode in ["", "NO_BACKSLASH_ESCAPES"] {
        let set = format!("SET GLOBAL sql_mode = '{mode}'");
        oracle.query_drop(set).unwrap();
        for workload in [
            "oltp_text_read_write",
            "oltp_read_write",
            "select_random_points",
        ] {
            let plan = LoadPlan {
                workload: workload.parse().unwrap(),
                text_file: Some(book.clone()),
                prepared_statements: false,
                ..bench.plan(WorkloadName::OltpReadWrite)
            };
            let counts = go(&plan).unwrap().counts_whole_run;
            assert!(counts.transactions > 10, "{workload}: {counts:?}");
            assert!(counts.reads > 0, "{workload}: {counts:?}");
        }
    }
    assert_eq!(bench.counter("Com_stmt_execute"), executed);
    let written: Vec<(String, String)> = oracle
        .query("SELECT DISTINCT data1, data2 FROM sbtest1 WHERE data1 <> '' AND data2 <> ''")
        .unwrap();
    assert!(written.len() > 1);
    for (data1, data2) in &written {
        for text in [data1, data2] {
            assert!(lines.contains(&text.as_str()), "{text}");
        }
    }
}

fn connections_are_made_again_as_often_as_asked(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let before = bench.counter("Connections");
    let aborted_before = bench.counter("Aborted_clients");
    let plan = LoadPlan {
        reconnect_every: Some(5),
        ..bench.plan(WorkloadName::OltpReadOnly)
    };
    let counts = go(&plan).unwrap().counts_whole_run;
    assert!(counts.reconnects >= 1, "{counts:?}");
    assert!(counts.reconnects <= counts.transactions / 5, "{counts:?}");
    // Those of the run, the one that checked before, and those that ask for the counter; a run may
    // end while a new connection is being made.
    let made = bench.counter("Connections") - before;
    let most = counts.reconnects + 2 * 4 + 2;
    assert!(
        (counts.reconnects + 4..=most).contains(&made),
        "{made}, {counts:?}"
    );
    // They leave with a word; those of the checks and those that the end of the run overtook do not.
    let aborted = bench.counter("Aborted_clients") - aborted_before;
    assert!(aborted <= 4 + 4, "{aborted}, {counts:?}");
}

fn tables_are_read_into_the_pool_and_idle_connections_stay(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let reads = || bench.counter("Handler_read_next");
    let before = reads();
    let told = AtomicU64::new(0);
    prewarm(&bench.tables(), &AtomicBool::new(false), &|done, total| {
        assert!(done <= total);
        told.fetch_add(1, Ordering::Relaxed);
    })
    .unwrap();
    assert_eq!(told.load(Ordering::Relaxed), u64::from(TABLES));
    // Both indexes of both tables; MySQL counts a whole index without reading row by row.
    let read = reads() - before;
    assert!(
        flavor == Flavor::Mysql || read >= 2 * u64::from(TABLES) * ROWS,
        "{read}"
    );
    let plan = LoadPlan {
        idle_connections: 5,
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let outcome = go(&plan).unwrap();
    assert_eq!(outcome.idle_connections, 5);
    let missing = PreparePlan {
        tables: TABLES + 1,
        ..bench.tables()
    };
    let error = prewarm(&missing, &AtomicBool::new(false), &|_, _| {}).unwrap_err();
    assert!(error.to_string().contains("sbtest3"), "{error}");
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
        let workload: Workload = copy.to_str().unwrap().parse().unwrap();
        let plan = PreparePlan {
            workload: workload.clone(),
            ..bench.tables()
        };
        prepare(&plan, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
        prepare(&plan, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
        let load = LoadPlan {
            workload,
            ..bench.plan(WorkloadName::OltpReadWrite)
        };
        let counts = go(&load).unwrap().counts_whole_run;
        assert!(
            counts.transactions > 10 && counts.reads > 0,
            "{name}: {counts:?}"
        );
        assert!(counts.writes > 0, "{name}: {counts:?}");
        let mut oracle = bench.oracle();
        let made: Vec<String> = oracle.query("SHOW TABLES").unwrap();
        assert_eq!(made.len(), tables, "{made:?}");
        if name == "ledger.toml" {
            // Every transfer's entries add up, and none is half there.
            let sum: i64 = oracle
                .query_first(
                    "SELECT CAST(COALESCE(SUM(amount), 0) AS SIGNED) FROM entry WHERE id > 1000",
                )
                .unwrap()
                .unwrap();
            assert_eq!(sum, 0);
        }
        cleanup(&plan).unwrap();
        let made: Vec<String> = oracle.query("SHOW TABLES").unwrap();
        assert!(made.is_empty(), "{made:?}");
    }
}

fn bulk_inserts_fill_a_table_per_connection(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let plan = LoadPlan {
        connections: 2,
        measure: None,
        max_events: Some(120_000),
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
    prepare(&tables, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    let outcome = go(&plan).unwrap();
    assert_eq!(outcome.counts.transactions, 120_000);
    // As under sysbench: 39,033 rows fit the first statement of a table.
    assert!((4..=5).contains(&outcome.counts.writes), "{outcome:?}");
    let mut oracle = bench.oracle();
    let mut total = 0;
    for table in ["sbtest1", "sbtest2"] {
        let (rows, last, odd): (u64, u64, u64) = oracle
            .query_first(format!(
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

fn an_open_loop_keeps_its_schedule_on_a_real_server(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        rate: Some(Rate {
            per_s: 100.0,
            arrivals: ArrivalKind::Constant,
            ramp: None,
        }),
        ..bench.plan(WorkloadName::OltpReadWrite)
    };
    let outcome = go(&plan).unwrap();
    let open_loop = outcome.open_loop.as_ref().unwrap();
    assert!((99..=101).contains(&open_loop.due), "{open_loop:?}");
    let whole = outcome.counts_whole_run.transactions;
    // Those that were due by the end; deadlocks delay a transaction, they do not lose it.
    assert!(
        whole + open_loop.queue_length + 4 >= open_loop.due,
        "{outcome:?}"
    );
    assert!(whole <= open_loop.due + 4, "{outcome:?}");
}

fn errors_are_told_apart_by_code_when_all_are_tolerated(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    bench
        .oracle()
        .query_drop("ALTER TABLE sbtest1 DROP COLUMN pad")
        .unwrap();
    let plan = LoadPlan {
        tolerated: Tolerated::All,
        ..bench.plan(WorkloadName::OltpInsert)
    };
    let outcome = go(&plan).unwrap();
    let [error] = outcome.errors.as_slice() else {
        panic!("{:?}", outcome.errors);
    };
    // ER_BAD_FIELD_ERROR, on one of the two tables.
    assert_eq!((error.code, error.count), (1054, outcome.counts.errors));
    assert!(error.first_message.contains("'pad'"), "{error:?}");
    assert!(outcome.counts.writes > 0);
    let error = go(&bench.plan(WorkloadName::OltpInsert)).unwrap_err();
    assert!(matches!(error, LoadError::Table { .. }), "{error}");
    assert!(
        error.to_string().contains("unknown column 'pad'"),
        "{error}"
    );
}

fn missing_privileges_are_named_before_the_run(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    let database = bench.server.endpoint().database;
    for statement in [
        "CREATE USER 'reader'@'localhost' IDENTIFIED BY 'secret word' \
         WITH MAX_USER_CONNECTIONS 3"
            .to_owned(),
        format!("GRANT SELECT ON {database}.* TO 'reader'@'localhost'"),
    ] {
        oracle.query_drop(statement).unwrap();
    }
    let plan = |workload, connections| {
        let mut plan = bench.plan(workload);
        "reader".clone_into(&mut plan.endpoint.user);
        plan.endpoint.password = Secret::new("secret word");
        plan.connections = connections;
        plan
    };
    // As text and prepared.
    for (workload, wanted) in [
        (WorkloadName::OltpInsert, "INSERT"),
        (WorkloadName::OltpReadWrite, "UPDATE"),
        (WorkloadName::OltpDelete, "DELETE"),
    ] {
        let error = go(&plan(workload, 2)).unwrap_err();
        assert!(
            matches!(&error, LoadError::Privilege { privilege, .. } if privilege == wanted),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.contains("reader") && text.contains("sbtest1"),
            "{text}"
        );
    }
    go(&plan(WorkloadName::OltpPointSelect, 2)).unwrap();
    let error = go(&plan(WorkloadName::OltpPointSelect, 4)).unwrap_err();
    assert!(
        matches!(
            error,
            LoadError::Limit {
                variable: "max_user_connections",
                value: 3,
                needed: 4,
                ..
            }
        ),
        "{error}"
    );
    let mut tables = bench.tables();
    tables.endpoint = plan(WorkloadName::OltpInsert, 1).endpoint;
    "elsewhere".clone_into(&mut tables.endpoint.database);
    let error = prepare(&tables, &AtomicBool::new(false), &mut |_, _| {}).unwrap_err();
    assert!(
        matches!(&error, LoadError::Privilege { privilege, .. } if privilege == "CREATE"),
        "{error}"
    );
}

fn columns_of(oracle: &mut Conn, sql: &str) -> Vec<String> {
    oracle.query(sql).unwrap()
}

fn tables_are_made_as_the_options_say(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let tables = PreparePlan {
        auto_increment: false,
        secondary_key: true,
        secondary_index: false,
        table_options: "COMMENT = 'of weir'".to_owned(),
        engine: "innodb".to_owned(),
        ..bench.tables()
    };
    prepare(&tables, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
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
        .query_first(
            "SELECT COUNT(*), COUNT(DISTINCT id) FROM \
             (SELECT id FROM sbtest1 UNION ALL SELECT id + 3000000000 FROM sbtest2) AS both_tables",
        )
        .unwrap()
        .unwrap();
    assert_eq!(counts, (all, all));
    cleanup(&bench.tables()).unwrap();
    let tables = PreparePlan {
        engine: "myisam".to_owned(),
        ..bench.tables()
    };
    prepare(&tables, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    let engines = columns_of(&mut oracle, &of_table("engine", "tables"));
    assert_eq!(engines, ["MyISAM"]);
}

fn a_longer_way_to_the_server_is_in_every_latency(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        rtt: Duration::from_millis(4),
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let outcome = go(&plan).unwrap();
    assert!(outcome.latency.us_min >= 4_000.0, "{:?}", outcome.latency);
    assert!(outcome.counts.transactions > 0);
}

fn everything_at_once_with_hot_rows_goes_on_through_deadlocks(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        connections: 16,
        reactors: 2,
        // All keys on 30 rows.
        distribution: Distribution::Special {
            iterations: 12,
            hot_rows_percent: 1,
            hot_keys_percent: 100,
        },
        measure: Some(Duration::from_secs(2)),
        ..bench.plan(WorkloadName::OltpReadWrite)
    };
    let outcome = go(&plan).unwrap();
    let counts = outcome.counts_whole_run;
    assert!(counts.transactions > 0);
    assert!(counts.errors > 0, "hot rows without a deadlock: {counts:?}");
    assert_eq!(outcome.unfinished, 0);
    let rows: u64 = bench
        .oracle()
        .query_first("SELECT COUNT(*) FROM sbtest1")
        .unwrap()
        .unwrap();
    assert_eq!(rows, ROWS);
}

fn limits_of_the_server_are_known_before_the_run(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let mut oracle = bench.oracle();
    oracle
        .query_drop("SET GLOBAL max_prepared_stmt_count = 20")
        .unwrap();
    let error = go(&bench.plan(WorkloadName::OltpReadWrite)).unwrap_err();
    // Begin, commit, and nine statements on two tables, four times.
    assert!(
        matches!(
            error,
            LoadError::Limit {
                variable: "max_prepared_stmt_count",
                value: 20,
                needed: 80,
                ..
            }
        ),
        "{error}"
    );
    oracle
        .query_drop("SET GLOBAL max_prepared_stmt_count = 10000")
        .unwrap();
    oracle
        .query_drop("SET GLOBAL max_connections = 10")
        .unwrap();
    let plan = LoadPlan {
        connections: 64,
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let error = go(&plan).unwrap_err();
    // The oracle's connection counts too.
    assert!(
        matches!(
            error,
            LoadError::Limit {
                variable: "max_connections",
                value: 10,
                needed: 65..,
                ..
            }
        ),
        "{error}"
    );
    let plan = LoadPlan {
        rows: ROWS + 1,
        ..bench.plan(WorkloadName::OltpPointSelect)
    };
    let error = go(&plan).unwrap_err();
    assert!(matches!(error, LoadError::Table { .. }), "{error}");
}

fn a_wrong_password_is_refused_in_the_servers_words(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let mut plan = bench.plan(WorkloadName::OltpPointSelect);
    plan.endpoint.password = Secret::new("not-the-password");
    let error = go(&plan).unwrap_err();
    assert!(matches!(error, LoadError::Connect { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("Access denied") && !text.contains("not-the-password"),
        "{text}"
    );
}

fn a_server_that_is_killed_ends_the_run(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        measure: Some(Duration::from_mins(1)),
        interval: Duration::from_millis(100),
        ..bench.plan(WorkloadName::OltpWriteOnly)
    };
    let Bench {
        server,
        directory: _directory,
    } = bench;
    let is_running = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            run(&plan, &AtomicBool::new(false), &mut |interval| {
                is_running.fetch_or(interval.record.transactions > 0, Ordering::Relaxed);
            })
        });
        while !is_running.load(Ordering::Relaxed) && !load.is_finished() {
            std::thread::sleep(Duration::from_millis(10));
        }
        server.kill();
        let killed = Instant::now();
        let error = load.join().unwrap().unwrap_err();
        assert!(matches!(error, LoadError::ConnectionLost { .. }), "{error}");
        assert!(killed.elapsed() < Duration::from_secs(5));
    });
}

fn a_restart_of_the_server_is_survived_when_asked_for(flavor: Flavor) {
    survive_a_restart(flavor, ReactorKind::Epoll);
}

fn a_restart_is_survived_on_io_uring_too(flavor: Flavor) {
    survive_a_restart(flavor, ReactorKind::IoUring);
}

fn survive_a_restart(flavor: Flavor, reactor: ReactorKind) {
    let bench = Bench::loaded(flavor);
    let plan = LoadPlan {
        reactor,
        measure: Some(Duration::from_mins(1)),
        interval: Duration::from_millis(100),
        reconnect: true,
        ..bench.plan(WorkloadName::OltpReadWrite)
    };
    let Bench { server, directory } = bench;
    let endpoint = server.endpoint();
    let stop = AtomicBool::new(false);
    let done = AtomicU64::new(0);
    let reconnects = AtomicU64::new(0);
    let wait_for_more = || {
        let before = done.load(Ordering::Relaxed);
        let began = Instant::now();
        while done.load(Ordering::Relaxed) <= before + 10 {
            assert!(began.elapsed() < Duration::from_secs(30), "nothing is done");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    std::thread::scope(|scope| {
        let load = scope.spawn(|| {
            run(&plan, &stop, &mut |interval| {
                done.fetch_add(interval.record.transactions, Ordering::Relaxed);
                reconnects.fetch_add(interval.reconnects, Ordering::Relaxed);
            })
        });
        wait_for_more();
        let killed = Instant::now();
        server.kill();
        let options = testing::options(directory.path());
        let server = PrivateServer::start(&testing::binary(flavor), &options).unwrap();
        assert_eq!(server.endpoint().address, endpoint.address);
        let down_s = killed.elapsed().as_secs_f64();
        // The first connections that are back may have done all that before the last is.
        while reconnects.load(Ordering::Relaxed) < 4 {
            wait_for_more();
        }
        stop.store(true, Ordering::Relaxed);
        let outcome = load.join().unwrap().unwrap();
        assert_eq!(outcome.counts.reconnects, 4, "{outcome:?}");
        assert_eq!(outcome.reactors, [reactor]);
        let [outage] = outcome.outages.as_slice() else {
            panic!("{:?}", outcome.outages);
        };
        // The server answers a little before its start has been noticed here.
        assert!(
            outage.length_s > 0.0 && outage.length_s < down_s + 5.0,
            "{outage:?}"
        );
        assert_eq!(outcome.unfinished, 0);
        drop(server);
    });
}

fn checksum(oracle: &mut Conn, table: &str) -> (String, Option<u64>) {
    let sql = format!("CHECKSUM TABLE {table} EXTENDED");
    oracle.query_first(sql).unwrap().unwrap()
}

fn loading_can_be_interrupted_and_gone_on_with(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let plan = PreparePlan {
        tables: 1,
        rows: 100_000,
        ..bench.tables()
    };
    let stop = AtomicBool::new(false);
    let mut reached = 0;
    let error = prepare(&plan, &stop, &mut |done, _| {
        // Some rows are in by then: one statement takes 8 MiB of them.
        reached = done;
        stop.fetch_or(done > 60_000, Ordering::Relaxed);
    })
    .unwrap_err();
    assert!(matches!(error, LoadError::Interrupted(_)), "{error}");
    assert!(reached < plan.rows, "interrupted in time");
    let mut oracle = bench.oracle();
    let rows: u64 = oracle
        .query_first("SELECT COUNT(*) FROM sbtest1")
        .unwrap()
        .unwrap();
    assert!((1..plan.rows).contains(&rows), "{rows}");
    let other_seed = PreparePlan {
        seed: 2,
        ..plan.clone()
    };
    let error = prepare(&other_seed, &AtomicBool::new(false), &mut |_, _| {}).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("half loaded with other settings"),
        "{error}"
    );
    let mut first = None;
    prepare(&plan, &AtomicBool::new(false), &mut |done, _| {
        first.get_or_insert(done);
    })
    .unwrap();
    let resumed = checksum(&mut oracle, "sbtest1").1;
    let shown: (String, String) = oracle
        .query_first("SHOW CREATE TABLE sbtest1")
        .unwrap()
        .unwrap();
    cleanup(&plan).unwrap();
    // The same as without an interruption, also by the other way to send rows.
    oracle.query_drop("SET GLOBAL local_infile = OFF").unwrap();
    prepare(&plan, &AtomicBool::new(false), &mut |_, _| {}).unwrap();
    assert_eq!(checksum(&mut oracle, "sbtest1").1, resumed);
    let whole: (String, String) = oracle
        .query_first("SHOW CREATE TABLE sbtest1")
        .unwrap()
        .unwrap();
    assert_eq!(shown, whole);
}

macro_rules! on_both_flavors {
    ($($test:ident),* $(,)?) => {
        mod mariadb {
            $(#[test] fn $test() { super::$test(weir_model::Flavor::Mariadb); })*
        }
        mod mysql_server {
            $(#[test] fn $test() { super::$test(weir_model::Flavor::Mysql); })*
        }
    };
}

on_both_flavors!(
    tables_have_sysbenchs_shape,
    writes_leave_as_many_rows_as_there_were,
    reads_are_counted_as_the_server_counts_them,
    simple_workloads_send_what_sysbench_sends,
    inserted_and_deleted_rows_are_there_and_gone,
    text_is_read_and_written_and_mixes_with_other_workloads,
    without_prepared_statements_the_same_is_asked_as_text,
    connections_are_made_again_as_often_as_asked,
    tables_are_read_into_the_pool_and_idle_connections_stay,
    workload_files_are_prepared_and_run,
    bulk_inserts_fill_a_table_per_connection,
    an_open_loop_keeps_its_schedule_on_a_real_server,
    errors_are_told_apart_by_code_when_all_are_tolerated,
    everything_at_once_with_hot_rows_goes_on_through_deadlocks,
    limits_of_the_server_are_known_before_the_run,
    a_wrong_password_is_refused_in_the_servers_words,
    a_server_that_is_killed_ends_the_run,
    a_restart_of_the_server_is_survived_when_asked_for,
    a_restart_is_survived_on_io_uring_too,
    a_longer_way_to_the_server_is_in_every_latency,
    loading_can_be_interrupted_and_gone_on_with,
    missing_privileges_are_named_before_the_run,
    tables_are_made_as_the_options_say,
);
