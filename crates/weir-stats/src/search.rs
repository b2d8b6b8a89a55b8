//! Searches that decide where to measure next.
//!
//! A search holds what was measured and nothing else: its next step is worked out from that alone,
//! by replaying the method until it needs a number that is not there. So a search resumes from a
//! store by recording the stored runs again, in any order, and runs measured for another reason
//! help it.

mod knee;
mod peak;
mod rate;

use std::collections::BTreeMap;

pub use knee::{Knee, KneeSearch};
pub use peak::{Peak, PeakSearch};
pub use rate::{RateFound, RateSearch};

use crate::StatsError;
use crate::moments::{logs, mean};

/// Next step of a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<T> {
    /// One more run here; record its result.
    Measure(u64),
    /// Nothing more.
    Done(T),
}

/// Range and precision of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchRange {
    /// Smallest value allowed, above 0.
    pub low: u64,
    /// Largest value allowed, above `low`.
    pub high: u64,
    /// Relative distance of neighbours at which the search ends; 0.05 is 5 %.
    pub tolerance: f64,
    /// Runs per place. Three where results vary by more than the tolerance.
    pub repeats: usize,
}

impl SearchRange {
    fn check(&self) -> Result<(), StatsError> {
        if self.low == 0 || self.high <= self.low {
            return Err(StatsError::EmptyRange {
                low: self.low,
                high: self.high,
            });
        }
        if !(self.tolerance > 0.0 && self.tolerance.is_finite()) || self.repeats == 0 {
            return Err(StatsError::EndlessSearch {
                tolerance: self.tolerance,
                repeats: self.repeats,
            });
        }
        Ok(())
    }

    /// Returns true if two values are as close as the search gets.
    fn is_narrow(&self, low: u64, high: u64) -> bool {
        high - low <= 1 || high as f64 <= low as f64 * (1.0 + self.tolerance)
    }
}

/// The value of the method, or the place where it needs one more run.
type Replay<T> = Result<T, u64>;

fn step<T>(replay: Replay<T>) -> Step<T> {
    replay.map_or_else(Step::Measure, Step::Done)
}

/// Logarithms of results by place.
#[derive(Debug, Clone, PartialEq, Default)]
struct Runs(BTreeMap<u64, Vec<f64>>);

impl Runs {
    fn record(&mut self, place: u64, result: f64) -> Result<(), StatsError> {
        let log = logs(&[result])?[0];
        let runs = self.0.entry(place).or_default();
        runs.push(log);
        // Sums of floats depend on their order, and the search must not.
        runs.sort_by(f64::total_cmp);
        Ok(())
    }

    /// Mean logarithm at a place that has its repeats.
    fn log_mean(&self, place: u64, repeats: usize) -> Replay<f64> {
        match self.0.get(&place) {
            Some(runs) if runs.len() >= repeats => Ok(mean(runs)),
            _ => Err(place),
        }
    }

    /// Places in the range that have their repeats, with mean logarithm and number of runs, rising.
    fn complete(&self, range: &SearchRange) -> Vec<(u64, f64, f64)> {
        self.0
            .range(range.low..=range.high)
            .filter(|(_, runs)| runs.len() >= range.repeats)
            .map(|(place, runs)| (*place, mean(runs), runs.len() as f64))
            .collect()
    }

    fn count(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }
}

/// The place in the middle of two on a logarithmic scale, strictly between them when possible.
fn geometric_middle(low: u64, high: u64, share: f64) -> u64 {
    let place = (low as f64).powf(1.0 - share) * (high as f64).powf(share);
    (place.round() as u64).clamp(low + 1, (high - 1).max(low + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senseless_ranges_are_refused() {
        let range = SearchRange {
            low: 1,
            high: 100,
            tolerance: 0.05,
            repeats: 1,
        };
        assert_eq!(range.check(), Ok(()));
        for (low, high) in [(0, 10), (10, 10), (10, 9)] {
            let error = SearchRange { low, high, ..range }.check();
            assert_eq!(error, Err(StatsError::EmptyRange { low, high }));
        }
        let endless = SearchRange {
            tolerance: 0.0,
            ..range
        };
        assert!(endless.check().is_err());
        assert!(
            SearchRange {
                repeats: 0,
                ..range
            }
            .check()
            .is_err()
        );
    }

    #[test]
    fn the_middle_stays_inside() {
        assert_eq!(geometric_middle(10, 1_000, 0.5), 100);
        assert_eq!(geometric_middle(10, 12, 0.01), 11);
        assert_eq!(geometric_middle(10, 12, 0.99), 11);
    }
}
