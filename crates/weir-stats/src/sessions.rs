//! One ratio from several sessions of a study, whose intervals know nothing of the spread between sessions.
//!
//! Random effects on logarithms: weights by `DerSimonian` and Laird ("Meta-analysis in clinical trials", Controlled
//! Clinical Trials 7, 1986), the interval by Hartung and Knapp ("A refined method for the meta-analysis of controlled
//! clinical trials with binary outcome", Statistics in Medicine 20, 2001): Student's t over sessions. It is never
//! narrower than the interval of sessions without any spread between them.

use crate::student::half_width_factor;

/// Standard errors that half of a session's interval is taken to span. Fewer runs span more, so that a session's error
/// is overstated, not understated.
const HALF_WIDTH: f64 = 1.96;

/// A ratio over several sessions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SessionsRatio {
    /// Level / baseline.
    pub ratio: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Standard deviation of the logarithm between sessions, beyond what their own intervals explain.
    pub between: f64,
    /// No number lies in all intervals of the sessions.
    pub is_disjoint: bool,
}

/// Returns the ratio over sessions with these 95 % intervals (low, high); `None` with less than two, or with an interval
/// that is none.
pub fn sessions_ratio(intervals: &[(f64, f64)]) -> Option<SessionsRatio> {
    let is_one = |(low, high): &(f64, f64)| *low > 0.0 && low < high && high.is_finite();
    if intervals.len() < 2 || !intervals.iter().all(is_one) {
        return None;
    }
    let ends = intervals.iter().map(|(low, high)| (low.ln(), high.ln()));
    let sessions: Vec<(f64, f64)> = ends
        .map(|(low, high)| {
            let error = (high - low) / (2.0 * HALF_WIDTH);
            (f64::midpoint(low, high), error * error)
        })
        .collect();
    let between = variance_between(&sessions);
    let (mean, weight) = weighted_mean(&sessions, between);
    let degrees = sessions.len() as f64 - 1.0;
    let spread = sessions
        .iter()
        .map(|(found, variance)| (found - mean).powi(2) / (variance + between));
    let error = (spread.sum::<f64>() / degrees / weight).sqrt();
    let without_spread = HALF_WIDTH / weighted_mean(&sessions, 0.0).1.sqrt();
    let half_width = (half_width_factor(degrees) * error).max(without_spread);
    let highest_low = intervals.iter().map(|(low, _)| *low).fold(0.0, f64::max);
    let lowest_high = intervals
        .iter()
        .map(|(_, high)| *high)
        .fold(f64::MAX, f64::min);
    Some(SessionsRatio {
        ratio: mean.exp(),
        low: (mean - half_width).exp(),
        high: (mean + half_width).exp(),
        between: between.sqrt(),
        is_disjoint: highest_low > lowest_high,
    })
}

/// Returns the mean of (value, variance) with another variance added to each, and the sum of its weights.
fn weighted_mean(sessions: &[(f64, f64)], between: f64) -> (f64, f64) {
    let (mut sum, mut weights) = (0.0, 0.0);
    for (found, variance) in sessions {
        let weight = 1.0 / (variance + between);
        sum += weight * found;
        weights += weight;
    }
    (sum / weights, weights)
}

/// The variance between sessions by the method of moments.
fn variance_between(sessions: &[(f64, f64)]) -> f64 {
    let (mean, weights) = weighted_mean(sessions, 0.0);
    let (mut spread, mut squares) = (0.0, 0.0);
    for (found, variance) in sessions {
        spread += (found - mean).powi(2) / variance;
        squares += (1.0 / variance).powi(2);
    }
    let expected = sessions.len() as f64 - 1.0;
    ((spread - expected) / (weights - squares / weights)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::{Noise, coverage};

    const TRUTH: f64 = 1.4;

    /// Share of intervals that hold the truth, over sessions of unequal precision.
    fn covered(noise: &mut Noise, sessions: usize, between: f64) -> f64 {
        coverage(4_000, TRUTH, || {
            let interval = |session: usize| {
                let error = 0.02 * (1.0 + (session % 2) as f64);
                let middle = TRUTH.ln() + between * noise.normal() + error * noise.normal();
                let half = HALF_WIDTH * error;
                ((middle - half).exp(), (middle + half).exp())
            };
            let intervals: Vec<_> = (0..sessions).map(interval).collect();
            let found = sessions_ratio(&intervals).unwrap();
            (found.low, found.high)
        })
    }

    #[test]
    fn the_interval_covers_whatever_the_spread_between_sessions() {
        let mut noise = Noise::seeded(1986);
        for sessions in [2, 3, 5, 10] {
            for between in [0.0, 0.02, 0.1] {
                let covered = covered(&mut noise, sessions, between);
                let what = format!("{sessions} sessions, spread {between}: {covered}");
                assert!(covered >= 0.93, "{what}");
                // Where sessions differ by more than they know, no more than it should.
                assert!(between < 0.1 || covered <= 0.97, "{what}");
            }
        }
    }

    #[test]
    fn one_session_covers_its_own_truth_only() {
        let mut noise = Noise::seeded(1986);
        let of_one = coverage(4_000, TRUTH, || {
            let middle = TRUTH.ln() + 0.1 * noise.normal() + 0.02 * noise.normal();
            let half = HALF_WIDTH * 0.02;
            ((middle - half).exp(), (middle + half).exp())
        });
        assert!(of_one < 0.5, "{of_one}");
    }

    #[test]
    fn sessions_that_do_not_overlap_are_named_and_widen_the_interval() {
        let apart = [(1.15, 1.25), (1.45, 1.55), (1.28, 1.36)];
        let found = sessions_ratio(&apart).unwrap();
        assert!(found.is_disjoint && found.between > 0.05, "{found:?}");
        assert!(found.low < 1.15 && found.high > 1.45, "{found:?}");
        let alike = sessions_ratio(&[(1.15, 1.25), (1.16, 1.26), (1.14, 1.24)]).unwrap();
        assert!(!alike.is_disjoint && alike.between == 0.0, "{alike:?}");
        assert!(alike.low > 1.15 && alike.high < 1.25, "{alike:?}");
    }

    #[test]
    fn less_than_two_intervals_have_no_spread() {
        assert_eq!(sessions_ratio(&[(1.0, 1.2)]), None);
        assert_eq!(sessions_ratio(&[(1.0, 1.2), (1.2, 1.2)]), None);
        assert_eq!(sessions_ratio(&[(1.0, 1.2), (0.0, 1.2)]), None);
        assert_eq!(sessions_ratio(&[(1.0, 1.2), (1.0, f64::INFINITY)]), None);
    }
}
