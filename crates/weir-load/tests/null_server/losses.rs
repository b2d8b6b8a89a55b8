//! Connections that break, servers that die or fall silent.

use std::time::{Duration, Instant};

use weir_load::{Fault, LoadError, LoadPlan, NullServerBehavior, ReactorKind, ToleratedErrors};
use weir_model::{LoadSpec, WorkloadName};
use weir_mysql::ClientError;

use crate::{Bench, everywhere, go};

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
    assert!(
        matches!(error, LoadError::Client(ClientError::Lost { .. })),
        "{error}"
    );
    let address = bench.server.address().to_string();
    assert!(error.to_string().contains(&address), "{error}");
    assert!(began.elapsed() < Duration::from_secs(30));
}

/// Each of four connections is closed once, while 3,000 events are under way.
fn closes_once() -> NullServerBehavior {
    NullServerBehavior {
        fault: Some(Fault::CloseOnceAfter(1_000)),
        delay: Duration::from_micros(200),
        ..NullServerBehavior::default()
    }
}

fn of_3_000_events(bench: &Bench, reactor: ReactorKind) -> LoadPlan {
    let plan = bench.plan(WorkloadName::OltpPointSelect, 0);
    LoadPlan {
        reactor,
        reactors: 2,
        max_events: Some(3_000),
        load: LoadSpec {
            measure: weir_model::Duration::default(),
            ..plan.load.clone()
        },
        ..plan
    }
}

#[test]
fn lost_connections_are_made_again_when_that_is_asked_for() {
    everywhere(closes_once(), |bench, reactor| {
        let plan = LoadPlan {
            reconnect: true,
            ..of_3_000_events(&bench, reactor)
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
    });
}

#[test]
fn losses_among_the_tolerated_errors_are_counted_and_survived() {
    for tolerated in [
        ToleratedErrors::All,
        ToleratedErrors::Codes(vec![1213, 2013]),
        ToleratedErrors::Codes(vec![2006]),
        ToleratedErrors::Codes(vec![1053]),
    ] {
        everywhere(closes_once(), |bench, reactor| {
            let plan = LoadPlan {
                tolerated: tolerated.clone(),
                ..of_3_000_events(&bench, reactor)
            };
            let outcome = go(&plan).unwrap().0;
            assert_eq!(outcome.counts.transactions, 3_000);
            assert_eq!((outcome.counts.reconnects, outcome.counts.errors), (4, 4));
            let [error] = outcome.errors.as_slice() else {
                panic!("{:?}", outcome.errors);
            };
            assert_eq!((error.code, error.count), (2013, 4));
        });
    }
}

#[test]
fn connections_are_made_again_after_their_number_of_transactions() {
    everywhere(NullServerBehavior::default(), |bench, reactor| {
        let plan = LoadPlan {
            reactor,
            reconnect_every: Some(10),
            max_events: Some(400),
            load: LoadSpec {
                measure: weir_model::Duration::default(),
                ..bench.plan(WorkloadName::OltpPointSelect, 0).load
            },
            ..bench.plan(WorkloadName::OltpPointSelect, 0)
        };
        let outcome = go(&plan).unwrap().0;
        assert_eq!(outcome.counts.transactions, 400);
        // A connection goes when it turns to its eleventh transaction, if there is one.
        let reconnects = outcome.counts.reconnects;
        assert!((36..=39).contains(&reconnects), "{reconnects}");
        assert!(outcome.outages.is_empty());
        assert_eq!(outcome.unfinished, 0);
    });
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
    assert!(
        matches!(error, LoadError::Client(ClientError::Lost { .. })),
        "{error}"
    );
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
    assert!(began.elapsed() < Duration::from_secs(30));
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
    assert!(began.elapsed() < Duration::from_secs(30));
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
