//! Timing of a drive: reads, writes, flushes.

use serde::{Deserialize, Serialize};

use crate::Bytes;

/// Read timing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ReadTiming {
    /// Latency of a 4 KiB read at queue depth 1, microseconds.
    pub latency_us: f64,
    /// Random 4 KiB reads per second at full queue depth.
    pub iops_max: f64,
    /// Sequential bandwidth, 10^6 bytes per second.
    pub bandwidth_mb_per_s: f64,
    /// Percentiles of the latency at queue depth 1: pairs of percent and microseconds, ascending.
    /// Their mean stays `latency_us`. Without any, each read takes exactly that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_us: Vec<(f64, f64)>,
}

/// Write timing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct WriteTiming {
    /// Latency of a 4 KiB write at queue depth 1, acknowledged by the write buffer, microseconds.
    pub latency_us: f64,
    /// Writes per second that the controller can take, whatever their size.
    pub iops_max: f64,
    /// Random writes per second that the media can take, whatever their size, where something else
    /// than garbage collection limits them (an early controller). Without it: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_max_random: Option<f64>,
    /// Sequential bandwidth of the media, 10^6 bytes per second.
    pub bandwidth_mb_per_s: f64,
    /// Percentiles of the latency at queue depth 1, as of reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_us: Vec<(f64, f64)>,
    /// Bytes that the write buffer takes before writes wait for the media.
    pub buffer: Bytes,
    /// Media bytes per host byte of random writes in steady state at full fill: garbage
    /// collection. Sequential writes have 1. Left out where `flash` says more.
    #[serde(default = "no_amplification")]
    pub amplification_random: f64,
    /// Behavior of the write buffer in a power cut.
    pub cache: WriteCache,
}

fn no_amplification() -> f64 {
    1.0
}

/// Behavior of a write buffer in a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// Capacitors or a battery: what was acknowledged survives.
    PowerProtected,
    /// Lost unless it was flushed.
    Volatile,
}

/// Flush timing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FlushTiming {
    /// Latency of a flush with an idle buffer, microseconds.
    pub latency_us: f64,
    /// Percentiles of it, as of reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_us: Vec<(f64, f64)>,
    /// The drive says that it has flushed its volatile cache, and has not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
}
