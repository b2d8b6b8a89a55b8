//! `weir report` on what is no result, and in a form that is gone; real results are tested with `weir run`.

use crate::harness::{Weir, World};

#[test]
fn what_is_no_result_is_named() {
    let world = World::new();
    let missing = world.path("nothing");
    let error = Weir::new()
        .args(["report", missing.to_str().unwrap()])
        .fails();
    assert!(
        error.contains("no result at") && error.contains("nothing"),
        "{error}"
    );
    let rubbish = world.write("result.sqlite", &"rubbish ".repeat(100));
    let error = Weir::new()
        .args(["report", rubbish.to_str().unwrap()])
        .fails();
    assert!(
        error.contains("cannot read result") || error.contains("cannot open"),
        "{error}"
    );
}

#[test]
fn parquet_is_refused_with_what_takes_its_place() {
    let world = World::new();
    let stored = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../weir-store/fixtures/schema-4.sqlite"
    );
    let result = world.path("result.sqlite");
    std::fs::copy(stored, &result).unwrap();
    let report = ["report", result.to_str().unwrap(), "--format", "parquet"];
    let error = Weir::new().args(report).fails();
    assert_eq!(error.trim_end().lines().count(), 1, "{error}");
    assert!(error.contains("use --format csv"), "{error}");
}
