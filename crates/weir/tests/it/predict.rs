//! `weir predict` of a result, and what `predict verify` says of it after a run. Called by the test that has
//! a result: a study takes long.

use std::fs;

use serde_json::Value;
use weir_model::Flavor;

use crate::harness::{Weir, World, signal, small_study};
use crate::load::load_of;
use crate::server::Servers;

/// Predictions of the result in `world`/out, and one of them held against the machine.
pub(crate) fn assert_predictable(world: &World) {
    let out = world.path("out");
    let predict = ["predict", "result", out.to_str().unwrap()];
    let drives = ["--drive", "intel-p4610,consumer-tlc", "--growth", "10"];
    let money = ["--price", "memory=4,consumer-tlc=100"];
    let promise = ["--objective", "p99 <= 1s"];
    let page = world.path("predicted.html");
    let report = ["--report", page.to_str().unwrap()];
    let told = Weir::new().args(predict).args(drives).args(money);
    let told = told.args(promise).args(report).succeeds().stdout;
    for part in [
        "intel-p4610 needs",
        "may cost more",
        "A (all fits)",
        "a page earns its memory if it is used every",
        "data grow by 10 % a month",
        "most transactions per second with p99 <= 1s",
        "assumed: ",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(r#""predicted":[{"title":""#));
    let error = Weir::new()
        .args(predict)
        .args(["--price", "intel-p3700-2tb=100"])
        .fails();
    assert!(error.contains("no drive that is asked about"), "{error}");
    let error = Weir::new()
        .args(predict)
        .args(["--threads", "4000"])
        .fails();
    assert!(error.contains("4000"), "{error}");
    assert_verified(world, out.to_str().unwrap());
}

/// A variable that is a factor is that of the level that is asked about.
#[test]
fn a_level_of_innodb_old_blocks_time_counts() {
    let world = World::new();
    let text =
        small_study("mysql").replace("[factors]", "[factors]\ninnodb_old_blocks_time = [1000, 0]");
    let study = world.write("study.toml", &text);
    let frozen = |level: &str| -> f64 {
        let at = format!("innodb_old_blocks_time={level}");
        let told = Weir::new()
            .args([
                "predict",
                "study",
                study.to_str().unwrap(),
                "--pool",
                "8M",
                "--json",
            ])
            .args(["--where", &at])
            .succeeds();
        let rows: Value = serde_json::from_str(&told.stdout).unwrap();
        rows[0]["miss_ratio_frozen"].as_f64().unwrap()
    };
    let (waits, at_once) = (frozen("1000"), frozen("0"));
    assert!((waits - at_once).abs() > 1e-6, "{waits} {at_once}");
}

/// What was written down before the run is what the error is counted from.
fn assert_verified(world: &World, result: &str) {
    let folder = world.path("verified");
    let verify = [
        "predict", "verify", result, "--pool", "64M", "--json", "--out",
    ];
    let verified = |more: &[&str]| -> Value {
        let told = Weir::in_world(world)
            .args(verify)
            .args([folder.to_str().unwrap()])
            .args(more)
            .succeeds();
        serde_json::from_str(&told.stdout).unwrap()
    };
    let told = verified(&[]);
    let place = &told["places"][0];
    let measured = place["measured_transactions_per_s"].as_f64().unwrap();
    let blind = place["blind"]["transactions_per_s"].as_f64().unwrap();
    let error = told["blind_error_mean"].as_f64().unwrap();
    assert!(measured > 0.0 && place["pool_bytes"] == 64 << 20, "{told}");
    assert!(
        ((blind / measured - 1.0).abs() - error).abs() < 1e-9,
        "{told}"
    );
    // The study's own place was run again beside it, on a machine of about the same speed, and is what the anchored
    // prediction goes by.
    let slower_by = told["machine_slower_by"].as_f64().unwrap();
    assert!(
        (0.2..5.0).contains(&slower_by) && slower_by.fract() != 0.0,
        "{told}"
    );
    assert_eq!(place["ran_before"], false);
    for model in ["controlled", "anchored"] {
        assert!(
            place[model]["transactions_per_s"].as_f64().unwrap() > 0.0,
            "{told}"
        );
    }
    let written = fs::read_to_string(folder.join("predictions.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 1);
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["prediction"], place["blind"]);
    assert!(folder.join("result.sqlite").is_file());
    // Nothing is left to run, and nothing is predicted anew.
    let again = &verified(&["--resume"])["places"][0];
    assert_eq!(
        again["measured_transactions_per_s"],
        place["measured_transactions_per_s"]
    );
    let blind_again = again["blind"]["transactions_per_s"].as_f64().unwrap();
    assert!((blind_again / blind - 1.0).abs() < 1e-9, "{again}");
}

/// Uniform keys: a pool misses the share of the data that it does not hold.
fn a_live_pool_says_what_others_would_miss(flavor: Flavor) {
    let servers = Servers::new();
    let flavor = flavor.to_string();
    let small = ["up", "shop", "--server", &flavor];
    let pool = ["--set", "innodb-buffer-pool-size=16M"];
    // What is kept free by default is all of such a pool.
    let held = ["--set", "innodb-lru-scan-depth=100"];
    servers
        .weir(&[&small[..], &pool[..], &held[..]].concat())
        .succeeds();
    let endpoint = servers.endpoint("shop");
    let table = ["--tables=1", "--table-size=150000", "--rand-type=uniform"];
    let load = |command: &str| {
        load_of("oltp_point_select", &endpoint, &table)
            .args(["--threads=2", "--time=60"])
            .args([command])
    };
    load("prepare").succeeds();
    let running = load("run").spawn();
    // The pool is full, and the load has come to what it does.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let observe = ["observe", "shop", "--looks", "24", "--interval", "500ms"];
    let told = servers.command("predict", &observe);
    let told = told.args(["--pool", "16M,24M,64M", "--json"]).succeeds();
    signal(running.id(), "TERM");
    running.wait_with_output().unwrap();
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let pools = told["pools"].as_array().unwrap();
    let share = |index: usize, name: &str| pools[index][name].as_f64().unwrap();
    assert!(told["misses_per_s"].as_f64().unwrap() > 100.0, "{told}");
    assert!((share(0, "misses_share") - 1.0).abs() < 0.25, "{told}");
    let [held, more] = [0, 1].map(|index| share(index, "share_of_data"));
    let expected = (1.0 - more) / (1.0 - held);
    assert!((share(1, "misses_share") - expected).abs() < 0.25, "{told}");
    assert!(share(2, "misses_share") < 0.05, "{told}");
    let percent = servers
        .session("shop")
        .variable("innodb_buffer_pool_dump_pct");
    assert_eq!(percent.unwrap().as_deref(), Some("25"), "put back");
}

weir_testing::on_both_flavors!(a_live_pool_says_what_others_would_miss);

/// Throughput without doublewrite is predicted of every drive; that its pages stay whole is not.
#[test]
fn a_prediction_without_doublewrite_says_what_it_does_not_know() {
    let world = World::new();
    let study = world.write("study.toml", &small_study("mysql"));
    let predicted = |level: &str| {
        let at = format!("innodb_doublewrite={level}");
        let predict = ["predict", "study", study.to_str().unwrap(), "--where", &at];
        Weir::in_world(&world).args(predict).succeeds().stdout
    };
    let words = "whether a drive then tears pages is not predicted";
    assert!(predicted("OFF").contains(words));
    assert!(!predicted("ON").contains(words));
}
