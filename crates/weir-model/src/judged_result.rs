//! A result with what follows from its runs.

use serde::{Deserialize, Serialize};

use crate::{Analysis, Comparison, Finding, StudyResult};

/// A whole result: what a study measured, and what that says.
// Only `weir-judge` makes one: it always has verdicts, so that an empty list is an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JudgedResult {
    /// Measurements.
    #[serde(flatten)]
    pub evidence: StudyResult,
    /// Comparisons of levels, computed from the runs.
    pub comparisons: Vec<Comparison>,
    /// Results of several comparisons together, and of published claims.
    pub analysis: Analysis,
    /// Findings of the rules that concern the study as a whole.
    pub findings: Vec<Finding>,
    /// Answers of the study's search, computed from the runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub searches: Vec<SearchAnswer>,
}

/// Answer of a search in one cell of the design.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchAnswer {
    /// Index of the cell.
    pub of_cell: usize,
    /// Factor that was varied.
    pub factor: String,
    /// Runs that it took so far.
    pub runs: usize,
    /// Places that were found, the most wanted first; empty: the search is not complete.
    pub found: Vec<FoundPlace>,
    /// The first place found, measured anew.
    pub confirmation: Option<Confirmation>,
}

/// A place that a search found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundPlace {
    /// Meaning of the place: `highest rate with p99 <= 10ms`.
    pub meaning: String,
    /// The place, as in a study file; `None`: not even the smallest one allowed.
    pub place: Option<u64>,
    /// Largest place measured below it; with a rate it is the place itself.
    pub below: Option<u64>,
    /// Smallest place measured above it; `None`: the range ends there.
    pub above: Option<u64>,
}

/// Runs at the answer of a search that the search did not see: the best of several noisy places
/// flatters itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Confirmation {
    /// The place.
    pub place: u64,
    /// Runs.
    pub runs: usize,
    /// Geometric mean of their throughput.
    pub queries_per_s: f64,
    /// Lower end of its 95 % interval; `None` with one run.
    pub queries_per_s_low: Option<f64>,
    /// Upper end.
    pub queries_per_s_high: Option<f64>,
    /// Median of their p99, microseconds.
    pub latency_us_p99: f64,
    /// Number of runs that kept the objective, if the search has one.
    pub objective_kept: Option<usize>,
}
