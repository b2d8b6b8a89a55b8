//! The period of stalls: equal times between their beginnings.

use super::stalls::Stall;

/// The least number of stalls with a period: two equal times between three may be chance.
const STALLS_MIN: usize = 3;
/// Largest difference of a time from the period, as a part of it, of three stalls and of more.
const SPREAD_OF_THREE: f64 = 0.03;
const SPREAD: f64 = 0.1;
/// Sampling once a second moves a beginning by up to a second.
const SAMPLING_S: f64 = 1.5;
/// Stalls below this part of the longest are of another kind, such as a busy machine's.
const LONG: f64 = 0.5;

/// The period, seconds, and the stalls that have it: all of them, or the long ones. Without a period all of them.
pub(super) fn periodic(stalls: &[Stall]) -> (Option<f64>, Vec<Stall>) {
    let longest = stalls.iter().map(|stall| stall.seconds).fold(0.0, f64::max);
    let found = [0.0, LONG].into_iter().find_map(|part| {
        let ones = stalls
            .iter()
            .filter(|stall| stall.seconds >= part * longest);
        let ones: Vec<Stall> = ones.cloned().collect();
        let begins: Vec<f64> = ones.iter().map(|stall| stall.from_s).collect();
        Some((Some(period_s(&begins)?), ones))
    });
    found.unwrap_or_else(|| (None, stalls.to_vec()))
}

/// Time between the beginnings of stalls, seconds, if it is always the same.
fn period_s(begins_s: &[f64]) -> Option<f64> {
    if begins_s.len() < STALLS_MIN {
        return None;
    }
    let times: Vec<f64> = begins_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let part = if begins_s.len() == STALLS_MIN {
        SPREAD_OF_THREE
    } else {
        SPREAD
    };
    // Short periods are not told from chance by whole seconds.
    let allowed = (part * mean).max(SAMPLING_S).min(0.25 * mean);
    times
        .iter()
        .all(|time| (time - mean).abs() <= allowed)
        .then_some(mean)
}

#[cfg(test)]
mod tests {
    use super::super::stalls::search;
    use super::super::stalls::tests::{Noise, noisy};
    use super::*;

    /// An hour with a stall of `length` seconds every `period`, as a look at the server sees it.
    fn hour(seed: u64, period: usize, length: usize) -> Option<f64> {
        let mut rates = noisy(seed, 3600, 900.0, 0.1);
        let begins: Vec<usize> = (period / 2..3600 - length).step_by(period).collect();
        for begin in &begins {
            for rate in &mut rates[*begin..begin + length] {
                *rate *= 0.15;
            }
        }
        let times: Vec<f64> = (0..=3600).map(f64::from).collect();
        let found = search(&rates, &times);
        assert_eq!(found.stalls.len(), begins.len());
        let begins: Vec<f64> = found.stalls.iter().map(|stall| stall.from_s).collect();
        period_s(&begins)
    }

    #[test]
    fn a_spike_every_twenty_minutes_is_found_in_an_hour() {
        for seed in 0..8 {
            let period = hour(seed, 1200, 8).unwrap();
            assert!((period - 1200.0).abs() <= 2.0, "{period}");
            let period = hour(seed, 60, 2).unwrap();
            assert!((period - 60.0).abs() <= 1.0, "{period}");
        }
    }

    /// By theory: three stalls at random times look periodic in about 3 % of cases, five in far fewer.
    #[test]
    fn stalls_at_random_times_seldom_have_a_period() {
        let mut noise = Noise::new(7);
        let mut periodic = |stalls: usize| {
            (0..2000)
                .filter(|_| {
                    let mut begins: Vec<f64> = (0..stalls)
                        .map(|_| (noise.uniform() * 3600.0).floor())
                        .collect();
                    begins.sort_by(f64::total_cmp);
                    period_s(&begins).is_some()
                })
                .count()
        };
        let (three, five) = (periodic(3), periodic(5));
        assert!(three <= 100, "{three} of 2000");
        assert!(five <= 20, "{five} of 2000");
    }

    /// As a busy machine showed them in an hour, beside a lock every 1,208 s.
    #[test]
    fn short_stalls_of_another_kind_do_not_hide_the_period_of_long_ones() {
        let stall = |(from_s, seconds): &(f64, f64)| Stall {
            from_s: *from_s,
            seconds: *seconds,
            ..Stall::default()
        };
        let seen = [
            (564., 2.),
            (576., 1.),
            (601., 7.),
            (1321., 1.),
            (1809., 7.),
            (3017., 7.),
        ];
        let (period, ones) = periodic(&seen.iter().map(stall).collect::<Vec<_>>());
        assert_eq!((period, ones.len()), (Some(1208.0), 3));
    }

    #[test]
    fn two_stalls_have_no_period() {
        assert_eq!(period_s(&[10.0, 1210.0]), None);
    }
}
