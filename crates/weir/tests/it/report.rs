//! `weir report` on what is no result; real results are tested with `weir run`.

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
