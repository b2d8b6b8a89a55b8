//! Mean and variance of plain numbers; logarithms that refuse what has none.

use crate::StatsError;

/// Arithmetic mean.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sum of the squared distances from the mean.
pub(crate) fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// Standard error of the mean of independent values; needs two.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    (squares(values) / (count - 1.0) / count).sqrt()
}

/// Natural logarithms.
pub(crate) fn logs(values: &[f64]) -> Result<Vec<f64>, StatsError> {
    values
        .iter()
        .map(|&value| {
            if value > 0.0 && value.is_finite() {
                Ok(value.ln())
            } else {
                Err(StatsError::NoLogarithm { value })
            }
        })
        .collect()
}

/// An error unless there are at least `needed` of `what`.
pub(crate) fn at_least(needed: usize, what: &'static str, count: usize) -> Result<(), StatsError> {
    if count < needed {
        return Err(StatsError::TooFew {
            what,
            count,
            needed,
        });
    }
    Ok(())
}
