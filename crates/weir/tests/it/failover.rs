//! The event `failover`: the primary is killed under load, its replica takes over, and the load goes on there.

use serde_json::Value;
use weir_model::Flavor;

use crate::harness::World;
use crate::run::{name, result, run};

weir_testing::on_both_flavors! {
    a_load_goes_on_at_the_replica_that_took_over
}

fn study(flavor: &str) -> String {
    format!(
        r#"
        [study]
        title = "Failover"
        question = "How long is the replica cold?"
        [server]
        flavor = "{flavor}"
        replicas = 1
        replica_drive = "intel-p4610"
        heartbeat = true
        [server.config]
        innodb_buffer_pool_size = "32M"
        [data]
        workload = "oltp_read_write"
        rows = 20_000
        scale = {{ drive = "1/25" }}
        [load]
        threads = 4
        warmup = "1s"
        measure = "20s"
        [[events]]
        name = "failover"
        at = "8s"
        kind = "failover"
        warm = "ship every 2s"
        [repeat]
        runs = 1
        seed = 1
        [factors]
        drive = ["intel-p4610"]
        "event.warm" = ["ship every 2s", "own reads 50"]
        "#
    )
}

fn number(value: &Value, key: &str) -> f64 {
    let number = value[key].as_f64();
    number.unwrap_or_else(|| panic!("{key}: {value}"))
}

fn a_load_goes_on_at_the_replica_that_took_over(flavor: Flavor) {
    let flavor = name(flavor);
    let world = World::new();
    let study = world.write("study.toml", &study(flavor));
    let output = run(&world, &study).output();
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(matches!(output.code, Some(0 | 3)), "{told}");
    let result = result(&world);
    for run in result["runs"].as_array().unwrap() {
        let event = &run["events"][0];
        assert_eq!(event["ending"], "done", "{flavor}: {event}");
        let failover = &event["detail"]["failover"];
        assert!(failover["failure"].is_null(), "{flavor}: {failover}");
        assert!(number(failover, "applied_s") < 10.0, "{failover}");
        // MySQL waits a minute for the rest of a transaction that was cut, unless its applier is ended.
        assert!(number(failover, "promoted_s") < 30.0, "{failover}");
        assert_eq!(
            run["losses"]["outages"].as_array().unwrap().len(),
            1,
            "{run}"
        );
        let last = run["intervals"].as_array().unwrap().last().unwrap();
        assert!(number(last, "transactions") > 0.0, "{flavor}: {last}");
    }
    let shipments = |run: &Value| number(&run["events"][0]["detail"]["failover"], "shipments");
    let runs = result["runs"].as_array().unwrap().iter();
    let most = runs.map(shipments).fold(0.0, f64::max);
    assert!(most >= 2.0, "{flavor}: {most}");
    world.assert_nothing_left();
}

#[test]
fn a_failover_needs_a_replica_and_a_way_to_keep_it_warm_that_there_is() {
    let world = World::new();
    for (from, to, why) in [
        (
            "replicas = 1\n        replica_drive = \"intel-p4610\"",
            "",
            "no replica takes over",
        ),
        (
            "warm = \"ship every 2s\"",
            "warm = \"mirror\"",
            "must be `none`",
        ),
    ] {
        let text = study("mysql");
        assert!(text.contains(from), "{from}");
        let study = world.write("study.toml", &text.replacen(from, to, 1));
        let error = run(&world, &study).fails();
        assert!(error.contains(why), "{error}");
    }
}
