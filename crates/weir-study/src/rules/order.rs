//! R4: the order of the runs had no effect.
//!
//! Two runs of one configuration, an hour of other runs apart and without restoring the data, came
//! out 6.2 % lower (A/A pairs of 2026). Blocks in random order keep such a trend from favouring a
//! level, but a trend says that something ages: the drive, the host, a cache.

use weir_model::{Finding, StudyResult};
use weir_stats::{OrderedRun, order_effect};

use super::warning;

/// A trend this unlikely by chance is one.
const P_VALUE_MAX: f64 = 0.01;

pub(super) fn check(result: &StudyResult) -> Option<Finding> {
    let ordered = |run: &weir_model::RunResult| OrderedRun {
        cell: run.record.cell,
        value: run.record.queries_per_s,
    };
    let runs: Vec<_> = result.runs.iter().map(ordered).collect();
    // Too few runs to tell a trend from chance say nothing about one.
    let trend = order_effect(&runs).ok()?;
    (trend.p_value < P_VALUE_MAX).then(|| {
        let message = format!(
            "results drifted by {:+.1} % from the first run to the last (95 % interval {:+.1} to \
             {:+.1} %): something aged or warmed up between runs; look at the host and repeat",
            (trend.ratio - 1.0) * 100.0,
            (trend.interval.0 - 1.0) * 100.0,
            (trend.interval.1 - 1.0) * 100.0
        );
        warning("R4", message)
    })
}
