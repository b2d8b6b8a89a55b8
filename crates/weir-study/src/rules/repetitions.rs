//! R4: at least three repetitions; five when the effect is small.
//!
//! One run per arm has a 95 % half-width of about 19 % on an I/O-bound ratio (A/A pairs of 2026),
//! so a single pair shows nothing.

use weir_model::{Comparison, Finding, StudyResult};

use super::{error, warning};

const PAIRS_MIN: usize = 3;
const PAIRS_MIN_SMALL_EFFECT: usize = 5;
/// Effects below this (as |ratio - 1|) are small.
const SMALL_EFFECT: f64 = 0.20;

pub(super) fn check(_: &StudyResult, comparison: &Comparison) -> Option<Finding> {
    let pairs = comparison.pairs;
    if pairs < PAIRS_MIN {
        let message =
            format!("{pairs} repetitions compared, {PAIRS_MIN} needed; raise repeat.runs");
        return Some(error("R4", message));
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
