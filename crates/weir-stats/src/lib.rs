//! Estimators, intervals and comparisons: pure functions.
//!
//! Statistics are taken across runs, never across the seconds of one run: seconds are
//! autocorrelated, and within-run error is far below run-to-run error (Percona's 2018 sweep:
//! at most 0.7 % within, 4.9 % between; reference data of the published studies).

mod error;
mod paired;
mod steady;
mod summary;

pub use error::StatsError;
pub use paired::{RatioEstimate, paired_log_ratio};
pub use steady::{SteadyState, steady_state};
pub use summary::{geometric_mean, median};
