//! The ratio of two levels from paired repetitions.
//!
//! Runs of one repetition stand close in time, so what drifts (the host, its neighbours) is
//! common to a pair and cancels in its ratio. Logarithms make ratios additive and their interval
//! symmetric (relative change as log ratio: Törnqvist, Vartia and Vartia 1985). The interval is
//! Student's t on the mean of the log ratios, n - 1 degrees of freedom.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::StatsError;

/// Confidence of the interval.
const CONFIDENCE: f64 = 0.95;

/// A ratio with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatioEstimate {
    /// Geometric mean of the pairs' ratios.
    pub ratio: f64,
    /// Lower and upper end of the interval; `None` for a single pair, which has no spread.
    pub interval: Option<(f64, f64)>,
    /// Number of pairs.
    pub pairs: usize,
}

impl RatioEstimate {
    /// Whether the interval excludes 1. Never for a single pair.
    pub fn differs_from_one(&self) -> bool {
        self.interval
            .is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// Estimates level / baseline from `(level, baseline)` pairs of positive measurements.
pub fn paired_log_ratio(pairs: &[(f64, f64)]) -> Result<RatioEstimate, StatsError> {
    if pairs.is_empty() {
        return Err(StatsError::NoPairs);
    }
    let mut logs = Vec::with_capacity(pairs.len());
    for &(numerator, denominator) in pairs {
        let ratio = numerator / denominator;
        if !(numerator > 0.0 && denominator > 0.0 && ratio.is_finite()) {
            return Err(StatsError::NotPositive {
                numerator,
                denominator,
            });
        }
        logs.push(ratio.ln());
    }
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let interval = (logs.len() > 1).then(|| {
        let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
        let standard_error = (squares / (count - 1.0) / count).sqrt();
        let student = StudentsT::new(0.0, 1.0, count - 1.0)
            .expect("invariant: at least one degree of freedom");
        let half_width = student.inverse_cdf(f64::midpoint(1.0, CONFIDENCE)) * standard_error;
        ((mean - half_width).exp(), (mean + half_width).exp())
    });
    Ok(RatioEstimate {
        ratio: mean.exp(),
        interval,
        pairs: pairs.len(),
    })
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Computed by hand: logs ln 2, ln 2.2, ln 1.8; t(0.975, 2) = 4.302653.
    #[test]
    fn a_known_answer() {
        let estimate = paired_log_ratio(&[(2.0, 1.0), (2.2, 1.0), (1.8, 1.0)]).unwrap();
        let logs = [2f64.ln(), 2.2f64.ln(), 1.8f64.ln()];
        let mean = logs.iter().sum::<f64>() / 3.0;
        let deviation = (logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        let half = 4.302_652_73 * deviation / 3f64.sqrt();
        let (low, high) = estimate.interval.unwrap();
        assert!((estimate.ratio - mean.exp()).abs() < 1e-9);
        assert!((low - (mean - half).exp()).abs() < 1e-6);
        assert!((high - (mean + half).exp()).abs() < 1e-6);
        assert!(estimate.differs_from_one());
    }

    #[test]
    fn swapping_the_levels_inverts_the_answer() {
        let pairs = [(5.0, 4.0), (6.0, 4.5), (5.5, 4.2)];
        let there = paired_log_ratio(&pairs).unwrap();
        let back = paired_log_ratio(&pairs.map(|(a, b)| (b, a))).unwrap();
        assert!((there.ratio * back.ratio - 1.0).abs() < 1e-12);
        assert!((there.interval.unwrap().0 * back.interval.unwrap().1 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_pair_has_a_ratio_but_shows_nothing() {
        let estimate = paired_log_ratio(&[(3.0, 1.0)]).unwrap();
        assert_eq!(estimate.interval, None);
        assert!(!estimate.differs_from_one());
    }

    #[test]
    fn no_pairs_and_zeros_are_errors() {
        assert_eq!(paired_log_ratio(&[]), Err(StatsError::NoPairs));
        assert!(paired_log_ratio(&[(0.0, 1.0)]).is_err());
        assert!(paired_log_ratio(&[(1.0, f64::NAN)]).is_err());
    }

    /// Of intervals on three log-normal pairs, 93 to 97 % must hold the true ratio.
    #[test]
    fn the_interval_covers_the_truth_as_often_as_it_says() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut normal = || {
            // The sum of 12 uniform numbers less 6 is normal enough out to three deviations.
            (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
        };
        let (truth, trials) = (1.31, 4_000);
        let covered = (0..trials)
            .filter(|_| {
                let pairs = [(); 3].map(|()| {
                    let host = (0.1 * normal()).exp();
                    (
                        truth * host * (0.05 * normal()).exp(),
                        host * (0.05 * normal()).exp(),
                    )
                });
                let (low, high) = paired_log_ratio(&pairs).unwrap().interval.unwrap();
                low <= truth && truth <= high
            })
            .count();
        let coverage = covered as f64 / f64::from(trials);
        assert!((0.93..=0.97).contains(&coverage), "{coverage}");
    }
}
