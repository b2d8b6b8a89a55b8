//! The knee of a sweep: the smallest buffer pool that still reaches a share of the plateau.
//!
//! The plateau is the result at the largest size. A geometric grid brackets every share (0.97 is
//! where it stops paying, 0.5 is deep in the cliff), then the bracket is halved on a logarithmic
//! scale until it is narrow. Noise is met by repeats and by making the curve rise (pooling adjacent
//! violators) before it is read, so that a share is crossed once. Crossings are defined on the
//! curve's height and not on its curvature, which noise dominates. Noise may move a bracket after
//! it was narrowed; the search still ends, since no place closer than the tolerance to its
//! neighbours is ever asked for.

use super::{Replay, Runs, SearchRange, Step, geometric_middle, step};
use crate::StatsError;
use crate::rising::rising;

/// Places of the first grid, ends included.
const GRID: u32 = 6;

/// Value at which one share of the plateau is reached.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The share of the plateau.
    pub share: f64,
    /// The size that reaches it, interpolated between `below` and `above`.
    pub size: u64,
    /// Largest measured size that does not; `None` when the smallest one reaches it already.
    pub below: Option<u64>,
    /// Smallest measured size that does.
    pub above: u64,
}

/// The search. Places are sizes; the curve rises with them.
#[derive(Debug, Clone, PartialEq)]
pub struct KneeSearch {
    range: SearchRange,
    shares: Vec<f64>,
    runs: Runs,
}

impl KneeSearch {
    /// Searches where each of `shares` (between 0 and 1) of the plateau is reached.
    ///
    /// # Errors
    ///
    /// A range that is empty, or whose search would not end; shares that do not lie between 0 and 1.
    pub fn new(range: SearchRange, shares: &[f64]) -> Result<Self, StatsError> {
        range.check()?;
        if let Some(&value) = shares.iter().find(|share| !(0.0..1.0).contains(*share)) {
            return Err(StatsError::OutsideMeasured {
                value,
                low: 0.0,
                high: 1.0,
            });
        }
        Ok(Self {
            range,
            shares: shares.to_vec(),
            runs: Runs::default(),
        })
    }

    /// Records the result of a run, above zero, at a size.
    ///
    /// # Errors
    ///
    /// A result that is not above zero.
    pub fn record(&mut self, size: u64, result: f64) -> Result<(), StatsError> {
        self.runs.record(size, result)
    }

    /// Runs recorded so far.
    pub fn evaluations(&self) -> usize {
        self.runs.count()
    }

    /// The next size to measure, or a knee for each share.
    pub fn next_step(&self) -> Step<Vec<Knee>> {
        step(self.replay())
    }

    fn replay(&self) -> Replay<Vec<Knee>> {
        for index in 0..GRID {
            let share = f64::from(index) / f64::from(GRID - 1);
            let (low, high) = (self.range.low, self.range.high);
            let size = match index {
                0 => low,
                _ if index == GRID - 1 => high,
                _ => geometric_middle(low, high, share),
            };
            self.runs.log_mean(size, self.range.repeats)?;
        }
        self.shares.iter().map(|share| self.knee(*share)).collect()
    }

    /// The knee of one share, or the middle of its bracket while that is wide.
    fn knee(&self, share: f64) -> Replay<Knee> {
        let places = self.runs.complete(&self.range);
        let heights = rising(places.iter().map(|(_, mean, runs)| (*mean, *runs)));
        let goal = heights[heights.len() - 1] + share.ln();
        let above = heights.partition_point(|height| *height < goal);
        let size_above = places[above].0;
        if above == 0 {
            return Ok(Knee {
                share,
                size: size_above,
                below: None,
                above: size_above,
            });
        }
        let size_below = places[above - 1].0;
        if !self.range.is_narrow(size_below, size_above) {
            return Err(geometric_middle(size_below, size_above, 0.5));
        }
        let part = (goal - heights[above - 1]) / (heights[above] - heights[above - 1]);
        let size = (size_below as f64).powf(1.0 - part) * (size_above as f64).powf(part);
        Ok(Knee {
            share,
            size: size.round() as u64,
            below: Some(size_below),
            above: size_above,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::Noise;

    /// InnoDB on the published memory sweep of 2018 (MB, transactions/s).
    const SWEEP: [(f64, f64); 11] = [
        (5e3, 849.1),
        (10e3, 1321.9),
        (20e3, 1808.2),
        (30e3, 2275.4),
        (40e3, 2968.1),
        (50e3, 3867.6),
        (60e3, 4756.6),
        (70e3, 5527.9),
        (80e3, 5984.6),
        (90e3, 5984.6),
        (100e3, 5984.6),
    ];
    /// Values at which it reaches 50, 90 and 97 % of its maximum, read off the table with straight
    /// lines.
    const TRUTH: [(f64, f64); 3] = [(0.5, 40.3e3), (0.9, 68.2e3), (0.97, 76.1e3)];

    fn throughput(size: u64) -> f64 {
        let size = size as f64;
        let above = SWEEP
            .partition_point(|point| point.0 < size)
            .clamp(1, SWEEP.len() - 1);
        let (a, b) = (SWEEP[above - 1], SWEEP[above]);
        a.1 + (b.1 - a.1) * (size - a.0) / (b.0 - a.0)
    }

    fn search(repeats: usize, mut noise: impl FnMut() -> f64) -> (Vec<Knee>, usize) {
        let range = SearchRange {
            low: 5_000,
            high: 100_000,
            tolerance: 0.05,
            repeats,
        };
        let mut search = KneeSearch::new(range, &TRUTH.map(|truth| truth.0)).unwrap();
        loop {
            match search.next_step() {
                Step::Measure(size) => search.record(size, throughput(size) * noise()).unwrap(),
                Step::Done(knees) => return (knees, search.evaluations()),
            }
            assert!(search.evaluations() < 1_000, "endless");
        }
    }

    #[test]
    fn without_noise_every_knee_is_within_two_per_cent() {
        let (knees, evaluations) = search(1, || 1.0);
        for (knee, (share, size)) in knees.iter().zip(TRUTH) {
            assert!((knee.share - share).abs() < 1e-12);
            assert!((knee.size as f64 / size - 1.0).abs() < 0.02, "{knee:?}");
            assert!(knee.below.unwrap() <= knee.size && knee.size <= knee.above);
            assert!(knee.above as f64 <= knee.below.unwrap() as f64 * 1.05);
        }
        assert!(evaluations <= 6 + 3 * 4, "{evaluations}");
    }

    #[test]
    fn noise_leaves_the_knees_within_seven_per_cent() {
        let mut noise = Noise::seeded(141);
        let trials = 200;
        let mut near = [0; 3];
        let mut most = 0;
        for _ in 0..trials {
            let (knees, evaluations) = search(3, || (0.02 * noise.normal()).exp());
            most = most.max(evaluations);
            for ((count, knee), (_, size)) in near.iter_mut().zip(knees).zip(TRUTH) {
                *count += usize::from((knee.size as f64 / size - 1.0).abs() < 0.07);
            }
        }
        println!("coverage of knees 50, 90, 97 %: {near:?} of {trials}, at most {most} runs");
        assert!(
            near.into_iter()
                .all(|count| count as f64 >= 0.9 * f64::from(trials))
        );
        assert!(most <= 3 * (6 + 3 * 7), "{most}");
    }

    #[test]
    fn a_search_resumes_from_its_runs_in_any_order() {
        let range = SearchRange {
            low: 5_000,
            high: 100_000,
            tolerance: 0.05,
            repeats: 3,
        };
        let mut noise = Noise::seeded(142);
        let mut search = KneeSearch::new(range, &[0.5, 0.9]).unwrap();
        let mut runs = Vec::new();
        while let Step::Measure(size) = search.next_step() {
            let mut resumed = KneeSearch::new(range, &[0.5, 0.9]).unwrap();
            for &(size, result) in runs.iter().rev() {
                resumed.record(size, result).unwrap();
            }
            assert_eq!(resumed, search);
            assert_eq!(resumed.next_step(), Step::Measure(size));
            let result = throughput(size) * (0.02 * noise.normal()).exp();
            search.record(size, result).unwrap();
            runs.push((size, result));
        }
        assert!(runs.len() > 3 * GRID as usize);
    }

    #[test]
    fn a_flat_curve_has_its_knee_at_the_start() {
        let range = SearchRange {
            low: 10,
            high: 1_000,
            tolerance: 0.05,
            repeats: 1,
        };
        let mut search = KneeSearch::new(range, &[0.97]).unwrap();
        while let Step::Measure(size) = search.next_step() {
            search.record(size, 500.0).unwrap();
        }
        let Step::Done(knees) = search.next_step() else {
            unreachable!("the loop ended")
        };
        assert_eq!((knees[0].size, knees[0].below), (10, None));
        assert_eq!(search.evaluations(), GRID as usize);
        assert!(KneeSearch::new(range, &[1.5]).is_err());
        assert!(search.record(10, 0.0).is_err());
    }
}
