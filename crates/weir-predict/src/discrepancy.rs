//! Correction of the model's errors by runs in other places.
//!
//! The model is off by about as much in places that are alike: on the same drive, with a pool of a like size. The
//! logarithm of measured / predicted throughput is taken for a Gaussian process over places (Kennedy and O'Hagan,
//! "Bayesian calibration of computer models", 2001): one part that all places share, one for each drive, and for
//! both a part that changes with the pool and the connections. How much of an error is the run's own is chosen such
//! that places which are left out are predicted best from the others; where the model alone does that best, nothing
//! is corrected.

mod matrix;

use self::matrix::{Matrix, inverse};

/// With fewer configurations there is no correction; with more it takes too long.
const PLACES: std::ops::RangeInclusive<usize> = 3..=300;
/// Variances of a run's own error, in those of the four parts of what places share.
const NOISES: [f64; 4] = [0.1, 1.0, 4.0, 16.0];
/// Differences of the logarithms of pools and of connections at which places are hardly alike any more.
const POOL_SCALE: f64 = 0.7;
const CONNECTIONS_SCALE: f64 = 1.4;

/// Measurement in one place.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Name of the drive.
    pub drive: String,
    /// Pages of the data that the pool can hold, at most all.
    pub pages: f64,
    /// Connections.
    pub connections: u32,
    /// Measured / predicted throughput, above 0.
    pub ratio: f64,
}

/// Place in which something was run or is asked about.
#[derive(Debug, Clone, PartialEq)]
struct Point {
    drive: String,
    pages_ln: f64,
    connections_ln: f64,
}

/// Model of the errors, from runs. The default says nothing.
#[derive(Debug, Clone, Default)]
pub struct Discrepancy {
    places: Vec<Point>,
    /// Weight of each place in the logarithm of a correction of a place that is wholly alike.
    weights: Vec<f64>,
    /// Logarithms of measured / corrected of each place, had it been left out.
    left_out: Vec<f64>,
}

impl Discrepancy {
    /// From what was measured in places, each of which stands here once.
    pub fn fit(observed: &[Observation]) -> Self {
        let errors: Vec<f64> = observed.iter().map(|place| place.ratio.ln()).collect();
        let place = |run: &Observation| Point::new(&run.drive, run.pages, run.connections);
        let alone = Self {
            places: observed.iter().map(place).collect(),
            weights: vec![0.0; errors.len()],
            left_out: errors.clone(),
        };
        if !PLACES.contains(&alone.places.len()) {
            return alone;
        }
        let corrected = NOISES
            .iter()
            .filter_map(|noise| alone.corrected(&errors, *noise));
        let candidates = std::iter::once(alone.clone()).chain(corrected);
        let worse = |a: &Self, b: &Self| a.error().total_cmp(&b.error());
        candidates.min_by(worse).unwrap_or(alone)
    }

    /// The same places with corrections; `None` where rounding leaves no answer.
    fn corrected(&self, errors: &[f64], noise: f64) -> Option<Self> {
        let places = &self.places;
        let covariance = Matrix::from_fn(places.len(), |row, column| {
            likeness(&places[row], &places[column]) + if row == column { noise } else { 0.0 }
        });
        let inverse = inverse(&covariance)?;
        let weights = inverse.times(errors);
        // Rasmussen and Williams, "Gaussian Processes for Machine Learning", 2006, equation 5.12.
        let left_out = weights
            .iter()
            .enumerate()
            .map(|(at, weight)| weight / inverse.at(at, at));
        Some(Self {
            places: places.clone(),
            left_out: left_out.collect(),
            weights,
        })
    }

    /// By what a prediction is to be multiplied: of a pool that can hold `pages` of the data's, at most all, on the
    /// drive of this name.
    pub fn factor(&self, drive: &str, pages: f64, connections: u32) -> f64 {
        if !self.corrects() {
            return 1.0;
        }
        let place = Point::new(drive, pages, connections);
        let known = self.places.iter().zip(&self.weights);
        let logarithm: f64 = known
            .map(|(known, weight)| weight * likeness(known, &place))
            .sum();
        logarithm.exp()
    }

    /// Returns true if anything is corrected.
    fn corrects(&self) -> bool {
        self.weights.iter().any(|weight| *weight != 0.0)
    }

    /// Measured / corrected of each place, in their order, had nothing been known of it.
    pub fn left_out(&self) -> impl ExactSizeIterator<Item = f64> {
        self.left_out.iter().map(|logarithm| logarithm.exp())
    }

    /// Sum of what places that are left out are off by, logarithms: squares would let one that is far off decide.
    fn error(&self) -> f64 {
        self.left_out.iter().map(|error| error.abs()).sum()
    }
}

impl Point {
    fn new(drive: &str, pages: f64, connections: u32) -> Self {
        Self {
            drive: drive.to_owned(),
            pages_ln: pages.max(1.0).ln(),
            connections_ln: f64::from(connections.max(1)).ln(),
        }
    }
}

/// Returns the likeness of the model's errors in two places: their covariance, in that of one of its four parts.
fn likeness(a: &Point, b: &Point) -> f64 {
    let pools = (a.pages_ln - b.pages_ln) / POOL_SCALE;
    let connections = (a.connections_ln - b.connections_ln) / CONNECTIONS_SCALE;
    let near = (-0.5 * (pools.powi(2) + connections.powi(2))).exp();
    let drives = if a.drive == b.drive { 2.0 } else { 1.0 };
    drives * (1.0 + near)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONNECTIONS: u32 = 16;

    /// Of drives, pages and ratios.
    fn fit(observed: &[(&str, f64, f64)]) -> Discrepancy {
        let observed = observed.iter().map(|(drive, pages, ratio)| Observation {
            drive: (*drive).to_owned(),
            pages: *pages,
            connections: CONNECTIONS,
            ratio: *ratio,
        });
        Discrepancy::fit(&observed.collect::<Vec<_>>())
    }

    #[test]
    fn two_places_say_nothing() {
        let two = fit(&[("a", 100.0, 0.5), ("a", 200.0, 0.5)]);
        assert!(!two.corrects());
        assert!((two.factor("a", 100.0, CONNECTIONS) - 1.0).abs() < 1e-12);
        assert!(two.left_out().all(|ratio| (ratio - 0.5).abs() < 1e-12));
    }

    #[test]
    fn what_is_off_by_the_same_everywhere_is_corrected_everywhere() {
        let pools = [100.0, 200.0, 400.0, 800.0];
        let all = fit(&pools.map(|pages| ("a", pages, 0.8)));
        for (drive, pages, within) in [
            ("a", 300.0, 0.01),
            ("a", 10_000.0, 0.07),
            ("b", 300.0, 0.12),
        ] {
            let factor = all.factor(drive, pages, CONNECTIONS);
            assert!((factor - 0.8).abs() < within, "{drive} {pages}: {factor}");
        }
        assert!(all.left_out().all(|ratio| (ratio - 1.0).abs() < 0.08));
    }

    #[test]
    fn a_drives_own_error_stays_with_it() {
        let observed = [100.0, 200.0, 400.0]
            .map(|pages| [("a", pages, 0.7), ("b", pages, 1.0), ("c", pages, 1.0)]);
        let found = fit(&observed.concat());
        assert!((found.factor("a", 150.0, CONNECTIONS) - 0.7).abs() < 0.04);
        assert!((found.factor("b", 150.0, CONNECTIONS) - 1.0).abs() < 0.04);
    }

    #[test]
    fn errors_without_a_pattern_correct_nothing_much() {
        // A fifth too high or too low by turns.
        let ratios = (0..40).map(|at| if at % 2 == 0 { 0.8 } else { 1.25 });
        let observed = ratios.enumerate().map(|(at, ratio)| {
            let drive = ["a", "b", "c", "d"][at / 10];
            (drive, 100.0 + 20.0 * (at % 10) as f64, ratio)
        });
        let found = fit(&observed.collect::<Vec<_>>());
        let factor = found.factor("a", 130.0, CONNECTIONS);
        assert!((factor - 1.0).abs() < 0.05, "{factor}");
    }

    #[test]
    fn one_run_that_went_wrong_moves_the_others_little() {
        let mut observed: Vec<_> = (0..12)
            .map(|at| ("a", 100.0 * 1.2_f64.powi(at), 0.9))
            .collect();
        observed[5].2 = 4.0;
        let found = fit(&observed);
        let factor = found.factor("a", 700.0, CONNECTIONS);
        assert!((0.8..1.25).contains(&factor), "{factor}");
    }
}
