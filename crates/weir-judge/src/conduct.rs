//! What is to be said about how the runs were made: warm-ups that did not end steady, servers that
//! had served before, intervals that stayed wide, and steps of the throughput inside a run.

use std::collections::BTreeMap;

use weir_model::{Finding, Gap, Plan, RunRecord, RunResult, ServerUrl, Severity, StudyResult};
use weir_stats::change_points;

use crate::JudgeError;
use crate::measured::measured_series;
use crate::schedule::open_contrasts;

/// Seconds that are tested together: neighbouring seconds resemble each other.
const WINDOW_S: usize = 5;

/// Windows of a run at most; above, they become longer.
const WINDOWS_MAX: usize = 60;

/// Smallest step of the throughput that is told, relative.
const STEP_MIN: f64 = 0.10;

/// Steps that are told by name.
const STEPS_NAMED: usize = 3;

pub(crate) fn findings(
    result: &StudyResult,
    records: &[RunRecord],
) -> Result<Vec<Finding>, JudgeError> {
    let plan = &result.plan;
    let found = [
        unsteady_warmups(plan, records),
        shared_servers(plan, records),
        given_servers(plan, records),
        lost_sources(result),
        open_intervals(plan, records)?,
        steps(result),
    ];
    Ok(found.into_iter().flatten().collect())
}

fn warning(rule: &str, message: String) -> Finding {
    Finding {
        rule: rule.to_owned(),
        severity: Severity::Warning,
        message,
    }
}

fn run_name(plan: &Plan, record: &RunRecord) -> String {
    let label = plan.cells.get(record.cell).map(weir_model::Cell::label);
    format!(
        "repetition {} of {}",
        record.repetition,
        label.unwrap_or_default()
    )
}

fn unsteady_warmups(plan: &Plan, records: &[RunRecord]) -> Option<Finding> {
    let unsteady: Vec<_> = records
        .iter()
        .filter(|record| record.approach.steady == Some(false))
        .collect();
    let first = unsteady.first()?;
    let message = format!(
        "{} of {} warm-ups were ended by load.warmup.at_most before throughput was steady, such as \
         that of {} after {:.0} s; raise it",
        unsteady.len(),
        records.len(),
        run_name(plan, first),
        first.approach.warmup_s
    );
    Some(warning("R6", message))
}

fn shared_servers(plan: &Plan, records: &[RunRecord]) -> Option<Finding> {
    let later = records
        .iter()
        .filter(|record| record.approach.runs_before > 0 && given(plan, record).is_none());
    let count = later.count();
    if count == 0 {
        return None;
    }
    let order = if plan.repeat.keeps_order_within {
        "always in the order in which the levels are written, so order and level cannot be told \
         apart"
    } else {
        "in random order, so that it falls on all levels alike"
    };
    let message = format!(
        "{count} of {} runs went on with a server that others had used (repeat.within_server): \
         they found its pages in memory and its data changed, {order}",
        records.len()
    );
    Some(warning("R4", message))
}

/// The user's own server of a run.
fn given(plan: &Plan, record: &RunRecord) -> Option<ServerUrl> {
    let cell = plan.cells.get(record.cell)?;
    cell.spec.primary().server.given.clone()
}

fn given_servers(plan: &Plan, records: &[RunRecord]) -> Option<Finding> {
    let on_given = records
        .iter()
        .filter(|record| given(plan, record).is_some());
    let (count, first) = (on_given.clone().count(), on_given.clone().next()?);
    let message = format!(
        "{count} of {} runs were made on a server that is not Weir's, such as {}: its data are not \
         restored, each run found what the runs before and others had left, in random order",
        records.len(),
        given(plan, first).map_or_else(String::new, |url| url.to_string())
    );
    Some(warning("R4", message))
}

/// Sources of metrics that a user's server gave nothing of for the whole of a run: privileges are missing.
fn lost_sources(result: &StudyResult) -> Option<Finding> {
    let mut lost: BTreeMap<&str, &Gap> = BTreeMap::new();
    // A private server's account may read all that there is.
    let on_given = |run: &&RunResult| given(&result.plan, &run.record).is_some();
    for run in result.runs.iter().filter(on_given) {
        let is_whole = |gap: &&Gap| gap.from_s <= 0.0 && gap.to_s >= run.record.measured_s;
        for gap in run.gaps.iter().filter(is_whole) {
            lost.entry(&gap.source).or_insert(gap);
        }
    }
    let named: Vec<_> = lost
        .iter()
        .map(|(source, gap)| format!("{source} ({})", gap.reason))
        .collect();
    if named.is_empty() {
        return None;
    }
    let message = format!(
        "could not be read for the whole of a run, so what depends on it is not known: {}",
        named.join("; ")
    );
    Some(warning("R18", message))
}

fn open_intervals(plan: &Plan, records: &[RunRecord]) -> Result<Option<Finding>, JudgeError> {
    let Some(until) = plan.repeat.until else {
        return Ok(None);
    };
    let records: Vec<_> = records.iter().collect();
    let open = open_contrasts(plan, &records, until)?;
    let Some(first) = open.first() else {
        return Ok(None);
    };
    let message = format!(
        "{} effects are not known to the +-{} % that the study wants, such as that of {} {}; raise \
         repeat.at_most or repeat.budget",
        open.len(),
        until * 100.0,
        first.factor,
        first.level
    );
    Ok(Some(warning("R4", message)))
}

fn steps(result: &StudyResult) -> Option<Finding> {
    let all: Vec<_> = result
        .runs
        .iter()
        .flat_map(|run| steps_of(&result.plan, run))
        .collect();
    if all.is_empty() {
        return None;
    }
    let named = all[..all.len().min(STEPS_NAMED)].join("; ");
    let message = format!(
        "throughput stepped {} times inside runs: {named}; a mean over a step describes neither side",
        all.len()
    );
    Some(warning("R7", message))
}

/// The steps of one run in words; none in a run too short to tell.
fn steps_of(plan: &Plan, run: &RunResult) -> Vec<String> {
    let series = measured_series(run);
    let window = (series.len() / WINDOWS_MAX).max(WINDOW_S);
    let changes = change_points(&series, window, plan.seed).unwrap_or_default();
    let large = changes
        .into_iter()
        .filter(|change| (change.after / change.before - 1.0).abs() >= STEP_MIN);
    large
        .map(|change| {
            format!(
                "from {:.0} to {:.0} queries/s after {} s in {}",
                change.before,
                change.after,
                change.position,
                run_name(plan, &run.record)
            )
        })
        .collect()
}
