//! Screens: studies that first rank many settings of two levels each, then measure anew what they would recommend.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Cell, Ratio};

/// Screen of a study.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScreenPlan {
    /// A candidate of each factor, in the order of the plan's factors.
    pub candidates: Vec<Candidate>,
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

impl ScreenPlan {
    /// The cell of `screened`, named `label` in the factor `factor`; `present` is a cell without candidates.
    pub fn cell(
        &self,
        present: &Cell,
        screened: ScreenPlace,
        (factor, label): (&str, &str),
    ) -> Cell {
        let mut cell = present.clone();
        for candidate in screened
            .candidates
            .iter()
            .map(|&index| &self.candidates[index])
        {
            for node in cell.spec_mut().topology.nodes_mut() {
                for (name, value) in &candidate.variables {
                    match value {
                        Some(value) => node.variables.insert(name.clone(), value.clone()),
                        None => node.variables.remove(name),
                    };
                }
            }
        }
        cell.levels = BTreeMap::from([(factor.to_owned(), label.to_owned())]);
        cell.screened = Some(screened);
        cell
    }
}

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

/// A candidate that a screen would recommend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Winner {
    /// Index of the candidate.
    pub candidate: usize,
    /// The metric in which it is surest to be better.
    pub metric: String,
}
