//! A result that is written and read again is the same result.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_model::{
    Approach, Cell, DataPlan, DistributionName, DriveStatistics, Duration, Flavor, Gap,
    IntervalRecord, LatencySummary, Limiter, LoadSettings, Plan, PlannedRun, Provenance,
    Repetition, RunRecord, RunResult, Scale, Series, ServerSettings, StudyResult, Utilization,
    WorkloadName,
};

use crate::{Store, StoreError};

fn study() -> StudyResult {
    StudyResult {
        plan: Plan {
            title: "t".into(),
            question: "q".into(),
            seed: u64::MAX,
            server: ServerSettings {
                flavor: Flavor::Mysql,
                version: None,
                binary: None,
                given: None,
                deployment: weir_model::Deployment::default(),
                variables: BTreeMap::new(),
            },
            data: DataPlan {
                workload: WorkloadName::OltpWriteOnly,
                tables: 1,
                rows: 10,
                data_scale: Scale::FULL,
                drive_scale: "1/25".parse().unwrap(),
            },
            load: LoadSettings {
                warmup: Duration::from_secs(1),
                measure: Duration::from_secs(2),
                distribution: DistributionName::Uniform,
                ..LoadSettings::default()
            },
            factors: vec![],
            repeat: Repetition::default(),
            search: None,
            cells: vec![Cell {
                levels: BTreeMap::new(),
                drive: None,
                variables: BTreeMap::new(),
                threads: 4,
                ..Cell::default()
            }],
            runs: vec![PlannedRun {
                cell: 0,
                repetition: 1,
            }],
            claims: vec![],
            negative_controls: vec![],
            prices: BTreeMap::new(),
            crash_tests: Vec::new(),
        },
        started_at: "2026-01-01T00:00:00Z".into(),
        weir_version: "0.1.0".into(),
        flavor: Flavor::Mysql,
        server_version: "9.7.4".parse().unwrap(),
        host: BTreeMap::from([("cores".into(), "2".into())]),
        drives: vec![],
        data_bytes: 1 << 30,
        runs: vec![],
        comparisons: vec![],
        analysis: weir_model::Analysis::default(),
        findings: vec![],
        searches: vec![],
        provenance: Provenance {
            study_file: "[study]".into(),
            weir_commit: "abc".into(),
            command: vec!["weir".into(), "run".into()],
        },
    }
}

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
            limiter: Limiter::DriveWrite,
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
        histogram: vec![1, 2, 3],
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
    plan.cells.push(Cell {
        threads: 9,
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

/// A result that Weir made with schema 2: two runs on a real server.
const SCHEMA_2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/schema-2.sqlite");

#[test]
fn a_result_of_the_schema_before_is_read_and_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result.sqlite");
    std::fs::copy(SCHEMA_2, &path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut store = Store::open(&path).unwrap();
    let result = store.read().unwrap();
    assert_eq!(result.plan.title, "Doublewrite, very small");
    assert_eq!(result.plan.claims[0].value.to_bits(), 1.48_f64.to_bits());
    assert_eq!(result.provenance.command[1], "run");
    let [first, second] = result.runs.as_slice() else {
        panic!("two runs expected")
    };
    assert_eq!((first.record.cell, second.record.cell), (0, 1));
    // Its word then was `host_cpu`.
    assert_eq!(first.record.limiter, Limiter::ServerCpu);
    assert_eq!(first.variables["innodb_doublewrite"], "ON");
    assert_eq!(second.variables["innodb_doublewrite"], "OFF");
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
    for refused in [store.append(&run(2)), store.set_plan(&result.plan)] {
        assert!(matches!(refused, Err(StoreError::ReadOnly { .. })));
    }
    drop(store);
    assert!(std::fs::read(&path).unwrap() == before);
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
