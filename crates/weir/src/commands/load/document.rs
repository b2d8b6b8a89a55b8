//! The result of a load as JSON, for programs.

use serde::Serialize;
use weir_load::LoadOutcome;
use weir_model::IntervalRecord;
use weir_sysbench::Invocation;

/// Document of a load: its options and its measurements. Times are in the unit that their names end
/// with.
#[derive(Debug, Serialize)]
pub(super) struct Document<'a> {
    weir: &'static str,
    workload: String,
    connections: u32,
    tables: u32,
    rows: u64,
    seed: u64,
    /// Transactions per second of an open loop.
    rate_per_s: Option<f64>,
    #[serde(flatten)]
    outcome: &'a LoadOutcome,
    transactions_per_s: f64,
    queries_per_s: f64,
    /// Of order entry; null for other workloads.
    new_orders_per_minute: Option<f64>,
    /// Share of its core that the busiest reactor used.
    client_utilization: f64,
    client_cpu_us_per_query: f64,
    percentiles: Vec<Percentile>,
    intervals: &'a [IntervalRecord],
}

/// One that was asked for.
#[derive(Debug, Serialize)]
struct Percentile {
    percentile: f64,
    latency_us: f64,
}

/// The result of `invocation`, as text.
pub(super) fn text(
    invocation: &Invocation,
    outcome: &LoadOutcome,
    intervals: &[IntervalRecord],
) -> serde_json::Result<String> {
    let plan = &invocation.plan;
    let per_s = |count: u64| count as f64 / outcome.measured_s.max(f64::MIN_POSITIVE);
    let percentiles = invocation.percentiles.iter().map(|percentile| Percentile {
        percentile: *percentile,
        latency_us: outcome.latency_us(*percentile),
    });
    serde_json::to_string_pretty(&Document {
        weir: env!("CARGO_PKG_VERSION"),
        workload: plan.workload.to_string(),
        connections: plan.load.connections,
        tables: plan.tables,
        rows: plan.rows,
        seed: plan.seed,
        rate_per_s: plan.load.pace.rate_per_s(),
        outcome,
        transactions_per_s: per_s(outcome.counts.transactions),
        queries_per_s: per_s(outcome.counts.queries),
        new_orders_per_minute: weir_sysbench::new_orders_per_minute(outcome),
        client_utilization: outcome.client_utilization(),
        client_cpu_us_per_query: outcome.client_cpu_us_per_query(),
        percentiles: percentiles.collect(),
        intervals,
    })
}
