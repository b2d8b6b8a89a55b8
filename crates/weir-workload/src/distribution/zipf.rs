//! Zipf-distributed numbers by rejection-inversion (Hormann and Derflinger 1996, "Rejection-
//! inversion to generate variates from monotone discrete distributions"): constant time and no
//! table, whatever the number of rows.

use crate::Rng;

/// Numbers `1..=n` with probabilities in proportion to `x^-exponent`.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    n: f64,
    exponent: f64,
    /// Integral of the density from 1.5 minus 1: the lower end of the inversion.
    low: f64,
    /// Integral up to n + 0.5: the upper end.
    high: f64,
    /// Below this distance a candidate is accepted without evaluating the density.
    squeeze: f64,
}

impl Zipf {
    pub(super) fn new(n: u64, exponent: f64) -> Self {
        let n = n as f64;
        Self {
            n,
            exponent,
            low: integral(1.5, exponent) - 1.0,
            high: integral(n + 0.5, exponent),
            squeeze: 2.0 - inverse(integral(2.5, exponent) - density(2.0, exponent), exponent),
        }
    }

    pub(super) fn next(&self, rng: &mut Rng) -> u64 {
        loop {
            let u = self.high + rng.unit() * (self.low - self.high);
            let x = inverse(u, self.exponent);
            let k = x.round().clamp(1.0, self.n);
            if k - x <= self.squeeze
                || u >= integral(k + 0.5, self.exponent) - density(k, self.exponent)
            {
                return k as u64;
            }
        }
    }
}

fn density(x: f64, exponent: f64) -> f64 {
    x.powf(-exponent)
}

/// Antiderivative of the density, 0 at x = 1.
fn integral(x: f64, exponent: f64) -> f64 {
    let log = x.ln();
    let t = (1.0 - exponent) * log;
    // expm1(t) / t tends to 1 as the exponent tends to 1.
    if t.abs() < 1e-12 {
        log
    } else {
        t.exp_m1() / t * log
    }
}

/// Inverse of [`integral`].
fn inverse(y: f64, exponent: f64) -> f64 {
    // Rounding must not push the logarithm's argument below zero.
    let t = (y * (1.0 - exponent)).max(-1.0);
    if t.abs() < 1e-12 {
        y.exp()
    } else {
        (t.ln_1p() / t * y).exp()
    }
}
