//! `weir explain`.

use crate::harness::Weir;

#[test]
fn the_first_screen_has_eight_commands_and_leads_to_all_others() {
    let words = |line: &'static [&str]| Weir::new().args(line).succeeds().stdout;
    let first = words(&["help"]);
    let commands = |text: &str| text.lines().filter(|line| line.starts_with("  ")).count();
    assert_eq!(commands(&first), 8, "{first}");
    let alone = Weir::new().output();
    assert_eq!((alone.code, alone.stderr.trim()), (Some(2), first.trim()));
    assert_eq!(words(&["--help"]).trim(), first.trim());
    let all = words(&["help", "--all"]);
    for text in ["  server ", "promote", "doublewrite", "Exit codes:"] {
        assert!(all.contains(text) && !first.contains(text), "{all}");
    }
    assert_eq!(
        words(&["help", "server", "up"]),
        words(&["server", "up", "--help"])
    );
    assert_eq!(words(&["help", "load"]), words(&["load", "--help"]));
    let error = Weir::new().args(["help", "sevrer"]).output();
    assert_eq!(error.code, Some(2), "{}", error.stderr);
}

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
