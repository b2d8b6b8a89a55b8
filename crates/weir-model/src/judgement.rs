//! Judgement of two levels: a ratio with its interval, a verdict, and the findings of rules.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{CostPerQuery, ReplayComparison, RuleId};

/// Verdict of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The interval excludes 1: the levels differ.
    Effect,
    /// Both levels are surely equal within a margin.
    Equal,
    /// The interval contains 1: no difference was shown.
    Inconclusive,
    /// A rule forbids the comparison.
    Invalid,
}

/// Effect of a finding on the verdict that it stands beside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Nothing: it is good to know.
    Note,
    /// Nothing by itself: it could change the answer.
    Warning,
    /// An effect is not larger than chance: the verdict is inconclusive.
    Inconclusive,
    /// The verdict is invalid.
    Error,
}

/// Rank of findings: the verdicts that they could change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Rank {
    /// Nothing.
    GoodToKnow,
    /// The answer, if what they say is more than it seems.
    CouldChange,
    /// They took an answer away.
    Refused,
}

impl Severity {
    /// The rank of findings of this severity. Which severities a rule has stands in the table of rules.
    pub fn rank(self) -> Rank {
        match self {
            Self::Note => Rank::GoodToKnow,
            Self::Warning | Self::Inconclusive => Rank::CouldChange,
            Self::Error => Rank::Refused,
        }
    }
}

/// A rule's finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
pub struct Finding {
    /// The rule that says so.
    pub rule: RuleId,
    /// Effect on the verdict.
    pub severity: Severity,
    /// Problem and remedy, in one line.
    pub message: String,
}

/// Method that made an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Student's t on the log ratios of pairs.
    PairedT,
    /// Student's t on the log ratios of pairs whose number the verdict has chosen, widened for that.
    PairedTAtVerdict,
    /// The bootstrap-t on the log ratios of pairs: holds for skewed noise, needs eight.
    PairedBootstrap,
    /// Welch's interval on logarithms: runs that are not pairs.
    Welch,
    /// Welch's interval on the seconds of single runs, their number corrected for autocorrelation.
    /// It knows nothing of the difference between runs.
    WelchWithinRuns,
}

/// A ratio with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ratio {
    /// Level / baseline.
    pub ratio: f64,
    /// Lower end of the 95 % interval; `None` with too few runs.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Ratio {
    /// Both ends of the interval.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.low.zip(self.high)
    }

    /// Returns true if the interval excludes 1.
    pub fn differs_from_one(&self) -> bool {
        self.interval()
            .is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }
}

/// An interval that makes other assumptions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SecondOpinion {
    /// Method of its interval.
    pub method: Method,
    /// Ratio by that method.
    pub ratio: Ratio,
    /// True if it comes to another verdict than the first.
    pub disagrees: bool,
}

/// A ratio in another metric than the comparison's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricRatio {
    /// The metric: `latency_us_p99`.
    pub metric: String,
    /// Level / baseline.
    pub ratio: Ratio,
}

/// A cost of a query at two levels, with a verdict of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostRatio {
    /// The cost: `server_cpu_us_per_query`.
    pub metric: String,
    /// Geometric mean of the baseline's runs, in the cost's unit.
    pub baseline: f64,
    /// Geometric mean of the level's runs.
    pub level: f64,
    /// Level / baseline.
    pub ratio: Ratio,
    /// Probability of a ratio at least this far from 1 if the levels were alike.
    pub p_value: Option<f64>,
    /// The same, corrected for this cost in all comparisons of the study (Benjamini and Hochberg).
    pub p_value_adjusted: Option<f64>,
    /// Effect: the interval excludes 1, also among all comparisons. Invalid with the comparison.
    pub verdict: Verdict,
}

/// Returns true if less of `metric` is better: latencies, lengths of events, costs of a query.
pub fn less_is_better(metric: &str) -> bool {
    metric.starts_with("latency_") || metric == "event_s" || CostPerQuery::find(metric).is_some()
}

/// Two levels of one factor, all other factors equal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The factor.
    pub factor: String,
    /// The level in the denominator.
    pub baseline: String,
    /// The level in the numerator.
    pub level: String,
    /// Levels of the other factors.
    pub context: BTreeMap<String, String>,
    /// Compared metric: `queries_per_s`.
    pub metric: String,
    /// Cell of the baseline.
    pub baseline_cell: usize,
    /// Cell of the level.
    pub level_cell: usize,
    /// Geometric mean of level / baseline over paired repetitions.
    pub ratio: f64,
    /// Lower end of the 95 % interval; `None` with fewer than two pairs.
    pub ratio_low: Option<f64>,
    /// Upper end of the 95 % interval.
    pub ratio_high: Option<f64>,
    /// Pairs of repetitions; without pairing, repetitions of the level that has fewer.
    pub pairs: usize,
    /// Method of the interval.
    pub method: Method,
    /// Probability of a ratio at least this far from 1 if the levels were alike; `None` with fewer
    /// than two pairs.
    pub p_value: Option<f64>,
    /// The same, corrected for all comparisons of the study (Benjamini and Hochberg).
    pub p_value_adjusted: Option<f64>,
    /// The interval by another method with other assumptions.
    pub second_opinion: Option<SecondOpinion>,
    /// The same levels in other metrics: latency percentiles.
    pub others: Vec<MetricRatio>,
    /// The same levels in the costs of a query that were sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub costs: Vec<CostRatio>,
    /// Of two arms of a replay: the same levels by kind of statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<ReplayComparison>,
    /// True if the study declares that this factor cannot have an effect here.
    pub negative_control: bool,
    /// The test for equality; `None` with fewer than two pairs, or three runs of each level without pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equality: Option<EqualityTest>,
    /// Verdict of the comparison.
    pub verdict: Verdict,
    /// Reasons that it is invalid, and notes on it.
    pub findings: Vec<Finding>,
}

/// Two one-sided tests that two levels are equal within a margin.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EqualityTest {
    /// The levels are equal if their ratio lies from 1 / (1 + this) to 1 + this; 0.05 is 5 %.
    pub margin: f64,
    /// Probability of a ratio this close to 1 if the true one were outside of that.
    pub p_value: f64,
    /// The same, corrected for all comparisons of the study (Benjamini and Hochberg).
    pub p_value_adjusted: Option<f64>,
    /// Repetitions that would show equal levels to be equal in 8 of 10 studies, if pairs go on to vary as they do.
    pub repetitions_needed: Option<u64>,
}

impl EqualityTest {
    /// Most that a probability may be for the levels to be equal.
    pub const P_VALUE_MAX: f64 = 0.05;

    /// Returns true if equality is shown, also among all comparisons of the study.
    pub fn is_shown(&self) -> bool {
        let p_value = self.p_value_adjusted.unwrap_or(self.p_value);
        p_value <= Self::P_VALUE_MAX
    }
}

impl Comparison {
    /// The ratio with its interval.
    pub fn estimate(&self) -> Ratio {
        Ratio {
            ratio: self.ratio,
            low: self.ratio_low,
            high: self.ratio_high,
        }
    }

    /// Times by which the level is better: the ratio, or its inverse where less is better.
    pub fn improvement(&self) -> Ratio {
        let found = self.estimate();
        if !less_is_better(&self.metric) {
            return found;
        }
        Ratio {
            ratio: 1.0 / found.ratio,
            low: found.high.map(|high| 1.0 / high),
            high: found.low.map(|low| 1.0 / low),
        }
    }
}
