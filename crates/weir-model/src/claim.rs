//! Published claims, in a form that a measurement can be tested against.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A published claim.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Claim {
    /// Author of the claim, and the place where it stands.
    pub source: String,
    /// Claim in words.
    pub says: String,
    /// The published number: level / baseline.
    pub value: f64,
    /// Direction of the claim: that number, or above or below it.
    #[serde(default, skip_serializing_if = "Bound::is_equal")]
    pub bound: Bound,
    /// Reason that it cannot be tested on this product's means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untestable: Option<String>,
    /// The factor of the study that it speaks of. Without it, the one that `says` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<String>,
    /// The level in the numerator. Without it, the one that `says` names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The level in the denominator; by default the factor's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The metric, by default `queries_per_s`; others: `transactions_per_s`, `latency_us_p99`, and
    /// every metric that probes sample (a counter's rate, a gauge's mean).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Levels of other factors at which it was published; without any, it is held against all.
    #[serde(default, rename = "where", skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, String>,
}

impl Claim {
    /// `1.48x`, `above 1x`.
    #[must_use]
    pub fn published(&self) -> String {
        match self.bound {
            Bound::Equal => format!("{}x", self.value),
            Bound::Above => format!("above {}x", self.value),
            Bound::Below => format!("below {}x", self.value),
        }
    }
}

/// Direction of a claim about its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// The ratio is the number.
    #[default]
    Equal,
    /// The ratio is larger: "A leads B".
    Above,
    /// The ratio is smaller.
    Below,
}

impl Bound {
    /// For serde, which asks with a reference.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        *self == Self::Equal
    }
}
