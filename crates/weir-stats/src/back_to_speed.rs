//! Time at which a series is as fast as before a disturbance that stopped it.

use crate::{SeriesInterval, median};

/// Intervals in sequence that must be fast together.
const IN_SEQUENCE: usize = 5;
/// Share of the rate before that is as fast as before.
const RATE_SHARE: f64 = 0.95;
/// Times the 99th percentile before that is no later than before.
const LATENCY_TIMES: f64 = 1.25;

/// Time at which a series was as fast as before, if it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BackToSpeed {
    /// So long after the disturbance began, seconds.
    After(f64),
    /// Not until the series ended.
    Never,
}

/// Returns the time at which `series` is as fast as before `began_s`: the first of five intervals in sequence that are
/// fast. They complete at least 95 % of the rate before, and so does the first of them alone: it may still be cold
/// where a mean is not. The median of their 99th percentiles is at most 1.25 times that before. `None` with fewer than
/// five intervals before.
pub fn back_to_speed(series: &[SeriesInterval], began_s: f64) -> Option<BackToSpeed> {
    let before: Vec<_> = series.iter().filter(|one| one.end_s <= began_s).collect();
    if before.len() < IN_SEQUENCE {
        return None;
    }
    let rate_before = rate(&before)?;
    let p99_before = p99(&before);
    let begins_s = |one: &SeriesInterval| one.end_s - one.length_s;
    let rest: Vec<_> = series
        .iter()
        .filter(|one| begins_s(one) >= began_s)
        .collect();
    let is_fast = |sequence: &&[&SeriesInterval]| {
        let is_late = match (p99(sequence), p99_before) {
            (Some(now), Some(before)) => now > before * LATENCY_TIMES,
            _ => false,
        };
        let is_full =
            |intervals| rate(intervals).is_some_and(|now| now >= rate_before * RATE_SHARE);
        is_full(sequence) && is_full(&sequence[..1]) && !is_late
    };
    let found = rest.windows(IN_SEQUENCE).find(is_fast);
    Some(match found {
        Some(sequence) => BackToSpeed::After(begins_s(sequence[0]) - began_s),
        None => BackToSpeed::Never,
    })
}

fn rate(intervals: &[&SeriesInterval]) -> Option<f64> {
    let length_s: f64 = intervals.iter().map(|one| one.length_s).sum();
    let count: u64 = intervals.iter().map(|one| one.count).sum();
    (length_s > 0.0).then(|| count as f64 / length_s)
}

fn p99(intervals: &[&SeriesInterval]) -> Option<f64> {
    let done = intervals.iter().filter(|one| one.count > 0);
    let latencies: Vec<_> = done.map(|one| one.latency_us_p99).collect();
    median(&latencies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(counts: &[u64]) -> Vec<SeriesInterval> {
        let second = |(number, count): (usize, &u64)| SeriesInterval {
            end_s: number as f64 + 1.0,
            length_s: 1.0,
            count: *count,
            latency_us_p99: 1e6 / (*count).max(1) as f64,
        };
        counts.iter().enumerate().map(second).collect()
    }

    #[test]
    fn a_cold_server_is_back_when_five_seconds_are_fast() {
        let counts = [
            100, 100, 100, 100, 100, 0, 0, 30, 60, 80, 97, 99, 100, 98, 100, 100,
        ];
        let found = back_to_speed(&seconds(&counts), 5.0);
        assert_eq!(found, Some(BackToSpeed::After(5.0)));
        // A second that is cold itself is none of them, whatever the mean.
        let after = [100, 100, 100, 100, 100, 0, 0, 60, 110, 110, 110, 110, 110];
        let found = back_to_speed(&seconds(&after), 5.0);
        assert_eq!(found, Some(BackToSpeed::After(3.0)));
        // What begins within a second is no whole second of what follows.
        let found = back_to_speed(&seconds(&counts), 5.5);
        assert_eq!(found, Some(BackToSpeed::After(4.5)));
    }

    #[test]
    fn one_that_stays_cold_is_never_back_and_a_short_before_says_nothing() {
        let cold = [100, 100, 100, 100, 100, 0, 50, 60, 60, 60, 60, 60];
        let found = back_to_speed(&seconds(&cold), 5.0);
        assert_eq!(found, Some(BackToSpeed::Never));
        assert_eq!(back_to_speed(&seconds(&cold), 4.0), None);
    }
}
