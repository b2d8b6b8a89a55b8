//! Changes of the data before a run, and snapshots as levels.

use super::replays::{Capture, TABLES};
use super::*;

const CHANGES: &str = "
[[data.before]]
name = \"index\"
statement = \"ALTER TABLE sbtest1 ADD INDEX pad (pad)\"
[[data.before]]
name = \"histogram\"
statement = \"SET GLOBAL optimizer_use_condition_selectivity = 4\"
[load]";

fn with_changes(factor: &str) -> String {
    let study = STUDY.replacen("[load]", CHANGES, 1);
    study.replace("innodb_doublewrite = [\"ON\", \"OFF\"]", factor)
}

#[test]
fn all_changes_are_made_unless_levels_choose() {
    let both = resolved(&with_changes("")).unwrap();
    let names = |cell: &Cell| -> Vec<String> {
        let changes = cell.spec.data.before.iter();
        changes.map(|change| change.name.clone()).collect()
    };
    assert_eq!(names(&both.cells[0]), ["index", "histogram"]);
    assert!(both.cells[0].spec.data.before[1].is_of_each_run());
    assert!(!both.cells[0].spec.data.before[0].is_of_each_run());
    let text = with_changes("before = [\"none\", \"index\", \"index + histogram\"]");
    let chosen = resolved(&text).unwrap();
    let of_drive = chosen
        .cells
        .iter()
        .filter(|cell| cell.levels["drive"] == "a");
    let found: Vec<_> = of_drive.map(names).collect();
    assert_eq!(
        found,
        [
            vec![],
            vec!["index".to_owned()],
            vec!["index".to_owned(), "histogram".to_owned()]
        ]
    );
    let differing = chosen.cells[0].spec.differences(&chosen.cells[1].spec);
    assert!(differing.is_subset(&["before".to_owned(), "drive".to_owned()].into()));
}

#[test]
fn a_change_that_cannot_be_is_named() {
    for (factor, part) in [
        ("before = [\"none\", \"indx\"]", "did you mean `index`?"),
        ("before = [\"none\", \"index\"]", "`histogram`"),
        ("server = [\"mysql://app@db1/shop\"]", "private server"),
    ] {
        let found = message(&with_changes(factor));
        assert!(found.contains(part), "{found}");
    }
    let twice = with_changes("").replace("name = \"histogram\"", "name = \"index\"");
    let found = message(&twice);
    assert!(found.contains("stands there twice"), "{found}");
    let empty = with_changes("").replace("ALTER TABLE sbtest1 ADD INDEX pad (pad)", " ");
    let found = message(&empty);
    assert!(found.contains("must be one SQL statement"), "{found}");
}

#[test]
fn a_snapshot_is_a_level() {
    let capture = Capture::new();
    let factor = "snapshot = [\"before\", \"after\"]";
    let plan = resolved(&capture.study("", "measure = \"1s\"", factor)).unwrap();
    let differing = plan.cells[0].spec.differences(&plan.cells[1].spec);
    assert_eq!(differing.into_iter().collect::<Vec<_>>(), ["snapshot"]);
    let found = message(&capture.study(TABLES, "", factor));
    assert!(found.contains("leave one of both out"), "{found}");
}

#[test]
fn a_change_is_a_factor_of_its_own() {
    let text = with_changes(
        "\"before.histogram\" = [\"with\", \"without\"]\n\"before.index\" = [\"without\", \"with\"]",
    );
    let plan = resolved(&text).unwrap();
    let names = |cell: &Cell| -> Vec<String> {
        let changes = cell.spec.data.before.iter();
        changes.map(|change| change.name.clone()).collect()
    };
    let mut found: Vec<_> = plan.cells.iter().map(names).collect();
    found.sort();
    found.dedup();
    let expected: [&[&str]; 4] = [&[], &["histogram"], &["index"], &["index", "histogram"]];
    assert_eq!(found, expected);
    for (levels, part) in [
        (
            "\"before.indx\" = [\"without\", \"with\"]",
            "no change `indx`",
        ),
        (
            "\"before.none\" = [\"without\", \"with\"]",
            "no change `none`",
        ),
        (
            "\"before.index\" = [\"without\", \"yes\"]",
            "without or with",
        ),
    ] {
        let found = message(&with_changes(levels));
        assert!(found.contains(part), "{found}");
    }
}

#[test]
fn a_screen_makes_the_changes_of_each_row() {
    let screened = |levels: &str| {
        let variables = "a1 = [0, 1]\na2 = [0, 1]\na3 = [0, 1]\n";
        let text = with_changes(&format!("{variables}{levels}"));
        let text = text.replace("drive = [\"a\", \"b\"]", "drive = [\"a\"]");
        let text = text.replace("runs = 3", "");
        text.replace("[factors]", "[design]\nkind = \"screen\"\n[factors]")
    };
    // The histogram is made in all runs.
    let plan = resolved(&screened("\"before.index\" = [\"without\", \"with\"]")).unwrap();
    let screen = plan.screen.as_ref().unwrap();
    let position = |candidate: &weir_model::Candidate| candidate.change.as_deref() == Some("index");
    let index = screen.candidates.iter().position(position).unwrap();
    let statement = screen.statement_of(&screen.candidates[index]);
    assert_eq!(statement, Some("ALTER TABLE sbtest1 ADD INDEX pad (pad)"));
    assert!(screen.candidates[index].variables.is_empty());
    let mut with_index = 0;
    for cell in &plan.cells {
        let has = cell.screened.as_ref().unwrap().candidates.contains(&index);
        let changes = cell.spec.data.before.iter();
        let names: Vec<_> = changes.map(|change| change.name.as_str()).collect();
        let expected: &[&str] = if has {
            &["index", "histogram"]
        } else {
            &["histogram"]
        };
        assert_eq!(names, expected);
        with_index += usize::from(has);
    }
    assert_eq!(with_index, 12);
    for (levels, part) in [
        (
            "\"before.index\" = [\"with\", \"without\"]",
            "a screen adds changes",
        ),
        ("before = [\"none\", \"index\"]", "in a factor of its own"),
    ] {
        let found = message(&screened(levels));
        assert!(found.contains(part), "{found}");
    }
}
