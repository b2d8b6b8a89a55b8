//! Sends a capture to a server by the load engine.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_load::{LoadOutcome, LoadPlan, Progress, ReactorKind, run_sessions};
use weir_model::Duration;
use weir_mysql::Gate;

use crate::feed::Feed;
use crate::feeding::Numbers;
use crate::session::Source;
use crate::slot::Stage;
use crate::survey::{OTHERS, Survey};
use crate::{FingerprintOutcome, ReplayError, ReplayOptions, ReplayOutcome};

/// Fingerprints whose latencies are kept by themselves: a histogram takes 270 KiB, and there are several of each.
const TIMED_MAX: usize = 50;
/// What others are called together.
const NOT_TIMED: &str = "(all others)";
/// Longest name of a kind of statement.
const NAME_MAX: usize = 160;

/// Sends the capture at `path`, which `survey` has read, to the plan's server. Of the plan count the server, how it
/// is reached, the reactors and the interval; connections are the capture's. `gate`: what may be done there.
///
/// # Errors
///
/// A capture that cannot be read or has nothing to send, and what the load engine cannot do.
pub fn replay(
    plan: &LoadPlan,
    path: &Path,
    survey: &Survey,
    options: &ReplayOptions,
    (gate, allows_writes): (&Gate, bool),
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(Progress<'_>),
) -> Result<ReplayOutcome, ReplayError> {
    let nothing = |why: &str| ReplayError::Nothing {
        path: path.display().to_string(),
        why: why.to_owned(),
    };
    if survey.statements == 0 {
        return Err(nothing(
            "no statement of it is taken; look at it with `weir capture show`",
        ));
    }
    if survey.unusable == survey.statements {
        return Err(nothing(
            "its statements lack their values (--literals=drop), so none can be sent",
        ));
    }
    let schema = options
        .schema
        .as_deref()
        .or(survey.schema())
        .unwrap_or_default();
    let names: Vec<_> = survey
        .fingerprints
        .iter()
        .map(|found| found.text.clone())
        .collect();
    let others = names
        .iter()
        .position(|name| name == OTHERS)
        .unwrap_or(names.len());
    let numbers = Numbers {
        fingerprints: names.iter().cloned().zip(0..).collect::<HashMap<_, _>>(),
        others,
        next: 0,
        schema: schema.to_owned(),
    };
    let count = names.len() + 1;
    let stage = Arc::new(Stage::new(
        options.clone(),
        survey.sessions_at_a_time,
        count,
    ));
    let source = Source {
        stage: Arc::clone(&stage),
        kinds: Arc::new(
            (0..count)
                .map(|number| Some(number.min(TIMED_MAX)))
                .collect(),
        ),
        names: kind_names(&names),
        only_reads: !allows_writes,
    };
    let plan = plan_of(plan, survey);
    let is_over = AtomicBool::new(false);
    let (load, fed) = std::thread::scope(|scope| {
        let feed = Feed::new(&stage, numbers);
        let feeding = scope.spawn(|| feed.run(path, survey.records, &is_over));
        let load = run_sessions(&plan, &source, gate, stop, on_progress);
        is_over.store(true, Ordering::Relaxed);
        let fed = feeding.join();
        (
            load,
            fed.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        )
    });
    fed?;
    Ok(outcome(load?, survey, &stage))
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

fn kind_names(names: &[String]) -> Vec<String> {
    let short = |name: &String| {
        let end = name
            .char_indices()
            .nth(NAME_MAX)
            .map_or(name.len(), |(end, _)| end);
        name[..end].to_owned()
    };
    let timed = names.iter().take(TIMED_MAX).map(short);
    let mut kinds: Vec<_> = timed.collect();
    kinds.resize(TIMED_MAX, String::new());
    kinds.push(NOT_TIMED.to_owned());
    kinds
}

fn outcome(load: LoadOutcome, survey: &Survey, stage: &Stage) -> ReplayOutcome {
    let tally = stage.tally();
    let mut fidelity = tally.fidelity.clone();
    fidelity.sessions = survey.sessions;
    fidelity.captured = survey.statements;
    fidelity.late_us = tally.lateness();
    let names: Vec<_> = survey
        .fingerprints
        .iter()
        .map(|found| found.text.clone())
        .collect();
    let names = kind_names(&names);
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
    let fingerprints = survey
        .fingerprints
        .iter()
        .enumerate()
        .map(|(number, found)| {
            let counted = tally.fingerprints[number];
            let mean = found.total_us as f64 / found.timed.max(1) as f64;
            FingerprintOutcome {
                fingerprint: found.text.clone(),
                captured: found.count,
                captured_us_mean: (found.timed > 0).then_some(mean),
                sent: counted.sent,
                latency: latency(number),
                rows_differ: counted.rows_differ,
                affected_differ: counted.affected_differ,
                errors_differ: counted.errors_differ,
            }
        });
    let fingerprints = fingerprints.collect();
    ReplayOutcome {
        fidelity,
        fingerprints,
        load,
    }
}
