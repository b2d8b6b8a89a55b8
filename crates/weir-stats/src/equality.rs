//! Equality of two levels within a margin, by two one-sided t-tests.
//!
//! A difference that was not shown is no equality: few or noisy runs show nothing either. So equality is a claim of its own
//! (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987): the ratio is neither below 1 / (1 + X) nor
//! above 1 + X, each by a one-sided test at 5 %. Both hold where the 90 % interval of the ratio lies between the two.
//!
//! Simulated with 3 to 10 pairs (tests below): levels that truly differ by the margin are called equal in at most 5 of 100
//! studies. If ratios of pairs vary by 3 % and X is 5 %, equal levels are called equal in 39 of 100 studies with three
//! pairs, in 82 with five and in 98 with eight. The number of pairs must not depend on what they say.

use crate::moments::{at_least, logs, mean, standard_error};
use crate::paired::log_ratios;
use crate::student::{tail_probability, width_factor};
use crate::welch::difference_of_logs;
use crate::{MeanEstimate, StatsError, WELCH_RUNS_MIN};

/// Probability that `(level, baseline)` pairs agree this well although their true ratio lies outside of 1 / (1 + `margin`)
/// to 1 + `margin` (0.05 is 5 %). At most 0.05 shows equality. `None` for a single pair.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn paired_equality_p_value(
    pairs: &[(f64, f64)],
    margin: f64,
) -> Result<Option<f64>, StatsError> {
    let logs = log_ratios(pairs)?;
    Ok((logs.len() > 1).then(|| {
        let freedom = logs.len() as f64 - 1.0;
        equality_p_value(mean(&logs), standard_error(&logs), freedom, margin)
    }))
}

/// The same from independent runs of each level, with Welch's error and degrees of freedom.
///
/// # Errors
///
/// Fewer than [`WELCH_RUNS_MIN`] runs of either, or values that are not above zero.
pub fn welch_equality_p_value(
    level: &[f64],
    baseline: &[f64],
    margin: f64,
) -> Result<f64, StatsError> {
    for runs in [level, baseline] {
        at_least(WELCH_RUNS_MIN, "unpaired runs of a level", runs.len())?;
    }
    let level = MeanEstimate::of_runs(&logs(level)?)?;
    let baseline = MeanEstimate::of_runs(&logs(baseline)?)?;
    let (difference, error, freedom) = difference_of_logs(&level, &baseline);
    Ok(equality_p_value(difference, error, freedom, margin))
}

/// No study is repeated more often.
const PAIRS_MAX: usize = 1_000;

/// Pairs of which equal levels are called equal within `margin` in four of five studies, if the logarithms of the pairs'
/// ratios vary by `log_deviation`. `None` for more than any study has.
pub fn equality_pairs_needed(log_deviation: f64, margin: f64) -> Option<usize> {
    // One-sided at 5 %; each end of the interval stays inside in nine of ten studies.
    let room = |pairs: usize| {
        let freedom = pairs as f64 - 1.0;
        let factor = width_factor(freedom, 0.9) + width_factor(freedom, 0.8);
        factor * log_deviation / (pairs as f64).sqrt()
    };
    (3..=PAIRS_MAX).find(|pairs| room(*pairs) <= margin.ln_1p())
}

/// The same if the ratios go on to vary as those of `pairs` do; `None` also for a single pair.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn equality_pairs_expected(
    pairs: &[(f64, f64)],
    margin: f64,
) -> Result<Option<usize>, StatsError> {
    let logs = log_ratios(pairs)?;
    if logs.len() < 2 {
        return Ok(None);
    }
    let deviation = standard_error(&logs) * (logs.len() as f64).sqrt();
    Ok(equality_pairs_needed(deviation, margin))
}

/// The larger of both one-sided probabilities: both tests have to reject.
fn equality_p_value(center: f64, error: f64, freedom: f64, margin: f64) -> f64 {
    let room = margin.ln_1p() - center.abs();
    if error == 0.0 {
        return f64::from(room <= 0.0);
    }
    tail_probability(room / error, freedom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired::paired_log_ratio_within;
    use crate::simulate::Noise;

    const MARGIN: f64 = 0.05;

    fn pairs(noise: &mut Noise, count: usize, ratio: f64, spread: f64) -> Vec<(f64, f64)> {
        (0..count)
            .map(|_| (ratio * (spread * noise.normal()).exp(), 1.0))
            .collect()
    }

    /// Share of 20,000 studies that call the levels equal.
    fn called_equal(seed: u64, count: usize, ratio: f64, spread: f64) -> f64 {
        const STUDIES: usize = 20_000;
        let mut noise = Noise::seeded(seed);
        let equal = (0..STUDIES)
            .filter(|_| {
                let pairs = pairs(&mut noise, count, ratio, spread);
                let p_value = paired_equality_p_value(&pairs, MARGIN).unwrap().unwrap();
                p_value <= 0.05
            })
            .count();
        equal as f64 / STUDIES as f64
    }

    /// Four standard errors of the simulation above 5 %.
    #[test]
    fn levels_at_the_edge_are_called_equal_in_at_most_five_of_a_hundred() {
        for (count, seed) in [(3, 210), (5, 211), (10, 212)] {
            for spread in [0.003, 0.01, 0.03, 0.1] {
                for edge in [1.0 + MARGIN, 1.0 / (1.0 + MARGIN)] {
                    let share = called_equal(seed, count, edge, spread);
                    println!("{count} pairs, spread {spread}, ratio {edge:.3}: {share:.4}");
                    assert!(share <= 0.0562, "{count} {spread} {edge}: {share}");
                }
            }
        }
    }

    #[test]
    fn equal_levels_are_called_equal_with_the_stated_power() {
        let powers = [(3, 0.39), (5, 0.82), (8, 0.985)];
        let shares = powers.map(|(count, _)| called_equal(220, count, 1.0, 0.03));
        println!("power with 3, 5, 8 pairs: {shares:.3?}");
        for ((count, power), share) in powers.into_iter().zip(shares) {
            assert!((share - power).abs() <= 0.02, "{count}: {share}");
        }
    }

    #[test]
    fn the_pairs_that_are_needed_call_equal_levels_equal_in_four_of_five_studies() {
        for (spread, seed) in [(0.02, 250), (0.03, 251), (0.05, 252), (0.1, 253)] {
            let count = equality_pairs_needed(spread, MARGIN).unwrap();
            let share = called_equal(seed, count, 1.0, spread);
            println!("spread {spread}: {count} pairs, power {share:.3}");
            let fewer = called_equal(seed, count - 1, 1.0, spread);
            assert!(
                share >= 0.78 && fewer <= 0.84,
                "{spread}: {count} pairs, {share}, {fewer}"
            );
        }
        assert_eq!(equality_pairs_needed(0.0, MARGIN), Some(3));
        assert_eq!(equality_pairs_needed(10.0, MARGIN), None);
        let expected = |pairs: &[(f64, f64)]| equality_pairs_expected(pairs, MARGIN).unwrap();
        assert_eq!(expected(&[(1.0, 1.0), (1.0, 1.0)]), Some(3));
        assert_eq!(expected(&[(1.0, 1.0)]), None);
    }

    #[test]
    fn both_tests_reject_where_the_90_percent_interval_lies_inside() {
        let mut noise = Noise::seeded(230);
        for count in 2..30 {
            let pairs = pairs(&mut noise, count, 1.01, 0.04);
            let p_value = paired_equality_p_value(&pairs, MARGIN).unwrap().unwrap();
            let interval = paired_log_ratio_within(&pairs, 0.9).unwrap().interval;
            let (low, high) = interval.unwrap();
            let is_inside = low >= 1.0 / (1.0 + MARGIN) && high <= 1.0 + MARGIN;
            assert_eq!(p_value <= 0.05, is_inside, "{count}: {low} to {high}");
        }
    }

    #[test]
    fn runs_without_pairs_keep_the_size_of_the_test() {
        const STUDIES: usize = 20_000;
        let mut noise = Noise::seeded(240);
        let called_equal = |noise: &mut Noise, ratio: f64| {
            let equal = (0..STUDIES).filter(|_| {
                let mut runs =
                    |center: f64| [(); 5].map(|()| center * (0.02 * noise.normal()).exp());
                let (level, baseline) = (runs(ratio), runs(1.0));
                welch_equality_p_value(&level, &baseline, MARGIN).unwrap() <= 0.05
            });
            equal.count() as f64 / STUDIES as f64
        };
        let edge = called_equal(&mut noise, 1.0 + MARGIN);
        let equal = called_equal(&mut noise, 1.0);
        println!("five runs each, noise 2 %: {edge:.4} at the edge, {equal:.3} of equal levels");
        assert!(edge <= 0.0562, "{edge}");
        assert!(equal >= 0.9, "{equal}");
        assert!(welch_equality_p_value(&[1.0; 2], &[1.0; 3], MARGIN).is_err());
    }

    #[test]
    fn pairs_without_spread_and_single_pairs() {
        let p_value = |pairs: &[(f64, f64)]| paired_equality_p_value(pairs, MARGIN).unwrap();
        assert_eq!(p_value(&[(2.0, 2.0); 3]), Some(0.0));
        assert_eq!(p_value(&[(4.0, 2.0); 3]), Some(1.0));
        assert_eq!(p_value(&[(2.0, 2.0)]), None);
        assert_eq!(
            paired_equality_p_value(&[], MARGIN),
            Err(StatsError::NoPairs)
        );
    }
}
