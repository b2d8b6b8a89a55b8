//! The runs of a result as a table: one row per run, a column per factor, then what was measured.

use std::collections::BTreeSet;

use weir_model::{CostPerQuery, RunRecord, StudyResult};

/// The values of one column, run by run.
pub(crate) enum Column {
    Text(Vec<String>),
    Number(Vec<f64>),
    Count(Vec<u64>),
}

/// Name and values of each column, in order; nothing rounded.
pub(crate) fn columns(result: &StudyResult) -> Vec<(String, Column)> {
    let cells = &result.plan.cells;
    let factors: BTreeSet<_> = cells.iter().flat_map(|cell| cell.levels.keys()).collect();
    let of_factor = |factor: &String| {
        let level = |record: &RunRecord| {
            let cell = cells.get(record.cell)?;
            cell.levels.get(factor).cloned()
        };
        let levels = text(result, |record| level(record).unwrap_or_default());
        (factor.clone(), levels)
    };
    let factors = factors.into_iter().map(of_factor);
    let measured = measured(result);
    let measured = measured.map(|(name, column)| (name.to_owned(), column));
    factors.chain(measured).chain(costs(result)).collect()
}

/// The costs of a query that were sampled in any run; a run without one has no number there.
fn costs(result: &StudyResult) -> impl Iterator<Item = (String, Column)> {
    CostPerQuery::ALL.into_iter().filter_map(|cost| {
        let runs = result.runs.iter();
        let values: Vec<_> = runs
            .map(|run| cost.value(run).unwrap_or(f64::NAN))
            .collect();
        let is_known = values.iter().any(|value| value.is_finite());
        is_known.then(|| (cost.name.to_owned(), Column::Number(values)))
    })
}

fn measured(result: &StudyResult) -> [(&'static str, Column); 18] {
    let number = |of: fn(&RunRecord) -> f64| {
        let runs = result.runs.iter();
        Column::Number(runs.map(|run| of(&run.record)).collect())
    };
    let count = |of: fn(&RunRecord) -> u64| {
        let runs = result.runs.iter();
        Column::Count(runs.map(|run| of(&run.record)).collect())
    };
    [
        ("repetition", count(|run| run.repetition.into())),
        ("started_at", text(result, |run| run.started_at.clone())),
        ("measured_s", number(|run| run.measured_s)),
        ("queries_per_s", number(|run| run.queries_per_s)),
        ("transactions_per_s", number(|run| run.transactions_per_s)),
        ("latency_us_mean", number(|run| run.latency.us_mean)),
        ("latency_us_p50", number(|run| run.latency.us_p50)),
        ("latency_us_p95", number(|run| run.latency.us_p95)),
        ("latency_us_p99", number(|run| run.latency.us_p99)),
        ("latency_us_p999", number(|run| run.latency.us_p999)),
        ("latency_us_max", number(|run| run.latency.us_max)),
        ("errors", count(|run| run.errors)),
        ("unfinished", count(|run| run.unfinished)),
        ("host_cpu", number(|run| run.utilization.host_cpu)),
        ("server_cores", number(|run| run.utilization.server_cores)),
        ("client_cpu", number(|run| run.utilization.client_cpu)),
        ("drive_read", number(|run| run.utilization.drive_read)),
        ("drive_write", number(|run| run.utilization.drive_write)),
    ]
}

fn text(result: &StudyResult, of: impl Fn(&RunRecord) -> String) -> Column {
    Column::Text(result.runs.iter().map(|run| of(&run.record)).collect())
}
