//! Ranking of a screen's factors, by the rows that were run.

use serde::{Deserialize, Serialize};

use crate::{Ratio, Winner, less_is_better};

/// Ranking of a screen's factors: where to look, not what to believe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenRanking {
    /// The metrics, each with an effect of each factor.
    pub metrics: Vec<ScreenedMetric>,
    /// Factors whose candidates are measured anew, the strongest first.
    pub winners: Vec<Winner>,
    /// Further winners that are not measured anew, since there were too many.
    pub left_out: Vec<Winner>,
}

/// A metric of a screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenedMetric {
    /// The metric: `queries_per_s`.
    pub metric: String,
    /// Candidate / present of each factor, in the order of the plan's.
    pub effects: Vec<ScreenedEffect>,
    /// Standard deviation of the logarithm of one run.
    pub log_deviation: f64,
    /// Degrees of freedom of it.
    pub degrees_of_freedom: usize,
    /// Probability of runs that fit single effects as badly if no two factors acted together.
    pub pairs_p_value: Option<f64>,
}

/// A factor's effect in a screen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenedEffect {
    /// The factor.
    pub factor: String,
    /// Candidate / present.
    pub ratio: Ratio,
    /// Probability of a ratio at least this far from 1 if the factor did nothing.
    pub p_value: f64,
    /// The same, corrected for all factors (Benjamini and Hochberg).
    pub p_value_adjusted: f64,
}

impl ScreenedEffect {
    /// Share of factors without effect among those that are called sure: new runs tell them apart.
    const FALSE_SHARE_MAX: f64 = 0.10;

    /// Returns true if the effect is no chance, among all factors.
    pub fn is_sure(&self) -> bool {
        self.p_value_adjusted <= Self::FALSE_SHARE_MAX
    }

    /// Returns true if its direction is the better one of `metric`.
    pub fn is_better_in(&self, metric: &str) -> bool {
        (self.ratio.ratio < 1.0) == less_is_better(metric)
    }
}
