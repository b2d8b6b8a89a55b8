//! The state: step, run in progress with its latest seconds, and the latest finished runs.

use std::time::Instant;

use serde::{Deserialize, Serialize};
use weir_model::{Bottleneck, IntervalRecord, Plan, Utilization};
use weir_process::ProcessIdentity;

use crate::progress::event::Event;
use weir_model::run_time;

/// Version of the file's form.
const VERSION: u32 = 1;
/// Seconds of the run in progress that are kept: what a curve on a screen can show.
const SECONDS_MAX: usize = 300;
/// Finished runs that are kept; the result has all of them.
const FINISHED_MAX: usize = 20;

/// A running study as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Version of this form.
    pub version: u32,
    /// The process that runs the study: once it has ended, so has the study.
    pub writer: ProcessIdentity,
    /// The study's title.
    pub title: String,
    /// The study's question.
    pub question: String,
    /// Start of the study, RFC 3339.
    pub started_at: String,
    /// Present step.
    pub step: Step,
    /// Runs that are complete and stored, or have failed.
    pub runs_done: usize,
    /// All runs, as far as they are known.
    pub runs_total: usize,
    /// Estimated time to the end, seconds.
    pub time_left_s: u64,
    /// The run in progress.
    pub run: Option<RunInProgress>,
    /// The latest complete runs, oldest first.
    pub finished: Vec<FinishedRun>,
    /// Begin of the run in progress, with the time that was left then.
    #[serde(skip)]
    estimated: Option<(Instant, u64)>,
}

/// Step of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "name")]
pub enum Step {
    /// Finding servers and drives.
    Preparing,
    /// Loading rows, once for all runs.
    Loading {
        /// Rows so far.
        rows_done: u64,
        /// Rows in all tables.
        rows_total: u64,
    },
    /// Changing the data, once for all runs.
    Changing,
    /// Restoring data, mounting the drive, starting the server.
    Starting,
    /// Load before the measurement.
    WarmingUp,
    /// The measurement.
    Measuring,
}

/// The run in progress.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunInProgress {
    /// Position among all runs, from 1.
    pub position: usize,
    /// Combination of levels.
    pub label: String,
    /// The repetition, from 1.
    pub repetition: u32,
    /// Latest seconds, oldest first.
    pub seconds: Vec<Second>,
    /// Present bottleneck; `None` as long as too little is known.
    #[serde(default)]
    pub limits: Option<Limits>,
}

/// Bottleneck of a run, and its evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The resource.
    pub bottleneck: Bottleneck,
    /// Utilization of all resources.
    pub utilization: Utilization,
}

/// A second of load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(ts_rs::TS))]
pub struct Second {
    /// End of the second, seconds since the measurement began; 0 or less in the warm-up.
    pub time_s: f64,
    /// Statements completed per second.
    pub queries_per_s: f64,
    /// Median latency of transactions, milliseconds.
    pub latency_ms_p50: f64,
    /// 95th percentile.
    pub latency_ms_p95: f64,
    /// 99th percentile.
    pub latency_ms_p99: f64,
}

impl From<&IntervalRecord> for Second {
    fn from(interval: &IntervalRecord) -> Self {
        Self {
            time_s: interval.time_s,
            queries_per_s: interval.queries as f64 / interval.length_s,
            latency_ms_p50: interval.latency_us_p50 / 1e3,
            latency_ms_p95: interval.latency_us_p95 / 1e3,
            latency_ms_p99: interval.latency_us_p99 / 1e3,
        }
    }
}

/// A complete run in a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedRun {
    /// Position among all runs, from 1.
    pub position: usize,
    /// Combination of levels.
    pub label: String,
    /// The repetition, from 1.
    pub repetition: u32,
    /// Statements completed per second.
    pub queries_per_s: f64,
    /// 99th percentile of the latency of transactions, milliseconds.
    pub latency_ms_p99: f64,
    /// Bottleneck of the run.
    pub bottleneck: Bottleneck,
}

impl Progress {
    /// Before the study of `plan` has done anything; the writer is the calling process.
    pub fn new(plan: &Plan) -> Self {
        let runs_total = plan.runs.len();
        Self {
            version: VERSION,
            writer: ProcessIdentity::current(),
            title: plan.title.clone(),
            question: plan.question.clone(),
            started_at: jiff::Timestamp::now().to_string(),
            step: Step::Preparing,
            runs_done: 0,
            runs_total,
            time_left_s: run_time(plan, runs_total).0.as_secs(),
            run: None,
            finished: Vec::new(),
            estimated: None,
        }
    }

    /// Takes in what has happened to the study of `plan`.
    pub fn observe(&mut self, plan: &Plan, event: &Event<'_>) {
        match *event {
            Event::Loading {
                rows_done,
                rows_total,
            } => {
                self.step = Step::Loading {
                    rows_done,
                    rows_total,
                }
            }
            Event::Changing { .. } => self.step = Step::Changing,
            Event::DataReady { .. } => self.step = Step::Preparing,
            Event::RunStarted {
                position,
                total,
                label,
                repetition,
            } => {
                let left_s = run_time(plan, total + 1 - position).0.as_secs();
                self.estimated = Some((Instant::now(), left_s));
                self.step = Step::Starting;
                self.runs_done = position - 1;
                self.runs_total = total;
                self.run = Some(RunInProgress {
                    position,
                    label: label.to_owned(),
                    repetition,
                    seconds: Vec::new(),
                    limits: None,
                });
            }
            Event::Interval(interval) => self.interval(interval),
            Event::Bottleneck(bottleneck, utilization) => {
                if let Some(run) = &mut self.run {
                    run.limits = Some(Limits {
                        bottleneck,
                        utilization: utilization.clone(),
                    });
                }
            }
            Event::RunFinished {
                position,
                total,
                label,
                record,
            } => {
                self.end_run(position, total);
                keep_latest(&mut self.finished, FINISHED_MAX);
                self.finished.push(FinishedRun {
                    position,
                    label: label.to_owned(),
                    repetition: record.repetition,
                    queries_per_s: record.queries_per_s,
                    latency_ms_p99: record.latency.us_p99 / 1e3,
                    bottleneck: record.bottleneck,
                });
            }
            Event::RunFailed {
                position, total, ..
            } => self.end_run(position, total),
        }
        if let Some((began, left_s)) = self.estimated {
            self.time_left_s = left_s.saturating_sub(began.elapsed().as_secs());
        }
    }

    /// The latest second of the run in progress.
    pub fn last_second(&self) -> Option<&Second> {
        self.run.as_ref()?.seconds.last()
    }

    /// The run at `position` of `total` has ended.
    fn end_run(&mut self, position: usize, total: usize) {
        self.runs_done = position;
        self.runs_total = total;
        self.run = None;
    }

    fn interval(&mut self, interval: &IntervalRecord) {
        self.step = if interval.time_s > 0.0 {
            Step::Measuring
        } else {
            Step::WarmingUp
        };
        if let Some(run) = &mut self.run {
            keep_latest(&mut run.seconds, SECONDS_MAX);
            run.seconds.push(Second::from(interval));
        }
    }
}

/// Makes room for one more of at most `max`.
fn keep_latest<T>(list: &mut Vec<T>, max: usize) {
    if list.len() >= max {
        list.remove(0);
    }
}
