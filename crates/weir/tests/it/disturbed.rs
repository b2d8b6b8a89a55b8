//! What happens to a server while it is loaded is in the result.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use weir_model::{Address, Endpoint, Flavor, Secret, Tls};
use weir_mysql::Gate;
use weir_server::Session;

use crate::harness::{Output, World, signal, wait_until};
use crate::run::{name, quick_study, result, run};

weir_testing::on_both_flavors! {
    a_stall_is_a_gap_and_changed_durability_makes_the_verdict_invalid
}

/// A control connection to the server that a study runs on, as its own option file describes it.
fn session_of(server: u32) -> Option<Session> {
    let command = fs::read_to_string(format!("/proc/{server}/cmdline")).ok()?;
    let mut words = command.split('\0');
    let options = words.find_map(|word| word.strip_prefix("--defaults-file="))?;
    let options = fs::read_to_string(options).ok()?;
    let value = |name: &str| {
        let mut lines = options.lines();
        let line = lines.find_map(|line| line.strip_prefix(name));
        line.map(|rest| {
            rest.trim_start_matches([' ', '='])
                .trim_matches('"')
                .to_owned()
        })
    };
    let note = fs::read_to_string(Path::new(&value("datadir")?).join("weir-data.json")).ok()?;
    let note: Value = serde_json::from_str(&note).ok()?;
    let endpoint = Endpoint {
        address: Address::Socket(value("socket")?.into()),
        user: "weir".into(),
        password: Secret::new(note["password"].as_str()?),
        database: "sbtest".into(),
        tls: Tls::default(),
    };
    Session::open(&endpoint, &Gate::own()).ok()
}

/// What happens to a server under load is in the result: a time without answers as a gap, durability that
/// was changed as an invalid verdict.
fn a_stall_is_a_gap_and_changed_durability_makes_the_verdict_invalid(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let long = quick_study(flavor).replace("measure = \"2s\"", "measure = \"6s\"");
    let study = world.write("study.toml", &long);
    let child = run(&world, &study).spawn();
    let mut session = None;
    wait_until("the server is loaded", || {
        let server = world.live_pids("server").first().copied();
        session = server.and_then(session_of);
        let running = session.as_mut().and_then(|session| session.status().ok());
        running.is_some_and(|status| status["Com_commit"].parse::<u64>().unwrap() > 100)
    });
    let server = world.live_pids("server")[0];
    signal(server, "STOP");
    std::thread::sleep(Duration::from_millis(2500));
    signal(server, "CONT");
    let change = "SET GLOBAL innodb_flush_log_at_trx_commit = 0";
    session.unwrap().run("change durability", change).unwrap();
    let output = Output::from(child.wait_with_output().unwrap());
    assert_eq!(output.code, Some(3), "{}{}", output.stdout, output.stderr);
    let result = result(&world);
    let run = &result["runs"][0];
    assert_eq!(
        run["variables_changed"]["innodb_flush_log_at_trx_commit"],
        "0"
    );
    let findings = result["comparisons"][0]["findings"].to_string();
    assert!(
        findings.contains("durability changed under the run"),
        "{findings}"
    );
    let gaps = run["gaps"].to_string();
    assert!(gaps.contains("server status"), "{gaps}");
    world.assert_nothing_left();
}
