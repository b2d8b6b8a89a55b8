//! R7: no stalls behind the means.
//!
//! In the memory sweep of 2018 one engine had a worst second of 67 transactions at a mean of 4,206.

use weir_model::{Finding, StudyResult};
use weir_stats::stalls;

use super::{measured_series, warning};

/// Share of the measured seconds that may be stalled before it is said.
const STALLED_SHARE_MAX: f64 = 0.05;

pub(super) fn check(result: &StudyResult) -> Option<Finding> {
    let cells = result.plan.cells.iter().enumerate();
    let stalled: Vec<_> = cells
        .filter_map(|(index, cell)| {
            let share = stalled_share(result, index)?;
            let percent = share * 100.0;
            (share > STALLED_SHARE_MAX).then(|| format!("{} ({percent:.0} %)", cell.label()))
        })
        .collect();
    if stalled.is_empty() {
        return None;
    }
    let message = format!(
        "throughput fell below half of its median in many seconds: {}; a mean hides that, so look \
         at throughput over time and at p99",
        stalled.join(", ")
    );
    Some(warning("R7", message))
}

/// Stalled / measured seconds over all repetitions of a cell.
fn stalled_share(result: &StudyResult, cell: usize) -> Option<f64> {
    let runs = result.runs.iter().filter(|run| run.record.cell == cell);
    let (mut stalled, mut measured) = (0, 0);
    for run in runs {
        let series = measured_series(run);
        stalled += stalls(&series)?.seconds();
        measured += series.len();
    }
    (measured > 0).then(|| stalled as f64 / measured as f64)
}
