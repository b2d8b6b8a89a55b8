//! Number of pairs that it takes to show an effect, before anything is measured.
//!
//! A paired t-test shows an effect in four of five studies when it is as large as the half-width of
//! the interval and 0.8 quantiles of its estimate together (Cohen, "Statistical Power Analysis",
//! 1988, chapter 2, with Student's quantiles in place of the normal ones).

use crate::student::{half_width_factor, power_factor};

/// Run-to-run standard deviation of log throughput of an I/O-bound server, where nothing better is
/// known: four A/A pairs of published runs (see the test of [`crate::noise_floor`]).
pub const REFERENCE_LOG_DEVIATION: f64 = 0.049;

/// No study is repeated more often.
const PAIRS_MAX: usize = 1_000;

/// The smallest ratio, above 1, that `pairs` pairs show in four of five studies when one run varies
/// by `log_deviation`; infinite for a single pair.
pub fn detectable_ratio(pairs: usize, log_deviation: f64) -> f64 {
    if pairs < 2 {
        return f64::INFINITY;
    }
    let freedom = pairs as f64 - 1.0;
    let factor = half_width_factor(freedom) + power_factor(freedom);
    (factor * log_deviation * (2.0 / pairs as f64).sqrt()).exp()
}

/// Pairs that it takes to show `ratio`; `None` when it is closer to 1 than any study gets.
pub fn pairs_needed(ratio: f64, log_deviation: f64) -> Option<usize> {
    let effect = ratio.max(1.0 / ratio);
    (2..=PAIRS_MAX).find(|pairs| detectable_ratio(*pairs, log_deviation) <= effect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paired_log_ratio;
    use crate::simulate::Noise;

    #[test]
    fn published_effects_need_few_pairs_and_small_ones_many() {
        assert_eq!(pairs_needed(1.48, REFERENCE_LOG_DEVIATION), Some(3));
        assert_eq!(pairs_needed(1.0 / 1.48, REFERENCE_LOG_DEVIATION), Some(3));
        assert!((10..=16).contains(&pairs_needed(1.06, REFERENCE_LOG_DEVIATION).unwrap()));
        assert_eq!(pairs_needed(1.0, REFERENCE_LOG_DEVIATION), None);
        assert!(detectable_ratio(1, 0.05).is_infinite());
    }

    /// The smallest detectable effect is detected in four of five studies.
    #[test]
    fn four_of_five_studies_show_it() {
        for (pairs, seed) in [(3, 161), (5, 162), (12, 163)] {
            let mut noise = Noise::seeded(seed);
            let ratio = detectable_ratio(pairs, 0.05);
            let mut run = |mean: f64| mean * (0.05 * noise.normal()).exp();
            let trials = 4_000;
            let shown = (0..trials).filter(|_| {
                let pairs: Vec<_> = (0..pairs).map(|_| (run(ratio), run(1.0))).collect();
                paired_log_ratio(&pairs).unwrap().differs_from_one()
            });
            let share = shown.count() as f64 / f64::from(trials);
            println!("power at {pairs} pairs: {share}");
            assert!((0.74..=0.86).contains(&share), "{pairs}: {share}");
        }
    }
}
