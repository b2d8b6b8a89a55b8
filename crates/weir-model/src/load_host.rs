//! Shares of a run by each of several load hosts.

use serde::{Deserialize, Serialize};

/// One load host's part of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadHost {
    /// Name of its agent.
    pub name: String,
    /// Name of the host.
    pub host: String,
    /// Processors of the host.
    pub cores: u32,
    /// Connections of the host.
    pub connections: u32,
    /// Lead of its monotonic clock over that of the host that led the run, seconds.
    pub clock_ahead_s: f64,
    /// At most this much is wrong with that, and with the common start, microseconds.
    pub clock_error_us: f64,
    /// Growth of that lead up to the end of the run, microseconds; `None` where it was not asked again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_moved_us: Option<f64>,
    /// At most this much is wrong with that, microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_moved_error_us: Option<f64>,
    /// Delay of its begin by its own clock, microseconds.
    pub began_late_us: f64,
    /// Transactions that it completed, warm-up included.
    pub transactions: u64,
    /// CPU time of its reactors within the measurement, seconds.
    pub cpu_s: f64,
    /// Longest time between two of its signs of life, seconds; they come every half second.
    pub longest_silence_s: f64,
}
