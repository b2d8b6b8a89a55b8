//! Shape of a load: number of connections, pace, duration.

use serde::{Deserialize, Serialize};

use super::{ReplayPace, ReplaySpec};
use crate::{Duration, TlsMode};

/// The load of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadSpec {
    /// Connections; each has one request outstanding.
    pub connections: u32,
    /// Load before the measurement.
    pub warmup: Warmup,
    /// Length of the measurement; 0: until the load is stopped or has done its number of transactions.
    pub measure: Duration,
    /// Time at which transactions begin.
    pub pace: Pace,
    /// Round-trip time added to that of the network.
    pub rtt: Duration,
    /// Connections begin one after the other, evenly over this time.
    pub connection_ramp: Duration,
    /// Connections beside those of the load that do nothing but stay.
    pub idle_connections: u32,
    /// Compression of packets.
    pub compression: ProtocolCompression,
    /// Encryption of connections; those to a server that the user gives no less than its URL and option file ask for.
    pub tls: TlsMode,
    /// Load hosts that share the connections; 0: the process that leads the run does it all. Results of earlier
    /// versions have none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub agents: u32,
    /// Only load hosts whose agents have this label, `KEY=VALUE`; empty: any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent_label: String,
    /// Stacks of the server's process are sampled. Results of earlier versions have none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub profile: bool,
    /// A capture whose statements are sent in place of the workload's transactions; the workload's tables stay the
    /// data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplaySpec>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(switch: &bool) -> bool {
    !*switch
}

impl Default for LoadSpec {
    /// sysbench's: one connection, ten seconds.
    fn default() -> Self {
        Self {
            connections: 1,
            warmup: Warmup::Fixed {
                length: Duration::default(),
            },
            measure: Duration::from_secs(10),
            pace: Pace::default(),
            rtt: Duration::default(),
            connection_ramp: Duration::default(),
            idle_connections: 0,
            compression: ProtocolCompression::default(),
            tls: TlsMode::default(),
            agents: 0,
            agent_label: String::new(),
            profile: false,
            replay: None,
        }
    }
}

impl LoadSpec {
    /// Returns true if transactions begin at times of the load's own: by a rate or by those of a capture. A fast
    /// server then leaves connections idle.
    pub fn has_own_times(&self) -> bool {
        let follows_capture = |replay: &ReplaySpec| replay.pace != ReplayPace::Fast;
        self.pace.rate_per_s().is_some() || self.replay.as_ref().is_some_and(follows_capture)
    }

    /// Returns true if a connection asks again as soon as it is answered.
    pub fn asks_at_once(&self) -> bool {
        matches!(self.pace, Pace::Closed(closed) if closed.asks_at_once()) && !self.has_own_times()
    }
}

/// Load before the measurement begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Warmup {
    /// For so long.
    Fixed {
        /// Length of the warm-up.
        length: Duration,
    },
    /// Until throughput is steady.
    UntilSteady {
        /// But no shorter than this.
        at_least: Duration,
        /// And no longer than this.
        at_most: Duration,
    },
}

impl From<std::time::Duration> for Warmup {
    fn from(length: std::time::Duration) -> Self {
        Self::Fixed {
            length: Duration(length),
        }
    }
}

impl Warmup {
    /// The least of it.
    pub fn least(self) -> Duration {
        match self {
            Self::Fixed { length } => length,
            Self::UntilSteady { at_least, .. } => at_least,
        }
    }

    /// The most of it.
    pub fn most(self) -> Duration {
        match self {
            Self::Fixed { length } => length,
            Self::UntilSteady { at_most, .. } => at_most,
        }
    }
}

/// Time at which transactions begin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Pace {
    /// A closed loop: when the last one of the connection is done.
    Closed(ClosedLoop),
    /// An open loop: by a schedule, whether or not those before are done.
    Open(Rate),
}

impl Default for Pace {
    fn default() -> Self {
        Self::Closed(ClosedLoop::default())
    }
}

impl From<Option<Rate>> for Pace {
    /// An open loop at this rate, or a closed one whose users do not think.
    fn from(rate: Option<Rate>) -> Self {
        rate.map_or_else(Self::default, Self::Open)
    }
}

impl From<ThinkTime> for Pace {
    fn from(think: ThinkTime) -> Self {
        Self::Closed(ClosedLoop {
            think,
            ..ClosedLoop::default()
        })
    }
}

impl Pace {
    /// The schedule of an open loop.
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Self::Open(rate) => Some(*rate),
            Self::Closed(_) => None,
        }
    }

    /// Returns the pauses of the connections of a closed loop; those of an open one wait for nothing but their
    /// schedule.
    pub fn closed_loop(&self) -> ClosedLoop {
        match self {
            Self::Closed(closed) => *closed,
            Self::Open(_) => ClosedLoop::default(),
        }
    }

    /// An open loop with random arrivals at so many transactions per second.
    pub fn open(per_s: f64) -> Self {
        Self::Open(Rate {
            per_s,
            arrivals: ArrivalKind::Poisson,
            ramp: None,
        })
    }

    /// Transactions per second of an open loop.
    pub fn rate_per_s(&self) -> Option<f64> {
        match self {
            Self::Open(rate) => Some(rate.per_s),
            Self::Closed(_) => None,
        }
    }
}

/// An open loop: transactions are due by a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rate {
    /// Transactions per second, above 0.
    pub per_s: f64,
    /// Distribution of the times at which they are due.
    pub arrivals: ArrivalKind,
    /// Beginning of the rate; `None`: as it goes on.
    pub ramp: Option<RateRamp>,
}

/// The beginning of a rate that is to change evenly.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateRamp {
    /// Transactions per second when the load begins, 0 or above.
    pub from_per_s: f64,
    /// Time that it takes to the rate itself, warm-up included.
    pub length: Duration,
}

impl RateRamp {
    /// Reads `FROM..TO:TIME`: the ramp, and the rate that it ends at.
    ///
    /// # Errors
    /// If the text has another form.
    pub fn parse(text: &str) -> Result<(Self, f64), String> {
        let read = || {
            let (rates, length) = text.split_once(':')?;
            let (from, to) = rates.split_once("..")?;
            let rate = |text: &str| {
                let rate = text.trim().parse().ok();
                rate.filter(|rate: &f64| *rate >= 0.0 && rate.is_finite())
            };
            let ramp = Self {
                from_per_s: rate(from)?,
                length: length.parse().ok()?,
            };
            Some((ramp, rate(to)?))
        };
        read().ok_or_else(|| {
            "must be like 100..5000:60s: rates per second and the ramp's length".to_owned()
        })
    }
}

/// Distribution of the times at which the transactions of an open loop are due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ArrivalKind {
    /// At random and independently of each other, as those of many users.
    #[default]
    Poisson,
    /// Evenly spaced.
    Constant,
}

/// Time at which a connection of a closed loop begins its next transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosedLoop {
    /// Pause of its user in between.
    pub think: ThinkTime,
    /// From the beginning of the last one on, if that has ended by then; 0: no such time. Of both this and the think
    /// time the later counts. Results of earlier versions have none.
    #[serde(default)]
    pub pacing: Duration,
}

impl ClosedLoop {
    /// Returns true if a connection begins the next as soon as the last is done.
    pub fn asks_at_once(&self) -> bool {
        self.think.mean.0.is_zero() && self.pacing.0.is_zero()
    }
}

/// Pause of a user between two transactions of a closed loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThinkTime {
    /// Mean length; none at all by default.
    pub mean: Duration,
    /// Distribution of the lengths.
    pub kind: ThinkKind,
}

/// Distribution of think times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ThinkKind {
    /// All alike.
    #[default]
    Constant,
    /// Exponentially, as between events that know nothing of each other.
    Exponential,
}

/// Compression of the packets of a connection, by MySQL's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProtocolCompression {
    /// Not at all.
    #[default]
    Uncompressed,
    /// By zlib.
    Zlib,
    /// By zstd, which MySQL knows from 8.0.18 on and MariaDB does not.
    Zstd,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_has_two_rates_and_a_length() {
        let (ramp, to) = RateRamp::parse("100..5000:60s").unwrap();
        assert_eq!((ramp.from_per_s, to), (100.0, 5_000.0));
        assert_eq!(ramp.length, Duration::from_secs(60));
        for wrong in ["100..5000", "100:60s", "a..b:1s", "1..2:3x", "-1..2:1s", ""] {
            assert!(RateRamp::parse(wrong).is_err(), "{wrong}");
        }
    }
}
