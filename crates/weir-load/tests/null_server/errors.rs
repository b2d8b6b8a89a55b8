//! Refusals of a server, and its wrong answers.

use std::time::Duration;

use weir_load::{Fault, LoadError, LoadPlan, NullServerBehavior, ToleratedErrors};
use weir_model::{LoadSpec, WorkloadName};
use weir_mysql::{ClientError, Compression};

use crate::{Bench, go};

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
            load: LoadSpec {
                measure: weir_model::Duration::default(),
                ..bench.plan(WorkloadName::OltpWriteOnly, 0).load
            },
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
            tolerated: ToleratedErrors::All,
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
        matches!(&error, LoadError::Client(ClientError::Statement { code: 1290, message, .. }) if message == "asked to refuse"),
        "{error}"
    );
    assert!(
        error.to_string().starts_with("`SELECT c FROM sbtest"),
        "{error}"
    );
}

#[test]
fn nonsense_instead_of_a_reply_is_called_that() {
    let bench = Bench::new(NullServerBehavior {
        fault: Some(Fault::NonsenseAfter(10)),
        ..NullServerBehavior::default()
    });
    let error = go(&bench.plan(WorkloadName::OltpPointSelect, 20_000)).unwrap_err();
    assert!(
        matches!(error, LoadError::Client(ClientError::Protocol { .. })),
        "{error}"
    );
}

#[test]
fn nobody_at_the_address_is_said_so() {
    let directory = tempfile::tempdir().unwrap();
    let bench = Bench::new(NullServerBehavior::default());
    let mut plan = bench.plan(WorkloadName::OltpReadWrite, 100);
    plan.endpoint.address = weir_model::Address::Socket(directory.path().join("nobody"));
    let error = go(&plan).unwrap_err();
    assert!(
        matches!(error, LoadError::Client(ClientError::Connect { .. })),
        "{error}"
    );
    assert!(!error.to_string().contains("secret"));
}

#[test]
fn a_server_that_does_not_compress_is_named_with_what_to_do() {
    let bench = Bench::new(NullServerBehavior::default());
    let plan = LoadPlan {
        load: LoadSpec {
            compression: Compression::Zlib.into(),
            ..bench.plan(WorkloadName::OltpPointSelect, 100).load
        },
        ..bench.plan(WorkloadName::OltpPointSelect, 100)
    };
    let error = go(&plan).unwrap_err().to_string();
    let address = bench.server.address();
    let start = format!("connect to {address}: the server does not offer zlib compression; ");
    assert!(error.starts_with(&start), "{error}");
    assert!(error.ends_with("leave --mysql-compression out"), "{error}");
}
