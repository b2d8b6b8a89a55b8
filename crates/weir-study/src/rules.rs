//! The rules that judge a comparison; their numbers are those of ARCHITECTURE.md.
//!
//! Each rule is a function from the result to at most one finding. An error makes the comparison
//! invalid; a warning is printed beside it.

mod client;
mod drive_accuracy;
mod durability;
mod errors;
mod one_factor;
mod order;
mod repetitions;
mod stalls;
mod steadiness;

use weir_model::{Comparison, Finding, Plan, RunResult, Severity, StudyResult};

/// A rule about two cells.
type ComparisonRule = fn(&StudyResult, &Comparison) -> Option<Finding>;
/// A rule about all runs.
type StudyRule = fn(&StudyResult) -> Option<Finding>;
/// A rule about the design, before anything runs.
type DesignRule = fn(&Plan) -> Option<Finding>;

const COMPARISON_RULES: [ComparisonRule; 5] = [
    one_factor::check,
    durability::check,
    repetitions::check,
    client::check,
    errors::check,
];

const STUDY_RULES: [StudyRule; 4] = [
    steadiness::check_runs,
    stalls::check,
    order::check,
    drive_accuracy::check,
];

const DESIGN_RULES: [DesignRule; 2] = [repetitions::check_design, steadiness::check_design];

/// What the rules find about `plan` before anything runs.
pub fn findings_of_design(plan: &Plan) -> Vec<Finding> {
    DESIGN_RULES.iter().filter_map(|rule| rule(plan)).collect()
}

/// What the rules find about `comparison`.
pub(crate) fn of_comparison(result: &StudyResult, comparison: &Comparison) -> Vec<Finding> {
    COMPARISON_RULES
        .iter()
        .filter_map(|rule| rule(result, comparison))
        .collect()
}

/// What the rules find about the study as a whole.
pub(crate) fn of_study(result: &StudyResult) -> Vec<Finding> {
    let length = steadiness::check_design(&result.plan);
    length
        .into_iter()
        .chain(STUDY_RULES.iter().filter_map(|rule| rule(result)))
        .collect()
}

pub(crate) fn warning(rule: &str, message: String) -> Finding {
    Finding {
        rule: rule.to_owned(),
        severity: Severity::Warning,
        message,
    }
}

fn error(rule: &str, message: String) -> Finding {
    Finding {
        rule: rule.to_owned(),
        severity: Severity::Error,
        message,
    }
}

/// Queries per second of each measured second of a run.
fn measured_series(run: &RunResult) -> Vec<f64> {
    let measured = run
        .intervals
        .iter()
        .filter(|interval| interval.time_s > 0.0);
    measured
        .map(|interval| interval.queries as f64 / interval.length_s)
        .collect()
}

/// The runs of both cells of a comparison.
fn runs_of<'a>(
    result: &'a StudyResult,
    comparison: &Comparison,
) -> impl Iterator<Item = &'a RunResult> {
    let cells = [comparison.baseline_cell, comparison.level_cell];
    result
        .runs
        .iter()
        .filter(move |run| cells.contains(&run.record.cell))
}

#[cfg(test)]
mod tests;
