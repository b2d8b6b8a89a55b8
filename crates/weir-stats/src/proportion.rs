//! Upper bound of a proportion, from counts: the exact one-sided bound of Clopper and Pearson.
//! Source: "The use of confidence or fiducial limits illustrated in the case of the binomial",
//! Biometrika 26, 1934. With none counted it is near 3 / n at 95 %: the rule of three.

use statrs::distribution::{Beta, ContinuousCDF};

/// The largest proportion that is compatible with `counted` of `of`, at `confidence` (0 to 1).
///
/// 1 when nothing was tried, or all counted.
///
/// # Panics
/// When `counted` exceeds `of`, or `confidence` is not between 0 and 1.
pub fn proportion_at_most(counted: u64, of: u64, confidence: f64) -> f64 {
    assert!(counted <= of, "{counted} of {of}");
    assert!(confidence > 0.0 && confidence < 1.0, "{confidence}");
    if counted == of {
        return 1.0;
    }
    Beta::new(counted as f64 + 1.0, (of - counted) as f64)
        .expect("invariant: both parameters are at least 1")
        .inverse_cdf(confidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rule_of_three() {
        // 1 - 0.05^(1/n), exactly.
        for n in [1_u64, 10, 300, 1_000] {
            let exact = 1.0 - 0.05_f64.powf(1.0 / n as f64);
            assert!((proportion_at_most(0, n, 0.95) - exact).abs() < 1e-9, "{n}");
        }
        assert!((proportion_at_most(0, 1_000, 0.95) - 0.003).abs() < 1e-4);
    }

    /// The bound is where so few or fewer would be met in one of twenty tests.
    #[test]
    fn the_bound_inverts_the_binomial() {
        let bound = proportion_at_most(2, 40, 0.95);
        let probability = |k: i32, ways: f64| ways * bound.powi(k) * (1.0 - bound).powi(40 - k);
        let at_most_two = probability(0, 1.0) + probability(1, 40.0) + probability(2, 780.0);
        assert!((at_most_two - 0.05).abs() < 1e-6, "{at_most_two}");
    }

    #[test]
    fn ends() {
        assert!((proportion_at_most(0, 0, 0.95) - 1.0).abs() < 1e-12);
        assert!((proportion_at_most(7, 7, 0.95) - 1.0).abs() < 1e-12);
    }
}
