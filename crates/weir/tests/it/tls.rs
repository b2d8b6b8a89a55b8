//! One policy of encryption for control, probes and load: the same answer to whether this is the right
//! server, and the same ciphers.

use std::sync::atomic::AtomicBool;

use weir_load::LoadPlan;
use weir_model::{Address, Endpoint, Flavor, Secret, Tls, TlsMode, WorkloadName};
use weir_mysql::Gate;
use weir_probe::{Probe as _, Readings, ServerProbe};
use weir_server::Session;
use weir_testing::on_both_flavors;

use crate::users::{PASSWORD, Users};

/// The only cipher that the server takes.
const CIPHER: &str = "ECDHE-ECDSA-AES128-GCM-SHA256";
const OTHER_CIPHER: &str = "ECDHE-ECDSA-AES256-GCM-SHA384";

fn endpoint(users: &Users, authority: &str, ciphers: &[&str]) -> Endpoint {
    Endpoint {
        address: Address::Tcp("127.0.0.1".to_owned(), users.port),
        user: "app".to_owned(),
        password: Secret::new(PASSWORD),
        database: "sbtest".to_owned(),
        tls: Tls {
            mode: TlsMode::VerifyCa,
            authority: Some(users.world.path(authority)),
            ciphers: ciphers.iter().map(|name| (*name).to_owned()).collect(),
            ..Tls::default()
        },
    }
}

/// What control, a probe and a load say of an endpoint.
fn answers(endpoint: &Endpoint) -> [(&'static str, Result<(), String>); 3] {
    let control = Session::open(endpoint, &Gate::reading());
    let mut readings = Readings::default();
    let probe = ServerProbe::new(endpoint.clone()).sample(&mut readings);
    let mut plan = LoadPlan::new(endpoint.clone(), WorkloadName::OltpPointSelect);
    plan.max_events = Some(1);
    plan.rows = 1;
    let never = AtomicBool::new(false);
    let load = weir_load::run(&plan, &Gate::reading(), &never, &mut |_| {});
    [
        (
            "control",
            control.map(drop).map_err(|error| error.to_string()),
        ),
        ("probe", probe.map_err(|error| error.to_string())),
        ("load", load.map(drop).map_err(|error| error.to_string())),
    ]
}

fn control_probes_and_load_have_one_policy(flavor: Flavor) {
    let users = Users::with(
        flavor,
        &[("tls_version", "TLSv1.2"), ("ssl_cipher", CIPHER)],
    );
    let mut session = users.server().session().unwrap();
    for statement in [
        "CREATE TABLE sbtest.sbtest1 (id INT PRIMARY KEY, c CHAR(120))",
        "INSERT INTO sbtest.sbtest1 VALUES (1, 'x')",
    ] {
        session.run("make a table", statement).unwrap();
    }
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    users.world.write("other.pem", &other.cert.pem());

    for (who, answer) in answers(&endpoint(&users, "server.pem", &[])) {
        assert_eq!(answer, Ok(()), "{who}");
    }
    for (who, answer) in answers(&endpoint(&users, "other.pem", &[])) {
        let error = answer.unwrap_err();
        assert!(error.contains("certificate"), "{who}: {error}");
    }

    for (who, answer) in answers(&endpoint(&users, "server.pem", &[OTHER_CIPHER])) {
        let error = answer.unwrap_err().to_lowercase();
        assert!(
            error.contains("tls") || error.contains("handshake"),
            "{who}: {error}"
        );
    }
    for (who, answer) in answers(&endpoint(&users, "server.pem", &[CIPHER])) {
        assert_eq!(answer, Ok(()), "{who}");
    }
}

on_both_flavors!(control_probes_and_load_have_one_policy);
