//! Events that only a server of Weir's own can have: killed and shut down under load, a slow drive, its buffer pool;
//! and a rate that changes.

use std::fs;

use serde_json::Value;
use weir_model::Flavor;

use crate::harness::{Weir, World, wait_until};
use crate::run::{name, result, run};

weir_testing::on_both_flavors! {
    a_load_goes_on_through_a_server_that_ends_and_comes_back
}

/// An open loop on a private server, with `events`.
fn study(flavor: &str, measure: &str, events: &str) -> String {
    format!(
        r#"
        [study]
        title = "Events"
        question = "What does the load see of a server that ends?"
        [server]
        flavor = "{flavor}"
        [server.config]
        innodb_buffer_pool_size = "32M"
        [data]
        workload = "oltp_read_write"
        rows = 2_000
        scale = {{ drive = "1/25" }}
        [load]
        threads = 2
        rate = 10
        warmup = "1s"
        measure = "{measure}"
        [factors]
        drive = ["intel-p4610"]
        [repeat]
        runs = 1
        seed = 1
        {events}
        "#
    )
}

const EVENTS: &str = r#"
    [[events]]
    name = "more"
    at = "2s"
    kind = "rate"
    rate = 40
    [[events]]
    name = "slow drive"
    at = "4s"
    kind = "drive"
    settings = { spike_rate = 1.0, spike_us = 30000 }
    for = "1s"
    [[events]]
    name = "dump"
    at = "5500ms"
    kind = "pool"
    action = "dump"
    [[events]]
    name = "larger"
    at = "5800ms"
    kind = "pool"
    action = "resize"
    size = "64M"
    [[events]]
    name = "killed"
    at = "6500ms"
    kind = "kill"
    [[events]]
    name = "again"
    at = "22s"
    kind = "restart"
    for = "500ms"
    [[events]]
    name = "load"
    at = "32s"
    kind = "pool"
    action = "load"
    [[events]]
    name = "statement after"
    at = "33s"
    kind = "statement"
    statement = "DO 0"
"#;

fn number(value: &Value, key: &str) -> f64 {
    value[key]
        .as_f64()
        .unwrap_or_else(|| panic!("{key}: {value}"))
}

fn a_load_goes_on_through_a_server_that_ends_and_comes_back(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = world.write("study.toml", &study(flavor, "35s", EVENTS));
    let output = run(&world, &study).output();
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(matches!(output.code, Some(0 | 3)), "{told}");
    let result = result(&world);
    let run = &result["runs"][0];
    let events = run["events"].as_array().unwrap();
    for event in events {
        assert_eq!(event["ending"], "done", "{flavor}: {event}");
    }
    let event = |name: &str| events.iter().find(|event| event["name"] == name).unwrap();

    for name in ["killed", "again"] {
        let restart = &event(name)["detail"]["restart"];
        assert!(number(restart, "start_s") > 0.05, "{restart}");
        // Nothing is answered meanwhile.
        let down_s = number(event(name), "ended_s") - number(event(name), "began_s");
        let pause_s = number(&event(name)["detail"], "longest_pause_s");
        assert!(pause_s > down_s * 0.5, "{name}: {pause_s}, {down_s}");
    }
    let losses = &run["losses"];
    let outages = losses["outages"].as_array().unwrap();
    assert_eq!(outages.len(), 2, "{flavor}: {losses}");
    assert!(number(losses, "reconnects") >= 4.0, "{losses}");
    for (outage, name) in outages.iter().zip(["killed", "again"]) {
        let from_s = number(outage, "from_s") - number(event(name), "began_s");
        assert!((-1.0..5.0).contains(&from_s), "{outage}");
    }
    assert_rates(run);
    let slow = transactions_late(run, number(event("slow drive"), "began_s"));
    assert!(slow, "{flavor}: the drive was not slow");
    // Two starts and the kill between them.
    let log = run["server_log"].as_str().unwrap();
    assert!(log.matches("ready for connections").count() >= 3, "{log}");
    // The pool has its size again, and the drive no fault.
    assert_eq!(run["variables_changed"], serde_json::json!({}), "{flavor}");
    assert_counters_go_on(run);
    for part in ["recovery included", "outage "] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    world.assert_nothing_left();
}

/// The rate is four times as high from second 2 on. A busy machine is late with some of it, and does it later.
fn assert_rates(run: &Value) {
    let intervals = run["intervals"].as_array().unwrap();
    let during = |from_s: f64, to_s: f64| {
        let inside = intervals.iter().filter(|one| {
            let time_s = number(one, "time_s");
            time_s > from_s + 0.5 && time_s < to_s + 0.5
        });
        let counts: Vec<f64> = inside.map(|one| number(one, "transactions")).collect();
        counts.iter().sum::<f64>()
    };
    let (before, after) = (during(0.0, 2.0), during(2.0, 4.0));
    assert!(after > before * 1.4, "{before}, {after}");
    assert!(before + after < 150.0, "{before}, {after}");
}

/// Whether a second after `from_s` had a p99 of what the drive then took.
fn transactions_late(run: &Value, from_s: f64) -> bool {
    let intervals = run["intervals"].as_array().unwrap();
    intervals.iter().any(|one| {
        let time_s = number(one, "time_s");
        time_s > from_s && time_s < from_s + 2.5 && number(one, "latency_us_p99") > 25_000.0
    })
}

/// What the servers counted together does not fall when one begins again.
fn assert_counters_go_on(run: &Value) {
    let series = run["series"].as_array().unwrap();
    let cpu = series.iter().find(|one| one["metric"] == "server.cpu_s");
    let values = cpu.unwrap()["values"].as_array().unwrap();
    let values: Vec<f64> = values.iter().filter_map(Value::as_f64).collect();
    assert!(values.is_sorted(), "{values:?}");
}

#[test]
fn weir_killed_while_its_server_is_down_leaves_nothing() {
    let world = World::new();
    let events = r#"
        [[events]]
        name = "down"
        at = "0s"
        kind = "kill"
        for = "10m"
        [[events]]
        name = "slow drive"
        at = "0s"
        kind = "drive"
        settings = { spike_rate = 1.0, spike_us = 1000 }
    "#;
    let study = world.write("study.toml", &study("mariadb", "10m", events));
    let mut child = run(&world, &study).spawn();
    let progress = world.path("out/progress.json");
    wait_until("the server is down", || {
        let text = fs::read_to_string(&progress).unwrap_or_default();
        let progress: Value = serde_json::from_str(&text).unwrap_or_default();
        let seconds = progress["run"]["seconds"].as_array();
        seconds.is_some_and(|seconds| {
            seconds
                .iter()
                .any(|second| second["time_s"].as_f64() > Some(0.5))
        })
    });
    assert!(world.live_pids("server").is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    Weir::in_world(&world).args(["clean"]).succeeds();
    world.assert_nothing_left();
}

#[test]
fn events_that_cannot_be_are_told_in_one_line_before_anything_runs() {
    let world = World::new();
    let event = |keys: &str| format!("[[events]]\nname = \"e\"\nat = \"1s\"\n{keys}");
    for (keys, said) in [
        (
            "kind = \"kill\"\ntable = \"t\"",
            "no key of an event of the kind `kill`",
        ),
        ("kind = \"rate\"", "needs it"),
        ("kind = \"rate\"\nrate = 0", "must be above 0"),
        (
            "kind = \"drive\"\nsettings = { spike_rat = 1 }",
            "spike_rat",
        ),
        ("kind = \"pool\"\naction = \"drop\"", "dump, load or resize"),
        (
            "kind = \"pool\"\naction = \"resize\"",
            "the action `resize` needs it",
        ),
    ] {
        let study = world.write("study.toml", &study("mysql", "5s", &event(keys)));
        let error = Weir::new().args(["plan", study.to_str().unwrap()]).fails();
        assert!(
            error.contains(said) && error.lines().count() == 1,
            "{keys}: {error}"
        );
    }
    let closed = study("mysql", "5s", &event("kind = \"rate\"\nrate = 5"));
    let closed = world.write("study.toml", &closed.replace("rate = 10\n", ""));
    let error = Weir::new().args(["plan", closed.to_str().unwrap()]).fails();
    assert!(error.contains("a closed loop has no rate"), "{error}");
}
