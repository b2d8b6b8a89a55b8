//! Rule to stop repeating once two levels are surely equal within a margin, or surely differ by more.
//!
//! Who tests for equality after each repetition, and stops at the first success, calls levels equal by chance more often
//! than one who tests once. So a look has to be surer than 5 %, and more so when there were several. Each look's
//! probability is scaled to its limit; the smallest one then is a probability of its own, at which levels that differ by
//! the margin are called equal in at most 5.5 of 100 studies (tests below).
//!
//! An interval of 98 % at the end holds the truth in 93 to 99 of 100 studies; in the fewest where the levels differ
//! by just the margin, so that both answers are near.

use crate::equality::paired_equality_p_value;
use crate::moments::{mean, standard_error};
use crate::paired::{log_ratios, paired_log_ratio_within, paired_p_value};
use crate::student::p_value;
use crate::{DECIDED_PAIRS_MIN, RatioEstimate, StatsError};

/// Share of studies that may err.
const ERROR_MAX: f64 = 0.05;
/// Most pairs of a study with few of them.
const PAIRS_EARLY_MAX: usize = 5;
/// Most pairs of a study that ends at its verdict; those with more end at a narrow interval.
const PAIRS_LATE_MAX: usize = crate::DECIDED_PAIRS_MAX;
/// Confidence by which the interval has to be computed for one that covers 95 %.
const CONFIDENCE: f64 = 0.98;

/// Probability at which a look at this number of pairs calls levels equal.
fn equality_limit(pairs: usize) -> f64 {
    if pairs <= PAIRS_EARLY_MAX {
        0.015
    } else if pairs <= PAIRS_LATE_MAX {
        0.01
    } else {
        0.002
    }
}

/// Probability at which a look calls them different, from both sides.
fn difference_limit(pairs: usize) -> f64 {
    if pairs <= PAIRS_EARLY_MAX {
        0.015
    } else if pairs <= PAIRS_LATE_MAX {
        0.005
    } else {
        0.001
    }
}

/// As [`paired_equality_p_value`], for pairs whose number depends on what they say: up to 30, looked at after each from the
/// third on. At most 0.05 shows equality.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn looked_equality_p_value(
    pairs: &[(f64, f64)],
    margin: f64,
) -> Result<Option<f64>, StatsError> {
    over_looks(pairs, equality_limit, |pairs| {
        paired_equality_p_value(pairs, margin)
    })
}

/// As [`paired_p_value`], for such pairs.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn looked_p_value(pairs: &[(f64, f64)]) -> Result<Option<f64>, StatsError> {
    over_looks(pairs, difference_limit, paired_p_value)
}

/// Returns true if the levels of `(level, baseline)` pairs, in the order of their measurement, are surely equal within
/// `margin`, or surely differ by more. It is so sure that it also holds among all `questions` of the study. Pairs that
/// come later do not change the answer.
///
/// # Errors
///
/// Values that are not above zero.
pub fn is_equality_decided(
    pairs: &[(f64, f64)],
    margin: f64,
    questions: usize,
) -> Result<bool, StatsError> {
    if pairs.len() < DECIDED_PAIRS_MIN {
        return Ok(false);
    }
    let among_all = ERROR_MAX / questions.max(1) as f64;
    let is_shown = |p_value: Option<f64>| p_value.is_some_and(|p_value| p_value <= among_all);
    if is_shown(looked_equality_p_value(pairs, margin)?) {
        return Ok(true);
    }
    let beyond = over_looks(pairs, difference_limit, |pairs| {
        beyond_margin_p_value(pairs, margin)
    });
    Ok(is_shown(beyond?))
}

/// Level / baseline of pairs whose number [`is_equality_decided`] has chosen, with its 95 % interval.
///
/// # Errors
///
/// No pairs, or values that are not above zero.
pub fn equality_decided_log_ratio(pairs: &[(f64, f64)]) -> Result<RatioEstimate, StatsError> {
    paired_log_ratio_within(pairs, CONFIDENCE)
}

/// The smallest probability of all looks, each scaled so that its limit becomes that of a single look. `None` if there
/// was no look yet.
fn over_looks(
    pairs: &[(f64, f64)],
    limit: fn(usize) -> f64,
    look: impl Fn(&[(f64, f64)]) -> Result<Option<f64>, StatsError>,
) -> Result<Option<f64>, StatsError> {
    let mut smallest = None;
    for count in DECIDED_PAIRS_MIN..=pairs.len() {
        if let Some(p_value) = look(&pairs[..count])? {
            let scaled = (p_value * ERROR_MAX / limit(count)).min(1.0);
            smallest = Some(smallest.map_or(scaled, |least: f64| least.min(scaled)));
        }
    }
    Ok(smallest)
}

/// Probability of a ratio this far outside of the margin although the true one is inside, from both sides.
fn beyond_margin_p_value(pairs: &[(f64, f64)], margin: f64) -> Result<Option<f64>, StatsError> {
    let logs = log_ratios(pairs)?;
    let beyond = mean(&logs).abs() - margin.ln_1p();
    if logs.len() < 2 || beyond <= 0.0 {
        return Ok((logs.len() > 1).then_some(1.0));
    }
    Ok(Some(p_value(
        beyond / standard_error(&logs),
        logs.len() as f64 - 1.0,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DECIDED_PAIRS_MAX;
    use crate::simulate::{Noise, coverage};

    const MARGIN: f64 = 0.05;

    /// Pairs of a study that ends at its answer, or at `most`.
    fn study(noise: &mut Noise, ratio: f64, spread: f64, most: usize) -> Vec<(f64, f64)> {
        let mut pairs = Vec::new();
        while pairs.len() < most && !is_equality_decided(&pairs, MARGIN, 1).unwrap() {
            pairs.push((ratio * (spread * noise.normal()).exp(), 1.0));
        }
        pairs
    }

    fn is_called_equal(pairs: &[(f64, f64)]) -> bool {
        let p_value = looked_equality_p_value(pairs, MARGIN).unwrap();
        p_value.is_some_and(|p_value| p_value <= ERROR_MAX)
    }

    /// Share of studies that call the levels equal, and their mean number of pairs.
    fn called_equal(seed: u64, ratio: f64, spread: f64, studies: usize) -> (f64, f64) {
        let mut noise = Noise::seeded(seed);
        let (mut equal, mut all) = (0, 0);
        for _ in 0..studies {
            let pairs = study(&mut noise, ratio, spread, DECIDED_PAIRS_MAX);
            equal += usize::from(is_called_equal(&pairs));
            all += pairs.len();
        }
        let share = |count: usize| count as f64 / studies as f64;
        (share(equal), share(all))
    }

    /// 20,000 studies: the standard error is 0.15 %, and the bound two of them above the true share.
    #[test]
    fn levels_at_the_edge_are_called_equal_in_at_most_five_and_a_half_of_a_hundred() {
        for (spread, seed) in [(0.003, 310), (0.01, 311), (0.03, 312), (0.06, 313)] {
            for edge in [1.0 + MARGIN, 1.0 / (1.0 + MARGIN)] {
                let (share, pairs) = called_equal(seed, edge, spread, 20_000);
                println!("spread {spread}, ratio {edge:.3}: {share:.4}, {pairs:.1} pairs");
                assert!(share <= 0.055, "{spread} {edge}: {share}");
            }
        }
    }

    /// A study that looks at other things, and ends when it likes to, has as many looks as it has pairs.
    #[test]
    fn thirty_looks_keep_the_error() {
        const STUDIES: usize = 8_000;
        let mut noise = Noise::seeded(320);
        let (mut equal, mut different) = (0, 0);
        for _ in 0..STUDIES {
            let of_ratio = |noise: &mut Noise, ratio: f64| -> Vec<(f64, f64)> {
                let pairs = (0..30).map(|_| (ratio * (0.02 * noise.normal()).exp(), 1.0));
                pairs.collect()
            };
            equal += usize::from(is_called_equal(&of_ratio(&mut noise, 1.0 + MARGIN)));
            let p_value = looked_p_value(&of_ratio(&mut noise, 1.0)).unwrap();
            different += usize::from(p_value.unwrap() <= ERROR_MAX);
        }
        let share = |count: usize| count as f64 / STUDIES as f64;
        println!(
            "30 looks: {} equal at the edge, {} differ without a difference",
            share(equal),
            share(different)
        );
        assert!(share(equal) <= 0.06 && share(different) <= 0.06);
    }

    /// The numbers of `docs/statistics.md`.
    #[test]
    fn equal_levels_are_called_equal_with_the_stated_power() {
        for (spread, power, mean, seed) in [
            (0.01, 1.0, 3.2, 330),
            (0.02, 1.0, 4.2, 331),
            (0.03, 0.965, 6.0, 332),
            (0.05, 0.41, 8.9, 333),
        ] {
            let (share, pairs) = called_equal(seed, 1.0, spread, 8_000);
            println!("spread {spread}: {share:.3} called equal after {pairs:.2} pairs");
            assert!((share - power).abs() <= 0.02, "{spread}: {share}");
            assert!((pairs - mean).abs() <= 0.1, "{spread}: {pairs}");
        }
    }

    #[test]
    fn intervals_at_the_end_cover() {
        const STUDIES: usize = 8_000;
        for (ratio, seed) in [1.0, 1.02, 1.035, 1.05, 1.07, 1.1, 1.3]
            .into_iter()
            .zip(340..)
        {
            for spread in [0.01, 0.03] {
                let mut noise = Noise::seeded(seed);
                let covered = coverage(STUDIES, ratio, || {
                    let pairs = study(&mut noise, ratio, spread, DECIDED_PAIRS_MAX);
                    equality_decided_log_ratio(&pairs)
                        .unwrap()
                        .interval
                        .unwrap()
                });
                println!("ratio {ratio}, spread {spread}: {:.1} %", covered * 100.0);
                assert!(
                    (0.93..=0.99).contains(&covered),
                    "{ratio} {spread}: {covered}"
                );
            }
        }
    }

    #[test]
    fn an_answer_of_either_kind_ends_a_study_and_stays() {
        let equal = [(1.0, 1.0), (1.001, 1.0), (0.999, 1.0)];
        assert!(!is_equality_decided(&equal[..2], MARGIN, 1).unwrap());
        assert!(is_equality_decided(&equal, MARGIN, 1).unwrap());
        let mut later = equal.to_vec();
        later.extend([(2.0, 1.0); 3]);
        assert!(is_called_equal(&later));
        let different = [(1.2, 1.0), (1.21, 1.0), (1.19, 1.0)];
        assert!(is_equality_decided(&different, MARGIN, 1).unwrap());
        assert!(!is_called_equal(&different));
        let noisy = [(1.1, 1.0), (0.95, 1.0), (1.0, 1.0)];
        assert!(!is_equality_decided(&noisy, MARGIN, 1).unwrap());
    }

    #[test]
    fn one_of_many_has_to_be_surer() {
        let pairs = [(1.0, 1.0), (1.008, 1.0), (0.992, 1.0)];
        let p_value = looked_equality_p_value(&pairs, MARGIN).unwrap().unwrap();
        assert!(p_value > 0.01 && p_value < 0.05, "{p_value}");
        assert!(is_equality_decided(&pairs, MARGIN, 1).unwrap());
        assert!(!is_equality_decided(&pairs, MARGIN, 10).unwrap());
    }
}
