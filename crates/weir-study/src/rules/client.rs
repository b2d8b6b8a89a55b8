//! R14: the client is not the limit.

use weir_model::{Comparison, Finding, Limiter, StudyResult};

use super::{error, runs_of, warning};

/// Above this share of a core per reactor, the client begins to be part of the result.
const CLIENT_CPU_MAX: f64 = 0.70;

pub(super) fn check(result: &StudyResult, comparison: &Comparison) -> Option<Finding> {
    let records = || runs_of(result, comparison).map(|run| &run.record);
    if records().any(|record| record.limiter == Limiter::Client) {
        let message = "the load engine was saturated: this compares the client with itself; \
                       lower the throughput or give the client more cores";
        return Some(error("R14", message.to_owned()));
    }
    let busiest = records()
        .map(|record| record.utilization.client_cpu)
        .fold(0.0, f64::max);
    (busiest > CLIENT_CPU_MAX).then(|| {
        let message = format!(
            "the load engine used {:.0} % of its core; above {:.0} % it may hide a difference",
            busiest * 100.0,
            CLIENT_CPU_MAX * 100.0
        );
        warning("R14", message)
    })
}
