//! The mean of a few repetitions, with its interval.

use crate::moments::{mean, standard_error};
use crate::student::half_width_factor;

/// The 95 % interval of the mean of `values` by Student's t; `None` with fewer than two, or if one is
/// not finite.
///
/// With three repetitions it is more than four standard errors wide to each side: wider than from the
/// lowest to the highest, and rightly so.
pub fn mean_interval(values: &[f64]) -> Option<(f64, f64)> {
    if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let half = half_width_factor((values.len() - 1) as f64) * standard_error(values);
    Some((mean(values) - half, mean(values) + half))
}

#[cfg(test)]
mod tests {
    use super::mean_interval;

    #[test]
    fn three_values_have_the_interval_of_the_tables() {
        // Mean 10, standard deviation 1, t(2) = 4.3027: 10 +- 4.3027 / sqrt(3).
        let (low, high) = mean_interval(&[9.0, 10.0, 11.0]).unwrap();
        assert!((low - 7.5159).abs() < 1e-3 && (high - 12.4841).abs() < 1e-3);
        assert_eq!(mean_interval(&[1.0]), None);
        assert_eq!(mean_interval(&[1.0, f64::NAN]), None);
    }
}
