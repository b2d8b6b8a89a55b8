//! A server that is far away, behind a network that loses what is sent, or behind a proxy.

#![allow(clippy::unwrap_used)] // helpers of tests fail as tests do

mod addresses;
mod proxies;
mod start_up;

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use weir_load::{LoadError, LoadOutcome, LoadPlan, PreparePlan, prepare, run};
use weir_model::{Address, Endpoint, Flavor, Secret, WorkloadName};
use weir_mysql::Gate;
use weir_server::PrivateServer;
use weir_testing::on_both_flavors;
use weir_testing::{Fault, Relay};

/// One way.
const DELAY: Duration = Duration::from_millis(20);
const CONNECTIONS: u32 = 256;
const TABLES: u32 = 100;

/// A server with tables, and where it is for an account that logs in over TCP.
fn server(flavor: Flavor, tables: u32) -> (PrivateServer, tempfile::TempDir, u16, Endpoint) {
    let limits = [
        ("max_connections", "1000"),
        ("max_prepared_stmt_count", "1000000"),
        ("table_open_cache", "4000"),
    ];
    let (server, directory, port) = weir_testing::start_on_tcp(flavor, &limits);
    let mut session = server.session().unwrap();
    for statement in [
        "CREATE USER far@'127.0.0.1' IDENTIFIED BY 'away'",
        "GRANT ALL ON *.* TO far@'127.0.0.1'",
    ] {
        session.run("make an account", statement).unwrap();
    }
    make_tables(&server, tables);
    let endpoint = Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), port),
        user: "far".to_owned(),
        password: Secret::new("away"),
        ..server.endpoint()
    };
    (server, directory, port, endpoint)
}

fn make_tables(server: &PrivateServer, tables: u32) {
    let mut plan = PreparePlan::new(server.endpoint(), WorkloadName::OltpReadOnly);
    plan.threads = 2;
    plan.tables.tables = tables;
    plan.tables.rows = 10;
    plan.tables.secondary_index = false;
    prepare(&plan, &Gate::own(), &AtomicBool::new(false), &mut |_, _| {}).unwrap();
}

fn go(plan: &LoadPlan) -> Result<LoadOutcome, LoadError> {
    run(plan, &Gate::own(), &AtomicBool::new(false), &mut |_| {})
}

fn behind(relay: &Relay, endpoint: &Endpoint) -> Endpoint {
    Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), relay.port()),
        ..endpoint.clone()
    }
}

/// As many round trips as sysbench makes, one connection or one statement after the other, do not fit into the
/// time that a run has to start.
fn many_connections_and_tables_are_ready_in_time(flavor: Flavor) {
    let (_server, _directory, port, endpoint) = server(flavor, TABLES);
    let relay = Relay::start(port, DELAY);
    let mut plan = LoadPlan::new(behind(&relay, &endpoint), WorkloadName::OltpReadOnly);
    (plan.tables, plan.rows, plan.load.connections) = (TABLES, 10, CONNECTIONS);
    // One after the other they would take hours; a busy machine needs more than the usual half a minute.
    plan.init_timeout = Duration::from_mins(2);
    // A transaction of 16 round trips takes 640 ms where nothing else does.
    plan.load.measure = Duration::from_secs(4).into();
    let outcome = go(&plan).unwrap_or_else(|error| panic!("{error}"));
    assert!(outcome.counts.transactions > 0);
    assert!(relay.accepted() > CONNECTIONS as usize);
}

/// Whatever becomes of the packets while connections are made, it ends in time and in one line.
fn what_vanishes_on_the_way_ends_the_start_in_one_line(flavor: Flavor) {
    let (_server, _directory, port, endpoint) = server(flavor, 1);
    for fault in [Fault::Stall, Fault::Swallow, Fault::HalfClose, Fault::Reset] {
        let relay = Relay::start(port, Duration::ZERO);
        relay.set(fault);
        let mut plan = LoadPlan::new(behind(&relay, &endpoint), WorkloadName::OltpReadOnly);
        (plan.rows, plan.load.connections) = (10, 4);
        plan.init_timeout = Duration::from_secs(2);
        let began = Instant::now();
        let error = go(&plan).unwrap_err().to_string();
        assert_eq!(error.lines().count(), 1, "{fault:?}: {error}");
        assert!(error.contains("127.0.0.1"), "{fault:?}: {error}");
        assert!(began.elapsed() < Duration::from_secs(20), "{fault:?}");
    }
}

/// And while the load runs.
fn what_vanishes_during_a_run_ends_it_in_one_line(flavor: Flavor) {
    let (_server, _directory, port, endpoint) = server(flavor, 1);
    for fault in [Fault::Stall, Fault::HalfClose, Fault::Reset] {
        let relay = Relay::start(port, Duration::from_millis(1));
        let mut plan = LoadPlan::new(behind(&relay, &endpoint), WorkloadName::OltpReadOnly);
        (plan.rows, plan.load.connections) = (10, 4);
        plan.interval = Duration::from_secs(1);
        plan.load.measure = Duration::from_secs(3).into();
        let began = Instant::now();
        let stop = AtomicBool::new(false);
        let result = run(&plan, &Gate::own(), &stop, &mut |_| relay.set(fault));
        match (fault, result) {
            // Transactions that never end are counted, and the time is over.
            (Fault::Stall, Ok(outcome)) => assert!(outcome.counts.transactions > 0),
            (_, Err(error)) => {
                let error = error.to_string();
                assert_eq!(error.lines().count(), 1, "{fault:?}: {error}");
            }
            (fault, Ok(_)) => panic!("{fault:?} was not noticed"),
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{fault:?}");
    }
}

on_both_flavors!(
    many_connections_and_tables_are_ready_in_time
    what_vanishes_on_the_way_ends_the_start_in_one_line
    what_vanishes_during_a_run_ends_it_in_one_line
);
