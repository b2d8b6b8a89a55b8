//! Events of a study: which cells have them, their settings as factors, and mistakes in one line.

use weir_model::EventKind;

use super::*;

const EVENTS: &str = r#"
    [[events]]
    name = "add index"
    at = "4s"
    kind = "ddl"
    statement = "ALTER TABLE sbtest1 ADD INDEX k_c (c)"
    algorithm = "INPLACE"
    session = { lock_wait_timeout = 1 }
    [[events]]
    name = "forgotten"
    at = "2s"
    kind = "hold"
    table = "sbtest1"
    for = "3s"
"#;

fn with(events: &str, factors: &str) -> String {
    let factors = format!("{events}\n[factors]\n{factors}\n");
    STUDY.replace("[factors]\n", &factors)
}

/// Names of each cell's events.
fn timelines(plan: &Plan) -> Vec<Vec<&str>> {
    let mut timelines = Vec::new();
    for cell in &plan.cells {
        let events = cell.spec.timeline.iter();
        timelines.push(events.map(|event| event.name.as_str()).collect());
    }
    timelines
}

#[test]
fn events_happen_in_all_cells_or_in_those_that_the_factor_names() {
    let all = resolved(&with(EVENTS, "")).unwrap();
    assert_eq!(timelines(&all), vec![vec!["add index", "forgotten"]; 4]);
    let factor = r#"event = ["none", "add index", "add index + forgotten"]"#;
    let chosen = resolved(&with(EVENTS, factor)).unwrap();
    let timelines = timelines(&chosen);
    assert_eq!(timelines.len(), 12);
    for expected in [vec![], vec!["add index"], vec!["add index", "forgotten"]] {
        let found = timelines.iter().filter(|found| **found == expected);
        assert_eq!(found.count(), 4, "{expected:?}");
    }
}

#[test]
fn a_setting_of_an_event_is_a_factor_of_its_session() {
    let factors = "event = [\"none\", \"add index\"]\n\"event.innodb_ddl_threads\" = [1, 8]";
    let only_ddl = EVENTS.split("[[events]]").nth(1).unwrap();
    let plan = resolved(&with(&format!("[[events]]{only_ddl}"), factors)).unwrap();
    let threads: Vec<_> = plan
        .cells
        .iter()
        .filter_map(|cell| match &cell.spec.timeline.first()?.kind {
            EventKind::Ddl(ddl) => Some(ddl.session["innodb_ddl_threads"].as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(threads.len(), 8);
    assert_eq!(threads.iter().filter(|value| **value == "8").count(), 4);
}

#[test]
fn a_run_without_events_is_the_same_whether_or_not_others_have_some() {
    let without = resolved(STUDY).unwrap();
    let factor = r#"event = ["none", "add index + forgotten"]"#;
    let with = resolved(&with(EVENTS, factor)).unwrap();
    let plain = with
        .cells
        .iter()
        .filter(|cell| cell.spec.timeline.is_empty());
    let plain: Vec<_> = plain.map(|cell| &cell.spec).collect();
    let before: Vec<_> = without.cells.iter().map(|cell| &cell.spec).collect();
    assert_eq!(plain, before);
    assert_eq!(with.seed, without.seed);
}

#[test]
fn a_study_without_events_has_no_setting_of_them() {
    let plan = resolved(STUDY).unwrap();
    assert!(timelines(&plan).iter().all(Vec::is_empty));
    let settings = plan.cells[0].spec.settings();
    assert!(settings.keys().all(|name| !name.contains("event")));
}

#[test]
fn mistakes_in_events_are_one_line() {
    for (from, to, said) in [
        (
            "at = \"4s\"",
            "at = \"10s\"",
            "before the end of the measurement, 10s",
        ),
        ("kind = \"hold\"", "kind = \"holt\"", "did you mean `hold`"),
        (
            "kind = \"hold\"",
            "kind = \"quake\"",
            "there are failover, mark, statement",
        ),
        (
            "kind = \"hold\"",
            "kind = \"drive\"\nsettings = { spike_rat = 1 }",
            "is no key of an event of the kind `drive`",
        ),
        (
            "table = \"sbtest1\"",
            "table = \"sbtest3\"",
            "no such table",
        ),
        (
            "TABLE sbtest1",
            "TABLE orders",
            "no such table; the workload has sbtest1, sbtest2",
        ),
        ("ALTER TABLE", "DROP TABLE", "must be an ALTER TABLE"),
        (
            "algorithm = \"INPLACE\"",
            "tool = \"/bin/true {alter}\"",
            "does not reach the tool's own connections",
        ),
        ("for = \"3s\"", "", "needs it"),
        (
            "for = \"3s\"",
            "for = \"3s\"\nlock = \"NONE\"",
            "is no key of an event of the kind `hold`",
        ),
        ("for = \"3s\"", "for = \"3s\"\nlength = 1", "length"),
        ("\"forgotten\"", "\"add index\"", "stands there twice"),
        ("\"forgotten\"", "\"none\"", "a name of its own"),
    ] {
        let events = EVENTS.replace(from, to);
        assert_ne!(events, EVENTS, "{from}");
        let found = message(&with(&events, ""));
        assert!(found.contains(said), "{to}: {found}");
    }
    for (factors, said) in [
        (
            "event = [\"none\", \"add indx\"]",
            "did you mean `add index`",
        ),
        (
            "event = [\"none\", \"add index\"]",
            "no level of factor `event` names it",
        ),
        ("\"event.for\" = [\"x\"]", "event.for"),
    ] {
        let found = message(&with(EVENTS, factors));
        assert!(found.contains(said), "{factors}: {found}");
    }
    let without = message(&with("", "\"event.innodb_ddl_threads\" = [1, 2]"));
    assert!(without.contains("needs an event"), "{without}");
    let shared = with(EVENTS, "threads_ramp = [\"0s\", \"1s\"]");
    let shared = shared.replace("[repeat]", "[repeat]\nwithin_server = [\"threads_ramp\"]");
    let shared = message(&shared);
    assert!(shared.contains("runs that share a server"), "{shared}");
}
