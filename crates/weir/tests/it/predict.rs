//! `weir predict` of a result, and what `verify` says of it after a run. Called by the test that has
//! a result: a study takes long.

use std::fs;

use serde_json::Value;

use crate::harness::{Weir, World};

/// Predictions of the result in `world`/out, and one of them held against the machine.
pub(crate) fn assert_predictable(world: &World) {
    let out = world.path("out");
    let predict = ["predict", out.to_str().unwrap()];
    let drives = ["--drive", "intel-p4610,consumer-tlc", "--growth", "10"];
    let told = Weir::new().args(predict).args(drives).succeeds().stdout;
    for part in [
        "pool on intel-p4610",
        "A (all fits)",
        "data grow by 10 % a month",
        "assumed: ",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let error = Weir::new()
        .args(predict)
        .args(["--threads", "4000"])
        .fails();
    assert!(error.contains("4000"), "{error}");
    assert_verified(world, predict);
}

/// What was written down before the run is what the error is counted from.
fn assert_verified(world: &World, predict: [&str; 2]) {
    let folder = world.path("verified");
    let verify = ["verify", "--pool", "64M", "--json", "--out"];
    let told = Weir::in_world(world)
        .args(predict)
        .args(verify)
        .args([folder.to_str().unwrap()])
        .succeeds();
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    let place = &told["places"][0];
    let measured = place["measured_transactions_per_s"].as_f64().unwrap();
    let blind = place["blind"]["transactions_per_s"].as_f64().unwrap();
    let error = told["blind_error_mean"].as_f64().unwrap();
    assert!(measured > 0.0 && place["pool_bytes"] == 64 << 20, "{told}");
    assert!(
        ((blind / measured - 1.0).abs() - error).abs() < 1e-9,
        "{told}"
    );
    let written = fs::read_to_string(folder.join("predictions.jsonl")).unwrap();
    assert_eq!(written.lines().count(), 1);
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(written["prediction"], place["blind"]);
    assert!(folder.join("result.sqlite").is_file());
}
