//! Steps of the throughput inside a run.

use weir_model::{Finding, RunResult};
use weir_stats::change_points;

use super::RULE;
use crate::measured::measured_series;
use crate::rules::Evidence;

/// Seconds that are tested together: neighbouring seconds resemble each other.
const WINDOW_S: usize = 5;

/// Windows of a run at most; above, they become longer.
const WINDOWS_MAX: usize = 60;

/// Smallest step of the throughput that is reported, relative.
const STEP_MIN: f64 = 0.10;

/// Steps that are reported by name.
const STEPS_NAMED: usize = 3;

/// All steps of all runs, the first of them by name.
pub(super) fn check(evidence: &Evidence<'_>) -> Option<Finding> {
    let runs = evidence.result.runs.iter();
    let all: Vec<_> = runs.flat_map(|run| steps_of(evidence, run)).collect();
    if all.is_empty() {
        return None;
    }
    let named = all[..all.len().min(STEPS_NAMED)].join("; ");
    let message = format!(
        "throughput stepped {} times inside runs: {named}; a mean over a step describes neither side",
        all.len()
    );
    Some(RULE.note(message))
}

/// The steps of one run in words; none in a run too short to tell.
fn steps_of(evidence: &Evidence<'_>, run: &RunResult) -> Vec<String> {
    let series = measured_series(run);
    let window = (series.len() / WINDOWS_MAX).max(WINDOW_S);
    let changes = change_points(&series, window, evidence.result.plan.seed).unwrap_or_default();
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
                evidence.name(&run.record)
            )
        })
        .collect()
}
