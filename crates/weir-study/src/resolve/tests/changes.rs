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
