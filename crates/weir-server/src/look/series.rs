//! Counters of a server, read about once a second.

use std::collections::BTreeMap;

/// Samples of counters and gauges. All columns have a value for each time.
#[derive(Debug, Clone, Default)]
pub(super) struct Series {
    /// Times of the samples, seconds from the first.
    at_s: Vec<f64>,
    columns: BTreeMap<&'static str, Vec<f64>>,
}

impl Series {
    /// Adds a sample of these names; one that the server does not have is left out of all samples.
    pub(super) fn push(
        &mut self,
        at_s: f64,
        names: &[&'static str],
        value: impl Fn(&str) -> Option<f64>,
    ) {
        for name in names {
            if let Some(value) = value(name) {
                let column = self.columns.entry(name).or_default();
                if column.len() == self.at_s.len() {
                    column.push(value);
                }
            }
        }
        self.at_s.push(at_s);
        let length = self.at_s.len();
        self.columns.retain(|_, column| column.len() == length);
    }

    /// Number of intervals between samples.
    pub(super) fn intervals(&self) -> usize {
        self.at_s.len().saturating_sub(1)
    }

    /// Time between the first and the last sample, seconds.
    pub(super) fn seconds(&self) -> f64 {
        match self.at_s.as_slice() {
            [first, .., last] => last - first,
            _ => 0.0,
        }
    }

    /// Beginning of an interval, seconds from the first sample.
    pub(super) fn start_s(&self, interval: usize) -> f64 {
        self.at_s.get(interval).copied().unwrap_or_default()
    }

    /// Growth a second in each interval. A counter that was set back has grown by nothing.
    pub(super) fn rates(&self, name: &str) -> Option<Vec<f64>> {
        let column = self.columns.get(name)?;
        let pairs = column.windows(2).zip(self.at_s.windows(2));
        let rate = |(values, times): (&[f64], &[f64])| {
            let seconds = (times[1] - times[0]).max(1e-3);
            (values[1] - values[0]).max(0.0) / seconds
        };
        Some(pairs.map(rate).collect())
    }

    /// Value at the end of each interval.
    pub(super) fn levels(&self, name: &str) -> Option<&[f64]> {
        self.columns.get(name)?.get(1..)
    }

    /// The largest sample.
    pub(super) fn most(&self, name: &str) -> Option<f64> {
        let column = self.columns.get(name)?.iter().copied();
        column.reduce(f64::max)
    }

    /// The median of all samples.
    pub(super) fn median(&self, name: &str) -> Option<f64> {
        Some(median(self.columns.get(name)?))
    }
}

/// The median; 0 of nothing.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Deviation from the median as of a normal distribution (median absolute deviation x 1.4826).
pub(super) fn deviation(values: &[f64]) -> f64 {
    let middle = median(values);
    let distances: Vec<_> = values.iter().map(|value| (value - middle).abs()).collect();
    1.4826 * median(&distances)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_count_the_time_between_samples_and_a_reset_is_no_growth() {
        let mut series = Series::default();
        for (at_s, value) in [(0.0, 10.0), (1.0, 30.0), (3.0, 50.0), (4.0, 5.0)] {
            series.push(at_s, &["Questions"], |_| Some(value));
        }
        assert_eq!(series.rates("Questions").unwrap(), [20.0, 10.0, 0.0]);
        assert_eq!(series.levels("Questions").unwrap(), [30.0, 50.0, 5.0]);
        assert_eq!(series.rates("Com_commit"), None);
    }

    #[test]
    fn a_name_that_is_not_in_each_sample_is_in_none() {
        let mut series = Series::default();
        series.push(0.0, &["a", "b"], |_| Some(1.0));
        series.push(1.0, &["a", "b"], |name| (name == "a").then_some(2.0));
        series.push(2.0, &["a", "b"], |_| Some(3.0));
        assert_eq!(series.rates("a").unwrap().len(), 2);
        assert_eq!(series.rates("b"), None);
    }

    #[test]
    fn the_median_and_the_deviation_do_not_follow_one_outlier() {
        assert!((median(&[3.0, 1.0, 1000.0]) - 3.0).abs() < f64::EPSILON);
        assert!((deviation(&[9.0, 10.0, 11.0, 10.0, 1000.0]) - 1.4826).abs() < 1e-9);
    }
}
