//! Samples as points: a counter's growth per second, a gauge's level.

use std::collections::HashMap;

use weir_model::{IntervalRecord, Metric, MetricKind, RunResult, Series};

/// A value at a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub(crate) time_s: f64,
    pub(crate) value: f64,
}

/// The samples of a run by metric and instance.
pub(crate) type ByMetric<'a> = HashMap<(&'a str, &'a str), &'a Series>;

pub(crate) fn by_metric(run: &RunResult) -> ByMetric<'_> {
    let named = run
        .series
        .iter()
        .map(|series| ((series.metric.as_str(), series.instance.as_str()), series));
    named.collect()
}

/// Source of a curve.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source {
    /// The load generator's seconds; `None` where a second has no value.
    Seconds(fn(&IntervalRecord) -> Option<f64>),
    /// A metric times a factor.
    Metric(Metric, f64),
}

/// Curve of a panel.
#[derive(Debug, Clone)]
pub(crate) struct Curve {
    pub(crate) source: Source,
    /// Of which core, device or kind of file; empty where there is only one.
    pub(crate) instance: String,
}

impl Curve {
    /// Returns true if it has the same value throughout, or none.
    pub(crate) fn is_flat(&self, samples: &ByMetric<'_>) -> bool {
        let Source::Metric(metric, _) = self.source else {
            return false;
        };
        let series = samples.get(&(metric.name, self.instance.as_str()));
        series.is_none_or(|series| {
            series
                .values
                .windows(2)
                .all(|two| two[0].total_cmp(&two[1]).is_eq())
        })
    }

    /// Returns its values; none if the run has none.
    pub(crate) fn points(&self, run: &RunResult, samples: &ByMetric<'_>) -> Vec<Point> {
        match self.source {
            Source::Seconds(value) => run
                .intervals
                .iter()
                .filter_map(|i| second(i, value))
                .collect(),
            Source::Metric(metric, factor) => {
                let Some(series) = samples.get(&(metric.name, self.instance.as_str())) else {
                    return Vec::new();
                };
                let times = series.times_s.iter().zip(&series.values);
                let points: Vec<_> = times
                    .map(|(&time_s, &value)| Point {
                        time_s,
                        value: value * factor,
                    })
                    .collect();
                match metric.kind {
                    MetricKind::Gauge => points,
                    MetricKind::Counter => points
                        .windows(2)
                        .filter_map(|two| growth(two[0], two[1]))
                        .collect(),
                }
            }
        }
    }
}

/// A second stands at its middle, so that a late tick stays in its own bucket.
fn second(interval: &IntervalRecord, value: fn(&IntervalRecord) -> Option<f64>) -> Option<Point> {
    Some(Point {
        time_s: interval.time_s - interval.length_s / 2.0,
        value: value(interval)?,
    })
}

/// Growth per second from one sample to the next; none where a counter began anew.
fn growth(from: Point, to: Point) -> Option<Point> {
    let elapsed_s = to.time_s - from.time_s;
    let grown = to.value - from.value;
    (elapsed_s > 0.0 && grown >= 0.0).then(|| Point {
        time_s: f64::midpoint(from.time_s, to.time_s),
        value: grown / elapsed_s,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_grows_between_samples_and_a_restart_is_a_gap() {
        let point = |time_s, value| Point { time_s, value };
        let grown = growth(point(0.0, 100.0), point(2.0, 200.0));
        assert_eq!(grown, Some(point(1.0, 50.0)));
        assert_eq!(growth(point(0.0, 100.0), point(1.0, 7.0)), None);
        assert_eq!(growth(point(1.0, 100.0), point(1.0, 100.0)), None);
    }
}
