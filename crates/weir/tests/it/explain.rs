//! `weir explain`.

use crate::harness::Weir;

#[test]
fn every_rule_can_be_explained_and_is_listed() {
    let list = Weir::new().args(["explain"]).succeeds().stdout;
    for number in 1..=19 {
        let rule = format!("R{number}");
        assert!(list.contains(&rule), "{list}");
        let text = Weir::new().args(["explain", &rule]).succeeds().stdout;
        for part in ["checked:", "why:", "what to do:", "reference:"] {
            assert!(text.contains(part), "{rule}: {text}");
        }
    }
}

#[test]
fn an_unknown_rule_is_named() {
    let error = Weir::new().args(["explain", "R99"]).fails();
    assert!(error.contains("no rule `R99`"), "{error}");
}
