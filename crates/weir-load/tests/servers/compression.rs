//! Compressed connections: the same loads, with fewer bytes.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_load::{
    LoadPlan, PreparePlan, ReactorKind, TableOptions, Workload, cleanup, prepare, prewarm,
};
use weir_model::{
    ArrivalKind, Distribution, Endpoint, Flavor, LoadSpec, Mix, Rate, SysbenchWorkload,
    WorkloadName,
};
use weir_mysql::Compression;

use super::{Bench, ROWS, TABLES, checksum, gate_of, go, make, users_gate};

/// Transactions of a run.
const EVENTS: u64 = 200;

weir_testing::on_both_flavors! {
    rows_are_loaded_compressed_in_every_way
    compressed_replies_are_shorter_on_every_reactor
    every_kind_of_load_goes_on_compressed
    a_way_that_the_server_does_not_offer_is_named
}

/// Returns the ways of compression of this flavour.
fn ways(flavor: Flavor) -> &'static [Compression] {
    match flavor {
        Flavor::Mysql => &[Compression::Zlib, Compression::Zstd],
        Flavor::Mariadb => &[Compression::Zlib],
    }
}

/// Returns the increase of a counter of the server by `act`.
fn added(bench: &Bench, counter: &str, act: impl FnOnce()) -> f64 {
    let before = bench.counter(counter);
    act();
    (bench.counter(counter) - before) as f64
}

fn rows_are_loaded_compressed_in_every_way(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let mut oracle = bench.oracle();
    for local_infile in ["ON", "OFF"] {
        oracle
            .run(format!("SET GLOBAL local_infile = {local_infile}"))
            .unwrap();
        let mut load = |compression| {
            let tables = PreparePlan {
                compression,
                ..bench.tables()
            };
            let received = added(&bench, "Bytes_received", || {
                make(&tables).unwrap();
            });
            prewarm(&tables, &users_gate(), &AtomicBool::new(false), &|_, _| {}).unwrap();
            let sum = checksum(&mut oracle, "sbtest2").1;
            cleanup(&tables, &users_gate()).unwrap();
            (sum, received)
        };
        let (sum, plain_bytes) = load(None);
        assert!(sum.is_some());
        for way in ways(flavor) {
            let (compressed_sum, bytes) = load(Some(*way));
            assert_eq!(compressed_sum, sum, "{way:?}");
            // Rows are random digits.
            let ratio = plain_bytes / bytes;
            assert!(ratio > 1.5, "{way:?}, {local_infile}: {ratio} times fewer");
        }
    }
}

fn compressed_replies_are_shorter_on_every_reactor(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    let sent = |compression: Option<Compression>, reactor, rate: Option<Rate>| {
        let mut plan = LoadPlan {
            reactor,
            max_events: Some(EVENTS),
            load: LoadSpec {
                compression: compression.map_or_else(Default::default, Into::into),
                pace: rate.into(),
                measure: weir_model::Duration::default(),
                ..bench.plan(WorkloadName::OltpReadOnly).load
            },
            ..bench.plan(WorkloadName::OltpReadOnly)
        };
        // Replies of several of the server's buffers.
        plan.workload = with_ranges_of(500);
        added(&bench, "Bytes_sent", || {
            let outcome = go(&plan).unwrap();
            assert_eq!(outcome.counts.transactions, EVENTS);
            assert_eq!(outcome.reactors, [reactor]);
        })
    };
    let plain_bytes = sent(None, ReactorKind::Epoll, None);
    let open_loop = Some(Rate {
        per_s: 400.0,
        arrivals: ArrivalKind::Poisson,
        ramp: None,
    });
    for way in ways(flavor) {
        for reactor in [ReactorKind::Epoll, ReactorKind::IoUring] {
            for rate in [None, open_loop] {
                let ratio = plain_bytes / sent(Some(*way), reactor, rate);
                assert!(ratio > 1.5, "{way:?}, {reactor:?}: {ratio} times fewer");
            }
        }
    }
}

fn every_kind_of_load_goes_on_compressed(flavor: Flavor) {
    let bench = Bench::loaded(flavor);
    for way in ways(flavor) {
        let plan = LoadPlan {
            max_events: Some(EVENTS),
            load: LoadSpec {
                compression: (*way).into(),
                connections: 6,
                measure: weir_model::Duration::default(),
                ..bench.plan(WorkloadName::OltpReadWrite).load
            },
            ..bench.plan(WorkloadName::OltpReadWrite)
        };
        let plans = [
            // Statements as text, on a slower network.
            LoadPlan {
                prepared_statements: false,
                load: LoadSpec {
                    rtt: Duration::from_millis(1).into(),
                    ..plan.load.clone()
                },
                ..plan.clone()
            },
            LoadPlan {
                reconnect_every: Some(7),
                load: LoadSpec {
                    idle_connections: 2,
                    ..plan.load.clone()
                },
                ..plan.clone()
            },
        ];
        for plan in plans {
            let outcome = go(&plan).unwrap();
            assert_eq!(outcome.counts.transactions, EVENTS);
            assert_eq!(
                outcome.idle_connections,
                u64::from(plan.load.idle_connections)
            );
        }
        insert_in_bulk(&bench, *way);
    }
}

/// Requests of half a megabyte.
fn insert_in_bulk(bench: &Bench, way: Compression) {
    let endpoint = Endpoint {
        database: format!("bulk_{}", way.name()),
        ..bench.server.endpoint()
    };
    let tables = PreparePlan {
        compression: Some(way),
        ..PreparePlan::new(endpoint.clone(), WorkloadName::BulkInsert)
    };
    prepare(
        &tables,
        &gate_of(&endpoint.database),
        &AtomicBool::new(false),
        &mut |_, _| {},
    )
    .unwrap();
    for (reactor, seed) in [(ReactorKind::Epoll, 1), (ReactorKind::IoUring, 2)] {
        let plan = LoadPlan {
            reactor,
            seed,
            max_events: Some(100_000),
            load: LoadSpec {
                compression: way.into(),
                measure: weir_model::Duration::default(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(endpoint.clone(), WorkloadName::BulkInsert)
        };
        assert_eq!(go(&plan).unwrap().counts.transactions, 100_000);
        let mut oracle = bench.oracle();
        let table = format!("bulk_{}.sbtest1", way.name());
        let count = format!("SELECT COUNT(*) FROM {table}");
        assert_eq!(oracle.first(count).unwrap(), Some(100_000));
        oracle.run(format!("TRUNCATE TABLE {table}")).unwrap();
    }
}

fn a_way_that_the_server_does_not_offer_is_named(flavor: Flavor) {
    let bench = Bench::empty(flavor);
    let (way, name) = match flavor {
        Flavor::Mysql => (Compression::Zlib, "zlib"),
        Flavor::Mariadb => (Compression::Zstd, "zstd"),
    };
    if flavor == Flavor::Mysql {
        let only = "SET GLOBAL protocol_compression_algorithms = 'zstd,uncompressed'";
        bench.oracle().run(only).unwrap();
    }
    let tables = PreparePlan {
        compression: Some(way),
        tables: TableOptions {
            tables: TABLES,
            rows: ROWS,
            ..bench.tables().tables
        },
        ..bench.tables()
    };
    let errors = [
        make(&tables).unwrap_err(),
        go(&LoadPlan {
            load: LoadSpec {
                compression: way.into(),
                ..bench.plan(WorkloadName::OltpReadOnly).load
            },
            ..bench.plan(WorkloadName::OltpReadOnly)
        })
        .unwrap_err(),
    ];
    for error in errors.map(|error| error.to_string()) {
        let why = format!("the server does not offer {name} compression");
        assert!(error.contains(&why), "{error}");
        assert!(
            error.contains("leave --mysql-compression out") && !error.contains('\n'),
            "{error}"
        );
    }
}

/// Read-only transactions whose ranges have so many rows.
fn with_ranges_of(rows: u32) -> Workload {
    let workload = SysbenchWorkload {
        mix: Mix {
            range_size: rows,
            ..Mix::default()
        },
        distribution: Distribution::Uniform,
        ..WorkloadName::OltpReadOnly.into()
    };
    workload.into()
}
