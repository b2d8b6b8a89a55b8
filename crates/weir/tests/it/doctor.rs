//! `weir doctor`.

use serde_json::Value;

use crate::harness::Weir;

#[test]
fn both_servers_and_fuse_are_found_on_a_machine_that_setup_made() {
    let output = Weir::new().args(["doctor", "--json"]).succeeds();
    let checks: Vec<Value> = serde_json::from_str(&output.stdout).unwrap();
    for what in ["MySQL", "MariaDB", "emulated drives (FUSE)", "memory"] {
        let check = checks.iter().find(|check| check["what"] == what);
        assert_eq!(check.unwrap()["remedy"], Value::Null, "{check:?}");
    }
}

#[test]
fn the_text_has_a_line_per_check() {
    let output = Weir::new().args(["doctor"]).succeeds();
    assert!(
        output
            .stdout
            .lines()
            .filter(|line| line.starts_with("ok  "))
            .count()
            >= 4
    );
}
