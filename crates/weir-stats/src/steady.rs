//! Steady state: whether a series has stopped moving.
//!
//! The rule of the SNIA Solid State Storage Performance Test Specification, on five windows: their
//! range is at most 20 % of their mean, and the fitted line changes by at most 10 % across them.

/// Windows that the rule looks at.
const WINDOWS: usize = 5;
/// Largest (maximum - minimum) / mean of the windows.
const RANGE_MAX: f64 = 0.20;
/// Largest change of the fitted line across the windows / mean.
const SLOPE_MAX: f64 = 0.10;

/// Result of the rule.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// (Maximum - minimum) / mean of the window means.
    pub range: f64,
    /// Change of the fitted line from the first to the last window / mean.
    pub slope: f64,
}

impl SteadyState {
    /// Returns true if both are within bounds.
    pub fn is_steady(&self) -> bool {
        self.range <= RANGE_MAX && self.slope.abs() <= SLOPE_MAX
    }
}

/// Splits `series` into five windows of equal length and applies the rule to their means.
///
/// `None` when there is less than one value per window or the mean is not above zero. Values that
/// do not fill the windows evenly are dropped from the start.
pub fn steady_state(series: &[f64]) -> Option<SteadyState> {
    let length = series.len() / WINDOWS;
    if length == 0 {
        return None;
    }
    let means: Vec<f64> = series[series.len() - length * WINDOWS..]
        .chunks(length)
        .map(|window| window.iter().sum::<f64>() / length as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / WINDOWS as f64;
    if mean <= 0.0 {
        return None;
    }
    let highest = means.iter().copied().fold(f64::MIN, f64::max);
    let lowest = means.iter().copied().fold(f64::MAX, f64::min);
    // Least squares on x = -2..2, whose squares sum to 10.
    let gradient: f64 = means
        .iter()
        .enumerate()
        .map(|(x, y)| (x as f64 - 2.0) * y)
        .sum::<f64>()
        / 10.0;
    let slope = gradient * (WINDOWS - 1) as f64 / mean;
    Some(SteadyState {
        range: (highest - lowest) / mean,
        slope,
    })
}

/// Applies the rule to what a warm-up has come to: the last two thirds of `series`, and no less
/// than `at_least` values of it. `None` while there are fewer.
///
/// The stretch grows with time, so that a slow approach does not count as its end. An exponential one from
/// half of the final value is steady after 3.3 to 3.8 time constants, 2 % or less below its end.
/// One with a time constant above three times `at_least` hardly moves within it and is not seen.
pub fn steady_tail(series: &[f64], at_least: usize) -> Option<SteadyState> {
    let length = (series.len() * 2 / 3).max(at_least);
    let start = series.len().checked_sub(length)?;
    steady_state(&series[start..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_approach_takes_as_long_as_it_is_slow() {
        for (constant_s, at_least) in [(20.0_f64, 10), (200.0, 70)] {
            let value = |second: usize| 100.0 - 50.0 * (-(second as f64) / constant_s).exp();
            let mut series = Vec::new();
            while !steady_tail(&series, at_least).is_some_and(|found| found.is_steady()) {
                series.push(value(series.len()));
            }
            let constants = series.len() as f64 / constant_s;
            assert!((3.2..4.2).contains(&constants), "{constants}");
            assert!(value(series.len()) > 98.0);
        }
    }

    #[test]
    fn a_warm_up_has_a_least_length() {
        assert_eq!(steady_tail(&[100.0; 9], 10), None);
        assert!(steady_tail(&[100.0; 10], 10).unwrap().is_steady());
    }

    #[test]
    fn a_flat_series_is_steady_and_a_ramp_is_not() {
        assert!(steady_state(&[100.0; 20]).unwrap().is_steady());
        let ramp: Vec<f64> = (0..20).map(|x| 100.0 + 2.0 * f64::from(x)).collect();
        let found = steady_state(&ramp).unwrap();
        assert!(!found.is_steady());
        // From 103 to 135 about a mean of 119.
        assert!((found.slope - 32.0 / 119.0).abs() < 1e-9);
    }

    #[test]
    fn a_dip_breaks_the_range() {
        let series = [100.0, 100.0, 70.0, 100.0, 100.0];
        let found = steady_state(&series).unwrap();
        assert!(found.slope.abs() < 1e-9 && !found.is_steady());
    }

    #[test]
    fn too_little_says_nothing() {
        assert_eq!(steady_state(&[1.0; 4]), None);
        assert_eq!(steady_state(&[0.0; 10]), None);
    }
}
