//! Counters of server and host per second, from the probes' samples.
//!
//! Every counter's rate and every gauge's mean over the measurement, as medians over a cell's
//! repetitions; two ratios that a DBA asks for first stand before them.

use serde::Serialize;
use weir_model::{Metric, MetricKind, RunResult, StudyResult, metrics};

use crate::spread::Spread;

/// One quantity, for every cell.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct CounterRow {
    /// Name of the metric; `None` for what is derived from several.
    metric: Option<&'static str>,
    title: &'static str,
    unit: String,
    /// By cell, in the plan's order; absent where no sample was taken.
    by_cell: Vec<Option<Spread>>,
}

/// All quantities of which at least one cell has samples.
pub(crate) fn rows(result: &StudyResult) -> Vec<CounterRow> {
    let derived = [
        derived_row(
            result,
            "Page reads served by the buffer pool",
            "%",
            |rate| {
                let missed = rate(&metrics::STATUS_POOL_READS)?;
                Some(100.0 * (1.0 - missed / rate(&metrics::STATUS_POOL_READ_REQUESTS)?))
            },
        ),
        derived_row(
            result,
            "Bytes that InnoDB wrote per statement",
            "KB",
            |rate| {
                let written = rate(&metrics::STATUS_DATA_WRITTEN)?;
                Some(written / rate(&metrics::STATUS_QUESTIONS)? / 1e3)
            },
        ),
    ];
    let sampled = metrics::ALL.iter().map(|metric| {
        let factor = if metric.unit == "bytes" { 1e-6 } else { 1.0 };
        CounterRow {
            metric: Some(metric.name),
            title: metric.title,
            unit: unit(metric),
            by_cell: by_cell(result, |run| Some(run.level(metric)? * factor)),
        }
    });
    derived
        .into_iter()
        .chain(sampled)
        .filter(|row| row.by_cell.iter().any(Option::is_some))
        .collect()
}

fn derived_row(
    result: &StudyResult,
    title: &'static str,
    unit: &str,
    value: impl Fn(&dyn Fn(&Metric) -> Option<f64>) -> Option<f64>,
) -> CounterRow {
    CounterRow {
        metric: None,
        title,
        unit: unit.to_owned(),
        by_cell: by_cell(result, |run| value(&|metric| run.level(metric))),
    }
}

fn by_cell(result: &StudyResult, value: impl Fn(&RunResult) -> Option<f64>) -> Vec<Option<Spread>> {
    let cells = 0..result.plan.cells.len();
    cells
        .map(|cell| {
            let runs = result.runs.iter().filter(|run| run.record.cell == cell);
            let values: Vec<_> = runs.filter_map(&value).collect();
            Spread::of_median(&values, 4)
        })
        .collect()
}

/// The unit in which a metric is shown.
fn unit(metric: &Metric) -> String {
    match (metric.kind, metric.unit) {
        (MetricKind::Counter, "bytes") => "MB/s".to_owned(),
        (MetricKind::Gauge, "bytes") => "MB".to_owned(),
        (MetricKind::Counter, "s") if metric.name.contains("cpu") => "cores".to_owned(),
        (MetricKind::Counter, "1") => "per s".to_owned(),
        (MetricKind::Counter, unit) => format!("{unit}/s"),
        (MetricKind::Gauge, unit) => unit.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_model::Series;

    use crate::sample;

    #[test]
    fn a_counter_is_a_rate_over_the_measurement_without_the_warm_up() {
        let mut result = sample::study(1, 1);
        let run = &mut result.evidence.runs[0];
        // 1,000 a second in the warm-up, then 50.
        let mut series = Series::new(metrics::STATUS_QUESTIONS, "");
        for second in 0..=20 {
            let (warm, measured) = (second.min(10), (second - 10).max(0));
            series.push(
                f64::from(second - 10),
                f64::from(warm * 1000 + measured * 50),
            );
        }
        run.series = vec![series];
        let rate = run.level(&metrics::STATUS_QUESTIONS).unwrap();
        assert!((rate - 50.0).abs() < 1e-9, "{rate}");
        let rows = rows(&result.evidence);
        assert_eq!(rows.len(), 1, "only what was sampled: {rows:?}");
        assert_eq!(rows[0].unit, "per s");
    }

    #[test]
    fn one_sample_gives_no_rate() {
        let mut result = sample::study(1, 1);
        let mut series = Series::new(metrics::STATUS_QUESTIONS, "");
        series.push(1.0, 5.0);
        result.evidence.runs[0].series = vec![series];
        assert_eq!(
            result.evidence.runs[0].level(&metrics::STATUS_QUESTIONS),
            None
        );
    }
}
