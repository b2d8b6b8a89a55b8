//! Conditions of a build server on comparisons, and which of them hold.

use serde::{Deserialize, Serialize};

use crate::Ratio;

/// Conclusion on a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// The whole interval meets the condition.
    Met,
    /// The whole interval lies beyond the limit.
    Failed,
    /// The interval holds the limit: too few runs, or too noisy ones.
    Undecided,
}

/// A condition on one comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateCheck {
    /// Position of the comparison in the list.
    pub comparison: usize,
    /// The condition: `p99 latency at most +10 %`.
    pub condition: String,
    /// Conclusion on it.
    pub outcome: GateOutcome,
    /// The ratio that it is about, level / baseline.
    pub ratio: Ratio,
    /// Repetitions of each level that would probably decide, if runs stay as noisy as they are; `None` where it is decided,
    /// or cannot be said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repetitions_needed: Option<u64>,
}
