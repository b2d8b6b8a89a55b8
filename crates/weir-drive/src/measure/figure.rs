//! A figure with its interval and how it was measured.

use weir_stats::mean_interval;

use crate::measure::samples::mean;

/// One figure of a learned profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Key in the profile.
    pub key: &'static str,
    /// Value, in the unit of the key.
    pub value: f64,
    /// 95 % interval over the rounds; `None` with fewer than two.
    pub interval: Option<(f64, f64)>,
    /// Method of measurement.
    pub how: String,
}

impl Figure {
    /// The mean of the rounds' values; `None` without any.
    pub(crate) fn of_rounds(key: &'static str, values: &[f64], how: &str) -> Option<Self> {
        Some(Self {
            key,
            value: mean(values)?,
            interval: mean_interval(values),
            how: how.to_owned(),
        })
    }
}
