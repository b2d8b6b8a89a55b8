//! Addresses: IPv6, names with several of them.

use std::net::TcpListener;
use std::time::Duration;

use weir_load::LoadPlan;
use weir_model::{Address, Endpoint, Flavor, Secret, WorkloadName};
use weir_testing::{on_both_flavors, skipped};

use super::{go, make_tables};

on_both_flavors!(a_server_on_ipv6_is_loaded);

fn a_server_on_ipv6_is_loaded(flavor: Flavor) {
    let Ok(free) = TcpListener::bind(("::1", 0)) else {
        skipped("a server on IPv6", "this host has no ::1");
        return;
    };
    let port = free.local_addr().unwrap().port();
    drop(free);
    let port_text = port.to_string();
    let listening = [
        ("skip_networking", "OFF"),
        ("bind_address", "::1"),
        ("port", &port_text),
    ];
    let (server, _directory) = weir_testing::start_with(flavor, &listening);
    let mut session = server.session().unwrap();
    for statement in [
        "CREATE USER far@'::1' IDENTIFIED BY 'away'",
        "GRANT ALL ON *.* TO far@'::1'",
    ] {
        session.run("make an account", statement).unwrap();
    }
    make_tables(&server, 1);
    let endpoint = Endpoint {
        address: Address::Tcp("::1".to_owned(), port),
        user: "far".to_owned(),
        password: Secret::new("away"),
        ..server.endpoint()
    };
    let mut plan = LoadPlan::new(endpoint, WorkloadName::OltpReadOnly);
    (plan.rows, plan.load.connections) = (10, 2);
    plan.load.measure = Duration::from_secs(20).into();
    plan.max_events = Some(20);
    assert_eq!(go(&plan).unwrap().counts_whole_run.transactions, 20);
    // What nobody listens to is named with its brackets.
    drop(server);
    let error = go(&plan).unwrap_err().to_string();
    assert!(error.contains(&format!("[::1]:{port}")), "{error}");
}
