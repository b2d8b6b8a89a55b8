//! Pages of `weir serve` beyond a report: the runs of a result, one run closely, two results.

use serde::Serialize;
use weir_model::{ResultComparison, RunRecord, RunResult, StudyResult};

use crate::ReportError;
use crate::comparison_sentences::Answer;
use crate::gaps::GapView;
use crate::number::RoundedNumber;
use crate::ranked_findings::RankedFindings;
use crate::timeline::{self, PanelHead, Timeline, Window};
use crate::words::{bottleneck_evidence, bottleneck_explanation, bottleneck_name, cell_label};

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Runs<'a> {
    title: &'a str,
    runs: Vec<RunLine<'a>>,
}

/// A run in a line.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct RunLine<'a> {
    cell: usize,
    label: String,
    repetition: u32,
    started_at: &'a str,
    queries_per_s: Option<RoundedNumber>,
    latency_ms_p99: Option<RoundedNumber>,
    bottleneck: &'static str,
}

impl<'a> RunLine<'a> {
    fn new(result: &StudyResult, record: &'a RunRecord) -> Self {
        Self {
            cell: record.cell,
            label: result
                .plan
                .cells
                .get(record.cell)
                .map(cell_label)
                .unwrap_or_default(),
            repetition: record.repetition,
            started_at: &record.started_at,
            queries_per_s: RoundedNumber::fine(record.queries_per_s),
            latency_ms_p99: RoundedNumber::new(record.latency.us_p99 / 1e3, 4),
            bottleneck: bottleneck_name(record.bottleneck),
        }
    }
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RunPage<'a> {
    title: &'a str,
    #[serde(flatten)]
    line: RunLine<'a>,
    measured_s: Option<RoundedNumber>,
    bottleneck_explanation: &'static str,
    bottleneck_evidence: String,
    panels: Vec<PanelHead>,
    timeline: Timeline,
    gaps: Vec<GapView<'a>>,
    server_log: &'a str,
    variables: &'a std::collections::BTreeMap<String, String>,
    variables_changed: &'a std::collections::BTreeMap<String, String>,
    commands: &'a [String],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ComparisonAnswer<'a> {
    basis: &'a str,
    differences: &'a [String],
    answers: Vec<Answer<'a>>,
    ranked: RankedFindings,
}

/// The runs `records` of a result as JSON, in their order.
///
/// # Errors
/// If the result cannot be written as JSON.
pub fn runs_json(result: &StudyResult, records: &[RunRecord]) -> Result<String, ReportError> {
    let runs = records.iter().map(|record| RunLine::new(result, record));
    to_json(&Runs {
        title: &result.plan.title,
        runs: runs.collect(),
    })
}

/// One run as JSON, with its curves in `window`.
///
/// # Errors
/// If the result cannot be written as JSON.
pub fn run_json(
    result: &StudyResult,
    run: &RunResult,
    window: Window,
) -> Result<String, ReportError> {
    let panels = timeline::heads([run]);
    to_json(&RunPage {
        title: &result.plan.title,
        line: RunLine::new(result, &run.record),
        measured_s: RoundedNumber::fine(run.record.measured_s),
        bottleneck_explanation: bottleneck_explanation(run.record.bottleneck),
        bottleneck_evidence: bottleneck_evidence(run.record.bottleneck, &run.record.utilization),
        gaps: run.gaps.iter().map(GapView::new).collect(),
        server_log: &run.server_log,
        timeline: timeline::timeline(run, &panels, window, true),
        panels,
        variables: &run.variables,
        variables_changed: &run.variables_changed,
        commands: &run.commands,
    })
}

/// Two results set against each other, as JSON: the sentences of `weir compare`.
///
/// # Errors
/// If the result cannot be written as JSON.
pub fn comparison_json(compared: &ResultComparison) -> Result<String, ReportError> {
    to_json(&ComparisonAnswer {
        basis: &compared.basis,
        differences: &compared.differences,
        answers: Answer::all(&compared.comparisons),
        ranked: RankedFindings::new(&compared.comparisons, &compared.findings),
    })
}

fn to_json(value: &impl Serialize) -> Result<String, ReportError> {
    serde_json::to_string(value).map_err(ReportError::Serialize)
}
