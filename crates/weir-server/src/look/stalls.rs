//! Stalls: seconds in which a rate falls far below the median around them.
//!
//! A second counts as low if its rate is below half of the median of the minute around it, and lower than noise
//! explains: by several deviations of the logarithms of all seconds (median absolute deviation, so that stalls do not
//! widen it), and of a Poisson process. Low seconds in sequence are one stall. A rate that stays low until the end is no
//! stall: a load may just have ended.

use serde::Serialize;

use super::series::{deviation, median};

/// Rates below this have too few events for a second to say anything, 1/s.
const RATE_MIN: f64 = 40.0;
/// A low second has less than this part of the median.
const LOW: f64 = 0.5;
/// Seconds on each side of the one whose median is asked for.
const AROUND: usize = 30;
/// Fewer seconds have no median worth the name.
const SECONDS_MIN: usize = 8;

/// A stall.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Stall {
    /// Beginning, seconds from the begin of the look.
    pub from_s: f64,
    /// Length, seconds.
    pub seconds: f64,
    /// Lowest rate in it as a part of the median.
    pub lowest: f64,
    /// Intervals of the series.
    #[serde(skip)]
    pub(super) intervals: std::ops::Range<usize>,
}

/// Result of a search for stalls in one rate.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct StallSearch {
    /// Median of the rate, 1/s.
    pub(super) median_per_s: f64,
    pub(super) stalls: Vec<Stall>,
    /// True if the rate is low at the end.
    pub(super) is_low_at_end: bool,
    /// Reason that no stall could be found.
    pub(super) blind: Option<&'static str>,
}

/// Searches a rate for stalls; `starts_s` has the beginning of each interval and the end of the last.
pub(super) fn search(rates: &[f64], starts_s: &[f64]) -> StallSearch {
    let mut found = StallSearch {
        median_per_s: median(rates),
        ..StallSearch::default()
    };
    if rates.len() < SECONDS_MIN {
        found.blind = Some("too few seconds");
        return found;
    }
    if found.median_per_s < RATE_MIN {
        found.blind = Some("too few a second to tell a stall from chance");
        return found;
    }
    let around: Vec<f64> = (0..rates.len())
        .map(|at| {
            let from = at
                .saturating_sub(AROUND)
                .min(rates.len().saturating_sub(2 * AROUND));
            let to = (from + 2 * AROUND + 1).min(rates.len());
            median(&rates[from..to])
        })
        .collect();
    let parts: Vec<f64> = rates
        .iter()
        .zip(&around)
        .map(|(rate, around)| rate / around.max(1e-9))
        .collect();
    let limit = limit(&parts, found.median_per_s);
    let is_low = |at: usize| parts[at] < limit && around[at] >= RATE_MIN;
    let mut at = 0;
    while at < parts.len() {
        if !is_low(at) {
            at += 1;
            continue;
        }
        let from = at;
        while at < parts.len() && is_low(at) {
            at += 1;
        }
        if at == parts.len() {
            found.is_low_at_end = true;
            break;
        }
        found.stalls.push(Stall {
            from_s: starts_s[from],
            seconds: starts_s[at] - starts_s[from],
            lowest: parts[from..at].iter().copied().fold(f64::MAX, f64::min),
            intervals: from..at,
        });
    }
    found
}

/// Part of the median below which a second is low.
fn limit(parts: &[f64], median_per_s: f64) -> f64 {
    let logarithms: Vec<f64> = parts.iter().map(|part| part.max(1e-3).ln()).collect();
    // More where more seconds are looked at.
    let deviations = if parts.len() <= 120 { 5.0 } else { 6.0 };
    let of_chance = 1.0 - deviations / median_per_s.sqrt();
    LOW.min((-deviations * deviation(&logarithms)).exp())
        .min(of_chance)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Normal noise by a seed: 12 uniform numbers, less 6.
    pub(in super::super) struct Noise(u64);

    impl Noise {
        pub(in super::super) fn new(seed: u64) -> Self {
            Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
        }

        pub(in super::super) fn uniform(&mut self) -> f64 {
            // Knuth's MMIX generator; its upper bits are good.
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }

        pub(in super::super) fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
        }
    }

    /// A rate around `level` with noise of `spread`, of which a part stays from second to second.
    pub(in super::super) fn noisy(seed: u64, seconds: usize, level: f64, spread: f64) -> Vec<f64> {
        let mut noise = Noise::new(seed);
        let mut kept = 0.0;
        (0..seconds)
            .map(|_| {
                kept = 0.5 * kept + noise.normal();
                level * (spread * 0.87 * kept).exp()
            })
            .collect()
    }

    fn times(seconds: usize) -> Vec<f64> {
        (0..=seconds).map(|second| second as f64).collect()
    }

    #[test]
    fn noise_alone_is_a_stall_in_at_most_one_look_in_a_hundred() {
        let mut false_looks = 0;
        for seed in 0..1000_u64 {
            let spread = [0.05, 0.1, 0.2, 0.3][(seed % 4) as usize];
            let rates = noisy(seed, 60, 800.0, spread);
            false_looks += u32::from(!search(&rates, &times(60)).stalls.is_empty());
        }
        assert!(false_looks <= 10, "{false_looks} of 1000 looks of a minute");
        let mut false_looks = 0;
        for seed in 0..25_u64 {
            let spread = [0.05, 0.1, 0.2, 0.3][(seed % 4) as usize];
            let rates = noisy(seed + 5000, 3600, 800.0, spread);
            false_looks += u32::from(!search(&rates, &times(3600)).stalls.is_empty());
        }
        assert!(false_looks == 0, "{false_looks} of 25 looks of an hour");
    }

    /// Few events a second, each by chance.
    #[test]
    fn chance_is_no_stall() {
        let mut noise = Noise::new(3);
        let mut false_looks = 0;
        for _ in 0..300 {
            let rates: Vec<f64> = (0..60)
                .map(|_| (0..450).filter(|_| noise.uniform() < 0.1).count() as f64)
                .collect();
            false_looks += u32::from(!search(&rates, &times(60)).stalls.is_empty());
        }
        assert!(false_looks <= 3, "{false_looks} of 300");
    }

    /// A busy machine moves rates by a third from second to second; a stop is still one.
    #[test]
    fn a_stop_is_found_in_much_noise() {
        for seed in 0..100 {
            let mut rates = noisy(seed, 40, 4000.0, 0.35);
            rates[17] = 1.0;
            rates[18] = 0.0;
            let found = search(&rates, &times(40));
            assert_eq!(found.stalls.len(), 1, "seed {seed}");
        }
    }

    #[test]
    fn planted_stalls_are_found_with_their_times() {
        for seed in 0..100 {
            let mut rates = noisy(seed, 60, 800.0, 0.1);
            for second in [20, 21, 22] {
                rates[second] *= 0.1;
            }
            rates[41] = 0.0;
            let found = search(&rates, &times(60));
            let stalls: Vec<_> = found
                .stalls
                .iter()
                .map(|stall| (stall.from_s, stall.seconds))
                .collect();
            assert_eq!(stalls, [(20.0, 3.0), (41.0, 1.0)], "seed {seed}");
            assert!(found.stalls[0].lowest < 0.2 && found.stalls[1].lowest < 1e-9);
        }
    }

    #[test]
    fn a_load_that_changes_its_level_or_ends_has_no_stall() {
        for seed in 0..100 {
            let mut rates = noisy(seed, 300, 800.0, 0.1);
            for rate in &mut rates[100..] {
                *rate *= 0.6;
            }
            assert!(search(&rates, &times(300)).stalls.is_empty(), "seed {seed}");
            for rate in &mut rates[290..] {
                *rate = 0.0;
            }
            let found = search(&rates, &times(300));
            assert!(
                found.stalls.is_empty() && found.is_low_at_end,
                "seed {seed}"
            );
        }
    }

    #[test]
    fn a_quiet_server_and_a_short_look_are_told() {
        assert!(search(&[3.0; 60], &times(60)).blind.is_some());
        assert!(search(&[300.0; 5], &times(5)).blind.is_some());
    }
}
