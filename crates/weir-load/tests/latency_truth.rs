//! What is reported is what the server's own clock says, on either kind of reactor.
//!
//! Bounds are wide, because this machine is shared; `make bench-load` prints the tight numbers.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_load::{
    ArrivalKind, DelayKind, LoadPlan, NullServer, NullServerBehavior, Rate, ReactorKind, run,
};
use weir_model::{Endpoint, Secret, WorkloadName};

#[test]
fn percentiles_are_those_of_the_servers_clock() {
    for reactor in [ReactorKind::Epoll, ReactorKind::IoUring] {
        for delays in [DelayKind::Constant, DelayKind::Exponential] {
            let directory = tempfile::tempdir().unwrap();
            let behavior = NullServerBehavior {
                delay: Duration::from_millis(10),
                delays,
                ..NullServerBehavior::default()
            };
            let server = NullServer::start(&directory.path().join("s"), behavior).unwrap();
            let endpoint = Endpoint {
                address: server.address(),
                user: "weir".to_owned(),
                password: Secret::new("secret"),
                database: "sbtest".to_owned(),
                tls: weir_model::Tls::default(),
            };
            let plan = LoadPlan {
                connections: 32,
                reactor,
                rate: Some(Rate {
                    per_s: 1_000.0,
                    arrivals: ArrivalKind::Constant,
                }),
                measure: Some(Duration::from_secs(1)),
                ..LoadPlan::new(endpoint, WorkloadName::OltpPointSelect)
            };
            let outcome = run(&plan, &AtomicBool::new(false), &mut |_| {}).unwrap();
            let (truth, seen) = (server.service(), &outcome.open_loop.unwrap().service);
            let what = format!("{reactor:?} {delays:?}: {truth:?} {seen:?}");
            // A client can only see more than the server took.
            assert!(seen.us_p50 >= truth.us_p50 * 0.97, "{what}");
            assert!(seen.us_p99 >= truth.us_p99 * 0.9, "{what}");
            assert!(seen.us_p50 < truth.us_p50 * 1.5 + 5_000.0, "{what}");
        }
    }
}
