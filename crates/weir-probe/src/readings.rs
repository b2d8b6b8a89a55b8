//! Store of a probe's readings: series are made once and then only grow, so that a sample allocates
//! nothing.

use std::collections::HashMap;

use weir_model::{Metric, Series, metrics};

use crate::ProbeError;

/// A part of a probe's source that gives nothing from now on.
#[derive(Debug)]
pub struct Loss {
    /// The part.
    pub source: String,
    /// Reason.
    pub error: ProbeError,
}

/// Readings of one probe so far, and those of the present sample.
#[derive(Debug, Default)]
pub struct Readings {
    series: Vec<Series>,
    /// Metric -> its series, one for each instance.
    positions: HashMap<&'static str, Vec<usize>>,
    /// Position of a series and its newest value, which has no time yet.
    pending: Vec<(usize, f64)>,
    losses: Vec<Loss>,
}

impl Readings {
    /// Adds the value of a metric of which there is one.
    pub fn add(&mut self, metric: Metric, value: f64) {
        self.add_of(metric, "", value);
    }

    /// Adds the value of one instance of a metric: of a core, a device, a kind of file. Text that is
    /// no number is no value.
    pub fn add_of(&mut self, metric: Metric, instance: &str, value: f64) {
        if value.is_finite() {
            let position = self.position(metric, instance);
            self.pending.push((position, value));
        }
    }

    /// Notes that `source`, a part of what the probe reads, gives nothing from now on.
    pub fn lose(&mut self, source: &str, error: ProbeError) {
        let source = source.to_owned();
        self.losses.push(Loss { source, error });
    }

    /// Takes the sample that was read on another host: metric, instance and value. A metric without a name here is of
    /// another version, and left out.
    pub fn add_named<'v>(&mut self, values: impl IntoIterator<Item = (&'v str, &'v str, f64)>) {
        for (name, instance, value) in values {
            if let Some(metric) = metrics::ALL.iter().find(|metric| metric.name == name) {
                self.add_of(*metric, instance, value);
            }
        }
    }

    /// Returns the readings since the last sample was complete.
    pub fn pending(&self) -> impl Iterator<Item = (&str, &str, f64)> {
        self.pending.iter().map(|(position, value)| {
            let series = &self.series[*position];
            (series.metric.as_str(), series.instance.as_str(), *value)
        })
    }

    /// Completes the sample: it was true at `time_s`.
    pub(crate) fn complete(&mut self, time_s: f64) {
        for (position, value) in self.pending.drain(..) {
            let series = &mut self.series[position];
            // The same twice in one sample would be two values at one time.
            if series.times_s.last() != Some(&time_s) {
                series.push(time_s, value);
            }
        }
    }

    /// Drops the sample: its time is unknown, or it is half of one.
    pub fn discard(&mut self) {
        self.pending.clear();
    }

    /// Returns the losses since the last call.
    pub fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }

    /// The last `samples` of every series.
    pub(crate) fn latest(&self, samples: usize) -> Vec<Series> {
        let tail = |values: &[f64]| values[values.len().saturating_sub(samples)..].to_vec();
        let latest = |series: &Series| Series {
            metric: series.metric.clone(),
            instance: series.instance.clone(),
            times_s: tail(&series.times_s),
            values: tail(&series.values),
        };
        self.series.iter().map(latest).collect()
    }

    pub(crate) fn into_series(self) -> Vec<Series> {
        let sampled = |series: &Series| !series.values.is_empty();
        self.series.into_iter().filter(sampled).collect()
    }

    fn position(&mut self, metric: Metric, instance: &str) -> usize {
        let of_metric = self.positions.entry(metric.name).or_default();
        let known = of_metric
            .iter()
            .copied()
            .find(|position| self.series[*position].instance == instance);
        known.unwrap_or_else(|| {
            let new = self.series.len();
            of_metric.push(new);
            self.series.push(Series::new(metric, instance));
            new
        })
    }
}

#[cfg(test)]
impl Readings {
    /// The value of `metric` (of `instance`) in the sample that is being read.
    pub(crate) fn value_of(&self, metric: Metric, instance: &str) -> Option<f64> {
        let found = self
            .pending()
            .find(|(name, of, _)| *name == metric.name && *of == instance);
        found.map(|(_, _, value)| value)
    }

    pub(crate) fn value(&self, metric: Metric) -> Option<f64> {
        self.value_of(metric, "")
    }
}

#[cfg(test)]
mod tests {
    use weir_model::metrics;

    use super::*;

    #[test]
    fn series_grow_and_a_dropped_sample_leaves_nothing() {
        let mut readings = Readings::default();
        for (time_s, value) in [(1.0, 10.0), (2.0, 20.0), (3.0, f64::NAN)] {
            readings.add_of(metrics::FILE_READS, "redo", value);
            readings.add_of(metrics::FILE_READS, "data", 1.0);
            readings.complete(time_s);
        }
        readings.add(metrics::HOST_CPU_USER, 5.0);
        readings.discard();
        let series = readings.into_series();
        assert_eq!(series.len(), 2);
        assert_eq!(series[0].instance, "redo");
        assert_eq!(series[0].times_s, [1.0, 2.0]);
        assert_eq!(series[1].values, [1.0; 3]);
    }
}
