//! Counts of completions: once and in the right place.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use weir_load::{
    HdrLog, Interval, LoadEnd, LoadPlan, NullServerBehavior, Progress, Totals, run, run_observed,
};
use weir_model::{LoadSpec, WorkloadName};
use weir_mysql::Gate;

use crate::{Bench, everywhere, go, measure_until_there_is_something};

#[test]
fn intervals_add_up_to_the_whole() {
    let bench = Bench::new(NullServerBehavior::default());
    for reactors in [1, 2] {
        let plan = |measure_ms| LoadPlan {
            reactors,
            load: LoadSpec {
                warmup: Duration::from_millis(250).into(),
                ..bench.plan(WorkloadName::OltpReadWrite, measure_ms).load
            },
            ..bench.plan(WorkloadName::OltpReadWrite, measure_ms)
        };
        let (measure_s, outcome, intervals) = measure_until_there_is_something(plan);
        let (warmup, measured) = intervals.split_at(3);
        assert!(warmup.iter().all(|interval| interval.record.time_s <= 0.0));
        assert_eq!(measured.len(), (measure_s * 10.0) as usize);
        let last_s = measured.last().unwrap().record.time_s;
        assert!((last_s - measure_s).abs() < 1e-9);
        assert!((outcome.measured_s - measure_s).abs() < 1e-9);
        let sum = |field: fn(&Interval) -> u64| measured.iter().map(field).sum::<u64>();
        let counts = outcome.counts;
        assert_eq!(sum(|i| i.record.transactions), counts.transactions);
        assert_eq!(sum(|i| i.record.queries), counts.queries);
        assert_eq!(sum(|i| i.record.reads), counts.reads);
        assert_eq!(sum(|i| i.record.writes), counts.writes);
        assert_eq!(counts.queries, counts.reads + counts.writes + counts.others);
        assert_eq!(outcome.client_cpu_s.len(), reactors as usize);
        assert!(outcome.client_utilization() > 0.0);
        assert_eq!(outcome.unfinished, 0);
        assert!(outcome.since_checkpoint.is_none());
        let mean = outcome.fairness.transactions_mean;
        assert!((mean * 4.0 - counts.transactions as f64).abs() < 1e-6);
    }
}

#[test]
fn checkpoints_add_up_to_the_whole_and_leave_the_intervals_alone() {
    let bench = Bench::new(NullServerBehavior::default());
    for reactors in [1, 2] {
        let plan = LoadPlan {
            reactors,
            // Within an interval, at the end of one, and at the end of all.
            checkpoints: [150, 300, 500].map(Duration::from_millis).into(),
            load: LoadSpec {
                warmup: Duration::from_millis(50).into(),
                ..bench.plan(WorkloadName::OltpPointSelect, 500).load
            },
            ..bench.plan(WorkloadName::OltpPointSelect, 500)
        };
        let (mut intervals, mut stretches) = (Vec::new(), Vec::new());
        let outcome = run_observed(
            &plan,
            &Gate::own(),
            &AtomicBool::new(false),
            &mut |progress| match progress {
                Progress::Interval(interval) => intervals.push(interval.record.length_s),
                Progress::Checkpoint(totals) => stretches.push(totals.clone()),
                Progress::Began(_) => {}
                Progress::Warning(warning) => panic!("{warning}"),
            },
        )
        .unwrap();
        assert_eq!(intervals.len(), 6, "{intervals:?}");
        assert!(
            intervals[1..]
                .iter()
                .all(|length_s| (length_s - 0.1).abs() < 1e-9)
        );
        let elapsed_s: Vec<_> = stretches.iter().map(|totals| totals.elapsed_s).collect();
        assert_eq!(elapsed_s, [0.15, 0.3]);
        stretches.push(outcome.since_checkpoint.clone().unwrap());
        let sum = |field: fn(&Totals) -> f64| stretches.iter().map(field).sum::<f64>();
        assert!((sum(|t| t.length_s) - 0.5).abs() < 1e-9);
        let transactions = outcome.counts.transactions as f64;
        assert!((sum(|t| t.counts.transactions as f64) - transactions).abs() < 1e-9);
        // Every transaction is some connection's.
        assert!((sum(|t| t.fairness.transactions_mean) * 4.0 - transactions).abs() < 1e-6);
        assert!((sum(|t| t.latency_s_sum) - outcome.latency_s_sum).abs() < 1e-6);
    }
}

#[test]
fn every_statement_is_counted_once_and_as_what_it_is() {
    let cases = [
        (WorkloadName::OltpPointSelect, (1, 0, 0)),
        (WorkloadName::OltpReadOnly, (14, 0, 2)),
        (WorkloadName::OltpWriteOnly, (0, 4, 2)),
        (WorkloadName::OltpReadWrite, (14, 4, 2)),
        (WorkloadName::OltpInsert, (0, 1, 0)),
        (WorkloadName::OltpDelete, (0, 1, 0)),
        (WorkloadName::OltpUpdateIndex, (0, 1, 0)),
        (WorkloadName::OltpUpdateNonIndex, (0, 1, 0)),
        (WorkloadName::SelectRandomPoints, (1, 0, 0)),
        (WorkloadName::SelectRandomRanges, (1, 0, 0)),
    ];
    everywhere(NullServerBehavior::default(), |bench, reactor| {
        for (workload, (reads, writes, others)) in cases {
            for prepared_statements in [true, false] {
                let before = bench.server.executed();
                let plan = LoadPlan {
                    reactor,
                    max_events: Some(10),
                    prepared_statements,
                    load: LoadSpec {
                        measure: weir_model::Duration::default(),
                        ..bench.plan(workload, 0).load
                    },
                    ..bench.plan(workload, 0)
                };
                let counts = go(&plan).unwrap().0.counts;
                assert_eq!(counts.transactions, 10, "{workload}");
                assert_eq!(counts.reads, 10 * reads, "{workload}");
                assert_eq!(counts.writes, 10 * writes, "{workload}");
                assert_eq!(counts.others, 10 * others, "{workload}");
                let executed = bench.server.executed() - before;
                assert_eq!(executed, counts.queries, "{workload}");
            }
        }
    });
}

#[test]
fn a_stop_ends_the_run_and_keeps_what_was_measured() {
    let bench = Bench::new(NullServerBehavior::default());
    let stop = AtomicBool::new(false);
    let plan = bench.plan(WorkloadName::OltpReadWrite, 600_000);
    let mut intervals = 0;
    let outcome = run(&plan, &Gate::own(), &stop, &mut |_| {
        intervals += 1;
        if intervals == 3 {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert_eq!(outcome.end(), Some(LoadEnd::Stopped));
    assert!(outcome.counts.transactions > 0);
    assert!(outcome.measured_s >= 0.3 && outcome.measured_s < 60.0);
}

/// A listener to intervals may be held up; samples beside the load need the true time.

#[test]
fn the_measurements_begin_does_not_depend_on_who_is_told() {
    let bench = Bench::new(NullServerBehavior::default());
    let plan = LoadPlan {
        load: LoadSpec {
            warmup: Duration::from_millis(300).into(),
            ..bench.plan(WorkloadName::OltpPointSelect, 300).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect, 300)
    };
    let began = Instant::now();
    let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {
        std::thread::sleep(Duration::from_millis(400));
    })
    .unwrap();
    let passed = outcome.measured_from.unwrap() - began;
    let late = passed.saturating_sub(Duration::from_millis(300));
    assert!(passed >= Duration::from_millis(300), "{passed:?}");
    assert!(late < Duration::from_millis(300), "{late:?}");
}

#[test]
fn connections_are_dealt_over_several_servers() {
    let benches = [0, 1, 2].map(|_| Bench::new(NullServerBehavior::default()));
    let plan = LoadPlan {
        more_addresses: benches[1..]
            .iter()
            .map(|b| b.server.address().clone())
            .collect(),
        load: LoadSpec {
            // The third has none.
            connections: 2,
            ..benches[0].plan(WorkloadName::OltpPointSelect, 200).load
        },
        ..benches[0].plan(WorkloadName::OltpPointSelect, 200)
    };
    let outcome = go(&plan).unwrap().0;
    let executed = benches.each_ref().map(|bench| bench.server.executed());
    assert!(executed[0] > 0 && executed[1] > 0, "{executed:?}");
    assert_eq!(executed[2], 0);
    assert!(outcome.counts.transactions <= executed.iter().sum());
}

#[test]
fn servers_that_end_result_sets_in_the_old_way_are_understood() {
    let bench = Bench::new(NullServerBehavior {
        eof_packets: true,
        ..NullServerBehavior::default()
    });
    let plan = LoadPlan {
        max_events: Some(20),
        load: LoadSpec {
            measure: weir_model::Duration::default(),
            ..bench.plan(WorkloadName::OltpReadOnly, 0).load
        },
        ..bench.plan(WorkloadName::OltpReadOnly, 0)
    };
    assert_eq!(go(&plan).unwrap().0.counts.reads, 20 * 14);
}

#[test]
fn a_log_of_latencies_holds_every_statement_of_every_interval() {
    let bench = Bench::new(NullServerBehavior::default());
    let (outcome, intervals) = go(&bench.plan(WorkloadName::OltpReadWrite, 500)).unwrap();
    let mut bytes = Vec::new();
    let mut log = HdrLog::new(&mut bytes, SystemTime::now()).unwrap();
    for interval in &intervals {
        log.write(interval).unwrap();
    }
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for entry in IntervalLogIterator::new(&bytes) {
        let Ok(LogEntry::Interval(line)) = entry else {
            continue;
        };
        let encoded = BASE64_STANDARD.decode(line.encoded_histogram()).unwrap();
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut encoded.as_slice())
            .unwrap();
        let tag = line.tag().map_or("", |tag| tag.as_str());
        *counts.entry(tag.to_owned()).or_default() += histogram.len();
    }
    // Ten selects by key and one of each other statement in a transaction; statements of a
    // transaction that the end of the measurement cut off are counted too.
    let transactions = counts[""];
    assert_eq!(transactions, outcome.counts.transactions);
    let statements: u64 = counts
        .iter()
        .filter_map(|(tag, count)| tag.starts_with("statement:").then_some(count))
        .sum();
    assert_eq!(statements, outcome.counts.queries);
    let kinds = &outcome.kinds;
    assert_eq!(kinds.iter().map(|kind| kind.count).sum::<u64>(), statements);
    let points = kinds.iter().map(|kind| kind.count).max().unwrap();
    assert!((10 * transactions..=10 * transactions + 80).contains(&points));
}
