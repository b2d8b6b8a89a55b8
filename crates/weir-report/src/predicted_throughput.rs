//! Predictions for the page, beside what was measured.

use serde::Serialize;

/// Throughput against the buffer pool on several drives, for one number of connections.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PredictedThroughput {
    /// Title of the figure: `16 connections`.
    pub title: String,
    /// A line for each drive.
    pub drives: Vec<PredictedDrive>,
    /// Notes for a reader, a sentence each.
    pub notes: Vec<String>,
}

/// A drive with pools, ascending.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PredictedDrive {
    /// The profile's name.
    pub drive: String,
    /// Points of the drive, by pool.
    pub points: Vec<PredictedPoint>,
}

/// A pool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PredictedPoint {
    /// Size of the pool.
    pub pool_bytes: u64,
    /// Transactions per second.
    pub transactions_per_s: f64,
    /// Between which they are likely.
    pub likely: Option<[f64; 2]>,
    /// Throughput of the result's own runs of this place.
    pub measured_transactions_per_s: Option<f64>,
    /// 99th percentile of their time.
    pub latency_ms_p99: Option<f64>,
    /// Share of page references that miss.
    pub miss_ratio: f64,
    /// Bottleneck.
    pub limit: String,
}
