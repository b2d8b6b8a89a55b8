//! Runs on servers that did not start from restored data.

use weir_model::{Finding, RunResult};

use super::RULE;
use crate::rules::Evidence;

/// Runs that went on with a server of the runs before them.
pub(super) fn shared(evidence: &Evidence<'_>) -> Option<Finding> {
    let (plan, runs) = (&evidence.result.plan, &evidence.result.runs);
    let went_on = |run: &&RunResult| {
        run.record.approach.runs_before > 0 && evidence.given(&run.record).is_none()
    };
    let count = runs.iter().filter(went_on).count();
    if count == 0 {
        return None;
    }
    let order = if plan.repeat.keeps_order_within {
        "always in the order in which the levels are written, so order and level cannot be told \
         apart"
    } else {
        "in random order, so that it falls on all levels alike"
    };
    Some(RULE.warning(format!(
        "{count} of {} runs went on with a server that others had used (repeat.within_server): \
         they found its pages in memory and its data changed, {order}",
        runs.len()
    )))
}

/// Runs on a server that the user gives.
pub(super) fn external(evidence: &Evidence<'_>) -> Option<Finding> {
    let runs = &evidence.result.runs;
    let given: Vec<_> = runs
        .iter()
        .filter_map(|run| evidence.given(&run.record))
        .collect();
    let first = given.first()?;
    Some(RULE.warning(format!(
        "{} of {} runs were made on a server that is not Weir's, such as {first}: its data are not \
         restored, so each run found the data of the runs before it, in random order",
        given.len(),
        runs.len(),
    )))
}
