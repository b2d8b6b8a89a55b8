//! Design of a study: factors, repetitions, searches.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Duration, LatencySummary};

/// Variable of a study: its cells differ in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Factor {
    /// Name in the study file.
    pub name: String,
    /// The settings that it moves: its own name, or several that move together as declared.
    pub settings: Vec<String>,
    /// Levels in the order of the study file; the first is the baseline.
    pub levels: Vec<String>,
    /// Varied inside one run of the server: what one level leaves behind, the next one finds.
    #[serde(default)]
    pub within_server: bool,
}

impl Factor {
    /// Returns true if its levels change more than one thing, so that no single one can be credited.
    pub fn moves_several(&self) -> bool {
        self.settings.len() > 1
    }
}

/// Number and kind of repetitions of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repetition {
    /// Blocks that are run in any case.
    pub runs: u32,
    /// Blocks follow until every effect is known as well as this says.
    pub until: Option<Until>,
    /// Blocks at most, when `until` adds some.
    pub at_most: u32,
    /// No block is begun that would end later than this after the study's start.
    pub budget: Option<Duration>,
    /// The metric of the study's verdicts; `None`: queries per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Levels of factors within one server come in the order in which they are written.
    pub keeps_order_within: bool,
}

/// Precision of an effect at which its repetitions end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// It surely differs from none, by a test that allows for one after each repetition.
    Verdict,
    /// It is surely equal within this share, or surely differs by more; 0.05 is +-5 %.
    Equal(f64),
    /// Half width of the interval at most, relative; 0.05 is +-5 %.
    #[serde(untagged)]
    Within(f64),
}

impl Repetition {
    /// Levels are equal within this share where a study names no other: 5 %.
    pub const EQUAL_MARGIN: f64 = 0.05;

    /// Share within which levels are equal: their ratio surely lies from 1 / (1 + this) to 1 + this.
    pub fn equal_margin(&self) -> f64 {
        match self.until {
            Some(Until::Equal(margin)) => margin,
            Some(Until::Verdict | Until::Within(_)) | None => Self::EQUAL_MARGIN,
        }
    }

    /// Returns true if the study asks whether levels are equal, so that this answer goes before a difference.
    pub fn asks_for_equality(&self) -> bool {
        matches!(self.until, Some(Until::Equal(_)))
    }
}

impl Default for Repetition {
    fn default() -> Self {
        Self {
            runs: 1,
            until: None,
            at_most: 1,
            budget: None,
            metric: None,
            keeps_order_within: false,
        }
    }
}

/// Search in each cell of a design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchPlan {
    /// Goal of the search.
    pub goal: SearchGoal,
    /// The quantity: `rate`, `threads`, or a server variable that holds a size.
    pub factor: String,
    /// Smallest place, at full size.
    pub low: u64,
    /// Largest place.
    pub high: u64,
    /// Relative distance of neighbours at which the search ends.
    pub tolerance: f64,
    /// Runs per place.
    pub runs: u32,
    /// Runs at the answer once it is found.
    pub confirm: u32,
}

/// Goal of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "find", rename_all = "snake_case")]
pub enum SearchGoal {
    /// The highest rate of an open loop that keeps a latency objective.
    Rate {
        /// Objective that has to be met.
        objective: Objective,
    },
    /// The most connections of a closed loop that keep a latency objective.
    Threads {
        /// Objective that has to be met.
        objective: Objective,
    },
    /// The place of the highest throughput.
    Peak,
    /// The smallest places that reach these shares of the throughput at the largest.
    Knee {
        /// Between 0 and 1.
        shares: Vec<f64>,
    },
}

impl SearchGoal {
    /// The latency that must be kept, of searches for the most load that keeps one.
    pub fn objective(&self) -> Option<&Objective> {
        match self {
            Self::Rate { objective } | Self::Threads { objective } => Some(objective),
            Self::Peak | Self::Knee { .. } => None,
        }
    }
}

/// A latency that must be kept: `p99 <= 10ms`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Objective {
    /// Of which latency.
    pub statistic: LatencyStatistic,
    /// Upper limit of the latency.
    pub at_most: Duration,
}

impl Objective {
    /// Returns true if `latency` meets the objective.
    pub fn is_met(&self, latency: &LatencySummary) -> bool {
        self.statistic.value_us(latency) <= self.at_most.as_secs_f64() * 1e6
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <= {}", self.statistic.name(), self.at_most)
    }
}

impl FromStr for Objective {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || "must be a latency and its limit, such as `p99 <= 10ms`".to_owned();
        let (statistic, limit) = text.split_once("<=").ok_or_else(error)?;
        let statistic = LatencyStatistic::ALL
            .into_iter()
            .find(|known| known.name() == statistic.trim())
            .ok_or_else(|| {
                let names = LatencyStatistic::ALL.map(LatencyStatistic::name).join(", ");
                format!("`{}` is no latency; there are {names}", statistic.trim())
            })?;
        let at_most = limit.parse().map_err(|_| error())?;
        Ok(Self { statistic, at_most })
    }
}

/// A statistic of the latency of transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LatencyStatistic {
    /// Mean.
    Mean,
    /// Median.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
    /// Largest.
    Max,
}

impl LatencyStatistic {
    const ALL: [Self; 6] = [
        Self::Mean,
        Self::P50,
        Self::P95,
        Self::P99,
        Self::P999,
        Self::Max,
    ];

    /// Returns the name in a study file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
            Self::Max => "max",
        }
    }

    /// Returns the value of the statistic, microseconds.
    pub fn value_us(self, latency: &LatencySummary) -> f64 {
        match self {
            Self::Mean => latency.us_mean,
            Self::P50 => latency.us_p50,
            Self::P95 => latency.us_p95,
            Self::P99 => latency.us_p99,
            Self::P999 => latency.us_p999,
            Self::Max => latency.us_max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Older results hold the number.
    #[test]
    fn the_end_of_repetitions_is_stored_as_a_number_or_a_word() {
        for (until, stored) in [
            (Until::Within(0.05), "0.05"),
            (Until::Verdict, "\"verdict\""),
            (Until::Equal(0.1), "{\"equal\":0.1}"),
        ] {
            assert_eq!(serde_json::to_string(&until).unwrap(), stored);
            assert_eq!(serde_json::from_str::<Until>(stored).unwrap(), until);
        }
    }

    #[test]
    fn an_objective_is_read_written_and_judged() {
        let objective: Objective = "p99 <= 10 ms".parse().unwrap();
        assert_eq!(objective.to_string(), "p99 <= 10ms");
        let latency = |us_p99| LatencySummary {
            us_p99,
            us_max: 1e6,
            ..LatencySummary::default()
        };
        assert!(objective.is_met(&latency(10_000.0)));
        assert!(!objective.is_met(&latency(10_001.0)));
        for wrong in ["p99 < 10ms", "p98 <= 10ms", "p99 <= ten"] {
            assert!(wrong.parse::<Objective>().is_err(), "{wrong}");
        }
    }
}
