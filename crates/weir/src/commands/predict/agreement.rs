//! How far off the model is where a result has runs: what it may be off by elsewhere.

use serde::Serialize;

/// With fewer places nothing is said of others.
const PLACES_MIN: usize = 3;
/// Standard deviations of the range in which 95 of 100 places lie that are like the measured ones.
const DEVIATIONS: f64 = 2.0;

/// Predicted / measured throughput of the places that a result ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Agreement {
    places: usize,
    /// The lowest and the highest, less 1.
    error_low: f64,
    error_high: f64,
    /// Root mean square of their logarithms: what is too high everywhere counts, too.
    log_deviation: f64,
}

impl Agreement {
    /// Of predicted and measured throughputs, both above 0.
    pub(super) fn of(places: &[(f64, f64)]) -> Option<Self> {
        let ratios = places
            .iter()
            .map(|(predicted, measured)| predicted / measured);
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_normal()).collect();
        if ratios.len() < PLACES_MIN {
            return None;
        }
        let squares: f64 = ratios.iter().map(|ratio| ratio.ln().powi(2)).sum();
        Some(Self {
            places: ratios.len(),
            error_low: ratios.iter().copied().fold(f64::INFINITY, f64::min) - 1.0,
            error_high: ratios.iter().copied().fold(0.0, f64::max) - 1.0,
            log_deviation: (squares / ratios.len() as f64).sqrt(),
        })
    }

    /// Where the throughput of a place lies for which `predicted` is said.
    pub(super) fn range(&self, predicted: f64) -> [f64; 2] {
        let factor = (DEVIATIONS * self.log_deviation).exp();
        [predicted / factor, predicted * factor]
    }

    pub(super) fn line(&self) -> String {
        format!(
            "in the {} places that the result ran, the model is {:+.0} to {:+.0} % off ({:.0} % in the root mean \
             square); `likely` is twice that around a prediction",
            self.places,
            self.error_low * 100.0,
            self.error_high * 100.0,
            self.log_deviation.exp_m1() * 100.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_follows_from_the_errors_that_were_made() {
        assert_eq!(Agreement::of(&[(1.0, 1.0), (2.0, 2.0)]), None);
        let exact = Agreement::of(&[(5.0, 5.0); 3]).unwrap();
        let [low, high] = exact.range(100.0);
        assert!((low - 100.0).abs() < 1e-9 && (high - 100.0).abs() < 1e-9);
        // A tenth too high, a tenth too low, and right.
        let off = Agreement::of(&[(110.0, 100.0), (100.0, 110.0), (7.0, 7.0)]).unwrap();
        assert!((off.error_high - 0.1).abs() < 1e-9);
        assert!((off.error_low + 1.0 - 100.0 / 110.0).abs() < 1e-9);
        let deviation = 1.1_f64.ln() * (2.0_f64 / 3.0).sqrt();
        assert!((off.log_deviation - deviation).abs() < 1e-9);
        let [low, high] = off.range(100.0);
        assert!(
            (low * high - 10_000.0).abs() < 1e-6
                && (high / 100.0 - (2.0 * deviation).exp()).abs() < 1e-9
        );
    }
}
