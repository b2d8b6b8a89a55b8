//! Error of the model where a result has runs: an estimate of its error elsewhere.

use crate::{Discrepancy, Observation, Prediction};
use serde::Serialize;

use crate::from_result::measured_runs::PointMeasurement;

/// With fewer configurations others are not judged.
const PLACES_MIN: usize = 3;
/// Standard deviations of the range in which 95 of 100 places lie that are like the measured ones.
const DEVIATIONS: f64 = 2.0;

/// Prediction and measurement of a place that a result ran.
pub(crate) struct PointComparison {
    pub(crate) drive: String,
    /// Of the data, that the pool can hold.
    pub(crate) pages: f64,
    pub(crate) predicted: Prediction,
    pub(crate) measured: PointMeasurement,
}

impl PointComparison {
    /// Predicted / measured throughput.
    pub(crate) fn ratio(&self) -> f64 {
        self.predicted.transactions_per_s / self.measured.transactions_per_s
    }

    pub(crate) fn observed(&self) -> Observation {
        Observation {
            drive: self.drive.clone(),
            pages: self.pages,
            connections: self.predicted.connections,
            ratio: 1.0 / self.ratio(),
        }
    }
}

/// Predicted / measured throughput of the places that a result ran.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Agreement {
    places: usize,
    /// The lowest and the highest, less 1.
    error_low: f64,
    error_high: f64,
    /// Root mean square of their logarithms: what is too high everywhere counts, too.
    log_deviation: f64,
    /// The same of predictions that are corrected by what all other places say.
    corrected_log_deviation: f64,
    /// By how much the share of misses is off at most; `None` where the server did not tell.
    miss_ratio_off_max: Option<f64>,
}

impl Agreement {
    /// Of these places, which `discrepancy` knows; `None` with too few.
    pub(crate) fn estimate(places: &[PointComparison], discrepancy: &Discrepancy) -> Option<Self> {
        let misses_off = places.iter().filter_map(|place| {
            Some((place.predicted.miss_ratio - place.measured.miss_ratio?).abs())
        });
        let ratios: Vec<f64> = places.iter().map(PointComparison::ratio).collect();
        if ratios.len() < PLACES_MIN {
            return None;
        }
        Some(Self {
            places: ratios.len(),
            error_low: ratios.iter().copied().fold(f64::INFINITY, f64::min) - 1.0,
            error_high: ratios.iter().copied().fold(0.0, f64::max) - 1.0,
            log_deviation: log_deviation(ratios.iter().copied()),
            corrected_log_deviation: log_deviation(discrepancy.left_out()),
            miss_ratio_off_max: misses_off.reduce(f64::max),
        })
    }

    /// The same of predictions that nothing corrects.
    pub(crate) fn uncorrected(self) -> Self {
        Self {
            corrected_log_deviation: self.log_deviation,
            ..self
        }
    }

    /// The range of the throughput of a configuration with this prediction.
    pub(crate) fn range(&self, predicted: f64) -> [f64; 2] {
        let factor = (DEVIATIONS * self.corrected_log_deviation).exp();
        [predicted / factor, predicted * factor]
    }

    pub(crate) fn line(&self) -> String {
        let misses = self.miss_ratio_off_max.map_or_else(String::new, |off| {
            format!("; misses are {off:.3} of the references off at most")
        });
        let percent = |deviation: f64| deviation.exp_m1() * 100.0;
        let corrected = if self.corrected_log_deviation < self.log_deviation {
            format!(
                "; predictions are corrected by that, which leaves {:.0} % in a configuration that is predicted from \
                 the others only",
                percent(self.corrected_log_deviation)
            )
        } else {
            String::new()
        };
        format!(
            "in the {} configurations that the result ran, the model is {:+.0} to {:+.0} % off ({:.0} % in the root mean \
             square){corrected}; `likely` is twice that around a prediction{misses}",
            self.places,
            self.error_low * 100.0,
            self.error_high * 100.0,
            percent(self.log_deviation)
        )
    }
}

/// Root mean square of the logarithms of `ratios`.
fn log_deviation(ratios: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = ratios.len().max(1) as f64;
    let squares: f64 = ratios.map(|ratio| ratio.ln().powi(2)).sum();
    (squares / count).sqrt()
}

#[cfg(test)]
mod tests {
    use crate::{ListState, Resource};

    use super::*;

    /// Places with these predicted and measured transactions per second, and a miss ratio that is off by 0.02.
    fn agreement(per_s: &[(f64, f64)]) -> Option<Agreement> {
        let place = |&(predicted, measured): &(f64, f64)| PointComparison {
            drive: "intel-p4610".to_owned(),
            pages: 8_000.0,
            predicted: Prediction {
                connections: 16,
                transactions_per_s: predicted,
                response_s: 16.0 / predicted,
                miss_ratio: 0.3,
                reads: 3.0,
                page_writes: 0.0,
                cleaned: 0.0,
                limit: Resource::Drive,
                list: ListState::Promoting,
                corrected_by: 1.0,
            },
            measured: PointMeasurement {
                transactions_per_s: measured,
                miss_ratio: Some(0.32),
            },
        };
        let places: Vec<_> = per_s.iter().map(place).collect();
        let observed: Vec<_> = places.iter().map(PointComparison::observed).collect();
        Agreement::estimate(&places, &Discrepancy::fit(&observed)).map(Agreement::uncorrected)
    }

    #[test]
    fn the_range_follows_from_the_errors_that_were_made() {
        assert_eq!(agreement(&[(1.0, 1.0), (2.0, 2.0)]), None);
        let exact = agreement(&[(5.0, 5.0); 3]).unwrap();
        let [low, high] = exact.range(100.0);
        assert!((low - 100.0).abs() < 1e-9 && (high - 100.0).abs() < 1e-9);
        assert!((exact.miss_ratio_off_max.unwrap() - 0.02).abs() < 1e-9);
        // A tenth too high, a tenth too low, and right.
        let off = agreement(&[(110.0, 100.0), (100.0, 110.0), (7.0, 7.0)]).unwrap();
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
