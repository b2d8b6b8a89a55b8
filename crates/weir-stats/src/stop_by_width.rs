//! Rule to stop repeating once an interval is narrow enough, and a little later.
//!
//! An experiment that looks at its interval after each repetition and stops at the first narrow one stops too
//! often where the spread looked small by chance: a sequential interval of fixed width (Chow and
//! Robbins, Annals of Mathematical Statistics 36, 1965) covers less than it says. A fixed number of
//! repetitions after that point mends it (Simons, Annals of Mathematical Statistics 39, 1968).
//! Simulated, 95 % intervals that stop at the first narrow one of at least three pairs cover 90 %;
//! of at least six pairs and two pairs later, 93.5 to 95 % (the test below).

use crate::paired::paired_log_ratio;
use crate::{RatioEstimate, StatsError};

/// Fewest pairs after which an interval may end the repetitions.
pub const SETTLED_PAIRS_MIN: usize = 6;

/// Pairs that follow the first narrow interval, whatever they say.
const PAIRS_AFTER: usize = 2;

/// Returns true if `(level, baseline)` pairs, in the order in which they were measured, are enough. They are if an
/// interval no wider than `half_width` to either side (0.05 is +-5 %) was reached, and the pairs that have to follow
/// it are there. Pairs that come later do not change the answer.
///
/// # Errors
///
/// Values that are not above zero.
pub fn is_settled(pairs: &[(f64, f64)], half_width: f64) -> Result<bool, StatsError> {
    let earlier = pairs.len().saturating_sub(PAIRS_AFTER);
    for count in SETTLED_PAIRS_MIN..=earlier {
        if reach(&paired_log_ratio(&pairs[..count])?) <= half_width {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the distance from the estimate to the farther end of the interval, relative to the
/// estimate; infinite without an interval.
pub fn reach(estimate: &RatioEstimate) -> f64 {
    estimate
        .interval
        .map_or(f64::INFINITY, |(_, high)| high / estimate.ratio - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, assert_covers, coverage};

    const GOAL: f64 = 0.05;

    /// Pairs whose log ratio deviates by `deviation` about that of `ratio`.
    fn pair(noise: &mut Noise, ratio: f64, deviation: f64) -> (f64, f64) {
        (ratio * (deviation * noise.normal()).exp(), 1.0)
    }

    #[test]
    fn it_takes_six_pairs_and_two_more() {
        let quiet = |count| [(1.2, 1.0), (1.2001, 1.0)].repeat(count).split_off(count);
        assert!(!is_settled(&quiet(7), GOAL).unwrap());
        assert!(is_settled(&quiet(8), GOAL).unwrap());
        let mut noise = Noise::seeded(151);
        let loud: Vec<_> = (0..8).map(|_| pair(&mut noise, 1.2, 0.5)).collect();
        assert!(!is_settled(&loud, GOAL).unwrap());
    }

    #[test]
    fn what_was_settled_stays_settled() {
        let mut noise = Noise::seeded(152);
        let mut pairs = Vec::new();
        while !is_settled(&pairs, GOAL).unwrap() {
            pairs.push(pair(&mut noise, 1.1, 0.05));
        }
        pairs.extend([(9.0, 1.0), (0.1, 1.0)]);
        assert!(is_settled(&pairs, GOAL).unwrap());
    }

    /// The spread of one pair over the goal decides how long it takes: from at once to 28 pairs.
    #[test]
    fn intervals_under_the_stop_rule_cover() {
        for (deviation, seed) in [(0.5, 153), (0.8, 154), (1.2, 155), (1.6, 156), (2.5, 157)] {
            let mut noise = Noise::seeded(seed);
            let mut all = 0;
            let covered = coverage(4_000, 1.3, || {
                let mut pairs = Vec::new();
                while !is_settled(&pairs, GOAL).unwrap() {
                    pairs.push(pair(&mut noise, 1.3, deviation * GOAL));
                }
                all += pairs.len();
                paired_log_ratio(&pairs).unwrap().interval.unwrap()
            });
            let mean = all as f64 / 4_000.0;
            assert_covers(
                covered,
                &format!("stop rule, {deviation} of the goal, {mean:.1} pairs"),
            );
        }
    }
}
