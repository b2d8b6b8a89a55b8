//! The noise floor of a host: how far apart two cells lie that are the same.
//!
//! Repeated runs of identical cells (A/A) give the standard deviation of one run, pooled over
//! cells on a log scale. Two arms of n runs each then differ by chance, in 95 of 100 comparisons,
//! by no more than the floor t x deviation x sqrt(2 / n). An effect below it, or below the shift
//! of a negative control (a workload that the factor cannot influence), is inconclusive whatever
//! its own interval says: three quiet pairs in a row happen (rule R5 of the published studies).

use crate::moments::{at_least, logs, squares};
use crate::student::half_width_factor;
use crate::{RatioEstimate, StatsError};

/// Spread of runs of identical cells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NoiseFloor {
    /// Standard deviation of the logarithm of one run; 0.05 is about 5 %.
    pub log_deviation: f64,
    /// Degrees of freedom: runs less cells.
    pub degrees_of_freedom: f64,
}

/// Pools the runs of identical cells; each element holds the runs of one cell, all above zero.
///
/// Cells with a single run tell nothing and are passed over; at least two degrees of freedom are
/// needed, since with one the floor is 18 deviations high.
///
/// # Errors
///
/// Too few runs, or values that are not above zero.
pub fn noise_floor(cells: &[Vec<f64>]) -> Result<NoiseFloor, StatsError> {
    let mut sum = 0.0;
    let mut freedom = 0;
    for cell in cells.iter().filter(|cell| cell.len() > 1) {
        sum += squares(&logs(cell)?);
        freedom += cell.len() - 1;
    }
    at_least(2, "repetitions of identical cells", freedom)?;
    Ok(NoiseFloor {
        log_deviation: (sum / freedom as f64).sqrt(),
        degrees_of_freedom: freedom as f64,
    })
}

impl NoiseFloor {
    /// Largest ratio, above 1, that two identical arms of `runs` runs each show by chance.
    pub fn ratio(&self, runs: usize) -> f64 {
        self.log_ratio(runs).exp()
    }

    fn log_ratio(&self, runs: usize) -> f64 {
        let factor = half_width_factor(self.degrees_of_freedom);
        factor * self.log_deviation * (2.0 / runs.max(1) as f64).sqrt()
    }
}

/// Verdict on an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The level is above the baseline.
    Higher,
    /// The level is below the baseline.
    Lower,
    /// The interval holds 1, or there is none.
    IntervalHoldsOne,
    /// The interval excludes 1, but identical cells differ as much.
    BelowNoise,
    /// The interval excludes 1, but a workload that the factor cannot influence moved as much.
    BelowControl,
}

impl Verdict {
    /// Returns true if nothing is established.
    pub fn is_inconclusive(self) -> bool {
        !matches!(self, Self::Higher | Self::Lower)
    }
}

/// Judges an effect against its own interval, the noise floor and a negative control.
///
/// The floor is that of unpaired arms. Pairs cancel what drifts, so it errs on the side of silence.
pub fn verdict(
    effect: &RatioEstimate,
    floor: Option<&NoiseFloor>,
    control: Option<&RatioEstimate>,
) -> Verdict {
    let size = effect.ratio.ln().abs();
    if !effect.differs_from_one() {
        Verdict::IntervalHoldsOne
    } else if floor.is_some_and(|floor| size <= floor.log_ratio(effect.pairs)) {
        Verdict::BelowNoise
    } else if control.is_some_and(|control| size <= control.ratio.ln().abs()) {
        Verdict::BelowControl
    } else if effect.ratio > 1.0 {
        Verdict::Higher
    } else {
        Verdict::Lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers, coverage};

    /// The A/A pairs of the published studies, section 8.2: 4.9 % per run IO-bound, and a floor of
    /// 19, 11 and 9 % with 1, 3 and 5 runs per arm; 0.66 % and 2.6 % cached.
    #[test]
    fn the_published_pairs() {
        let io_bound = noise_floor(&[
            vec![258_203.0, 241_382.0],
            vec![266_403.0, 239_787.0],
            vec![304_495.0, 287_366.0],
            vec![348_729.0, 343_259.0],
        ])
        .unwrap();
        assert!((io_bound.log_deviation - 0.049).abs() < 0.0005);
        assert!((io_bound.degrees_of_freedom - 4.0).abs() < 1e-12);
        for (runs, percent) in [(1, 19.0), (3, 11.0), (5, 8.6)] {
            let floor = io_bound.ratio(runs).ln() * 100.0;
            assert!((floor - percent).abs() < 0.5, "{runs}: {floor}");
        }
        let cached = noise_floor(&[
            vec![1_147_448.0, 1_157_551.0],
            vec![1_090_956.0, 1_107_155.0],
            vec![1_025_733.0, 1_023_746.0],
            vec![1_172_021.0, 1_163_664.0],
        ])
        .unwrap();
        assert!((cached.log_deviation - 0.0066).abs() < 0.0001);
        assert!((cached.ratio(1) - 1.026).abs() < 0.001);
    }

    #[test]
    fn single_runs_give_no_floor() {
        assert!(noise_floor(&[vec![1.0], vec![2.0], vec![1.0, 1.1]]).is_err());
        assert!(noise_floor(&[vec![1.0, 0.0, 2.0]]).is_err());
    }

    fn effect(ratio: f64, low: f64, high: f64) -> RatioEstimate {
        RatioEstimate {
            ratio,
            interval: Some((low, high)),
            pairs: 3,
        }
    }

    #[test]
    fn a_narrow_interval_does_not_beat_the_noise() {
        let floor = NoiseFloor {
            log_deviation: 0.049,
            degrees_of_freedom: 4.0,
        };
        let judge = |effect: &RatioEstimate| verdict(effect, Some(&floor), None);
        assert_eq!(judge(&effect(1.08, 1.07, 1.09)), Verdict::BelowNoise);
        assert_eq!(judge(&effect(1.30, 0.99, 1.70)), Verdict::IntervalHoldsOne);
        assert_eq!(judge(&effect(1.30, 1.25, 1.35)), Verdict::Higher);
        assert_eq!(judge(&effect(0.70, 0.65, 0.75)), Verdict::Lower);
        assert!(judge(&effect(0.95, 0.94, 0.96)).is_inconclusive());
        let without = verdict(&effect(1.08, 1.07, 1.09), None, None);
        assert_eq!(without, Verdict::Higher);
    }

    /// The control shrank by 10 %: whatever did that explains a gain of 9 % just as well.
    #[test]
    fn an_effect_must_beat_its_negative_control() {
        let control = effect(0.90, 0.80, 1.01);
        let judge = |ratio| verdict(&effect(ratio, 1.05, 1.2), None, Some(&control));
        assert_eq!(judge(1.09), Verdict::BelowControl);
        assert_eq!(judge(1.13), Verdict::Higher);
    }

    /// Identical arms stay below the floor in 95 of 100 studies.
    #[test]
    fn the_floor_holds_identical_arms() {
        let mut noise = Noise::seeded(51);
        let mut run = || (0.05 * noise.normal()).exp();
        let covered = coverage(4_000, 1.0, || {
            let cells: Vec<Vec<f64>> = (0..4).map(|_| vec![run(), run()]).collect();
            let floor = noise_floor(&cells).unwrap().ratio(3);
            let mut arm = || (run() * run() * run()).cbrt();
            let ratio = arm() / arm();
            (ratio / floor, ratio * floor)
        });
        assert_covers(covered, "noise floor from four A/A pairs, arms of 3");
    }
}
