//! A reported latency is never less than that by the server's own clock, on either kind of reactor.
//!
//! Here the system's clock, sockets and scheduler are real and the machine is shared: how much later than
//! the server's clock a client sees a reply is the machine's, and `make bench-load` measures it (`truth`).
//! That the arithmetic is exact is proved in simulated time (`src/reactor/tests/simulated.rs`).

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_load::{DelayKind, LoadPlan, NullServer, NullServerBehavior, OpenLoop, ReactorKind, run};
use weir_model::{ArrivalKind, LatencySummary, LoadSpec, Rate, WorkloadName};
use weir_mysql::Gate;

const TRANSACTIONS: u64 = 2_000;

#[test]
fn nothing_is_told_faster_than_the_servers_clock() {
    for is_tcp in [false, true] {
        for reactor in [ReactorKind::Epoll, ReactorKind::IoUring] {
            for delays in [DelayKind::Constant, DelayKind::Exponential] {
                let (truth, paced) = measure(is_tcp, reactor, delays);
                let seen = &paced.service;
                // Both know the same replies, one by one slower by the client's clock; a histogram keeps three digits.
                assert!(seen.us_p50 >= truth.us_p50 * 0.999, "{truth:?} {seen:?}");
                assert!(seen.us_p99 >= truth.us_p99 * 0.999, "{truth:?} {seen:?}");
            }
        }
    }
}

/// Service times by the server's clock, and what the client says.
fn measure(is_tcp: bool, reactor: ReactorKind, delays: DelayKind) -> (LatencySummary, OpenLoop) {
    let directory = tempfile::tempdir().unwrap();
    let behavior = NullServerBehavior {
        delay: Duration::from_millis(10),
        delays,
        ..NullServerBehavior::default()
    };
    let server = if is_tcp {
        NullServer::start_tcp(0, behavior).unwrap()
    } else {
        NullServer::start(&directory.path().join("s"), behavior).unwrap()
    };
    let endpoint = server.endpoint();
    let plan = LoadPlan {
        reactor,
        load: LoadSpec {
            connections: 256,
            pace: Some(Rate {
                per_s: 4_000.0,
                arrivals: ArrivalKind::Constant,
                ramp: None,
            })
            .into(),
            measure: Duration::from_mins(1).into(),
            ..LoadSpec::default()
        },
        // An end by time would leave replies to the server's clock alone: a stall among them once moved its p99.
        max_events: Some(TRANSACTIONS),
        ..LoadPlan::new(endpoint, WorkloadName::OltpPointSelect)
    };
    let outcome = run(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {}).unwrap();
    assert_eq!(server.executed(), TRANSACTIONS);
    assert_eq!(outcome.counts.transactions, TRANSACTIONS);
    (server.service(), outcome.open_loop.unwrap())
}
