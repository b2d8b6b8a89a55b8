//! Replays to the null server, where what is sent is known by construction.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_capture::{CaptureReader, Happening, Literals, LogFormat, Losses, import_log};
use weir_load::{Fault, LoadError, LoadPlan, NullServer, NullServerBehavior};
use weir_model::{Endpoint, Flavor, LoadSpec, ReplayPace, WorkloadName};
use weir_mysql::Gate;
use weir_replay::{CapturePart, ReplayError, ReplayOptions, ReplayOutcome, Survey, replay};

use crate::bench::Proxy;

const SESSIONS: u64 = 40;
const STATEMENTS: u64 = 4_000;
const LENGTH_US: u64 = 2_000_000;

/// A general log of sessions that all are there from the beginning to the end, with statements evenly in between.
pub(crate) fn capture(folder: &Path, sessions: u64, statements: u64) -> PathBuf {
    let stamp = |us: u64| {
        format!(
            "2026-01-01T00:00:{:02}.{:06}Z",
            us / 1_000_000,
            us % 1_000_000
        )
    };
    let mut log = String::new();
    for session in 0..sessions {
        writeln!(
            log,
            "{}\t{:5} Connect\tapp@localhost on sbtest using Socket",
            stamp(session),
            session + 10
        )
        .unwrap();
    }
    for number in 0..statements {
        let at_us = 100_000 + number * (LENGTH_US - 200_000) / statements;
        let session = number % sessions + 10;
        writeln!(
            log,
            "{}\t{session:5} Query\tSELECT c FROM sbtest1 WHERE id = {number}",
            stamp(at_us)
        )
        .unwrap();
    }
    for session in 0..sessions {
        writeln!(
            log,
            "{}\t{:5} Quit\t",
            stamp(LENGTH_US + session),
            session + 10
        )
        .unwrap();
    }
    let (from, to) = (folder.join("general.log"), folder.join("general.weircap"));
    std::fs::write(&from, log).unwrap();
    import_log(&from, LogFormat::General, &to, Literals::Keep).unwrap();
    to
}

fn send(server: &NullServer, path: &Path, options: &ReplayOptions) -> ReplayOutcome {
    send_to(server.endpoint(), path, options).unwrap()
}

fn send_to(
    endpoint: Endpoint,
    path: &Path,
    options: &ReplayOptions,
) -> Result<ReplayOutcome, ReplayError> {
    let survey = Survey::read(path, options).unwrap();
    let plan = LoadPlan {
        load: LoadSpec::default(),
        ..LoadPlan::new(endpoint, WorkloadName::OltpPointSelect)
    };
    let stop = AtomicBool::new(false);
    replay(
        &plan,
        CapturePart {
            path,
            survey: &survey,
            options,
        },
        (&Gate::own(), true),
        &stop,
        &mut |_| {},
    )
}

/// Statements of each session of a capture, by the value that each has.
fn values(path: &Path) -> BTreeSet<Vec<u64>> {
    let mut sessions: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for record in CaptureReader::open(path).unwrap() {
        let record = record.unwrap();
        let of_session = sessions.entry(record.session).or_default();
        if let Happening::Started(started) = record.happening
            && let Some(value) = String::from_utf8(started.text())
                .unwrap()
                .strip_prefix("SELECT c FROM sbtest1 WHERE id = ")
        {
            of_session.push(value.parse().unwrap());
        }
    }
    sessions
        .into_values()
        .filter(|all| !all.is_empty())
        .collect()
}

/// A proxy before the server writes down what it gets: of each session the same statements in the same order.
#[test]
fn every_statement_is_sent_once_and_in_its_order_at_every_pace() {
    let folder = tempfile::tempdir().unwrap();
    let path = capture(folder.path(), SESSIONS, STATEMENTS);
    let expected = values(&path);
    assert_eq!(expected.len() as u64, SESSIONS);
    for pace in [ReplayPace::Captured, ReplayPace::Think, ReplayPace::Fast] {
        let server = NullServer::start_tcp(0, NullServerBehavior::default()).unwrap();
        let got = folder.path().join(format!("{pace}.weircap"));
        let proxy = Proxy::to(&server.endpoint(), Flavor::Mysql, &got);
        let options = ReplayOptions {
            pace,
            speed: 2.0,
            ..ReplayOptions::default()
        };
        let before = server.executed();
        let outcome = send_to(proxy.endpoint(&server.endpoint()), &path, &options).unwrap();
        assert_eq!(proxy.finish().losses, Losses::default());
        assert_eq!(values(&got), expected, "{pace}");
        let told = outcome.record.fidelity;
        assert_eq!(
            (told.captured, told.sent, told.not_sent.all()),
            (STATEMENTS, STATEMENTS, 0),
            "{told:?}"
        );
        assert_eq!((told.sessions, told.sessions_joined), (SESSIONS, SESSIONS));
        assert!(server.executed() - before >= STATEMENTS);
        if pace == ReplayPace::Fast {
            // Each session waits for one answer at a time.
            let waited_s = SESSIONS as f64 * outcome.load.measured_s;
            assert!(outcome.load.latency_s_sum <= waited_s);
        }
        let length_s = LENGTH_US as f64 / 1e6 / 2.0;
        if pace == ReplayPace::Captured {
            assert!(
                outcome.load.measured_s >= length_s * 0.95,
                "{}",
                outcome.load.measured_s
            );
        }
    }
}

#[test]
fn a_server_that_restarts_is_told_and_every_statement_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = capture(folder.path(), SESSIONS, STATEMENTS);
    let behavior = NullServerBehavior {
        fault: Some(Fault::CloseOnceAfter(1_500)),
        ..NullServerBehavior::default()
    };
    let server = NullServer::start(&folder.path().join("null.sock"), behavior).unwrap();
    let told = send(&server, &path, &ReplayOptions::default())
        .record
        .fidelity;
    assert!(
        told.connections_lost > 0 && told.connections_lost <= SESSIONS,
        "{told:?}"
    );
    assert_eq!(told.sent + told.not_sent.all(), STATEMENTS, "{told:?}");
    assert!(told.sent > STATEMENTS * 9 / 10, "{told:?}");
}

#[test]
fn a_server_that_stays_away_ends_the_replay() {
    let folder = tempfile::tempdir().unwrap();
    let path = capture(folder.path(), SESSIONS, STATEMENTS);
    let socket = folder.path().join("null.sock");
    let server = NullServer::start(&socket, NullServerBehavior::default()).unwrap();
    let endpoint = server.endpoint();
    let options = ReplayOptions {
        away_max: Duration::from_secs(1),
        ..ReplayOptions::default()
    };
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            while server.executed() < STATEMENTS / 4 {
                std::thread::sleep(Duration::from_millis(10));
            }
            drop(server);
        });
        send_to(endpoint, &path, &options)
    });
    let Err(ReplayError::Load(LoadError::Incomplete {
        what, asked, done, ..
    })) = outcome
    else {
        panic!("{outcome:?}");
    };
    assert_eq!(what, "statements");
    assert!(
        asked as u64 == STATEMENTS && done < asked,
        "{done} of {asked}"
    );
}
