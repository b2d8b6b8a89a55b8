//! R16: failed transactions are few, and the server answered to the end.

use weir_model::{Comparison, Finding, StudyResult};

use super::{error, runs_of, warning};

/// Largest share of tries that may fail (deadlocks, lock timeouts).
const ERROR_SHARE_MAX: f64 = 0.01;

pub(super) fn check(result: &StudyResult, comparison: &Comparison) -> Option<Finding> {
    let worst = runs_of(result, comparison)
        .map(|run| {
            let done = run.record.transactions_per_s * run.record.measured_s;
            run.record.errors as f64 / (done + run.record.errors as f64).max(1.0)
        })
        .fold(0.0, f64::max);
    if worst <= ERROR_SHARE_MAX {
        return stalled(result, comparison);
    }
    Some({
        let message = format!(
            "{:.1} % of the transactions failed in a run, {:.0} % is the most that is fair; use \
             more rows or fewer threads",
            worst * 100.0,
            ERROR_SHARE_MAX * 100.0
        );
        error("R16", message)
    })
}

fn stalled(result: &StudyResult, comparison: &Comparison) -> Option<Finding> {
    let unfinished: u64 = runs_of(result, comparison)
        .map(|run| run.record.unfinished)
        .sum();
    (unfinished > 0).then(|| {
        let message = format!(
            "{unfinished} connections had no reply within seconds of the end of a run: the server \
             stalled, and what they waited for is in no latency; look at its error log and drive"
        );
        warning("R16", message)
    })
}
