//! Samples of a metric, and its gaps.

use serde::{Deserialize, Serialize};

use super::Metric;

/// The samples of one metric, of one instance of it (one core, one kind of file) where it has
/// several. Times ascend; what could not be read is not there.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Series {
    /// The metric's name.
    pub metric: String,
    /// Core, device or kind of file; empty where there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub instance: String,
    /// Seconds since the measurement began, as in [`crate::IntervalRecord`]; negative in the warm-up.
    pub times_s: Vec<f64>,
    /// The values at these times, in the metric's unit.
    pub values: Vec<f64>,
}

impl Series {
    /// No samples yet of `metric`; `instance` is empty where there is only one.
    pub fn new(metric: Metric, instance: &str) -> Self {
        Self {
            metric: metric.name.to_owned(),
            instance: instance.to_owned(),
            ..Self::default()
        }
    }

    /// The series of `metric` among `all`, if it was sampled; the first of several instances.
    pub fn find(all: &[Self], metric: Metric) -> Option<&Self> {
        Self::instances(all, metric).next()
    }

    /// All instances of `metric` among `all`.
    pub fn instances(all: &[Self], metric: Metric) -> impl Iterator<Item = &Self> {
        all.iter()
            .filter(move |series| series.metric == metric.name)
    }

    /// Adds a sample, later than all others.
    pub fn push(&mut self, time_s: f64, value: f64) {
        self.times_s.push(time_s);
        self.values.push(value);
    }

    /// Times and values.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        self.times_s
            .iter()
            .copied()
            .zip(self.values.iter().copied())
    }

    /// The points from `from_s` to `to_s`, both included.
    pub fn between(&self, from_s: f64, to_s: f64) -> impl DoubleEndedIterator<Item = (f64, f64)> {
        self.points()
            .filter(move |(time_s, _)| (from_s..=to_s).contains(time_s))
    }

    /// Growth of a counter per second between the samples nearest to `from_s` and `to_s`; `None`
    /// when there are not two to compare.
    pub fn rate(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let nearest = |time_s: f64| {
            let distance = |(at, _): &(f64, f64)| (at - time_s).abs();
            self.points()
                .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        };
        let ((began_s, first), (ended_s, last)) = (nearest(from_s)?, nearest(to_s)?);
        (ended_s > began_s).then(|| (last - first) / (ended_s - began_s))
    }

    /// Mean of the samples from `from_s` to `to_s`; `None` without any.
    pub fn mean(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let values: Vec<f64> = self.between(from_s, to_s).map(|(_, value)| value).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

/// A time for which a source gave no samples.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// The source: `server status`, `INNODB_METRICS`.
    pub source: String,
    /// Time of the first missing sample, seconds since the measurement began.
    pub from_s: f64,
    /// Time of the last missing sample.
    pub to_s: f64,
    /// Reason that the first one could not be taken.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::super::metrics;
    use super::*;

    fn series(points: &[(f64, f64)]) -> Series {
        let mut series = Series::new(metrics::SERVER_CPU, "");
        for (time_s, value) in points {
            series.push(*time_s, *value);
        }
        series
    }

    #[test]
    fn a_rate_spans_the_asked_time_only() {
        let points = [
            (-2.0, 0.0),
            (0.1, 4.0),
            (1.0, 5.0),
            (10.0, 14.0),
            (12.0, 99.0),
        ];
        let rate = series(&points).rate(0.0, 10.2).unwrap();
        assert!((rate - 10.0 / 9.9).abs() < 1e-9, "{rate}");
        assert_eq!(series(&points[..1]).rate(0.0, 10.0), None);
        assert_eq!(series(&[]).rate(0.0, 10.0), None);
    }

    #[test]
    fn a_mean_is_of_the_samples_within() {
        let found = series(&[(-1.0, 100.0), (0.0, 1.0), (1.0, 3.0), (2.0, 100.0)]);
        assert_eq!(found.mean(0.0, 1.0), Some(2.0));
        assert_eq!(found.mean(5.0, 6.0), None);
    }

    #[test]
    fn instances_are_told_apart() {
        let of = |instance| Series::new(metrics::FILE_READS, instance);
        let all = [of("redo"), series(&[]), of("data")];
        let found: Vec<_> = Series::instances(&all, metrics::FILE_READS)
            .map(|series| series.instance.as_str())
            .collect();
        assert_eq!(found, ["redo", "data"]);
        assert!(Series::find(&all, metrics::HOST_CPU_IDLE).is_none());
    }
}
