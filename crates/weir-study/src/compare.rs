//! Comparisons: every pair of levels that differ in one factor only.

use std::collections::BTreeMap;

use weir_model::{Cell, Comparison, RunResult, StudyResult, Verdict};
use weir_stats::{StatsError, paired_log_ratio};

/// What is compared.
const METRIC: &str = "queries_per_s";

/// Compares, for each factor and each context, every level with the factor's first.
///
/// Verdicts are what the statistics alone say; rules may still overrule them.
pub(crate) fn compare_all(result: &StudyResult) -> Result<Vec<Comparison>, StatsError> {
    let cells = &result.plan.cells;
    let mut comparisons = Vec::new();
    for factor in cells
        .first()
        .map(|cell| cell.levels.keys())
        .into_iter()
        .flatten()
    {
        let baseline = &cells[0].levels[factor];
        for (level_cell, cell) in cells.iter().enumerate() {
            if cell.levels[factor] == *baseline {
                continue;
            }
            let baseline_cell = sibling(cells, cell, factor, baseline);
            let pairs = pairs(&result.runs, level_cell, baseline_cell);
            if pairs.is_empty() {
                continue; // Stopped early: this block has not been run yet.
            }
            let estimate = paired_log_ratio(&pairs)?;
            comparisons.push(Comparison {
                factor: factor.clone(),
                baseline: baseline.clone(),
                level: cell.levels[factor].clone(),
                context: context(cell, factor),
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
            });
        }
    }
    Ok(comparisons)
}

/// The cell that differs from `cell` in `factor` alone, where it has `level`.
fn sibling(cells: &[Cell], cell: &Cell, factor: &str, level: &str) -> usize {
    let mut levels = cell.levels.clone();
    levels.insert(factor.to_owned(), level.to_owned());
    let position = cells
        .iter()
        .position(|candidate| candidate.levels == levels);
    position.expect("invariant: the cells are a full factorial")
}

fn context(cell: &Cell, factor: &str) -> BTreeMap<String, String> {
    let mut context = cell.levels.clone();
    context.remove(factor);
    context
}

/// Throughput of both cells in each repetition that has both.
fn pairs(runs: &[RunResult], level_cell: usize, baseline_cell: usize) -> Vec<(f64, f64)> {
    let of_cell = |cell| {
        runs.iter()
            .map(|run| &run.record)
            .filter(move |run| run.cell == cell)
    };
    of_cell(level_cell)
        .filter_map(|level| {
            let block = |run: &&weir_model::RunRecord| run.repetition == level.repetition;
            let baseline = of_cell(baseline_cell).find(block)?;
            Some((level.queries_per_s, baseline.queries_per_s))
        })
        .collect()
}
