//! The engine against a server whose every delay and fault is known.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use tempfile::TempDir;
use weir_load::{
    ArrivalKind, Compression, Fault, HdrLog, Interval, LoadError, LoadOutcome, LoadPlan,
    NullServer, NullServerBehavior, Progress, Rate, RateRamp, ReactorKind, Think, ThinkKind,
    Tolerated, Totals, run, run_observed,
};
use weir_model::WorkloadName;

struct Bench {
    server: NullServer,
    _directory: TempDir,
}

impl Bench {
    fn new(behavior: NullServerBehavior) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let socket: PathBuf = directory.path().join("s");
        let server = NullServer::start(&socket, behavior).unwrap();
        Self {
            server,
            _directory: directory,
        }
    }

    fn plan(&self, workload: WorkloadName, measure_ms: u64) -> LoadPlan {
        let endpoint = self.server.endpoint();
        LoadPlan {
            connections: 4,
            tables: 2,
            measure: Some(Duration::from_millis(measure_ms)),
            interval: Duration::from_millis(100),
            ..LoadPlan::new(endpoint, workload)
        }
    }
}

fn go(plan: &LoadPlan) -> Result<(LoadOutcome, Vec<Interval>), LoadError> {
    let stop = AtomicBool::new(false);
    let mut intervals = Vec::new();
    let outcome = run(plan, &stop, &mut |interval| {
        intervals.push(interval.clone());
    })?;
    Ok((outcome, intervals))
}

/// Measures for as long as it takes until there is something to add up: a busy machine may not get
/// to a single transaction within the first length.
fn measure_until_there_is_something(
    plan: impl Fn(u64) -> LoadPlan,
) -> (f64, LoadOutcome, Vec<Interval>) {
    for measure_ms in [500, 2_000, 8_000] {
        let (outcome, intervals) = go(&plan(measure_ms)).unwrap();
        if outcome.counts.transactions > 0 {
            return (measure_ms as f64 / 1e3, outcome, intervals);
        }
    }
    panic!("not one transaction within 8 s");
}

#[test]
fn intervals_add_up_to_the_whole() {
    let bench = Bench::new(NullServerBehavior::default());
    for reactors in [1, 2] {
        let plan = |measure_ms| LoadPlan {
            warmup: Duration::from_millis(250),
            reactors,
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
            warmup: Duration::from_millis(50),
            // Within an interval, at the end of one, and at the end of all.
            checkpoints: [150, 300, 500].map(Duration::from_millis).into(),
            ..bench.plan(WorkloadName::OltpPointSelect, 500)
        };
        let (mut intervals, mut stretches) = (Vec::new(), Vec::new());
        let outcome = run_observed(
            &plan,
            &AtomicBool::new(false),
            &mut |progress| match progress {
                Progress::Interval(interval) => intervals.push(interval.record.length_s),
                Progress::Checkpoint(totals) => stretches.push(totals.clone()),
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
    let bench = Bench::new(NullServerBehavior::default());
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
    for (workload, (reads, writes, others)) in cases {
        for prepared_statements in [true, false] {
            let before = bench.server.executed();
            let plan = LoadPlan {
                max_events: Some(10),
                measure: None,
                prepared_statements,
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
}

#[test]
fn a_known_delay_is_what_is_measured() {
    let bench = Bench::new(NullServerBehavior {
        delay: Duration::from_millis(2),
        ..NullServerBehavior::default()
    });
    let (outcome, _) = go(&bench.plan(WorkloadName::OltpPointSelect, 1_000)).unwrap();
    let latency = outcome.latency;
    // Never less than the truth; how much more depends on who else uses the machine.
    assert!(latency.us_min >= 2_000.0, "{latency:?}");
    // Closed loop: transactions x latency = connections x time, whatever the machine does.
    let busy_s = outcome.latency_s_sum / 4.0;
    assert!((0.85..=1.01).contains(&busy_s), "{busy_s}");
}

#[test]
fn a_longer_way_is_in_every_statements_time() {
    let bench = Bench::new(NullServerBehavior {
        delay: Duration::from_millis(1),
        ..NullServerBehavior::default()
    });
    // One statement, and six of a transaction: each goes the way of 3 ms and takes 1 ms there.
    for (workload, statements) in [
        (WorkloadName::OltpPointSelect, 1.0),
        (WorkloadName::OltpWriteOnly, 6.0),
    ] {
        let plan = LoadPlan {
            rtt: Duration::from_millis(3),
            ..bench.plan(workload, 500)
        };
        let outcome = go(&plan).unwrap().0;
        assert_eq!(outcome.unfinished, 0);
        let latency = outcome.latency;
        assert!(latency.us_min >= statements * 4_000.0, "{latency:?}");
    }
}

#[test]
fn lost_connections_and_bulk_inserts_bear_a_longer_way() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::CloseOnceAfter(100)),
        ..NullServerBehavior::default()
    });
    let plan = LoadPlan {
        rtt: Duration::from_micros(500),
        reconnect: true,
        measure: None,
        max_events: Some(400),
        ..bench.plan(WorkloadName::OltpPointSelect, 0)
    };
    let outcome = go(&plan).unwrap().0;
    assert_eq!(outcome.counts.transactions, 400);
    assert_eq!(outcome.counts.reconnects, 4);
}

#[test]
fn tolerated_errors_are_tried_again_as_new_transactions() {
    for code in [1213, 1205, 1020] {
        let bench = Bench::new(NullServerBehavior {
            delay: Duration::from_micros(100),
            fault: Some(Fault::RefuseEach(50, code)),
            ..NullServerBehavior::default()
        });
        let plan = LoadPlan {
            max_events: Some(200),
            measure: None,
            ..bench.plan(WorkloadName::OltpWriteOnly, 0)
        };
        let outcome = go(&plan).unwrap().0;
        assert_eq!(outcome.counts.transactions, 200, "error {code}");
        assert!(outcome.counts.errors >= 20, "error {code}");
        // A sample holds one try: its latency sum cannot exceed the connections' time.
        assert!(outcome.latency_s_sum <= 4.0 * outcome.measured_s);
    }
}

#[test]
fn when_all_errors_are_tolerated_they_are_counted_by_code() {
    for workload in [WorkloadName::OltpPointSelect, WorkloadName::OltpReadWrite] {
        let bench = Bench::new(NullServerBehavior {
            fault: Some(Fault::RefuseEach(30, 1290)),
            ..NullServerBehavior::default()
        });
        let plan = LoadPlan {
            tolerated: Tolerated::All,
            ..bench.plan(workload, 300)
        };
        let outcome = go(&plan).unwrap().0;
        let [error] = outcome.errors.as_slice() else {
            panic!("{:?}", outcome.errors);
        };
        assert_eq!((error.code, error.count), (1290, outcome.counts.errors));
        assert_eq!(error.first_message, "asked to refuse");
        assert!(error.count > 0 && outcome.counts.transactions > 0);
    }
}

#[test]
fn other_errors_end_the_run_with_the_servers_words() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::RefuseEach(100, 1290)),
        ..NullServerBehavior::default()
    });
    let error = go(&bench.plan(WorkloadName::OltpPointSelect, 10_000)).unwrap_err();
    assert!(
        matches!(&error, LoadError::Statement { code: 1290, message, .. } if message == "asked to refuse"),
        "{error}"
    );
    assert!(
        error.to_string().starts_with("`SELECT c FROM sbtest"),
        "{error}"
    );
}

#[test]
fn a_server_that_dies_ends_the_run_with_its_address() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::CloseAfter(1_000)),
        ..NullServerBehavior::default()
    });
    let began = Instant::now();
    let plan = LoadPlan {
        reactors: 2,
        ..bench.plan(WorkloadName::OltpPointSelect, 60_000)
    };
    let error = go(&plan).unwrap_err();
    assert!(matches!(error, LoadError::ConnectionLost { .. }), "{error}");
    let address = bench.server.address().to_string();
    assert!(error.to_string().contains(&address), "{error}");
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[test]
fn lost_connections_are_made_again_when_that_is_asked_for() {
    for reactors in [1, 2] {
        let bench = Bench::new(NullServerBehavior {
            fault: Some(Fault::CloseOnceAfter(1_000)),
            delay: Duration::from_micros(200),
            ..NullServerBehavior::default()
        });
        let plan = LoadPlan {
            reactors,
            reconnect: true,
            measure: None,
            max_events: Some(3_000),
            ..bench.plan(WorkloadName::OltpPointSelect, 0)
        };
        let outcome = go(&plan).unwrap().0;
        assert_eq!(outcome.counts.transactions, 3_000);
        assert_eq!(outcome.counts.reconnects, 4);
        assert_eq!(outcome.counts.errors, 0);
        assert_eq!(outcome.unfinished, 0);
        assert!(
            (1..=4).contains(&outcome.outages.len()),
            "{:?}",
            outcome.outages
        );
        assert!(outcome.outages[0].length_s > 0.0);
    }
}

#[test]
fn connections_are_made_again_after_their_number_of_transactions() {
    for reactor in [ReactorKind::Epoll, ReactorKind::Auto] {
        let bench = Bench::new(NullServerBehavior::default());
        let plan = LoadPlan {
            reactor,
            reconnect_every: Some(10),
            measure: None,
            max_events: Some(400),
            ..bench.plan(WorkloadName::OltpPointSelect, 0)
        };
        let outcome = go(&plan).unwrap().0;
        assert_eq!(outcome.counts.transactions, 400);
        // A connection goes when it turns to its eleventh transaction, if there is one.
        let reconnects = outcome.counts.reconnects;
        assert!((36..=39).contains(&reconnects), "{reconnects}");
        assert!(outcome.outages.is_empty());
        assert_eq!(outcome.unfinished, 0);
    }
}

#[test]
fn a_connection_that_was_lost_is_not_one_that_was_to_be_made_again() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::CloseAfter(100)),
        ..NullServerBehavior::default()
    });
    let plan = LoadPlan {
        reconnect_every: Some(1_000),
        ..bench.plan(WorkloadName::OltpPointSelect, 60_000)
    };
    let error = go(&plan).unwrap_err();
    assert!(matches!(error, LoadError::ConnectionLost { .. }), "{error}");
}

#[test]
fn a_server_that_does_not_come_back_does_not_hold_the_run() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::CloseAfter(100)),
        ..NullServerBehavior::default()
    });
    let began = Instant::now();
    let plan = LoadPlan {
        reconnect: true,
        ..bench.plan(WorkloadName::OltpPointSelect, 500)
    };
    let (outcome, _) = go(&plan).unwrap();
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(outcome.counts.transactions, 100);
}

#[test]
fn a_server_that_falls_silent_does_not_hold_the_run() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::HangAfter(100)),
        ..NullServerBehavior::default()
    });
    let began = Instant::now();
    let (outcome, intervals) = go(&bench.plan(WorkloadName::OltpPointSelect, 500)).unwrap();
    assert!(began.elapsed() < Duration::from_millis(500) + Duration::from_secs(5));
    assert_eq!(outcome.unfinished, 4);
    assert_eq!(outcome.counts.transactions, 100);
    assert_eq!(
        intervals.len(),
        5,
        "intervals without a reply are intervals too"
    );
    assert_eq!(intervals[4].record.transactions, 0);
}

#[test]
fn nonsense_instead_of_a_reply_is_called_that() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::NonsenseAfter(10)),
        ..NullServerBehavior::default()
    });
    let error = go(&bench.plan(WorkloadName::OltpPointSelect, 20_000)).unwrap_err();
    assert!(matches!(error, LoadError::Protocol { .. }), "{error}");
}

#[test]
fn servers_that_end_result_sets_in_the_old_way_are_understood() {
    let bench = Bench::new(NullServerBehavior {
        eof_packets: true,
        ..NullServerBehavior::default()
    });
    let plan = LoadPlan {
        max_events: Some(20),
        measure: None,
        ..bench.plan(WorkloadName::OltpReadOnly, 0)
    };
    assert_eq!(go(&plan).unwrap().0.counts.reads, 20 * 14);
}

#[test]
fn a_stop_ends_the_run_and_keeps_what_was_measured() {
    let bench = Bench::new(NullServerBehavior::default());
    let stop = AtomicBool::new(false);
    let plan = bench.plan(WorkloadName::OltpReadWrite, 600_000);
    let mut intervals = 0;
    let outcome = run(&plan, &stop, &mut |_| {
        intervals += 1;
        if intervals == 3 {
            stop.store(true, Ordering::Relaxed);
        }
    })
    .unwrap();
    assert!(outcome.stopped_early);
    assert!(outcome.counts.transactions > 0);
    assert!(outcome.measured_s >= 0.3 && outcome.measured_s < 60.0);
}

/// Who is told of intervals may be held up; what is sampled beside the load needs the true time.
#[test]
fn the_measurements_begin_does_not_depend_on_who_is_told() {
    let bench = Bench::new(NullServerBehavior::default());
    let plan = LoadPlan {
        warmup: Duration::from_millis(300),
        ..bench.plan(WorkloadName::OltpPointSelect, 300)
    };
    let began = Instant::now();
    let outcome = run(&plan, &AtomicBool::new(false), &mut |_| {
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
        // The third has none.
        connections: 2,
        more_addresses: benches[1..]
            .iter()
            .map(|b| b.server.address().clone())
            .collect(),
        ..benches[0].plan(WorkloadName::OltpPointSelect, 200)
    };
    let outcome = go(&plan).unwrap().0;
    let executed = benches.each_ref().map(|bench| bench.server.executed());
    assert!(executed[0] > 0 && executed[1] > 0, "{executed:?}");
    assert_eq!(executed[2], 0);
    assert!(outcome.counts.transactions <= executed.iter().sum());
}

#[test]
fn nobody_at_the_address_is_said_so() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::new(NullServerBehavior::default());
    let mut plan = bench.plan(WorkloadName::OltpReadWrite, 100);
    plan.endpoint.address = weir_model::Address::Socket(directory.path().join("nobody"));
    let error = go(&plan).unwrap_err();
    assert!(matches!(error, LoadError::Connect { .. }), "{error}");
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("silent");
    // The kernel completes the connection; nobody accepts it.
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let bench = Bench::new(NullServerBehavior::default());
    let mut plan = bench.plan(WorkloadName::OltpReadWrite, 100);
    plan.endpoint.address = weir_model::Address::Socket(socket);
    plan.init_timeout = Duration::from_millis(200);
    let error = go(&plan).unwrap_err();
    assert!(
        error.to_string().contains("no answer within 0.2 s"),
        "{error}"
    );
}

#[test]
fn users_who_think_ask_no_faster_than_they_think() {
    let bench = Bench::new(NullServerBehavior::default());
    for kind in [ThinkKind::Constant, ThinkKind::Exponential] {
        let plan = LoadPlan {
            think: Think {
                mean: Duration::from_millis(10),
                kind,
            },
            measure: None,
            max_events: Some(100),
            ..bench.plan(WorkloadName::OltpPointSelect, 0)
        };
        let (outcome, _) = go(&plan).unwrap();
        assert_eq!(outcome.counts.transactions, 100);
        // 25 each with 24 pauses; the sum of exponential ones may be half of its mean.
        assert!(
            outcome.measured_s > 0.12,
            "{kind:?}: {}",
            outcome.measured_s
        );
        // Thinking is not waiting: it is in no latency.
        assert!(outcome.latency_us(50.0) < 10_000.0, "{kind:?}");
    }
}

#[test]
fn connections_begin_one_after_the_other_in_a_ramp() {
    let bench = Bench::new(NullServerBehavior {
        delay: Duration::from_millis(1),
        ..NullServerBehavior::default()
    });
    let plan = LoadPlan {
        connections: 10,
        connection_ramp: Duration::from_secs(1),
        ..bench.plan(WorkloadName::OltpPointSelect, 1_000)
    };
    let (_, intervals) = go(&plan).unwrap();
    let at_work: Vec<_> = intervals.iter().map(|i| i.concurrency).collect();
    assert!(at_work[1] <= 3, "{at_work:?}");
    assert!(at_work[8] > 5, "{at_work:?}");
    assert!(
        at_work[..9].windows(2).all(|pair| pair[0] <= pair[1]),
        "{at_work:?}"
    );
}

#[test]
fn a_rate_can_begin_low() {
    let bench = Bench::new(NullServerBehavior::default());
    let plan = LoadPlan {
        rate: Some(Rate {
            per_s: 1_000.0,
            arrivals: ArrivalKind::Constant,
            ramp: Some(RateRamp {
                from_per_s: 0.0,
                length: Duration::from_secs(1),
            }),
        }),
        ..bench.plan(WorkloadName::OltpPointSelect, 1_000)
    };
    let (outcome, _) = go(&plan).unwrap();
    // The triangle under the ramp.
    let due = outcome.open_loop.unwrap().due;
    assert!((499..=501).contains(&due), "{due}");
    let both = LoadPlan {
        think: Think {
            mean: Duration::from_millis(1),
            kind: ThinkKind::Constant,
        },
        ..plan
    };
    assert!(go(&both).unwrap_err().to_string().contains("think time"));
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

#[test]
fn a_server_that_does_not_compress_is_named_with_what_to_do() {
    let bench = Bench::new(NullServerBehavior::default());
    let plan = LoadPlan {
        compression: Some(Compression::Zlib),
        ..bench.plan(WorkloadName::OltpPointSelect, 100)
    };
    let error = go(&plan).unwrap_err().to_string();
    let address = bench.server.address();
    let start = format!("connect to {address}: the server does not offer zlib compression; ");
    assert!(error.starts_with(&start), "{error}");
    assert!(error.ends_with("leave --mysql-compression out"), "{error}");
}
