//! Proxies that cannot do all that a server does.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weir_load::{
    LoadPlan, LoadingStep, PreparePlan, ToleratedErrors, cleanup, prepare, prepare_observed,
};
use weir_model::{ArrivalKind, Flavor, Rate, WorkloadName};
use weir_mysql::Gate;
use weir_testing::{Fault, Relay, on_both_flavors};

use super::{behind, go, server};

on_both_flavors!(
    a_proxy_that_prepares_no_statements_is_loaded_with_text
    a_proxy_that_refuses_files_is_given_inserts
    connections_that_a_proxy_ends_when_idle_are_made_again_when_tolerated
    connections_that_the_server_ends_when_idle_are_made_again_when_tolerated
);

/// As users do: tables, all kinds of loads, clean-up.
fn a_proxy_that_prepares_no_statements_is_loaded_with_text(flavor: Flavor) {
    let (_server, _directory, port, endpoint) = server(flavor, 1);
    let relay = Relay::start(port, Duration::ZERO);
    relay.set(Fault::RefusePrepares);
    let endpoint = behind(&relay, &endpoint);
    let mut plan = LoadPlan::new(endpoint.clone(), WorkloadName::OltpReadOnly);
    plan.rows = 10;
    let error = go(&plan).unwrap_err().to_string();
    assert!(error.contains("--db-ps-mode=disable"), "{error}");
    let mut tables = PreparePlan::new(endpoint.clone(), WorkloadName::OltpReadWrite);
    cleanup(&tables, &Gate::own()).unwrap();
    tables.tables.rows = 100;
    let never = AtomicBool::new(false);
    prepare(&tables, &Gate::own(), &never, &mut |_, _| {}).unwrap();
    for workload in [
        WorkloadName::OltpReadWrite,
        WorkloadName::OltpInsert,
        WorkloadName::OltpDelete,
        WorkloadName::SelectRandomRanges,
    ] {
        let mut plan = LoadPlan::new(endpoint.clone(), workload);
        (plan.rows, plan.load.connections) = (100, 2);
        (plan.prepared_statements, plan.max_events) = (false, Some(20));
        let outcome = go(&plan).unwrap_or_else(|error| panic!("{workload}: {error}"));
        assert_eq!(outcome.counts_whole_run.transactions, 20, "{workload}");
    }
    cleanup(&tables, &Gate::own()).unwrap();
}

/// By the errors that proxies and clients' libraries give: an unknown command, no such file, not allowed.
fn a_proxy_that_refuses_files_is_given_inserts(flavor: Flavor) {
    let (server, _directory, port, endpoint) = server(flavor, 1);
    let mut session = server.session().unwrap();
    session
        .run("let it take files", "SET GLOBAL local_infile = 1")
        .unwrap();
    let relay = Relay::start(port, Duration::ZERO);
    let mut tables = PreparePlan::new(behind(&relay, &endpoint), WorkloadName::OltpReadWrite);
    (tables.tables.tables, tables.tables.rows, tables.threads) = (2, 1_000, 2);
    let mut sums = Vec::new();
    for fault in [
        Fault::None,
        Fault::RefuseFiles(1047),
        Fault::RefuseFiles(2),
        Fault::RefuseFiles(1148),
    ] {
        relay.set(fault);
        cleanup(&tables, &Gate::own()).unwrap();
        let told = Mutex::new(Vec::new());
        let tell = |step: LoadingStep<'_>| {
            if let LoadingStep::Inserts(words) = step {
                told.lock().unwrap().push(words.to_owned());
            }
        };
        let never = AtomicBool::new(false);
        prepare_observed(&tables, &Gate::own(), &never, &mut |_, _| {}, &tell).unwrap();
        let told = told.into_inner().unwrap();
        assert_eq!(told.len(), usize::from(fault != Fault::None), "{told:?}");
        let mut oracle = weir_testing::connect(&endpoint);
        let sum = "CHECKSUM TABLE sbtest1, sbtest2 EXTENDED";
        sums.push(oracle.rows::<(String, u64)>(sum).unwrap());
    }
    assert!(sums.iter().all(|sum| *sum == sums[0]), "{sums:?}");
}

/// A transaction in 2.5 s, by one of two connections, which something ends after some 1 s. So much later than that the next
/// one is due that a late end meets no request.
fn at_leisure(plan: &mut LoadPlan) {
    (plan.rows, plan.load.connections) = (10, 2);
    plan.load.measure = Duration::from_secs(6).into();
    let rate = Rate {
        per_s: 0.4,
        arrivals: ArrivalKind::Constant,
        ramp: None,
    };
    plan.load.pace = Some(rate).into();
}

/// Without leave it ends the load in one line, which has `words`; with it, connections are made again and counted
/// under `code`.
fn check_loss(mut plan: LoadPlan, code: u16, words: &str) {
    at_leisure(&mut plan);
    let error = go(&plan).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains(words), "{error}");
    for tolerated in [vec![2006, 2013, 4031], vec![4031]] {
        plan.tolerated = ToleratedErrors::Codes(tolerated);
        let outcome = go(&plan).unwrap_or_else(|error| panic!("{error}"));
        assert!(outcome.counts_whole_run.reconnects > 0, "{outcome:?}");
        assert!(outcome.counts_whole_run.transactions > 0, "{outcome:?}");
        let codes: Vec<u16> = outcome.errors.iter().map(|error| error.code).collect();
        assert_eq!(codes, [code], "{outcome:?}");
    }
}

fn connections_that_a_proxy_ends_when_idle_are_made_again_when_tolerated(flavor: Flavor) {
    let (_server, _directory, port, endpoint) = server(flavor, 1);
    let relay = Relay::start(port, Duration::ZERO);
    relay.set(Fault::CloseIdle(Duration::from_millis(1_100)));
    let endpoint = behind(&relay, &endpoint);
    let plan = LoadPlan::new(endpoint, WorkloadName::OltpReadOnly);
    check_loss(plan, 2013, "without a statement; if wait_timeout");
}

fn connections_that_the_server_ends_when_idle_are_made_again_when_tolerated(flavor: Flavor) {
    let (server, _directory, _, endpoint) = server(flavor, 1);
    let mut session = server.session().unwrap();
    let impatient = "SET GLOBAL wait_timeout = 1";
    session.run("let it be impatient", impatient).unwrap();
    // MySQL says why it closes; MariaDB does not.
    let (code, words) = match flavor {
        Flavor::Mysql => (4031, "error 4031: The client was disconnected"),
        Flavor::Mariadb => (2013, "without a statement; if wait_timeout"),
    };
    for endpoint in [endpoint, server.endpoint()] {
        let plan = LoadPlan::new(endpoint, WorkloadName::OltpReadOnly);
        check_loss(plan, code, words);
    }
    let mut idle = weir_testing::connect(&server.endpoint());
    let limit = Instant::now() + Duration::from_mins(1);
    let others = "SELECT COUNT(*) FROM information_schema.processlist WHERE id = ";
    let is_there = |id: u32| {
        let mut looker = weir_testing::connect(&server.endpoint());
        looker.first::<u64>(format!("{others}{id}")).unwrap() == Some(1)
    };
    while is_there(idle.id()) {
        assert!(Instant::now() < limit, "the server ends idle connections");
        std::thread::sleep(Duration::from_millis(100));
    }
    let error = idle.run("SELECT 1").unwrap_err();
    assert!(error.is_lost(), "{error}");
    if flavor == Flavor::Mysql {
        assert!(error.to_string().contains(words), "{error}");
    }
}
