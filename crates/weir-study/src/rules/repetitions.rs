//! R4: at least three repetitions; five when the effect is small.
//!
//! One run per arm has a 95 % half-width of about 19 % on an I/O-bound ratio (A/A pairs of 2026),
//! so a single pair shows nothing.

use weir_model::{Comparison, Finding, Plan, StudyResult};

use super::{error, warning};

const PAIRS_MIN: usize = 3;
const PAIRS_MIN_SMALL_EFFECT: usize = 5;
/// Effects below this (as |ratio - 1|) are small.
const SMALL_EFFECT: f64 = 0.20;

pub(super) fn check(_: &StudyResult, comparison: &Comparison) -> Option<Finding> {
    let pairs = comparison.pairs;
    if let Some(finding) = too_few(pairs) {
        return Some(finding);
    }
    let small = (comparison.ratio - 1.0).abs() < SMALL_EFFECT;
    (small && pairs < PAIRS_MIN_SMALL_EFFECT).then(|| {
        let message = format!(
            "an effect below {:.0} % needs {PAIRS_MIN_SMALL_EFFECT} repetitions, {pairs} were \
             made; raise repeat.runs",
            SMALL_EFFECT * 100.0
        );
        warning("R4", message)
    })
}

/// The design alone shows that there will be too few.
pub(super) fn check_design(plan: &Plan) -> Option<Finding> {
    if plan.search.is_some() {
        return None; // It repeats by rules of its own and compares nothing.
    }
    too_few(
        plan.runs
            .iter()
            .map(|run| run.repetition)
            .max()
            .unwrap_or(0) as usize,
    )
}

fn too_few(pairs: usize) -> Option<Finding> {
    (pairs < PAIRS_MIN).then(|| {
        let message =
            format!("{pairs} of the {PAIRS_MIN} repetitions that it takes; raise repeat.runs");
        error("R4", message)
    })
}
