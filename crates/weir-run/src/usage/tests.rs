use std::collections::BTreeMap;

use weir_model::FileKindStatistics;

use super::*;

fn load() -> OfferedLoad {
    OfferedLoad {
        connections: 16.0,
        measured_s: 10.0,
        transactions_per_s: 2000.0,
        statements_per_s: 2000.0,
        commits_per_s: 2000.0,
        latency_s: 0.002,
        ..OfferedLoad::default()
    }
}

/// A counter that grew by `growth` in the ten seconds.
fn counter(metric: Metric, instance: &str, growth: f64) -> Series {
    let mut series = Series::new(metric, instance);
    series.push(0.0, 1.0);
    series.push(10.0, 1.0 + growth);
    series
}

fn drive(kind: FileKind, file: FileKindStatistics) -> DriveStatistics {
    DriveStatistics {
        by_kind: BTreeMap::from([(kind, file)]),
        ..DriveStatistics::default()
    }
}

#[test]
fn host_cpu_is_a_share_of_all_time() {
    let found = [
        counter(metrics::HOST_CPU_USER, "", 12.0),
        counter(metrics::HOST_CPU_SYSTEM, "", 3.0),
        counter(metrics::HOST_CPU_IDLE, "", 5.0),
    ];
    let used = utilization(&found, None, None, &load());
    assert!((used.host_cpu - 0.75).abs() < 1e-9, "{used:?}");
    assert_eq!(used.memory, None, "no pressure, no answer");
}

#[test]
fn others_are_whoever_is_not_of_the_run() {
    let host = |user| {
        [
            counter(metrics::HOST_CPU_USER, "", user),
            counter(metrics::HOST_CPU_IDLE, "", 20.0 - user),
            counter(metrics::HOST_RUN_CPU, "", 8.0),
        ]
    };
    let mut found = host(20.0).to_vec();
    found.push(counter(metrics::HOST_OTHER_CPU, "backup", 2.0));
    // It came while the load ran.
    let mut late = Series::new(metrics::HOST_OTHER_CPU, "cc1");
    late.push(9.0, 9.0);
    found.push(late);
    let used = utilization(&found, None, None, &load());
    assert!((used.other_cores - 1.1).abs() < 1e-9, "{used:?}");
    let names: Vec<_> = used.others.iter().map(|o| o.name.as_str()).collect();
    assert_eq!(names, ["cc1", "backup"]);
    assert!((used.others_share() - 0.55).abs() < 1e-9 && used.wants_cores());
    // Who cannot be read has no name.
    let unseen = utilization(&host(16.0), None, None, &load());
    assert!((unseen.other_cores - 0.8).abs() < 1e-9 && unseen.others.is_empty());
    let little = utilization(&host(9.0), None, None, &load());
    assert!(little.other_cores.abs() < 1e-9);
}

#[test]
fn commits_wait_for_the_flushes_that_they_cause() {
    // 500 flushes a second of 1.5 ms with their writes, for 2,000 commits a second.
    let grouped = FileKindStatistics {
        flushes: 5000,
        flush_latency_s: 5.0,
        write_latency_s: 2.5,
        ..FileKindStatistics::default()
    };
    let used = utilization(&[], Some(&drive(FileKind::Redo, grouped)), None, &load());
    assert!(
        (used.connections.flush.unwrap() - 3.0).abs() < 1e-9,
        "{used:?}"
    );
    // They stand behind other writes: the load engine saw them wait for longer.
    let seen = OfferedLoad {
        committing: Some(12.0),
        ..load()
    };
    let used = utilization(&[], Some(&drive(FileKind::Redo, grouped)), None, &seen);
    assert!((used.connections.flush.unwrap() - 12.0).abs() < 1e-9);
    // Statements that commit by themselves: who is neither at a table nor at a core.
    let alone = OfferedLoad {
        latency_s: 0.008,
        ..load()
    };
    let mut runnable = Series::new(metrics::HOST_THREADS_RUNNABLE, "");
    runnable.push(5.0, 2.0);
    let told = [counter(metrics::WAIT_TIME, TABLE_WAITS, 40.0), runnable];
    let redo = drive(FileKind::Redo, grouped);
    let used = utilization(&told, Some(&redo), None, &alone);
    assert!((used.connections.flush.unwrap() - 10.0).abs() < 1e-9);
    let reads_only = OfferedLoad {
        commits_per_s: 0.0,
        ..alone
    };
    let used = utilization(&told, Some(&redo), None, &reads_only);
    assert!(used.connections.flush.unwrap().abs() < 1e-9);
    // One a second: no connection waits for it.
    let lazy = FileKindStatistics {
        flushes: 10,
        flush_latency_s: 0.05,
        ..FileKindStatistics::default()
    };
    let used = utilization(&[], Some(&drive(FileKind::Redo, lazy)), None, &load());
    assert!(used.connections.flush.unwrap() < 0.1, "{used:?}");
}

#[test]
fn who_is_at_a_table_and_does_nothing_waits_for_a_page_where_none_is_free() {
    let found = |waits, tables| {
        let told = [
            counter(metrics::STATUS_POOL_WAIT_FREE, "", waits),
            counter(metrics::STATUS_ROW_LOCK_TIME, "", 10.0),
            counter(metrics::SERVER_CPU, "", 5.0),
            counter(metrics::WAIT_TIME, tables, 140.0),
        ];
        let reads = FileKindStatistics {
            read_latency_s: 30.0,
            ..FileKindStatistics::default()
        };
        let data = drive(FileKind::Data, reads);
        utilization(&told, Some(&data), None, &load()).connections
    };
    let waiting = |found: ConnectionTime| found.free_page.unwrap();
    // 14 connections at tables, of which 3 read, 1 waits for a row, and half a core is used.
    assert!((waiting(found(40_000.0, TABLE_WAITS)) - 9.5).abs() < 1e-9);
    let hardly = waiting(found(100.0, TABLE_WAITS));
    assert!(hardly.abs() < 1e-9, "hardly any connection had to wait");
    let writing = {
        let told = [
            counter(metrics::STATUS_POOL_WAIT_FREE, "", 0.0),
            counter(metrics::WAIT_TIME, TABLE_WAITS, 140.0),
        ];
        let writes = FileKindStatistics {
            write_latency_s: 150.0,
            ..FileKindStatistics::default()
        };
        let data = drive(FileKind::Data, writes);
        utilization(&told, Some(&data), None, &load()).connections
    };
    assert!((waiting(writing) - 14.0).abs() < 1e-9, "{writing:?}");
    // No server timed tables.
    let untold = found(40_000.0, "io/file");
    let others = untold.server_cpu + untold.network.unwrap() + untold.flush.unwrap_or(0.0);
    let left = untold.busy - others - 3.0 - 1.0;
    assert!(
        left > 5.0 && (waiting(untold) - left).abs() < 1e-9,
        "{untold:?}"
    );
}

#[test]
fn while_a_run_lasts_the_latest_seconds_count_and_the_drive_tells_by_its_samples() {
    let growing = |metric, instance, slow: f64, quick: f64| {
        let mut series = Series::new(metric, instance);
        series.push(0.0, 0.0);
        series.push(20.0, 20.0 * slow);
        series.push(30.0, 20.0 * slow + 10.0 * quick);
        series
    };
    let found = [
        growing(metrics::SERVER_CPU, "", 2.0, 0.5),
        growing(metrics::DRIVE_FILE_READ_TIME, "data", 0.0, 7.0),
        growing(metrics::DRIVE_FILE_WRITE_TIME, "data", 0.0, 0.0),
        growing(metrics::DRIVE_FILE_FLUSH_TIME, "data", 0.0, 0.0),
        growing(metrics::DRIVE_FILE_FLUSHES, "data", 0.0, 0.0),
    ];
    let used = utilization_now(&found, 30.0, None, &load());
    assert!((used.server_cores - 0.5).abs() < 1e-9, "{used:?}");
    assert!((used.connections.read.unwrap() - 7.0).abs() < 1e-9);
    assert_eq!(used.connections.flush, None, "no log was sampled");
}

#[test]
fn without_a_drive_the_server_tells_or_nobody_does() {
    let of_server = [
        counter(metrics::FILE_READ_TIME, "data", 40.0),
        counter(metrics::FILE_WRITE_TIME, "data", 0.0),
        counter(metrics::FILE_SYNC_TIME, "data", 0.0),
        counter(metrics::FILE_SYNCS, "data", 0.0),
    ];
    let told = utilization(&of_server, None, None, &load()).connections;
    assert!((told.read.unwrap() - 4.0).abs() < 1e-9 && told.flush.is_none());
    let silent = utilization(&[], None, None, &load()).connections;
    assert_eq!((silent.read, silent.flush, silent.lock), (None, None, None));
}

#[test]
fn no_place_holds_more_connections_than_there_are() {
    let slow = OfferedLoad {
        rtt_s: 0.1,
        ..load()
    };
    let lock = [counter(metrics::STATUS_ROW_LOCK_TIME, "", 900.0)];
    let used = utilization(&lock, None, None, &slow).connections;
    assert_eq!((used.network, used.lock), (Some(16.0), Some(16.0)));
}

#[test]
fn a_load_with_a_rate_keeps_few_connections_busy() {
    let open = OfferedLoad {
        has_own_times: true,
        ..load()
    };
    let used = utilization(&[], None, None, &open).connections;
    assert!((used.busy - 4.0).abs() < 1e-9 && used.all > 15.0);
}

#[test]
fn a_block_device_is_busy_with_what_its_time_went_into() {
    let found = [
        counter(metrics::HOST_DEVICE_BUSY, "vda", 9.0),
        counter(metrics::HOST_DEVICE_READ_TIME, "vda", 30.0),
        counter(metrics::HOST_DEVICE_WRITE_TIME, "vda", 10.0),
        counter(metrics::HOST_DEVICE_BUSY, "vdb", 10.0),
    ];
    let used = utilization(&found, None, Some("vda"), &load());
    assert!((used.drive_read - 0.675).abs() < 1e-9, "{used:?}");
    assert!((used.drive_write - 0.225).abs() < 1e-9, "{used:?}");
}
