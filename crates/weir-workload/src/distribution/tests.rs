//! Each distribution against its own formula, by the Kolmogorov-Smirnov distance.

use super::*;
use crate::seeded;

const DRAWS: usize = 200_000;
/// Critical Kolmogorov-Smirnov distance at a significance of 10^-6, for [`DRAWS`] draws:
/// sqrt(-ln(10^-6 / 2) / 2) / sqrt(n). The seed is fixed, so that a pass stays a pass.
const DISTANCE_MAX: f64 = 2.69 / 447.2;

/// Largest distance between the keys' empirical distribution and `share_up_to(key / rows)`.
fn distance(distribution: Distribution, rows: u64, share_up_to: impl Fn(u64) -> f64) -> f64 {
    let keys = Keys::new(distribution, rows).unwrap();
    let mut rng = seeded(42, 0);
    let mut counts = vec![0_u32; rows as usize + 1];
    for _ in 0..DRAWS {
        counts[keys.next(&mut rng) as usize] += 1;
    }
    assert_eq!(counts[0], 0, "keys begin at 1");
    let mut seen = 0_u32;
    let mut largest = 0.0_f64;
    for key in 1..=rows {
        seen += counts[key as usize];
        let empirical = f64::from(seen) / DRAWS as f64;
        largest = largest.max((empirical - share_up_to(key)).abs());
    }
    largest
}

/// Distribution of the mean of `n` uniform numbers (Irwin and Hall 1927), for `x` in [0, 1].
fn bell_up_to(n: u32, x: f64) -> f64 {
    let x = x * f64::from(n);
    let mut sum = 0.0;
    let mut binomial = 1.0;
    let mut factorial = 1.0;
    for k in 0..=n {
        if f64::from(k) <= x {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sum += sign * binomial * (x - f64::from(k)).powi(n.cast_signed());
        }
        binomial *= f64::from(n - k) / f64::from(k + 1);
        factorial *= f64::from((k + 1).min(n));
    }
    // The last factor was counted once too often.
    sum / (factorial / f64::from(n))
}

#[test]
fn the_reference_bell_is_a_distribution() {
    assert!((bell_up_to(12, 0.5) - 0.5).abs() < 1e-9);
    assert!((bell_up_to(2, 0.25) - 0.125).abs() < 1e-9);
    assert!((bell_up_to(12, 1.0) - 1.0).abs() < 1e-6);
}

#[test]
fn uniform() {
    let found = distance(Distribution::Uniform, 1_000, |key| key as f64 / 1_000.0);
    assert!(found < DISTANCE_MAX, "{found}");
}

#[test]
fn gaussian() {
    let shape = Distribution::Gaussian { iterations: 12 };
    let found = distance(shape, 1_000, |key| bell_up_to(12, key as f64 / 1_000.0));
    assert!(found < DISTANCE_MAX, "{found}");
}

#[test]
fn special() {
    let rows = 10_000;
    let found = distance(Distribution::default(), rows, |key| {
        // As printed by sysbench: keys 4,975.75 up to 5,051.5, rounded down.
        let hot = ((key as f64 + 1.0 - 4_975.75) / 75.75).clamp(0.0, 1.0);
        0.75 * hot + 0.25 * bell_up_to(12, key as f64 / rows as f64)
    });
    assert!(found < DISTANCE_MAX, "{found}");
}

#[test]
fn pareto_is_self_similar() {
    let shape = Distribution::Pareto { h: 0.2 };
    let power = 0.8_f64.ln() / 0.2_f64.ln();
    let found = distance(shape, 1_000, |key| (key as f64 / 1_000.0).powf(power));
    assert!(found < DISTANCE_MAX, "{found}");
    // The name's promise: 80 % of the keys on 20 % of the rows.
    assert!((0.2_f64.powf(power) - 0.8).abs() < 1e-9);
}

#[test]
fn zipfian_for_exponents_below_at_and_above_one() {
    for exponent in [0.8, 1.0, 1.5] {
        let rows = 1_000;
        let weights: Vec<f64> = (1..=rows).map(|k| (k as f64).powf(-exponent)).collect();
        let total: f64 = weights.iter().sum();
        let shares: Vec<f64> = weights
            .iter()
            .scan(0.0, |sum, weight| {
                *sum += weight / total;
                Some(*sum)
            })
            .collect();
        let shape = Distribution::Zipfian { exponent };
        let found = distance(shape, rows, |key| shares[key as usize - 1]);
        assert!(found < DISTANCE_MAX, "exponent {exponent}: {found}");
    }
}

#[test]
fn every_distribution_stays_within_a_table_of_one_row() {
    let mut rng = seeded(3, 3);
    for shape in [
        Distribution::Uniform,
        Distribution::default(),
        Distribution::Gaussian { iterations: 12 },
        Distribution::Pareto { h: 0.2 },
        Distribution::Zipfian { exponent: 0.8 },
    ] {
        let keys = Keys::new(shape, 1).unwrap();
        assert!((0..1_000).all(|_| keys.next(&mut rng) == 1), "{shape:?}");
    }
}

#[test]
fn impossible_settings_are_refused() {
    for shape in [
        Distribution::Gaussian { iterations: 0 },
        Distribution::Pareto { h: 1.0 },
        Distribution::Zipfian { exponent: 0.0 },
        Distribution::Zipfian { exponent: f64::NAN },
    ] {
        assert!(Keys::new(shape, 10).is_err(), "{shape:?}");
    }
    assert!(Keys::new(Distribution::Uniform, 0).is_err());
    assert!(Keys::new(Distribution::Uniform, 1 << 31).is_err());
}
