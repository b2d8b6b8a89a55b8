//! Delays that are in the latencies, and waits on purpose that are not.

use std::time::Duration;

use weir_load::{Fault, LoadPlan, NullServerBehavior};
use weir_model::{
    ArrivalKind, ClosedLoop, LoadSpec, Pace, Rate, RateRamp, ThinkKind, ThinkTime, WorkloadName,
};

use crate::{Bench, go};

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
            load: LoadSpec {
                rtt: Duration::from_millis(3).into(),
                ..bench.plan(workload, 500).load
            },
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
        reconnect: true,
        max_events: Some(400),
        load: LoadSpec {
            rtt: Duration::from_micros(500).into(),
            measure: weir_model::Duration::default(),
            ..bench.plan(WorkloadName::OltpPointSelect, 0).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect, 0)
    };
    let outcome = go(&plan).unwrap().0;
    assert_eq!(outcome.counts.transactions, 400);
    assert_eq!(outcome.counts.reconnects, 4);
}

#[test]
fn users_who_think_ask_no_faster_than_they_think() {
    let bench = Bench::new(NullServerBehavior::default());
    for kind in [ThinkKind::Constant, ThinkKind::Exponential] {
        let plan = LoadPlan {
            max_events: Some(100),
            load: LoadSpec {
                pace: ThinkTime {
                    mean: weir_model::Duration(Duration::from_millis(10)),
                    kind,
                }
                .into(),
                measure: weir_model::Duration::default(),
                ..bench.plan(WorkloadName::OltpPointSelect, 0).load
            },
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
fn paced_connections_ask_no_faster_than_they_are_paced() {
    let bench = Bench::new(NullServerBehavior {
        delay: Duration::from_millis(2),
        ..NullServerBehavior::default()
    });
    let paced = ClosedLoop {
        pacing: Duration::from_millis(40).into(),
        ..ClosedLoop::default()
    };
    let plan = LoadPlan {
        max_events: Some(40),
        load: LoadSpec {
            pace: Pace::Closed(paced),
            measure: weir_model::Duration::default(),
            ..bench.plan(WorkloadName::OltpPointSelect, 0).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect, 0)
    };
    let (outcome, _) = go(&plan).unwrap();
    assert_eq!(outcome.counts.transactions, 40);
    // Ten each: nine times from one to the next, and the last answer.
    assert!(outcome.measured_s > 0.36, "{}", outcome.measured_s);
    let latency = outcome.latency;
    assert!((2_000.0..40_000.0).contains(&latency.us_p50), "{latency:?}");
}

#[test]
fn connections_begin_one_after_the_other_in_a_ramp() {
    let bench = Bench::new(NullServerBehavior {
        delay: Duration::from_millis(1),
        ..NullServerBehavior::default()
    });
    let plan = LoadPlan {
        load: LoadSpec {
            connections: 10,
            connection_ramp: Duration::from_secs(1).into(),
            ..bench.plan(WorkloadName::OltpPointSelect, 1_000).load
        },
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
        load: LoadSpec {
            pace: Some(Rate {
                per_s: 1_000.0,
                arrivals: ArrivalKind::Constant,
                ramp: Some(RateRamp {
                    from_per_s: 0.0,
                    length: weir_model::Duration::from_secs(1),
                }),
            })
            .into(),
            ..bench.plan(WorkloadName::OltpPointSelect, 1_000).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect, 1_000)
    };
    let (outcome, _) = go(&plan).unwrap();
    // The triangle under the ramp.
    let due = outcome.open_loop.unwrap().due;
    assert!((499..=501).contains(&due), "{due}");
}
