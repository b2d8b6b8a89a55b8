//! Student's t: the 95 % quantile and the two-sided p-value ("The probable error of a mean",
//! Biometrika 6, 1908).

use statrs::distribution::{ContinuousCDF, StudentsT};

/// Confidence of every interval of this crate.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Returns the number of standard errors that the half-width of the interval spans.
pub(crate) fn half_width_factor(degrees_of_freedom: f64) -> f64 {
    width_factor(degrees_of_freedom, CONFIDENCE)
}

/// The same for an interval of another confidence.
pub(crate) fn width_factor(degrees_of_freedom: f64, confidence: f64) -> f64 {
    distribution(degrees_of_freedom).inverse_cdf(f64::midpoint(1.0, confidence))
}

/// Returns the number of standard errors more that an effect needs to leave the interval in four of
/// five studies.
pub(crate) fn power_factor(degrees_of_freedom: f64) -> f64 {
    distribution(degrees_of_freedom).inverse_cdf(0.8)
}

/// Probability of a statistic at least this far from 0 when the truth is 0.
pub(crate) fn p_value(statistic: f64, degrees_of_freedom: f64) -> f64 {
    if statistic.is_infinite() {
        return 0.0;
    }
    (2.0 * distribution(degrees_of_freedom).cdf(-statistic.abs())).min(1.0)
}

/// Probability of a statistic above this one when the truth is 0.
pub(crate) fn tail_probability(statistic: f64, degrees_of_freedom: f64) -> f64 {
    distribution(degrees_of_freedom).cdf(-statistic)
}

fn distribution(degrees_of_freedom: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("invariant: degrees of freedom above 0")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Any table of Student's t.
    #[test]
    fn the_table_holds() {
        for (freedom, quantile) in [(1.0, 12.706_2), (2.0, 4.302_7), (10.0, 2.228_1)] {
            assert!((half_width_factor(freedom) - quantile).abs() < 1e-4);
            assert!((p_value(quantile, freedom) - 0.05).abs() < 1e-5);
            assert!((p_value(-quantile, freedom) - 0.05).abs() < 1e-5);
        }
        assert!((p_value(0.0, 3.0) - 1.0).abs() < 1e-12);
        assert!(p_value(f64::INFINITY, 3.0) < 1e-12);
    }
}
