//! Comparisons: every pair of levels that differ in one factor only.

use std::collections::BTreeMap;

use weir_model::{Cell, Comparison, StudyResult, Verdict};
use weir_stats::{StatsError, paired_log_ratio};

use crate::contrasts::{Contrast, contrasts, pairs};

/// What is compared.
const METRIC: &str = "queries_per_s";

/// Compares, for each factor and each context, every level with the factor's first.
///
/// Verdicts are what the statistics alone say; rules may still overrule them.
pub(crate) fn compare_all(result: &StudyResult) -> Result<Vec<Comparison>, StatsError> {
    let cells = &result.plan.cells;
    let records: Vec<_> = result.runs.iter().map(|run| &run.record).collect();
    let mut comparisons = Vec::new();
    for contrast in contrasts(&result.plan) {
        let pairs = pairs(&records, &contrast);
        if pairs.is_empty() {
            continue; // Stopped early: this block has not been run yet.
        }
        let Contrast {
            factor,
            baseline_cell,
            level_cell,
        } = contrast;
        let estimate = paired_log_ratio(&pairs)?;
        comparisons.push(Comparison {
            baseline: cells[baseline_cell].levels[&factor].clone(),
            level: cells[level_cell].levels[&factor].clone(),
            context: context(&cells[level_cell], &factor),
            metric: METRIC.to_owned(),
            baseline_cell,
            level_cell,
            ratio: estimate.ratio,
            ratio_low: estimate.interval.map(|(low, _)| low),
            ratio_high: estimate.interval.map(|(_, high)| high),
            pairs: estimate.pairs,
            verdict: if estimate.differs_from_one() {
                Verdict::Effect
            } else {
                Verdict::Inconclusive
            },
            findings: Vec::new(),
            factor,
        });
    }
    Ok(comparisons)
}

fn context(cell: &Cell, factor: &str) -> BTreeMap<String, String> {
    let mut context = cell.levels.clone();
    context.remove(factor);
    context
}
