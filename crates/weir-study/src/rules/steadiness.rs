//! R6: what was measured was a steady state, and for long enough.
//!
//! On a 90 GB data set the first 100 s missed the steady throughput by -46 to +32 %, with a sign
//! that changes with the buffer pool (Percona's memory sweep of 2018).

use weir_model::{Finding, Plan, RunResult, StudyResult};
use weir_stats::steady_state;

use super::{measured_series, warning};

/// Shortest measurement that may claim to be more than a look, seconds.
const MEASURE_S_MIN: f64 = 300.0;

pub(super) fn check_design(plan: &Plan) -> Option<Finding> {
    let measure_s = plan.load.measure.as_secs_f64();
    (measure_s < MEASURE_S_MIN).then(|| {
        let message = format!(
            "each run measures {measure_s:.0} s, less than {MEASURE_S_MIN:.0} s: a first look, not \
             a steady state proven; raise load.measure before you decide on it"
        );
        warning("R6", message)
    })
}

pub(super) fn check_runs(result: &StudyResult) -> Option<Finding> {
    let unsteady: Vec<_> = result.runs.iter().filter(|run| is_unsteady(run)).collect();
    let first = unsteady.first()?;
    let label = result.plan.cells[first.record.cell].label();
    let message = format!(
        "{} of {} runs were not steady (five windows within 20 %, slope at most 10 %), such as \
         repetition {} of {label}; raise load.warmup",
        unsteady.len(),
        result.runs.len(),
        first.record.repetition
    );
    Some(warning("R6", message))
}

fn is_unsteady(run: &RunResult) -> bool {
    steady_state(&measured_series(run)).is_some_and(|found| !found.is_steady())
}
