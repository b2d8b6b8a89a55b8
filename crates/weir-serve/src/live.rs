//! Running studies, in the words and numbers of the page.

use serde::Serialize;
use weir_report::{bottleneck_evidence, bottleneck_explanation, bottleneck_name};
use weir_store::progress::{
    FinishedRun, Limits, Progress, ProgressFile, RunInProgress, Second, Step,
};

use crate::library::Library;
use crate::study_runner::OwnStudy;

/// Everything that a live view shows.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Live {
    /// Studies that run in the library's folder, wherever they were started.
    running: Vec<LiveStudy>,
    /// The study that was started here last.
    own: Option<OwnStudy>,
    /// Changes whenever the list of results does.
    results_version: u64,
}

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LiveStudy {
    name: String,
    /// True if it was started here and can be stopped here.
    is_own: bool,
    title: String,
    question: String,
    started_at: String,
    step: String,
    step_share: Option<f64>,
    runs_done: usize,
    runs_total: usize,
    time_left_s: u64,
    run: Option<Run>,
    finished: Vec<LiveRun>,
}

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct Run {
    position: usize,
    label: String,
    repetition: u32,
    seconds: Vec<Second>,
    limits: Option<LimitsNow>,
}

/// Present bottleneck of a run, in words.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LimitsNow {
    bottleneck: &'static str,
    explanation: &'static str,
    evidence: String,
}

#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct LiveRun {
    position: usize,
    label: String,
    repetition: u32,
    queries_per_s: f64,
    latency_ms_p99: f64,
    bottleneck: &'static str,
}

/// Returns the progress of every running study.
pub(crate) fn progresses(library: &Library) -> Vec<(String, Progress)> {
    let folders = library.running().into_iter();
    folders
        .filter_map(|(name, folder)| Some((name, ProgressFile::read(&folder)?)))
        .collect()
}

/// Returns the present content of the page.
pub(crate) fn now(library: &Library, own: Option<OwnStudy>) -> Live {
    let own_pid = own.as_ref().map(OwnStudy::pid);
    let running = progresses(library).into_iter();
    Live {
        running: running
            .map(|(name, progress)| {
                let is_own = own_pid == Some(progress.writer.pid);
                LiveStudy::new(name, is_own, progress)
            })
            .collect(),
        own,
        results_version: library.version(),
    }
}

impl LiveStudy {
    fn new(name: String, is_own: bool, progress: Progress) -> Self {
        Self {
            name,
            is_own,
            title: progress.title,
            question: progress.question,
            started_at: progress.started_at,
            step: step_words(progress.step).to_owned(),
            step_share: step_share(progress.step),
            runs_done: progress.runs_done,
            runs_total: progress.runs_total,
            time_left_s: progress.time_left_s,
            run: progress.run.map(Run::from),
            finished: progress.finished.into_iter().map(LiveRun::from).collect(),
        }
    }
}

impl From<RunInProgress> for Run {
    fn from(run: RunInProgress) -> Self {
        Self {
            position: run.position,
            label: run.label,
            repetition: run.repetition,
            seconds: run.seconds,
            limits: run.limits.as_ref().map(LimitsNow::from),
        }
    }
}

impl From<&Limits> for LimitsNow {
    fn from(limits: &Limits) -> Self {
        Self {
            bottleneck: bottleneck_name(limits.bottleneck),
            explanation: bottleneck_explanation(limits.bottleneck),
            evidence: bottleneck_evidence(limits.bottleneck, &limits.utilization),
        }
    }
}

impl From<FinishedRun> for LiveRun {
    fn from(run: FinishedRun) -> Self {
        Self {
            position: run.position,
            label: run.label,
            repetition: run.repetition,
            queries_per_s: run.queries_per_s,
            latency_ms_p99: run.latency_ms_p99,
            bottleneck: bottleneck_name(run.bottleneck),
        }
    }
}

fn step_words(step: Step) -> &'static str {
    match step {
        Step::Preparing => "finding servers and drives",
        Step::Loading { .. } => "loading rows, once for all runs",
        Step::Changing => "changing the data, once for all runs",
        Step::Starting => "restoring the data, starting the server",
        Step::WarmingUp => "warming up",
        Step::Measuring => "measuring",
    }
}

/// Returns the share of a step that is done, where that is known.
fn step_share(step: Step) -> Option<f64> {
    match step {
        Step::Loading {
            rows_done,
            rows_total,
        } if rows_total > 0 => Some(rows_done as f64 / rows_total as f64),
        _ => None,
    }
}
