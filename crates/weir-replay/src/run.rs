//! Sends a capture to a server by the load engine.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_capture::CaptureSource;
use weir_load::{LoadOutcome, LoadPlan, Progress, ReactorKind, run_sessions};
use weir_model::{Duration, FingerprintRecord, Flavor, ReplayRecord, ServerVersion};
use weir_mysql::{Connection, Gate};

use crate::absence::watch;
use crate::charsets::Charsets;
use crate::data_sources::{DataReason, DataSources};
use crate::difference::difference_reasons;
use crate::executed::Reader;
use crate::feed::Feed;
use crate::feeding::Numbers;
use crate::session::Source;
use crate::slot::Stage;
use crate::survey::{OTHERS, Survey, SurveyedFingerprint};
use crate::tally::FingerprintTally;
use crate::window::Selection;
use crate::writers::Writers;
use crate::{ReplayError, ReplayOptions, ReplayOutcome};

/// Fingerprints whose latencies are kept by themselves: a histogram takes 270 KiB, and there are several of each.
const TIMED_MAX: usize = 50;
/// Common name of the others.
const NOT_TIMED: &str = "(all others)";
/// Longest time that a server may take to say its version and its character sets.
const SERVER_PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
/// Longest name of a kind of statement.
const NAME_MAX: usize = 160;

/// The part of a capture that is sent.
#[derive(Debug, Clone, Copy)]
pub struct CapturePart<'a> {
    /// The capture's file.
    pub path: &'a Path,
    /// Content of the capture, read with the same options.
    pub survey: &'a Survey,
    /// Which part, and how it is sent.
    pub options: &'a ReplayOptions,
}

/// Sends a part of a capture to the plan's server. Of the plan count the server, how it is reached, the reactors and
/// the interval; connections are the capture's. `gate`: what may be done there.
///
/// # Errors
///
/// A capture that cannot be read or has nothing to send, what the load engine cannot do, and a server that stays away.
pub fn replay(
    plan: &LoadPlan,
    part: CapturePart<'_>,
    (gate, allows_writes): (&Gate, bool),
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<ReplayOutcome, ReplayError> {
    let CapturePart {
        path,
        survey,
        options,
    } = part;
    part.check()?;
    let target = ask_server(plan, part, gate)?;
    let numbers = numbers(part, target.reader, target.charsets)?;
    let sessions = survey.sessions_at_a_time;
    let kinds = survey.fingerprints.len() + 1;
    let stage = Arc::new(Stage::new(options.clone(), sessions, kinds));
    let source = Source {
        stage: Arc::clone(&stage),
        kinds: Arc::new(
            (0..kinds)
                .map(|number| Some(number.min(TIMED_MAX)))
                .collect(),
        ),
        names: kind_names(survey),
        only_reads: !allows_writes,
    };
    let plan = plan_of(plan, survey);
    let (ends, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (load, fed, is_away) = std::thread::scope(|scope| {
        let feed = Feed::new(&stage, numbers);
        let feeding = scope.spawn(|| feed.run(path, survey.records, &is_over));
        let watching = scope.spawn(|| watch(&stage, &plan.endpoint, gate, stop, (&ends, &is_over)));
        let load = run_sessions(&plan, &source, gate, &ends, on_progress);
        is_over.store(true, Ordering::Relaxed);
        (load, joined(feeding), joined(watching))
    });
    fed?;
    let outcome = outcome(load?, survey, &stage, &target.data);
    if is_away {
        let away_s = options.away_max.as_secs_f64();
        return Err(outcome
            .shortfall(&format!("the server was away for {away_s:.1} s"))
            .into());
    }
    Ok(outcome)
}

impl CapturePart<'_> {
    /// The schema whose statements are sent; empty if the capture names none.
    fn schema(&self) -> &str {
        let schema = self.options.schema.as_deref().or(self.survey.schema());
        schema.unwrap_or_default()
    }

    /// Refuses a part without a statement that can be sent.
    fn check(&self) -> Result<(), ReplayError> {
        let nothing = |why: &str| {
            Err(ReplayError::Nothing {
                path: self.path.display().to_string(),
                why: why.to_owned(),
            })
        };
        if self.survey.head.source == CaptureSource::Digests {
            return nothing(
                "it has kinds of statements only, no statement; make a capture by the proxy, a log or packets",
            );
        }
        if self.survey.statements == 0 {
            return nothing("no statement of it is taken; look at it with `weir capture show`");
        }
        if self.survey.unusable == self.survey.statements {
            return nothing(
                "its statements lack their values (--literals=drop, or polls of prepared statements), so none can be sent",
            );
        }
        Ok(())
    }
}

/// Returns what all sessions share when the feed begins.
fn numbers(
    part: CapturePart<'_>,
    reader: Option<Reader>,
    charsets: Charsets,
) -> Result<Numbers, ReplayError> {
    let CapturePart {
        path,
        survey,
        options,
    } = part;
    let fingerprints = &survey.fingerprints;
    let others = fingerprints.iter().position(|found| found.text == OTHERS);
    let names = fingerprints.iter().map(|found| found.text.clone());
    Ok(Numbers {
        fingerprints: names.zip(0..).collect::<HashMap<_, _>>(),
        others: others.unwrap_or(fingerprints.len()),
        next: 0,
        schema: part.schema().to_owned(),
        selection: Selection {
            options: options.clone(),
            writers: Writers::read(path, options)?,
        },
        reader,
        commits: 0,
        charsets,
        resets_to_login: survey.head.flavor != Some(Flavor::Mysql),
    })
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    let result = thread.join();
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn plan_of(plan: &LoadPlan, survey: &Survey) -> LoadPlan {
    let mut plan = plan.clone();
    plan.load.connections = survey.sessions_at_a_time;
    // Until the capture ends.
    plan.load.measure = Duration::default();
    plan.reconnect = true;
    // Connections come and go, perhaps encrypted.
    plan.reactor = ReactorKind::Epoll;
    plan
}

/// Server of a replay, as it describes itself and its data before the first statement.
struct TargetServer {
    /// Reader of comments that a server executes, where a statement has one.
    reader: Option<Reader>,
    /// Character sets of logins, where the capture knows them.
    charsets: Charsets,
    data: DataSources,
}

fn ask_server(
    plan: &LoadPlan,
    part: CapturePart<'_>,
    gate: &Gate,
) -> Result<TargetServer, ReplayError> {
    let mut charsets = Charsets::new(gate, &plan.endpoint.address);
    let mut connection = Connection::open(&plan.endpoint, gate, SERVER_PATIENCE)?;
    if part.survey.has_collations {
        charsets.read(&mut connection)?;
    }
    let has_comments = part.survey.has_executed_comments;
    let reader = has_comments.then(|| reader(connection.version()));
    let data = DataSources::read(&mut connection, part.schema());
    Ok(TargetServer {
        reader: reader.flatten(),
        charsets,
        data,
    })
}

fn reader(said: &str) -> Option<Reader> {
    let (flavor, version) = ServerVersion::from_greeting(said)?;
    Some(Reader::new(flavor, version))
}

/// The names of kinds: those of fingerprints, cut to a length, and one for all that are not timed.
fn kind_names(survey: &Survey) -> Vec<String> {
    let short = |found: &SurveyedFingerprint| {
        let name = &found.text;
        let end = name
            .char_indices()
            .nth(NAME_MAX)
            .map_or(name.len(), |(end, _)| end);
        name[..end].to_owned()
    };
    let timed = survey.fingerprints.iter().take(TIMED_MAX).map(short);
    let mut kinds: Vec<_> = timed.collect();
    kinds.resize(TIMED_MAX, String::new());
    kinds.push(NOT_TIMED.to_owned());
    kinds
}

/// A digest of rows as it is stored.
fn results(counted: &FingerprintTally, digest: u64) -> String {
    if counted.rows == 0 {
        String::new()
    } else {
        format!("{digest:016x}")
    }
}

fn outcome(load: LoadOutcome, survey: &Survey, stage: &Stage, data: &DataSources) -> ReplayOutcome {
    let tally = stage.tally();
    let mut fidelity = tally.fidelity.clone();
    fidelity.sessions = survey.sessions;
    fidelity.sessions_missing = survey.sessions_missing();
    let tail = survey.tail.as_ref();
    fidelity.statements_missing =
        tail.map_or(0, |tail| tail.losses.statements + tail.losses.unseen);
    fidelity.is_cut = tail.is_none_or(|tail| tail.failure.is_some());
    fidelity.captured = survey.statements;
    fidelity.late_us = tally.lateness();
    let names = kind_names(survey);
    let latency = |number: usize| {
        let name = names.get(number).filter(|_| number < TIMED_MAX)?;
        let same = names
            .iter()
            .take(TIMED_MAX)
            .filter(|other| *other == name)
            .count();
        let kind = load.kinds.iter().find(|kind| kind.name == *name);
        kind.filter(|_| same == 1).map(|kind| kind.latency)
    };
    let data_reasons = survey.fingerprints.iter();
    let data_reasons: Vec<Vec<DataReason>> = data_reasons
        .map(|found| data.reasons(&found.text))
        .collect();
    let fingerprints = survey
        .fingerprints
        .iter()
        .enumerate()
        .map(|(number, found)| {
            let counted = tally.fingerprints[number];
            let mean = found.total_us as f64 / found.timed.max(1) as f64;
            FingerprintRecord {
                fingerprint: found.text.clone(),
                captured: found.count,
                captured_us_mean: (found.timed > 0).then_some(mean),
                sent: counted.sent,
                latency: latency(number),
                errors: counted.errors,
                rows: counted.rows,
                affected: counted.affected,
                warnings: counted.digest.warnings,
                results: results(&counted, counted.digest.rows),
                results_in_order: results(&counted, counted.digest.rows_in_order),
                rows_differ: counted.rows_differ,
                affected_differ: counted.affected_differ,
                errors_differ: counted.errors_differ,
                difference_reasons: difference_reasons(&found.text, &data_reasons[number]),
                plan: None,
            }
        });
    let fingerprints = fingerprints.collect();
    let record = ReplayRecord {
        fidelity,
        fingerprints,
    };
    ReplayOutcome {
        record,
        load,
        data_reasons,
        objects_unread: data.unread.clone(),
    }
}
