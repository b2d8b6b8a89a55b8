//! Rule to stop repeating once a ratio surely differs from 1, and the interval at that point.
//!
//! Who looks after each repetition, and stops when an interval excludes 1, finds differences by chance more often than one
//! who looks once (Armitage and others, Journal of the Royal Statistical Society A 132, 1969). So a look has to
//! be surer than 95 %, and more so when there were several; and an interval of 97 % then holds the truth in 93 to 97 of
//! 100 studies, whatever the effect (the test below). Of studies without any difference, at most 7 of 100 find one.

use crate::paired::{paired_log_ratio_within, paired_p_value};
use crate::{RatioEstimate, StatsError};

/// Fewest pairs after which there may be a verdict.
pub const DECIDED_PAIRS_MIN: usize = 3;
/// Most pairs for which the numbers above hold.
pub const DECIDED_PAIRS_MAX: usize = 10;

/// A difference of this probability by chance is a verdict, with up to five pairs ...
const P_VALUE_MAX_EARLY: f64 = 0.015;
const PAIRS_EARLY_MAX: usize = 5;
/// ... and with more.
const P_VALUE_MAX_LATE: f64 = 0.005;
/// Share of false differences that a study with several comparisons may have (`benjamini_hochberg`).
const FALSE_SHARE_MAX: f64 = 0.05;
/// Confidence by which the interval has to be computed for one that covers 95 %.
const CONFIDENCE: f64 = 0.97;

/// Returns true if the ratio of `(level, baseline)` pairs, in the order of their measurement, differs from 1. It is so
/// sure that it also holds among all `comparisons` of the study. Pairs that come later do not change the answer.
///
/// # Errors
///
/// Values that are not above zero.
pub fn is_decided(pairs: &[(f64, f64)], comparisons: usize) -> Result<bool, StatsError> {
    let among_all = FALSE_SHARE_MAX / comparisons.max(1) as f64;
    for count in DECIDED_PAIRS_MIN..=pairs.len() {
        let by_chance = paired_p_value(&pairs[..count])?;
        let limit = if count <= PAIRS_EARLY_MAX {
            P_VALUE_MAX_EARLY
        } else {
            P_VALUE_MAX_LATE
        };
        if by_chance.is_some_and(|p_value| p_value < limit.min(among_all)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Level / baseline of pairs whose number [`is_decided`] has chosen, with its 95 % interval.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn decided_log_ratio(pairs: &[(f64, f64)]) -> Result<RatioEstimate, StatsError> {
    paired_log_ratio_within(pairs, CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired_log_ratio;
    use crate::simulate::{Noise, assert_covers, coverage};

    /// Pairs of a study that stops at a verdict: effect and spread of log ratios.
    fn study(noise: &mut Noise, effect: f64, spread: f64) -> Vec<(f64, f64)> {
        let mut pairs = Vec::new();
        while pairs.len() < DECIDED_PAIRS_MAX && !is_decided(&pairs, 1).unwrap() {
            pairs.push(((effect + spread * noise.normal()).exp(), 1.0));
        }
        pairs
    }

    #[test]
    fn it_takes_three_pairs_that_agree() {
        let pairs = [(1.2, 1.0), (1.21, 1.0), (1.19, 1.0)];
        assert!(!is_decided(&pairs[..2], 1).unwrap());
        assert!(is_decided(&pairs, 1).unwrap());
        assert!(!is_decided(&[(1.2, 1.0), (0.9, 1.0), (1.3, 1.0)], 1).unwrap());
    }

    #[test]
    fn what_was_decided_stays_decided() {
        let mut pairs = vec![(1.2, 1.0), (1.21, 1.0), (1.19, 1.0)];
        pairs.extend([(0.5, 1.0), (0.4, 1.0)]);
        assert!(is_decided(&pairs, 1).unwrap());
    }

    #[test]
    fn one_of_many_has_to_be_surer() {
        let pairs = [(1.2, 1.0), (1.23, 1.0), (1.17, 1.0)];
        let by_chance = paired_p_value(&pairs).unwrap().unwrap();
        assert!(by_chance > 0.002 && by_chance < 0.015, "{by_chance}");
        assert!(is_decided(&pairs, 1).unwrap());
        assert!(!is_decided(&pairs, 25).unwrap());
    }

    /// The effect over the spread of a pair decides how long it takes; the interval holds the truth at each.
    #[test]
    fn intervals_at_a_verdict_cover() {
        const SPREAD: f64 = 0.05;
        let effects = [0.0, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0];
        for (effect, seed) in effects.into_iter().zip(160..) {
            let mut noise = Noise::seeded(seed);
            let truth = effect * SPREAD;
            let mut all = 0;
            let covered = coverage(8_000, truth.exp(), || {
                let pairs = study(&mut noise, truth, SPREAD);
                all += pairs.len();
                decided_log_ratio(&pairs).unwrap().interval.unwrap()
            });
            let mean = all as f64 / 8_000.0;
            assert_covers(
                covered,
                &format!("verdict, effect of {effect} spreads, {mean:.1} pairs"),
            );
        }
    }

    /// With an effect of 20 % and 20,000 studies per spread, fewer than five repetitions on average lead to a verdict.
    /// No more studies stay without one than with always five repetitions.
    #[test]
    fn a_fifth_is_found_with_fewer_than_five_repetitions() {
        const STUDIES: usize = 20_000;
        for (spread, repetitions_max, seed) in [
            (0.02, 3.1, 180),
            (0.03, 3.3, 181),
            (0.045, 3.6, 182),
            (0.08, 4.9, 183),
        ] {
            let mut noise = Noise::seeded(seed);
            let (mut all, mut undecided, mut undecided_of_five) = (0, 0, 0);
            for _ in 0..STUDIES {
                let pairs = study(&mut noise, 1.2f64.ln(), spread);
                all += pairs.len();
                undecided += usize::from(!is_decided(&pairs, 1).unwrap());
                let five: Vec<_> = (0..5)
                    .map(|_| ((1.2f64.ln() + spread * noise.normal()).exp(), 1.0))
                    .collect();
                let found = paired_log_ratio(&five).unwrap().differs_from_one();
                undecided_of_five += usize::from(!found);
            }
            let mean = all as f64 / STUDIES as f64;
            println!(
                "spread {spread}: {mean:.2} repetitions, {undecided} studies undecided, {undecided_of_five} of five"
            );
            assert!(mean < repetitions_max, "{spread}: {mean}");
            assert!(undecided <= undecided_of_five, "{spread}: {undecided}");
        }
    }

    #[test]
    fn no_difference_is_seldom_taken_for_one() {
        let mut noise = Noise::seeded(190);
        let found = (0..20_000)
            .filter(|_| {
                let pairs = study(&mut noise, 0.0, 0.05);
                decided_log_ratio(&pairs).unwrap().differs_from_one()
            })
            .count();
        assert!(found < 1_400, "{found}");
    }
}
