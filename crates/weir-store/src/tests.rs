//! A result that is written and read again is the same result.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_model::{
    Approach, Bottleneck, Cell, ConnectionLosses, DataSource, Distribution, DriveStatistics,
    EventDetail, EventEnding, EventRecord, Flavor, Gap, IntervalRecord, KindLatency,
    LatencySummary, LoadHost, Outage, Pace, Plan, PlannedRun, PoolStart, Provenance, RunRecord,
    RunResult, RunSpec, Series, ServerHost, ServerRestart, ShortInterval, StackProfile,
    StudyResult, SysbenchWorkload, Utilization, Warmup, WorkloadName, WorkloadSpec,
};
use weir_model::{FingerprintRecord, ReplayFidelity, ReplayRecord};

use crate::{Store, StoreError};

fn study() -> StudyResult {
    let plan = Plan {
        title: "t".into(),
        question: "q".into(),
        seed: u64::MAX,
        cells: vec![Cell::default()],
        runs: vec![PlannedRun {
            cell: 0,
            repetition: 1,
        }],
        ..Plan::default()
    };
    StudyResult {
        started_at: "2026-01-01T00:00:00Z".into(),
        weir_version: "0.1.0".into(),
        host: BTreeMap::from([("cores".into(), "2".into())]),
        data_bytes: 1 << 30,
        provenance: Provenance {
            study_file: "[study]".into(),
            weir_commit: "abc".into(),
            command: vec!["weir".into(), "run".into()],
        },
        ..StudyResult::new(plan, Flavor::Mysql, "9.7.4".parse().unwrap())
    }
}

#[allow(clippy::too_many_lines, reason = "one value in each column")]
fn run(repetition: u32) -> RunResult {
    RunResult {
        record: RunRecord {
            cell: 0,
            repetition,
            started_at: "2026-01-01T00:00:10Z".into(),
            measured_s: 2.0,
            queries_per_s: 1234.5,
            transactions_per_s: 205.75,
            latency: LatencySummary {
                us_p99: 1e4,
                ..LatencySummary::default()
            },
            errors: 1,
            unfinished: 2,
            utilization: Utilization {
                host_cpu: 0.5,
                ..Utilization::default()
            },
            bottleneck: Bottleneck::DriveWrite,
            approach: Approach {
                warmup_s: 1.0,
                steady: Some(true),
                runs_before: 2,
            },
        },
        intervals: vec![
            IntervalRecord {
                time_s: 0.0,
                length_s: 1.0,
                ..IntervalRecord::default()
            },
            IntervalRecord {
                time_s: 1.0,
                length_s: 1.0,
                queries: 9,
                ..IntervalRecord::default()
            },
        ],
        series: vec![
            series("host.cpu_user_s", ""),
            series("drive.file_reads", "redo"),
            series("drive.file_reads", "data"),
        ],
        gaps: vec![Gap {
            source: "server status".into(),
            from_s: 1.0,
            to_s: 1.5,
            reason: "no answer".into(),
        }],
        variables: Arc::new(BTreeMap::from([
            ("a".into(), "1".into()),
            ("b".into(), "2".into()),
        ])),
        variables_changed: BTreeMap::from([("b".into(), "3".into())]),
        drive: Some(Arc::new(DriveStatistics {
            uptime_s: 3.0,
            ..DriveStatistics::default()
        })),
        commands: vec!["mysqld --defaults-file=(run)/my.cnf".into()],
        server_log: "ready for connections\n".into(),
        profile: Some(StackProfile {
            frequency_hz: 49,
            samples: 5,
            cut: 1,
            folded: "mysqld;main 5\n".into(),
            ..StackProfile::default()
        }),
        kinds: vec![KindLatency {
            name: "commit".into(),
            is_statement: true,
            count: 7,
            latency: LatencySummary::default(),
        }],
        // The second run of two: the table comes when it is needed.
        hosts: (repetition == 2)
            .then(|| LoadHost {
                name: "agent-1".into(),
                host: "load-1".into(),
                cores: 8,
                connections: 5,
                clock_ahead_s: -100.25,
                clock_error_us: 170.5,
                clock_moved_us: Some(-12.5),
                clock_moved_error_us: Some(80.0),
                began_late_us: 20.0,
                transactions: 7,
                cpu_s: 0.5,
                longest_silence_s: 0.6,
            })
            .into_iter()
            .collect(),
        server_host: (repetition == 2).then(|| ServerHost {
            agent: "agent-3".into(),
            host: "db1".into(),
            processor: "Xeon".into(),
            cores: 16,
            memory: weir_model::Bytes(1 << 36),
            kernel: "6.1".into(),
            device: Some("nvme0n1".into()),
            is_apart: true,
        }),
        events: vec![
            event("add index", EventEnding::Done),
            event(
                "again",
                EventEnding::Refused {
                    code: Some(1061),
                    message: "Duplicate key name".into(),
                },
            ),
        ],
        short_intervals: vec![ShortInterval {
            time_s: 0.5,
            transactions: 3,
            statements: 9,
            pause_s: 0.25,
            latency_us_p99: 1_500.0,
        }],
        losses: ConnectionLosses {
            reconnects: 2,
            outages: vec![Outage {
                from_s: 0.5,
                length_s: 0.25,
            }],
        },
        replay: Some(ReplayRecord {
            fidelity: ReplayFidelity {
                sent: 7,
                ..ReplayFidelity::default()
            },
            fingerprints: vec![FingerprintRecord {
                fingerprint: "select ?".to_owned(),
                plan: Some("t: ALL".to_owned()),
                ..FingerprintRecord::default()
            }],
        }),
        histogram: vec![1, 2, 3],
    }
}

fn event(name: &str, ending: EventEnding) -> EventRecord {
    EventRecord {
        name: name.into(),
        kind: "ddl".into(),
        began_s: 0.5,
        ended_s: 1.25,
        tries: 2,
        lock_wait_s: 0.25,
        ending,
        session: BTreeMap::from([("lock_wait_timeout".into(), "1".into())]),
        detail: EventDetail {
            restart: (name == "again").then_some(ServerRestart {
                stop_s: 0.125,
                start_s: None,
            }),
            ..EventDetail::default()
        },
    }
}

fn series(metric: &str, instance: &str) -> Series {
    Series {
        metric: metric.into(),
        instance: instance.into(),
        times_s: vec![-0.5, 0.5],
        values: vec![7.25, 8.0],
    }
}

#[test]
fn the_document_has_each_column_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.sqlite");
    let mut store = Store::create(&path, &study()).unwrap();
    store.append(&run(1)).unwrap();
    crate::column_reference::assert_page(&path);
}

#[test]
fn what_is_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.sqlite");
    let mut store = Store::create(&path, &study()).unwrap();
    store.append(&run(1)).unwrap();
    store.append(&run(2)).unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    let expected = StudyResult {
        runs: vec![run(1), run(2)],
        ..study()
    };
    assert_eq!(store.read().unwrap(), expected);
    assert_eq!(store.completed().unwrap(), [(0, 1), (0, 2)]);
    let light = store.read_without_samples().unwrap();
    let expected = RunResult {
        series: vec![],
        gaps: vec![],
        server_log: String::new(),
        profile: None,
        kinds: vec![],
        short_intervals: vec![],
        histogram: vec![],
        ..run(1)
    };
    assert_eq!(light.runs[0], expected);
}

#[test]
fn a_search_adds_cells_to_the_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.sqlite");
    let mut store = Store::create(&path, &study()).unwrap();
    let mut plan = study().plan;
    let mut spec = RunSpec::default();
    spec.load.connections = 9;
    plan.cells.push(Cell {
        spec: Arc::new(spec),
        ..Cell::default()
    });
    store.set_plan(&plan).unwrap();
    assert_eq!(Store::open(&path).unwrap().read().unwrap().plan, plan);
}

#[test]
fn a_run_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(&folder.path().join("r"), &study()).unwrap();
    store.append(&run(1)).unwrap();
    assert!(matches!(
        store.append(&run(1)),
        Err(StoreError::Sqlite { .. })
    ));
    assert_eq!(store.read().unwrap().runs.len(), 1);
}

#[test]
fn a_missing_a_foreign_and_a_newer_file_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    assert!(matches!(
        Store::open(&path),
        Err(StoreError::Missing { .. })
    ));
    std::fs::write(
        &path,
        "not a database, but long enough to look at its header twice",
    )
    .unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Sqlite { .. })));
    assert!(matches!(
        Store::create(&path, &study()),
        Err(StoreError::Exists { .. })
    ));
    std::fs::remove_file(&path).unwrap();
    let store = Store::create(&path, &study()).unwrap();
    store
        .connection
        .execute("UPDATE study SET schema_version = 99", [])
        .unwrap();
    drop(store);
    let error = Store::open(&path).unwrap_err().to_string();
    assert!(error.contains("schema 99"), "{error}");
}

#[test]
fn a_new_result_appears_whole_also_after_a_killed_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.sqlite");
    for left in ["result.new", "result.new-journal"] {
        std::fs::write(folder.path().join(left), "half").unwrap();
    }
    let store = Store::create(&path, &study()).unwrap();
    assert_eq!(store.read().unwrap(), study());
    let names = std::fs::read_dir(folder.path()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["result.sqlite"]);
}

/// A result that Weir made with an earlier schema: two runs on real servers.
fn fixture(schema: u32) -> std::path::PathBuf {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    folder.join(format!("schema-{schema}.sqlite"))
}

/// Reads a copy of the fixture; nothing may change it.
fn read_unchanged(schema: u32) -> StudyResult {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.sqlite");
    std::fs::copy(fixture(schema), &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut store = Store::open(&path).unwrap();
    let result = store.read().unwrap();
    for refused in [store.append(&run(2)), store.set_plan(&result.plan)] {
        assert!(matches!(refused, Err(StoreError::ReadOnly { .. })));
    }
    drop(store);
    assert!(std::fs::read(&path).unwrap() == before);
    result
}

#[test]
fn a_result_of_schema_2_is_read_and_not_changed() {
    let result = read_unchanged(2);
    assert_eq!(result.plan.title, "Doublewrite, very small");
    assert_eq!(result.plan.claims[0].value.to_bits(), 1.48_f64.to_bits());
    assert_eq!(result.provenance.command[1], "run");
    let [first, second] = result.runs.as_slice() else {
        panic!("two runs expected")
    };
    assert_eq!((first.record.cell, second.record.cell), (0, 1));
    // Its word then was `host_cpu`.
    assert_eq!(first.record.bottleneck, Bottleneck::ServerCpu);
    assert_eq!(first.variables["innodb_doublewrite"], "ON");
    assert_eq!(second.variables["innodb_doublewrite"], "OFF");
    let set = |cell: usize| result.plan.cells[cell].spec.variable("innodb_doublewrite");
    assert_eq!([set(0), set(1)], [Some("ON"), Some("OFF")]);
    assert!(first.gaps.is_empty() && first.server_log.is_empty());
    assert_eq!(first.variables.len() + second.variables.len(), 1208);
    let samples = |run: &RunResult| {
        run.series
            .iter()
            .map(|series| series.values.len())
            .sum::<usize>()
    };
    assert_eq!(samples(first) + samples(second), 264);
    assert_eq!(first.intervals.len(), 3);
    assert!(!first.histogram.is_empty() && first.drive.is_some());
}

/// Both were made of the same study: a plain cell, and one that differs in everything that could.
#[test]
fn cells_of_schemas_3_and_4_become_whole_runs() {
    for schema in [3, 4] {
        let result = read_unchanged(schema);
        let [plain, other] = result.plan.cells.as_slice() else {
            panic!("two cells expected")
        };
        let (plain, other) = (&plain.spec, &other.spec);
        assert_eq!((plain.seed, other.seed), (11, 11));
        assert_eq!(plain.primary().server.flavor, Flavor::Mysql);
        assert_eq!(plain.variable("innodb_doublewrite"), Some("OFF"));
        assert_eq!(plain.variable("innodb_flush_method"), Some("O_DIRECT"));
        assert_eq!(other.variable("innodb_flush_method"), Some("O_DIRECT"));
        assert_eq!(other.variable("innodb_doublewrite"), None);
        assert_eq!(plain.drive_name(), None);
        let drive = other.drive_name();
        assert_eq!(drive.as_deref(), Some("intel-p4610+flash.fill=0.5"));
        assert_eq!(other.primary().server.flavor, Flavor::Mariadb);
        assert_eq!(other.primary().pool, PoolStart::Warm);
        assert_eq!(other.topology.replicas().len(), 1);
        let tables = |rows| DataSource::Sysbench { tables: 2, rows };
        assert_eq!(plain.data.source, tables(10_000));
        assert_eq!(other.data.source, tables(5_000));
        assert_eq!(plain.data.drive_scale.to_string(), "1/25");
        assert_eq!((plain.load.connections, other.load.connections), (2, 3));
        assert!(matches!(plain.load.warmup, Warmup::UntilSteady { .. }));
        assert_eq!(other.load.rtt.to_string(), "0.1ms");
        assert_eq!(plain.load.pace, Pace::default());
        assert_eq!(other.load.pace, Pace::open(50.0));
        assert_eq!(plain.workload.single(), Some(WorkloadName::OltpWriteOnly));
        let WorkloadSpec::Sysbench(SysbenchWorkload {
            mix, distribution, ..
        }) = &other.workload
        else {
            panic!("sysbench's workload expected")
        };
        assert_eq!((mix.range_size, mix.skip_transactions), (7, true));
        assert_eq!(*distribution, Distribution::Zipfian { exponent: 0.5 });
        assert_eq!(result.runs.len(), 2);
        assert!(result.runs.iter().all(|run| run.kinds.is_empty()));
        assert_eq!(result.runs[0].server_log.is_empty(), schema == 3);
    }
}

#[test]
fn a_result_of_schema_5_is_read_without_events_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let before_events = RunResult {
        events: vec![],
        short_intervals: vec![],
        losses: ConnectionLosses::default(),
        replay: None,
        ..run(1)
    };
    let mut store = Store::create(&path, &study()).unwrap();
    store.append(&before_events).unwrap();
    let as_5 = "DROP TABLE event; DROP TABLE event_detail; DROP TABLE short_interval; \
                DROP TABLE connection_loss; DROP TABLE replay; UPDATE study SET schema_version = 5";
    store.connection.execute_batch(as_5).unwrap();
    drop(store);
    let mut store = Store::open(&path).unwrap();
    let result = store.read().unwrap();
    assert_eq!(
        (result.plan, &result.runs[0]),
        (study().plan, &before_events)
    );
    let refused = store.append(&run(2));
    assert!(matches!(refused, Err(StoreError::ReadOnly { .. })));
}

#[test]
fn a_result_of_schema_6_is_read_without_details_of_events() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut store = Store::create(&path, &study()).unwrap();
    store.append(&run(1)).unwrap();
    let as_6 = "DROP TABLE event_detail; DROP TABLE short_interval; DROP TABLE connection_loss; \
                DROP TABLE replay; UPDATE study SET schema_version = 6";
    store.connection.execute_batch(as_6).unwrap();
    drop(store);
    let found = Store::open(&path).unwrap().read().unwrap().runs;
    let mut expected = run(1);
    expected.events[1].detail = EventDetail::default();
    expected.short_intervals = vec![];
    expected.losses = ConnectionLosses::default();
    expected.replay = None;
    assert_eq!(found, [expected]);
}

#[test]
fn the_same_variables_are_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::create(&folder.path().join("r"), &study()).unwrap();
    let mut other = run(3);
    Arc::make_mut(&mut other.variables).insert("b".into(), "9".into());
    for run in [run(1), run(2), other.clone()] {
        store.append(&run).unwrap();
    }
    let count = |sql| -> i64 {
        let count = store.connection.query_row(sql, [], |row| row.get(0));
        count.unwrap()
    };
    assert_eq!(count("SELECT count(*) FROM variable_set"), 2);
    assert_eq!(count("SELECT count(*) FROM metric"), 3);
    assert_eq!(store.read().unwrap().runs, [run(1), run(2), other]);
}

#[test]
fn every_statement_of_the_documents_runs_on_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut store = Store::create(&path, &study()).unwrap();
    store.append(&run(1)).unwrap();
    let pages = [
        include_str!("../../../docs/result.md"),
        include_str!("../../../docs/probes.md"),
    ];
    let mut count = 0;
    for page in pages {
        for block in page.split("```sql\n").skip(1) {
            let statement = block.split("```").next().unwrap();
            let mut prepared = store.connection.prepare(statement).unwrap();
            let mut rows = prepared.query([]).unwrap();
            while rows.next().unwrap().is_some() {}
            count += 1;
        }
    }
    assert_eq!(count, 3);
}
