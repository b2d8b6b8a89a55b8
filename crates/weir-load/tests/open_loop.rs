//! The open loop against a server whose delays and stalls are known.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use weir_load::{
    Fault, Interval, LoadOutcome, LoadPlan, NullServer, NullServerBehavior, OpenLoop, run,
};
use weir_model::{ArrivalKind, LoadSpec, Rate, WorkloadName};
use weir_mysql::Gate;

struct Bench {
    server: NullServer,
    _directory: TempDir,
}

impl Bench {
    fn new(delay: Duration, fault: Option<Fault>) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let behavior = NullServerBehavior {
            delay,
            fault,
            ..NullServerBehavior::default()
        };
        let server = NullServer::start(&directory.path().join("s"), behavior).unwrap();
        Self {
            server,
            _directory: directory,
        }
    }

    fn plan(&self, per_s: f64, arrivals: ArrivalKind, measure_ms: u64) -> LoadPlan {
        let endpoint = self.server.endpoint();
        LoadPlan {
            interval: Duration::from_millis(250),
            load: LoadSpec {
                connections: 4,
                pace: Some(Rate {
                    per_s,
                    arrivals,
                    ramp: None,
                })
                .into(),
                measure: Duration::from_millis(measure_ms).into(),
                ..LoadSpec::default()
            },
            ..LoadPlan::new(endpoint, WorkloadName::OltpPointSelect)
        }
    }
}

fn go(plan: &LoadPlan) -> (LoadOutcome, Vec<Interval>) {
    let mut intervals = Vec::new();
    let outcome = run(
        plan,
        &Gate::own(),
        &AtomicBool::new(false),
        &mut |interval| {
            intervals.push(interval.clone());
        },
    )
    .unwrap();
    (outcome, intervals)
}

fn open_loop(outcome: &LoadOutcome) -> &OpenLoop {
    outcome.open_loop.as_ref().unwrap()
}

#[test]
fn a_low_rate_is_kept_and_a_known_delay_measured() {
    let bench = Bench::new(Duration::from_millis(2), None);
    for (reactors, warmup_ms) in [(1, 0), (2, 250)] {
        let plan = LoadPlan {
            reactors,
            load: LoadSpec {
                warmup: Duration::from_millis(warmup_ms).into(),
                ..bench.plan(200.0, ArrivalKind::Constant, 1_000).load
            },
            ..bench.plan(200.0, ArrivalKind::Constant, 1_000)
        };
        let (outcome, intervals) = go(&plan);
        let paced = open_loop(&outcome);
        // The last ones may still be under way.
        assert!((195..=201).contains(&paced.due), "{paced:?}");
        assert!(outcome.counts.transactions <= paced.due + 4);
        assert!(outcome.counts.transactions >= 20, "{outcome:?}");
        assert!(paced.service.us_min >= 2_000.0, "{paced:?}");
        assert!(outcome.latency.us_min >= 2_000.0);
        assert!(outcome.latency.us_mean >= paced.service.us_mean);
        // Response time is lag and service time, one by one and so in the mean.
        let sum = paced.service.us_mean + paced.lag.us_mean;
        assert!(
            (sum / outcome.latency.us_mean - 1.0).abs() < 0.25,
            "{outcome:?}"
        );
        for interval in &intervals {
            assert!(interval.concurrency <= 4);
            assert!(interval.service_us(50.0) <= interval.latency_us(50.0));
        }
    }
}

#[test]
fn poisson_arrivals_come_at_their_rate() {
    let bench = Bench::new(Duration::ZERO, None);
    let (outcome, _) = go(&bench.plan(2_000.0, ArrivalKind::Poisson, 1_000));
    let paced = open_loop(&outcome);
    // Five standard deviations.
    assert!((1_776..=2_224).contains(&paced.due), "{paced:?}");
    let done = outcome.counts.transactions + paced.queue_length;
    assert!(
        done + 8 >= paced.due && done <= paced.due + 8,
        "{outcome:?}"
    );
}

#[test]
fn overload_is_survived_and_said() {
    // Four connections and 10 ms: 400 transactions per second of 50,000.
    let bench = Bench::new(Duration::from_millis(10), None);
    let began = Instant::now();
    let (outcome, intervals) = go(&bench.plan(50_000.0, ArrivalKind::Poisson, 1_000));
    assert!(began.elapsed() < Duration::from_secs(30));
    let paced = open_loop(&outcome);
    let done = outcome.counts.transactions;
    assert!((50..=400).contains(&done), "{done}");
    assert!(paced.queue_length > 45_000, "{paced:?}");
    assert!(paced.waited + 4 >= done, "{paced:?}");
    // Transactions are late by up to the whole run, each one itself is served as before.
    assert!(outcome.latency.us_max > 700_000.0);
    assert!(paced.lag.us_max > 700_000.0);
    assert!(paced.service.us_p50 < 100_000.0);
    let queues: Vec<_> = intervals.iter().map(|i| i.queue_length).collect();
    assert!(queues.is_sorted(), "{queues:?}");
    assert_eq!(queues.last(), Some(&paced.queue_length));
    assert_eq!(intervals[1].concurrency, 4);
    let note = outcome.schedule_note().unwrap();
    assert!(
        note.contains("the schedule was not kept") && note.contains("--threads"),
        "{note}"
    );
}

#[test]
fn a_stall_is_seen_in_full() {
    let stall = Fault::StallAfter(100, Duration::from_secs(1));
    let bench = Bench::new(Duration::from_micros(500), Some(stall));
    let (outcome, _) = go(&bench.plan(200.0, ArrivalKind::Constant, 2_500));
    let paced = open_loop(&outcome);
    // 200 transactions were due within the second in which the server was silent; half of them
    // waited for half of it or longer. A closed loop would show four.
    let share_late = |us: f64| {
        let found =
            (0..=1_000).find(|per_mille| outcome.latency_us(f64::from(*per_mille) / 10.0) >= us);
        f64::from(1_000 - found.unwrap_or(1_000)) / 1_000.0
    };
    let late = share_late(500_000.0) * outcome.counts.transactions as f64;
    assert!((85.0..=250.0).contains(&late), "{late}");
    assert!(outcome.latency.us_max >= 990_000.0);
    assert!(paced.waited >= 150, "{paced:?}");
    // In service times the stall is only as long as there were connections.
    let slow = paced.service.us_p95;
    assert!(slow < 500_000.0, "{slow}");
}

#[test]
fn a_budget_ends_an_open_loop_too() {
    let bench = Bench::new(Duration::ZERO, None);
    let plan = LoadPlan {
        max_events: Some(20),
        load: LoadSpec {
            measure: weir_model::Duration::default(),
            ..bench.plan(200.0, ArrivalKind::Constant, 0).load
        },
        ..bench.plan(200.0, ArrivalKind::Constant, 0)
    };
    let (outcome, _) = go(&plan);
    assert_eq!(outcome.counts.transactions, 20);
    assert!(outcome.measured_s >= 0.095, "{}", outcome.measured_s);
}

#[test]
fn connections_that_wait_for_their_turn_do_not_hold_the_end() {
    let bench = Bench::new(Duration::ZERO, None);
    let began = Instant::now();
    let (outcome, _) = go(&bench.plan(0.01, ArrivalKind::Constant, 300));
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(outcome.unfinished, 0);
    assert_eq!(outcome.schedule_note(), None);
}

#[test]
fn tolerated_errors_are_part_of_a_scheduled_transactions_time() {
    let bench = Bench::new(Duration::from_millis(1), Some(Fault::RefuseEach(2, 1213)));
    let (outcome, _) = go(&LoadPlan {
        load: LoadSpec {
            connections: 1,
            // A refusal takes no time in the server, but it has its way to go.
            rtt: Duration::from_millis(2).into(),
            ..bench.plan(100.0, ArrivalKind::Constant, 1_000).load
        },
        ..bench.plan(100.0, ArrivalKind::Constant, 1_000)
    });
    let paced = open_loop(&outcome);
    assert!(outcome.counts.errors >= 40, "{:?}", outcome.counts);
    // Every transaction but the first needs two tries, and is late by the first of them.
    assert!(
        outcome.latency.us_mean >= paced.service.us_mean + 1_800.0,
        "{outcome:?}"
    );
}
