//! Screens: studies that first rank many settings of two levels each, then measure anew what they would recommend.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::DataChange;

/// Screen of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenPlan {
    /// A candidate of each factor, in the order of the plan's factors.
    pub candidates: Vec<Candidate>,
    /// All changes of the data that candidates make, in the order in which they are made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<DataChange>,
    /// Candidates that are measured anew, the strongest first; empty until all rows are run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub winners: Vec<Winner>,
}

/// The level of a factor that is tried against the present one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Candidate {
    /// The factor.
    pub factor: String,
    /// The factor's present level.
    pub present: String,
    /// The level that is tried.
    pub level: String,
    /// Server variables that it changes; `None`: one that it no longer sets.
    pub variables: BTreeMap<String, Option<String>>,
    /// The change of the data that it makes, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
}

impl ScreenPlan {
    /// Statement of the change of the data that a candidate makes.
    pub fn statement_of(&self, candidate: &Candidate) -> Option<&str> {
        let name = candidate.change.as_ref()?;
        let mut changes = self.changes.iter();
        let change = changes.find(|change| change.name == *name)?;
        Some(&change.statement)
    }
}

/// The place of a cell in a screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenPlace {
    /// Indices of the candidates that it has, ascending; all other factors are at their present level.
    pub candidates: Vec<usize>,
    /// Part of the screen.
    pub part: ScreenPart,
}

/// Part of a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ScreenPart {
    /// A row of the design.
    Row,
    /// A row of its mirror image.
    MirroredRow,
    /// The present configuration, repeated between the rows.
    Repeated,
    /// A configuration that is measured anew, to be judged.
    Confirmation,
}

/// A candidate that a screen would recommend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Winner {
    /// Index of the candidate.
    pub candidate: usize,
    /// The metric in which it is surest to be better.
    pub metric: String,
}
