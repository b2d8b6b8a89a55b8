//! Seeded random numbers and coverage for the tests of this crate.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub(crate) struct Noise(Xoshiro256PlusPlus);

impl Noise {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// Uniform on (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0.random::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Standard normal (Box and Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Exponential less its mean of 1: as skewed as run-to-run noise is likely to get.
    pub(crate) fn skewed(&mut self) -> f64 {
        -self.uniform().ln() - 1.0
    }

    /// A stationary series of `count` values, each correlated with the one before.
    pub(crate) fn autoregressive(&mut self, count: usize, correlation: f64) -> Vec<f64> {
        let mut series = Vec::new();
        self.extend(&mut series, count, correlation);
        series
    }

    /// Continues such a series up to `count` values.
    pub(crate) fn extend(&mut self, series: &mut Vec<f64>, count: usize, correlation: f64) {
        let innovation = (1.0 - correlation * correlation).sqrt();
        let mut value = series.last().copied().unwrap_or_else(|| self.normal());
        while series.len() < count {
            value = correlation * value + innovation * self.normal();
            series.push(value);
        }
    }
}

/// Share of `trials` whose interval holds the truth.
pub(crate) fn coverage(trials: usize, truth: f64, mut interval: impl FnMut() -> (f64, f64)) -> f64 {
    let covered = (0..trials)
        .filter(|_| {
            let (low, high) = interval();
            low <= truth && truth <= high
        })
        .count();
    covered as f64 / trials as f64
}

/// Fails unless a 95 % interval covers 93 to 97 %.
pub(crate) fn assert_covers(coverage: f64, what: &str) {
    println!("coverage of {what}: {:.1} %", coverage * 100.0);
    assert!((0.93..=0.97).contains(&coverage), "{what}: {coverage}");
}
