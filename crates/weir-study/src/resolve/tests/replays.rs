//! A capture as the load of a study.

use std::fmt::Write as _;
use std::path::PathBuf;

use weir_capture::{Literals, LogFormat, import_log};
use weir_model::{DataSource, Duration, RunSpec};

use super::*;

/// A capture of two sessions that lasts 20 s.
pub(super) struct Capture(tempfile::TempDir);

impl Capture {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut log = String::new();
        for (at, id, what) in [
            ("00", 8, "Connect\tapp@localhost on shop using Socket"),
            ("01", 9, "Connect\tapp@localhost on shop using Socket"),
            ("02", 8, "Query\tSELECT 1"),
            ("20", 8, "Quit\t"),
        ] {
            writeln!(log, "2026-01-01T00:00:{at}.000000Z\t    {id} {what}").unwrap();
        }
        let from = folder.path().join("general.log");
        std::fs::write(&from, log).unwrap();
        let to = folder.path().join("a.weircap");
        import_log(&from, LogFormat::General, &to, Literals::Keep).unwrap();
        Self(folder)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join("a.weircap")
    }

    pub(super) fn study(&self, data: &str, load: &str, factors: &str) -> String {
        format!(
            "[study]\ntitle = \"T\"\nquestion = \"Q?\"\n[server]\n[data]\n{data}\n[load]\nreplay = \"{}\"\n{load}\n\
             [factors]\n{factors}\n",
            self.path().display()
        )
    }
}

pub(super) const TABLES: &str = "workload = \"oltp_read_only\"\nrows = 10";

fn spec(text: &str) -> RunSpec {
    let plan = resolved(text).unwrap();
    RunSpec::clone(&plan.cells[0].spec)
}

#[test]
fn a_capture_says_its_sessions_and_its_length() {
    let capture = Capture::new();
    let whole = spec(&capture.study(TABLES, "", ""));
    assert_eq!(whole.load.connections, 2);
    assert_eq!(whole.load.measure, Duration::from_secs(20));
    assert_eq!(whole.load.warmup.least(), Duration::default());
    assert_eq!(whole.load.replay.as_ref().unwrap().digest.len(), 64);
    let part = "from = \"4s\"\nspeed = 2\nwarmup = \"3s\"";
    let part = spec(&capture.study(TABLES, part, ""));
    assert_eq!(part.load.measure, Duration::from_secs(5));
    let short = spec(&capture.study(TABLES, "measure = \"2s\"", ""));
    assert_eq!(short.load.measure, Duration::from_secs(2));
    let snapshot = spec(&capture.study("snapshot = \"mine\"", "", ""));
    let name = "mine".to_owned();
    assert_eq!(snapshot.data.source, DataSource::Snapshot { name });
}

#[test]
fn options_of_a_replay_are_keys_and_factors() {
    let capture = Capture::new();
    for option in weir_model::REPLAY_OPTIONS {
        let (name, value) = (option.name, option.example);
        let by_key = spec(&capture.study(TABLES, &format!("{name} = \"{value}\""), ""));
        assert_eq!(
            option
                .written(by_key.load.replay.as_ref().unwrap())
                .as_deref(),
            Some(value)
        );
        let factor = format!("{name} = [\"{}\", \"{value}\"]", option.default);
        let plan = resolved(&capture.study(TABLES, "measure = \"1s\"", &factor)).unwrap();
        let differing = plan.cells[0].spec.differences(&plan.cells[1].spec);
        assert_eq!(differing.into_iter().collect::<Vec<_>>(), [name]);
    }
    // A copy of it is the same load; another capture is another.
    let copy = capture.0.path().join("copy.weircap");
    std::fs::copy(capture.path(), &copy).unwrap();
    let factor = format!(
        "replay = [\"{}\", \"{}\"]",
        capture.path().display(),
        copy.display()
    );
    let text = capture
        .study(TABLES, "", &factor)
        .replace("[load]\nreplay", "[load]\n# replay");
    let plan = resolved(&text).unwrap();
    assert!(
        plan.cells[0]
            .spec
            .differences(&plan.cells[1].spec)
            .is_empty()
    );
}

#[test]
fn what_a_replay_does_not_follow_is_refused() {
    let capture = Capture::new();
    for (data, load, part) in [
        (TABLES, "threads = 4", "`threads` has no effect on a replay"),
        (TABLES, "rate = 5", "`rate` has no effect on a replay"),
        (TABLES, "warmup = \"auto\"", "not steady by itself"),
        (TABLES, "warmup = \"20s\"", "before the warm-up is"),
        (
            "snapshot = \"mine\"\nworkload = \"oltp_read_only\"",
            "",
            "leave one of both out",
        ),
    ] {
        let found = message(&capture.study(data, load, ""));
        assert!(found.contains(part), "{found}");
    }
    let without = capture
        .study(TABLES, "speed = 2", "")
        .replace("replay = ", "# ");
    let found = message(&without);
    assert!(found.contains("`speed` belongs to a replay"), "{found}");
    let without = capture.study(
        "snapshot = \"mine\"",
        "threads = 1\nwarmup = \"1s\"\nmeasure = \"1s\"",
        "",
    );
    let found = message(&without.replace("replay = ", "# "));
    assert!(found.contains("add `replay`"), "{found}");
    std::fs::write(capture.path(), b"WEIRCAP9").unwrap();
    let found = message(&capture.study(TABLES, "", ""));
    assert!(found.contains("version 9"), "{found}");
    let missing = capture
        .study(TABLES, "", "")
        .replace("a.weircap", "b.weircap");
    assert!(
        message(&missing).contains("cannot read"),
        "{}",
        message(&missing)
    );
}
