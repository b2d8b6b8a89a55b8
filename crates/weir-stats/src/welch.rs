//! The ratio of two levels that were not measured in pairs.
//!
//! Welch's interval for two means with unequal variances, degrees of freedom by Satterthwaite
//! (Welch, Biometrika 34, 1947; Satterthwaite, Biometrics Bulletin 2, 1946), on logarithms.
//!
//! Satterthwaite's degrees of freedom are themselves estimated, badly from two runs: of 40,000
//! simulated comparisons per cell, with noise alike or up to five times as strong on either side,
//! 89.7 to 97.8 % of intervals cover when one side has two runs, and 93.0 to 96.4 % when both have
//! three to eight. So three are the fewest.

use crate::moments::{at_least, logs};
use crate::student::{half_width_factor, p_value};
use crate::{MeanEstimate, StatsError};

/// Fewest runs of each level with which the interval covers 93 to 97 %.
pub const WELCH_RUNS_MIN: usize = 3;

/// A ratio of two unpaired samples with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WelchRatio {
    /// Level / baseline.
    pub ratio: f64,
    /// Lower and upper end of the interval.
    pub interval: (f64, f64),
    /// Satterthwaite's degrees of freedom.
    pub degrees_of_freedom: f64,
    /// Probability of a ratio at least this far from 1 if the levels were alike.
    pub p_value: f64,
}

/// Level / baseline from independent runs of each: the ratio of geometric means.
///
/// Fewer than [`WELCH_RUNS_MIN`] runs of either are an error.
///
/// # Errors
///
/// Too few runs, or values that are not above zero.
pub fn welch_log_ratio(level: &[f64], baseline: &[f64]) -> Result<WelchRatio, StatsError> {
    for runs in [level, baseline] {
        at_least(WELCH_RUNS_MIN, "unpaired runs of a level", runs.len())?;
    }
    let level = MeanEstimate::of_runs(&logs(level)?)?;
    let baseline = MeanEstimate::of_runs(&logs(baseline)?)?;
    Ok(welch(&level, &baseline))
}

/// Level / baseline from two means above zero, such as those of two series.
///
/// The standard error of a logarithm is the relative standard error of the mean (delta method),
/// good while that is below some 10 %.
///
/// # Errors
///
/// A mean that is not above zero.
pub fn welch_mean_ratio(
    level: &MeanEstimate,
    baseline: &MeanEstimate,
) -> Result<WelchRatio, StatsError> {
    Ok(welch(&logarithm(level)?, &logarithm(baseline)?))
}

fn logarithm(estimate: &MeanEstimate) -> Result<MeanEstimate, StatsError> {
    Ok(MeanEstimate {
        mean: logs(&[estimate.mean])?[0],
        standard_error: estimate.standard_error / estimate.mean,
        ..*estimate
    })
}

/// Compares two means of logarithms.
fn welch(level: &MeanEstimate, baseline: &MeanEstimate) -> WelchRatio {
    let (difference, error, degrees_of_freedom) = difference_of_logs(level, baseline);
    if error == 0.0 {
        // Two samples without any spread: the ratio is exact.
        return WelchRatio {
            ratio: difference.exp(),
            interval: (difference.exp(), difference.exp()),
            degrees_of_freedom,
            p_value: f64::from(difference == 0.0),
        };
    }
    let half = half_width_factor(degrees_of_freedom) * error;
    WelchRatio {
        ratio: difference.exp(),
        interval: ((difference - half).exp(), (difference + half).exp()),
        degrees_of_freedom,
        p_value: p_value(difference / error, degrees_of_freedom),
    }
}

/// Difference of two means of logarithms, its standard error, and Satterthwaite's degrees of freedom.
pub(crate) fn difference_of_logs(level: &MeanEstimate, baseline: &MeanEstimate) -> (f64, f64, f64) {
    let difference = level.mean - baseline.mean;
    let (a, b) = (
        level.standard_error.powi(2),
        baseline.standard_error.powi(2),
    );
    let error = (a + b).sqrt();
    if error == 0.0 {
        let freedom = level.degrees_of_freedom + baseline.degrees_of_freedom;
        return (difference, error, freedom);
    }
    // As shares of the variance: its square may be too small for a float.
    let share = a / (a + b);
    let freedom = 1.0
        / (share.powi(2) / level.degrees_of_freedom
            + (1.0 - share).powi(2) / baseline.degrees_of_freedom);
    (difference, error, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers, coverage};

    /// Logs 1, 2, 3 against 2, 4, 6, 8: variances 1/3 and 5/3, so t = -3 / sqrt 2 and
    /// 4 / (1/9/2 + 25/9/3) = 4.075472 degrees of freedom.
    #[test]
    fn a_known_answer() {
        let level = [1.0, 2.0, 3.0].map(f64::exp);
        let baseline = [2.0, 4.0, 6.0, 8.0].map(f64::exp);
        let found = welch_log_ratio(&level, &baseline).unwrap();
        assert!((found.ratio.ln() + 3.0).abs() < 1e-9);
        assert!((found.degrees_of_freedom - 4.075_472).abs() < 1e-5);
        let expected = p_value(-3.0 / 2f64.sqrt(), 4.075_472);
        assert!((found.p_value - expected).abs() < 1e-6);
        assert!(found.interval.0 < found.ratio && found.ratio < found.interval.1);
    }

    #[test]
    fn what_cannot_be_compared() {
        assert!(matches!(
            welch_log_ratio(&[1.0, 2.0], &[1.0, 2.0, 3.0]),
            Err(StatsError::TooFew { needed: 3, .. })
        ));
        assert!(welch_log_ratio(&[1.0, 2.0, 3.0], &[1.0, 2.0]).is_err());
        assert!(welch_log_ratio(&[1.0, 0.0, 2.0], &[1.0, 2.0, 3.0]).is_err());
        let same = welch_log_ratio(&[2.0; 4], &[2.0; 4]).unwrap();
        assert!((same.p_value - 1.0).abs() < 1e-12);
        let exact = welch_log_ratio(&[3.0; 4], &[2.0; 4]).unwrap();
        assert!(exact.p_value < 1e-12 && (exact.interval.0 - 1.5).abs() < 1e-12);
    }

    #[test]
    fn tiny_errors_are_errors_all_the_same() {
        let tiny = |mean| MeanEstimate {
            mean,
            standard_error: 1e-100,
            degrees_of_freedom: 4.0,
        };
        let found = welch_mean_ratio(&tiny(3.0), &tiny(3.0)).unwrap();
        assert!((found.degrees_of_freedom - 8.0).abs() < 1e-9);
        assert!(welch_mean_ratio(&tiny(3.0), &tiny(0.0)).is_err());
    }

    #[test]
    fn three_runs_against_three_cover() {
        let mut noise = Noise::seeded(43);
        let covered = coverage(4_000, 1.2, || {
            let mut runs = |level: f64| [(); 3].map(|()| level * (0.05 * noise.normal()).exp());
            let (level, baseline) = (runs(1.2), runs(1.0));
            welch_log_ratio(&level, &baseline).unwrap().interval
        });
        assert_covers(covered, "Welch, 3 against 3 runs");
    }

    #[test]
    fn unequal_runs_with_unequal_noise_cover() {
        let mut noise = Noise::seeded(41);
        let covered = coverage(4_000, 1.2, || {
            let level: Vec<f64> = (0..4)
                .map(|_| 1.2 * (0.10 * noise.normal()).exp())
                .collect();
            let baseline: Vec<f64> = (0..8).map(|_| (0.02 * noise.normal()).exp()).collect();
            welch_log_ratio(&level, &baseline).unwrap().interval
        });
        assert_covers(covered, "Welch, 4 against 8 runs, noise 10 % against 2 %");
    }

    #[test]
    fn two_series_cover() {
        let mut noise = Noise::seeded(42);
        let mut series = |level: f64| {
            let values: Vec<f64> = noise
                .autoregressive(1_000, 0.5)
                .iter()
                .map(|value| level * (1.0 + 0.08 * value))
                .collect();
            MeanEstimate::of_series(&values).unwrap()
        };
        let covered = coverage(1_000, 1.1, || {
            let (level, baseline) = (series(1_100.0), series(1_000.0));
            welch_mean_ratio(&level, &baseline).unwrap().interval
        });
        assert_covers(covered, "Welch on two series of 1,000 s, AR 0.5");
    }
}
