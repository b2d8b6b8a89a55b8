//! Results of several comparisons together, and of published claims.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Finding, Ratio, ScreenRanking};

/// Everything that is computed from more than two cells.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// Spread between identical runs; `None` with too few repetitions.
    pub noise: Option<Noise>,
    /// Each effect over all its contexts.
    pub overall: Vec<OverallEffect>,
    /// Interactions of two factors.
    pub interactions: Vec<Interaction>,
    /// Gain of throughput per per cent more buffer pool.
    pub elasticities: Vec<PoolElasticity>,
    /// Memory that a faster drive replaces.
    pub equivalents: Vec<MemoryEquivalent>,
    /// Scalability over the number of connections.
    pub scalability: Vec<Scalability>,
    /// Costs of the cells, where the study declares prices.
    pub costs: Vec<CostRow>,
    /// Ranking of the factors of a screen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<ScreenRanking>,
    /// Published claims beside what was measured here.
    pub claims: Vec<ClaimVerdict>,
}

/// Spread between runs of the same cell.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Noise {
    /// Standard deviation of the logarithm of the study's metric in one run, pooled over the cells.
    pub log_deviation: f64,
    /// Degrees of freedom of the estimate.
    pub degrees_of_freedom: f64,
    /// Cells that are the same but for their name (A/A), pooled into one.
    pub identical_cells: usize,
    /// Repetitions of each level that `floor_ratio` speaks of.
    pub repetitions: usize,
    /// Two identical levels differ by no more than this factor in 95 of 100 comparisons.
    pub floor_ratio: f64,
}

/// An effect over all its contexts: no picked point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverallEffect {
    /// The factor.
    pub factor: String,
    /// The level in the denominator.
    pub baseline: String,
    /// The level in the numerator.
    pub level: String,
    /// Contexts that were compared.
    pub contexts: usize,
    /// Contexts that were left out because a rule forbids the comparison.
    pub invalid: usize,
    /// Geometric mean of the ratios.
    pub geometric_mean: f64,
    /// Smallest ratio of a context.
    pub ratio_min: f64,
    /// Largest ratio of a context.
    pub ratio_max: f64,
}

/// Two changes, alone and together, against neither.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interaction {
    /// The first change: `innodb_doublewrite OFF`.
    pub first: String,
    /// The second.
    pub second: String,
    /// Combination that both are compared with.
    pub neither: String,
    /// Levels of the other factors.
    pub context: BTreeMap<String, String>,
    /// The first alone.
    pub first_effect: Ratio,
    /// The second alone.
    pub second_effect: Ratio,
    /// Both together.
    pub both_effect: Ratio,
    /// Both / (first x second): above 1 they help each other, below 1 they overlap.
    pub interaction: Ratio,
}

/// d ln throughput / d ln buffer pool between two neighbouring sizes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PoolElasticity {
    /// Levels of the other factors.
    pub context: BTreeMap<String, String>,
    /// The smaller size, as the study writes it.
    pub from: String,
    /// The larger.
    pub to: String,
    /// Per cent of throughput for a per cent of memory.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// The buffer pool with which the baseline drive would do as well.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryEquivalent {
    /// The drive.
    pub drive: String,
    /// The drive whose curve it is set against.
    pub baseline: String,
    /// Levels of the other factors.
    pub context: BTreeMap<String, String>,
    /// The pool that the drive had, as the study writes it.
    pub pool: String,
    /// Equivalent pool / the pool that the drive had: 1.6 is worth 60 % more memory. `None` where
    /// no measured pool of the baseline reaches the drive.
    pub memory: Option<Ratio>,
    /// Reason that there is no equivalent.
    pub why_not: Option<String>,
}

/// The Universal Scalability Law over the measured numbers of connections.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scalability {
    /// Levels of the other factors.
    pub context: BTreeMap<String, String>,
    /// Throughput of one connection, queries per second.
    pub lambda: f64,
    /// Contention: the share that is serial.
    pub sigma: f64,
    /// Coherency: the price of each pair of connections.
    pub kappa: f64,
    /// Fewest connections measured.
    pub connections_min: u32,
    /// Most connections measured.
    pub connections_max: u32,
    /// Connections with the highest throughput, where that lies inside the measured range.
    pub peak: Option<f64>,
    /// Mean of |fitted / measured - 1|.
    pub relative_error: f64,
}

/// Throughput for money.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CostRow {
    /// The factor whose level has a price.
    pub factor: String,
    /// The level.
    pub level: String,
    /// Levels of the other factors.
    pub context: BTreeMap<String, String>,
    /// Price of the cell, in the study's currency.
    pub price: f64,
    /// Currency, as declared.
    pub currency: String,
    /// Queries per second for one unit of the currency.
    pub queries_per_s_per_price: f64,
    /// Another level is not slower and not dearer, and better in one of both.
    pub dominated: bool,
}

/// Verdict on a published claim.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimVerdict {
    /// Index of the claim in the plan.
    pub claim: usize,
    /// Levels of the other factors where it was looked at.
    pub context: BTreeMap<String, String>,
    /// Measured ratio; `None` if nothing was measured.
    pub measured: Option<Ratio>,
    /// Agreement of the measurement with the claim.
    pub agreement: Agreement,
    /// Reason, in one phrase.
    pub why: String,
}

/// Agreement of a measurement with a published number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema, ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Agreement {
    /// The interval holds the published number and excludes no effect, or the claim is no effect.
    Agrees,
    /// The interval excludes the published number.
    Disagrees,
    /// Nothing valid was measured, or too widely to tell.
    CannotSay,
}

/// Two results set against each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ResultComparison {
    /// Basis of the comparison in one line: absolute throughput, or ratios within each result.
    pub basis: String,
    /// Differences between the two results apart from the numbers.
    pub differences: Vec<String>,
    /// One comparison per combination that both results have.
    pub comparisons: Vec<crate::Comparison>,
    /// Findings that concern the two results as a whole; an error makes all of it invalid.
    pub findings: Vec<Finding>,
    /// Conditions of a gate on each comparison that no rule forbids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gate_checks: Vec<crate::GateCheck>,
}
