//! Captures of general logs that are written here.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use weir_capture::{Literals, LogFormat, import_log};
use weir_load::{LoadPlan, reactors_for};
use weir_model::{Endpoint, WorkloadName};
use weir_mysql::Gate;
use weir_replay::{CapturePart, ReplayOptions, ReplayOutcome, Survey, replay};

/// The null server's schema.
const SCHEMA: &str = "sbtest";

/// Work of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Joins,
    Asks,
    Leaves,
}

/// A capture of these events: when (microseconds), which session, what.
pub(crate) fn capture(folder: &Path, name: &str, mut events: Vec<(u64, u64, Event)>) -> PathBuf {
    events.sort_unstable();
    let from = folder.join(format!("{name}.log"));
    let mut log = BufWriter::new(File::create(&from).unwrap());
    for (at_us, session, event) in events {
        let (at, id) = (stamp(at_us), session + 10);
        let written = match event {
            Event::Joins => writeln!(
                log,
                "{at}\t{id:5} Connect\tapp@localhost on {SCHEMA} using Socket"
            ),
            Event::Asks => writeln!(
                log,
                "{at}\t{id:5} Query\tSELECT c FROM sbtest1 WHERE id = {}",
                at_us % 1_000
            ),
            Event::Leaves => writeln!(log, "{at}\t{id:5} Quit\t"),
        };
        written.unwrap();
    }
    log.flush().unwrap();
    let to = folder.join(format!("{name}.weircap"));
    import_log(&from, LogFormat::General, &to, Literals::Keep).unwrap();
    std::fs::remove_file(from).unwrap();
    to
}

fn stamp(us: u64) -> String {
    let seconds = us / 1_000_000;
    format!(
        "2026-01-01T{:02}:{:02}:{:02}.{:06}Z",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60,
        us % 1_000_000
    )
}

/// Sends a capture; writes are allowed, which the null server does not do.
pub(crate) fn send(endpoint: Endpoint, path: &Path, options: &ReplayOptions) -> ReplayOutcome {
    let survey = Survey::read(path, options).unwrap();
    let mut plan = LoadPlan::new(endpoint, WorkloadName::OltpPointSelect);
    plan.reactors = reactors_for(survey.sessions_at_a_time);
    let (gate, stop) = (Gate::own(), AtomicBool::new(false));
    let outcome = replay(
        &plan,
        CapturePart {
            path,
            survey: &survey,
            options,
        },
        (&gate, true),
        &stop,
        &mut |_| {},
    );
    outcome.unwrap()
}
