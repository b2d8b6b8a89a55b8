//! Latency of transactions.

use serde::{Deserialize, Serialize};

/// Latency of transactions over a whole measurement, microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencySummary {
    /// Smallest.
    pub us_min: f64,
    /// Mean.
    pub us_mean: f64,
    /// Median.
    pub us_p50: f64,
    /// 95th percentile.
    pub us_p95: f64,
    /// 99th percentile.
    pub us_p99: f64,
    /// 99.9th percentile.
    pub us_p999: f64,
    /// Largest.
    pub us_max: f64,
}
