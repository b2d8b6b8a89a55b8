//! The highest rate that keeps a latency objective: "most queries with p99 <= 10 ms".
//!
//! Double until the objective is missed (or halve until it is met), then bisect until met and
//! missed lie within the tolerance. Every rate is put to the vote of its runs, because near the
//! limit a single run is the toss of a coin; a vote ends as soon as it is decided. What noise
//! remains is that of the percentile over its steepness, d ln latency / d ln rate. For rates the load
//! must be open loop: a closed one slows down instead of missing. Of a closed loop the same method finds
//! the most connections that keep the objective.

use std::collections::BTreeMap;

use super::{Replay, SearchRange, Step, step};
use crate::StatsError;

/// Rate at which the objective begins to be missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateFound {
    /// Highest rate that met the objective; `None` when even the lowest allowed missed it.
    pub met: Option<u64>,
    /// Lowest rate that missed it; `None` when even the highest allowed met it.
    pub missed: Option<u64>,
}

/// The search. Places are rates, in requests per second or any other unit.
#[derive(Debug, Clone, PartialEq)]
pub struct RateSearch {
    range: SearchRange,
    start: u64,
    /// Runs by rate: met, missed.
    votes: BTreeMap<u64, (usize, usize)>,
}

impl RateSearch {
    /// Starts at `start`, a rate expected to meet the objective. The majority of `repeats` runs
    /// decides; where more were recorded, a tie is a miss.
    ///
    /// # Errors
    ///
    /// A range that is empty, or whose search would not end.
    pub fn new(range: SearchRange, start: u64) -> Result<Self, StatsError> {
        range.check()?;
        Ok(Self {
            range,
            start: start.clamp(range.low, range.high),
            votes: BTreeMap::new(),
        })
    }

    /// Records whether a run at `rate` met the objective.
    pub fn record(&mut self, rate: u64, met: bool) {
        let votes = self.votes.entry(rate).or_default();
        *(if met { &mut votes.0 } else { &mut votes.1 }) += 1;
    }

    /// Runs recorded so far.
    pub fn evaluations(&self) -> usize {
        self.votes.values().map(|votes| votes.0 + votes.1).sum()
    }

    /// The next rate to run at, or the answer.
    pub fn next_step(&self) -> Step<RateFound> {
        step(self.replay())
    }

    fn replay(&self) -> Replay<RateFound> {
        let mut found = self.bracket()?;
        while let (Some(met), Some(missed)) = (found.met, found.missed) {
            if self.range.is_narrow(met, missed) {
                break;
            }
            let middle = met.midpoint(missed);
            if self.meets(middle)? {
                found.met = Some(middle);
            } else {
                found.missed = Some(middle);
            }
        }
        Ok(found)
    }

    /// Doubles or halves until one rate meets and its neighbour misses, or the range ends.
    fn bracket(&self) -> Replay<RateFound> {
        let mut rate = self.start;
        let mut found = RateFound {
            met: None,
            missed: None,
        };
        loop {
            let next = if self.meets(rate)? {
                found.met = Some(rate);
                rate.saturating_mul(2).min(self.range.high)
            } else {
                found.missed = Some(rate);
                (rate / 2).max(self.range.low)
            };
            if next == rate || (found.met.is_some() && found.missed.is_some()) {
                return Ok(found);
            }
            rate = next;
        }
    }

    fn meets(&self, rate: u64) -> Replay<bool> {
        let majority = self.range.repeats / 2 + 1;
        match self.votes.get(&rate) {
            Some(votes) if votes.0 >= majority && votes.0 > votes.1 => Ok(true),
            Some(votes) if votes.1 >= majority => Ok(false),
            _ => Err(rate),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Noise;

    fn range(tolerance: f64, repeats: usize) -> SearchRange {
        SearchRange {
            low: 10,
            high: 100_000,
            tolerance,
            repeats,
        }
    }

    fn run(mut search: RateSearch, mut meets: impl FnMut(u64) -> bool) -> (RateFound, usize) {
        loop {
            match search.next_step() {
                Step::Measure(rate) => search.record(rate, meets(rate)),
                Step::Done(found) => return (found, search.evaluations()),
            }
            assert!(search.evaluations() < 1_000, "endless");
        }
    }

    #[test]
    fn without_noise_the_limit_is_bracketed() {
        for start in [10, 500, 7_321, 90_000] {
            let search = RateSearch::new(range(0.02, 1), start).unwrap();
            let (found, evaluations) = run(search, |rate| rate <= 7_321);
            let (met, missed) = (found.met.unwrap(), found.missed.unwrap());
            assert!(met <= 7_321 && 7_321 < missed && missed as f64 <= met as f64 * 1.02);
            assert!(evaluations <= 11 + 6, "{evaluations}");
        }
    }

    #[test]
    fn limits_outside_the_range_are_told() {
        let search = || RateSearch::new(range(0.02, 1), 1_000).unwrap();
        let (all_met, _) = run(search(), |_| true);
        assert_eq!((all_met.met, all_met.missed), (Some(100_000), None));
        let (none_met, _) = run(search(), |_| false);
        assert_eq!((none_met.met, none_met.missed), (None, Some(10)));
    }

    /// The recorded runs decide, not their times: a search resumed from its runs goes on where it
    /// was.
    #[test]
    fn a_search_resumes_from_its_runs() {
        let mut search = RateSearch::new(range(0.02, 3), 100).unwrap();
        let mut runs = Vec::new();
        for _ in 0..15 {
            if let Step::Measure(rate) = search.next_step() {
                search.record(rate, rate <= 5_000);
                runs.push(rate);
            }
        }
        let mut resumed = RateSearch::new(range(0.02, 3), 100).unwrap();
        for rate in runs.into_iter().rev() {
            resumed.record(rate, rate <= 5_000);
        }
        assert_eq!(resumed.next_step(), search.next_step());
    }

    /// Share of searches that end within `tolerance` of the truth when the percentile, `idle` ms /
    /// (1 - rate / 10,000), carries 10 % noise; the objective is 10 ms.
    fn near(idle: f64, truth: f64, tolerance: f64, seed: u64) -> f64 {
        let mut noise = Noise::seeded(seed);
        let trials = 300;
        let mut near = 0;
        for _ in 0..trials {
            let search = RateSearch::new(range(0.03, 3), 500).unwrap();
            let (found, evaluations) = run(search, |rate| {
                let free = 1.0 - rate as f64 / 10_000.0;
                free > 0.0 && idle / free * (0.1 * noise.normal()).exp() <= 10.0
            });
            assert!(evaluations <= 3 * 11, "{evaluations}");
            near += usize::from((found.met.unwrap() as f64 / truth).ln().abs() < tolerance);
        }
        let share = near as f64 / f64::from(trials);
        println!("coverage of rate search at {truth}: {share} within {tolerance}");
        share
    }

    /// At 80 % load one per cent of rate costs four of latency, so 10 % of noise are 2.5 % of rate.
    #[test]
    fn noisy_percentiles_find_a_steep_limit() {
        assert!(near(2.0, 8_000.0, 0.07, 131) >= 0.95);
    }

    /// At 50 % load it costs one: 10 % of noise are 10 % of rate, and no search can do better than
    /// its votes.
    #[test]
    fn noisy_percentiles_find_a_shallow_limit_less_well() {
        assert!(near(5.0, 5_000.0, 0.20, 132) >= 0.95);
    }
}
