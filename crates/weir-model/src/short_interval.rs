//! The load around an event, in tenths of a second, and the connections that it lost.

use serde::{Deserialize, Serialize};

/// Throughput and latency of a tenth of a second.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShortInterval {
    /// End of the interval, seconds since the measurement began.
    pub time_s: f64,
    /// Transactions completed.
    pub transactions: u64,
    /// Statements completed.
    pub statements: u64,
    /// Longest time without a completed statement that ends in it or goes on at its end, from where that time began,
    /// seconds.
    pub pause_s: f64,
    /// 99th percentile of the transactions' latencies, microseconds; 0 with none.
    pub latency_us_p99: f64,
}

impl ShortInterval {
    /// Length of an interval, seconds.
    pub const LENGTH_S: f64 = 0.1;
}

/// Connections that a load lost within its measurement.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConnectionLosses {
    /// Connections that were made again.
    pub reconnects: u64,
    /// Periods in which connections were lost, until the last was back or the measurement was over.
    pub outages: Vec<Outage>,
}

impl ConnectionLosses {
    /// Returns true if none was lost.
    pub fn are_none(&self) -> bool {
        self.reconnects == 0 && self.outages.is_empty()
    }
}

/// A time from the first connection lost to the last one back, or to the end of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outage {
    /// Seconds since the measurement began; below 0 within the warm-up.
    pub from_s: f64,
    /// Length of the outage, seconds.
    pub length_s: f64,
}
