//! A series with a disturbance, in windows: before it, during, until it is as before, and after.
//!
//! Windows are whole intervals of the series, so that together they are all of it.

use crate::{mean_interval, median};

/// Intervals in sequence that are as before: then the series has settled.
const SETTLED_INTERVALS: usize = 5;

/// An interval of a series: what was completed in it, and how late.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesInterval {
    /// End of the interval, seconds.
    pub end_s: f64,
    /// Length of the interval, seconds.
    pub length_s: f64,
    /// Number of completions.
    pub count: u64,
    /// The 99th percentile of its latencies, microseconds; of no meaning if nothing was completed.
    pub latency_us_p99: f64,
}

/// The windows of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct Windows {
    /// Until the disturbance began.
    pub before: Window,
    /// Until it ended.
    pub during: Window,
    /// Until rate and p99 are as before.
    pub settle: Window,
    /// Part of the series that is left.
    pub after: Window,
    /// True if the series was as before again; `None`: there was too little before to tell.
    pub settled: Option<bool>,
    /// The 95 % interval of the rate before, by its seconds; `None` with fewer than two.
    rate_before: Option<(f64, f64)>,
}

/// A part of a series.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Window {
    /// Length of the window, seconds.
    pub length_s: f64,
    /// Number of completions in it.
    pub count: u64,
    /// Median of its seconds' 99th percentiles, microseconds; `None` if nothing was completed.
    pub latency_us_p99: Option<f64>,
}

impl Window {
    fn new(intervals: &[&SeriesInterval]) -> Self {
        let p99s: Vec<_> = intervals.iter().filter_map(|one| p99(one)).collect();
        Self {
            // The sum of nothing is -0.
            length_s: intervals.iter().fold(0.0, |sum, one| sum + one.length_s),
            count: intervals.iter().map(|one| one.count).sum(),
            latency_us_p99: median(&p99s),
        }
    }

    /// Completed per second; `None` of a window without length.
    pub fn count_per_s(&self) -> Option<f64> {
        (self.length_s > 0.0).then(|| self.count as f64 / self.length_s)
    }
}

impl Windows {
    /// The windows of `series` with a disturbance from `began_s` to `ended_s`.
    pub fn around(series: &[SeriesInterval], began_s: f64, ended_s: f64) -> Self {
        let measured: Vec<_> = series.iter().collect();
        let begin = measured.partition_point(|one| one.end_s <= began_s);
        let begins_earlier = |one: &&SeriesInterval| one.end_s - one.length_s < ended_s;
        let end = measured.partition_point(begins_earlier);
        // One without length is still in an interval.
        let end = end.max(begin + 1).min(measured.len());
        let begin = begin.min(end);
        let (before, rest) = measured.split_at(begin);
        let (during, rest) = rest.split_at(end - begin);
        let (settle, settled) = settling(before, rest);
        let rates: Vec<_> = before.iter().map(|one| rate(one)).collect();
        Self {
            before: Window::new(before),
            during: Window::new(during),
            settle: Window::new(&rest[..settle]),
            after: Window::new(&rest[settle..]),
            settled,
            rate_before: mean_interval(&rates),
        }
    }

    /// The rate during the disturbance by that before it.
    pub fn rate_ratio(&self) -> Option<f64> {
        let before = self.before.count_per_s().filter(|rate| *rate > 0.0)?;
        Some(self.during.count_per_s()? / before)
    }

    /// The 99th percentile during the disturbance by that before it.
    pub fn p99_ratio(&self) -> Option<f64> {
        let before = self.before.latency_us_p99.filter(|p99| *p99 > 0.0)?;
        Some(self.during.latency_us_p99? / before)
    }

    /// Returns the completions that the rate before would have added until the series had settled. Beside the value
    /// is, by the seconds before, its 95 % interval.
    pub fn lost(&self) -> Option<(f64, Option<(f64, f64)>)> {
        let length_s = self.during.length_s + self.settle.length_s;
        let done = (self.during.count + self.settle.count) as f64;
        let lost = |rate: f64| rate * length_s - done;
        let value = lost(self.before.count_per_s()?);
        let interval = self.rate_before.map(|(low, high)| (lost(low), lost(high)));
        Some((value, interval))
    }
}

fn rate(interval: &SeriesInterval) -> f64 {
    interval.count as f64 / interval.length_s
}

fn p99(interval: &SeriesInterval) -> Option<f64> {
    (interval.count > 0).then_some(interval.latency_us_p99)
}

/// Returns the number of intervals of `rest` until [`SETTLED_INTERVALS`] in sequence are no slower than the slowest
/// one before the disturbance. True if they come.
fn settling(before: &[&SeriesInterval], rest: &[&SeriesInterval]) -> (usize, Option<bool>) {
    if before.len() < SETTLED_INTERVALS {
        return (0, None);
    }
    let slowest = before
        .iter()
        .map(|one| rate(one))
        .fold(f64::INFINITY, f64::min);
    let latest = before.iter().filter_map(|one| p99(one)).fold(0.0, f64::max);
    let is_as_before = |one: &&SeriesInterval| {
        rate(one) >= slowest && p99(one).is_none_or(|latency| latency <= latest)
    };
    let mut sequences = rest.windows(SETTLED_INTERVALS);
    match sequences.position(|sequence| sequence.iter().all(is_as_before)) {
        Some(settled) => (settled, Some(true)),
        None => (rest.len(), Some(false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seconds in which so much was completed.
    fn seconds(counts: &[u64]) -> Vec<SeriesInterval> {
        let second = |(number, count): (usize, &u64)| SeriesInterval {
            end_s: number as f64 + 1.0,
            length_s: 1.0,
            count: *count,
            latency_us_p99: 1e6 / (*count).max(1) as f64,
        };
        counts.iter().enumerate().map(second).collect()
    }

    fn lengths(windows: &Windows) -> Vec<u64> {
        [
            windows.before,
            windows.during,
            windows.settle,
            windows.after,
        ]
        .map(|window| window.length_s.round() as u64)
        .to_vec()
    }

    const STALLED: [u64; 16] = [
        100, 110, 90, 100, 100, 20, 0, 40, 80, 100, 95, 92, 100, 100, 90, 100,
    ];

    #[test]
    fn windows_settle_until_all_is_as_before() {
        let windows = Windows::around(&seconds(&STALLED), 5.0, 7.5);
        assert_eq!(lengths(&windows), [5, 3, 1, 7]);
        assert_eq!(windows.settled, Some(true));
        assert_eq!(windows.rate_ratio(), Some(0.2));
        let (lost, interval) = windows.lost().unwrap();
        assert!((lost - 260.0).abs() < 1e-9, "{lost}");
        let (low, high) = interval.unwrap();
        assert!(low < lost && lost < high);
    }

    #[test]
    fn windows_are_all_of_the_series_wherever_the_disturbance_is() {
        let series = seconds(&STALLED);
        for at_s in [0.0, 0.5, 3.0, 15.2, 15.999, 16.0, 20.0] {
            let windows = Windows::around(&series, at_s, at_s + 0.001);
            let total: u64 = lengths(&windows).iter().sum();
            assert_eq!(total, 16, "{at_s}: {windows:?}");
        }
        let early = Windows::around(&series, 2.5, 2.5);
        assert_eq!((early.settled, lengths(&early)[1]), (None, 1));
    }

    #[test]
    fn a_series_that_stays_slow_has_not_settled() {
        let slow = [100, 100, 100, 100, 100, 50, 50, 50, 50, 50, 50];
        let windows = Windows::around(&seconds(&slow), 5.0, 6.0);
        assert_eq!(windows.settled, Some(false));
        assert_eq!(lengths(&windows), [5, 1, 5, 0]);
    }
}
