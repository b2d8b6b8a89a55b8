//! The runs of a result by cell, and what is read off a run.

use weir_model::{
    CostPerQuery, EventEnding, EventRecord, Metric, Plan, RunRecord, RunResult, Series,
    StudyResult, metrics,
};

/// The metric of a comparison that names none.
pub(crate) const THROUGHPUT: &str = "queries_per_s";

/// Seconds from the begin of a run's first event to the end of its last, if all of them were done.
const EVENT_TIME: &str = "event_s";

/// The metric of a study's verdicts.
pub(crate) fn study_metric(plan: &Plan) -> &str {
    plan.repeat.metric.as_deref().unwrap_or(THROUGHPUT)
}

/// The value of `metric` in a run; `None` for a metric that it does not have.
pub(crate) fn value(run: &RunResult, metric: &str) -> Option<f64> {
    if metric == EVENT_TIME {
        return event_s(run);
    }
    if let Some(cost) = CostPerQuery::find(metric) {
        return cost.value(run);
    }
    recorded_value(&run.record, metric).or_else(|| run.level(probed(metric)?))
}

/// The value of `metric` by a run's record alone; `None` for a metric that needs its samples.
pub(crate) fn recorded_value(record: &RunRecord, metric: &str) -> Option<f64> {
    let latency = &record.latency;
    Some(match metric {
        THROUGHPUT => record.queries_per_s,
        "transactions_per_s" => record.transactions_per_s,
        "latency_us_mean" => latency.us_mean,
        "latency_us_p50" => latency.us_p50,
        "latency_us_p95" => latency.us_p95,
        "latency_us_p99" => latency.us_p99,
        "latency_us_p999" => latency.us_p999,
        "latency_us_max" => latency.us_max,
        other => return CostPerQuery::find(other)?.recorded(record),
    })
}

/// The metrics that a run's record has.
pub fn recorded_metrics() -> Vec<&'static str> {
    let cpu = [CostPerQuery::SERVER_CPU.name];
    METRICS.into_iter().chain(cpu).collect()
}

fn event_s(run: &RunResult) -> Option<f64> {
    let is_done = |event: &EventRecord| event.ending == EventEnding::Done;
    let events = run.events.iter();
    let began_s = events.clone().map(|event| event.began_s).reduce(f64::min)?;
    let ended_s = events.map(|event| event.ended_s).reduce(f64::max)?;
    run.events.iter().all(is_done).then_some(ended_s - began_s)
}

/// The metric of that name that probes sample.
fn probed(name: &str) -> Option<&'static Metric> {
    metrics::ALL.iter().find(|metric| metric.name == name)
}

/// Returns true if `name` is a metric of runs.
pub(crate) fn is_metric(name: &str) -> bool {
    METRICS.contains(&name)
        || name == EVENT_TIME
        || CostPerQuery::find(name).is_some()
        || probed(name).is_some()
}

/// The metrics that every run has.
pub(crate) const METRICS: [&str; 8] = [
    THROUGHPUT,
    "transactions_per_s",
    "latency_us_mean",
    "latency_us_p50",
    "latency_us_p95",
    "latency_us_p99",
    "latency_us_p999",
    "latency_us_max",
];

/// The runs of a result, by cell.
#[derive(Debug)]
pub(crate) struct RunsByCell<'a>(Vec<Vec<&'a RunResult>>);

impl<'a> RunsByCell<'a> {
    pub(crate) fn new(result: &'a StudyResult) -> Self {
        let mut cells = vec![Vec::new(); result.plan.cells.len()];
        for run in &result.runs {
            if let Some(cell) = cells.get_mut(run.record.cell) {
                cell.push(run);
            }
        }
        Self(cells)
    }

    pub(crate) fn runs(&self, cell: usize) -> &[&'a RunResult] {
        &self.0[cell]
    }

    /// `metric` of the runs of `cell`; what is not above 0 has no ratio and is left out.
    pub(crate) fn values(&self, cell: usize, metric: &str) -> Vec<f64> {
        let values = self.runs(cell).iter();
        values
            .filter_map(|run| value(run, metric))
            .filter(|value| *value > 0.0)
            .collect()
    }

    /// `metric` of both cells in each repetition that has both.
    pub(crate) fn pairs(&self, level: usize, baseline: usize, metric: &str) -> Vec<(f64, f64)> {
        let pairs = self.pairs_by_repetition(level, baseline, metric);
        pairs.map(|(_, pair)| pair).collect()
    }

    /// The same, each with its repetition.
    pub(crate) fn pairs_by_repetition(
        &self,
        level: usize,
        baseline: usize,
        metric: &str,
    ) -> impl Iterator<Item = (u32, (f64, f64))> {
        let baselines = self.runs(baseline);
        self.runs(level).iter().filter_map(move |run| {
            let repetition = run.record.repetition;
            let same = |other: &&&RunResult| other.record.repetition == repetition;
            let baseline = baselines.iter().find(same)?;
            let pair = (value(run, metric)?, value(baseline, metric)?);
            (pair.0 > 0.0 && pair.1 > 0.0).then_some((repetition, pair))
        })
    }
}

/// Queries per second of each measured second of a run.
pub(crate) fn measured_series(run: &RunResult) -> Vec<f64> {
    let measured = run
        .intervals
        .iter()
        .filter(|interval| interval.time_s > 0.0);
    measured
        .map(|interval| interval.queries as f64 / interval.length_s)
        .collect()
}

/// The same up to the run's first event; of a run without events all of it.
pub(crate) fn series_before_events(run: &RunResult) -> Vec<f64> {
    let began = run.events.iter().map(|event| event.began_s);
    let first_s = began.fold(f64::INFINITY, f64::min);
    let measured = run
        .intervals
        .iter()
        .filter(|interval| interval.time_s > 0.0 && interval.time_s <= first_s);
    measured
        .map(|interval| interval.queries as f64 / interval.length_s)
        .collect()
}

/// Returns the increase of a counter from the first to the last sample of a run, its warm-up
/// included.
pub(crate) fn counted(run: &RunResult, counter: &Metric) -> Option<f64> {
    let values = &Series::find(&run.series, *counter)?.values;
    (values.len() > 1).then(|| values[values.len() - 1] - values[0])
}
