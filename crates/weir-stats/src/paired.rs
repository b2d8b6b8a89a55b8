//! The ratio of two levels from paired repetitions.
//!
//! Runs of one repetition stand close in time, so what drifts (the host, its neighbours) is
//! common to a pair and cancels in its ratio. Logarithms make ratios additive and their interval
//! symmetric (relative change as log ratio: Törnqvist, Vartia and Vartia 1985). The interval is
//! Student's t on the mean of the log ratios, n - 1 degrees of freedom.

use crate::StatsError;
use crate::moments::{mean, standard_error};
use crate::student::{CONFIDENCE, p_value, width_factor};

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
    /// Returns true if the interval excludes 1. Never for a single pair.
    pub fn differs_from_one(&self) -> bool {
        self.interval
            .is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// Estimates level / baseline from `(level, baseline)` pairs of positive measurements.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn paired_log_ratio(pairs: &[(f64, f64)]) -> Result<RatioEstimate, StatsError> {
    paired_log_ratio_within(pairs, CONFIDENCE)
}

/// The same with an interval of another confidence.
pub(crate) fn paired_log_ratio_within(
    pairs: &[(f64, f64)],
    confidence: f64,
) -> Result<RatioEstimate, StatsError> {
    let logs = log_ratios(pairs)?;
    let center = mean(&logs);
    let interval = (logs.len() > 1).then(|| {
        let factor = width_factor(logs.len() as f64 - 1.0, confidence);
        let half_width = factor * standard_error(&logs);
        ((center - half_width).exp(), (center + half_width).exp())
    });
    Ok(RatioEstimate {
        ratio: center.exp(),
        interval,
        pairs: pairs.len(),
    })
}

/// Probability of log ratios at least this far from 0 if the levels were alike: the two-sided
/// paired t-test that belongs to [`paired_log_ratio`]. `None` for a single pair.
///
/// For corrections across many comparisons; one comparison is better told by its interval.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn paired_p_value(pairs: &[(f64, f64)]) -> Result<Option<f64>, StatsError> {
    let logs = log_ratios(pairs)?;
    Ok((logs.len() > 1).then(|| {
        let center = mean(&logs);
        let error = standard_error(&logs);
        if center == 0.0 {
            1.0
        } else {
            p_value(center / error, logs.len() as f64 - 1.0)
        }
    }))
}

/// Logarithms of level / baseline, one per pair.
pub(crate) fn log_ratios(pairs: &[(f64, f64)]) -> Result<Vec<f64>, StatsError> {
    if pairs.is_empty() {
        return Err(StatsError::NoPairs);
    }
    pairs
        .iter()
        .map(|&(numerator, denominator)| {
            let ratio = numerator / denominator;
            if numerator > 0.0 && denominator > 0.0 && ratio.is_finite() {
                Ok(ratio.ln())
            } else {
                Err(StatsError::NotPositive {
                    numerator,
                    denominator,
                })
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers, coverage};

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

    /// The A/A pairs of the published studies (50 GB, second run against first): the mean shift of
    /// -6.2 % has t = -3.35 on 3 degrees of freedom, so p = 0.044.
    #[test]
    fn the_published_order_effect() {
        let pairs = [
            (241_382.0, 258_203.0),
            (239_787.0, 266_403.0),
            (287_366.0, 304_495.0),
            (343_259.0, 348_729.0),
        ];
        let p = paired_p_value(&pairs).unwrap().unwrap();
        assert!((p - 0.044).abs() < 0.001, "{p}");
        assert!(paired_log_ratio(&pairs).unwrap().differs_from_one());
        assert_eq!(paired_p_value(&pairs[..1]), Ok(None));
        assert_eq!(paired_p_value(&[(2.0, 2.0); 3]), Ok(Some(1.0)));
    }

    #[test]
    fn three_log_normal_pairs_cover() {
        let mut noise = Noise::seeded(1);
        let covered = coverage(4_000, 1.31, || {
            let pairs = [(); 3].map(|()| {
                let host = (0.1 * noise.normal()).exp();
                (
                    1.31 * host * (0.05 * noise.normal()).exp(),
                    host * (0.05 * noise.normal()).exp(),
                )
            });
            paired_log_ratio(&pairs).unwrap().interval.unwrap()
        });
        assert_covers(covered, "paired t, n = 3");
    }
}
