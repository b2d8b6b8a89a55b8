//! Which cells are compared: those that differ in one factor only, each with its baseline.

use std::borrow::Cow;
use std::collections::BTreeMap;

use weir_model::{Cell, Factor, Plan, RunRecord};

/// Two cells that differ in one factor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Contrast {
    pub(crate) factor: String,
    pub(crate) baseline_cell: usize,
    pub(crate) level_cell: usize,
}

/// For each factor and each context, every level against the factor's first. What exclusions left
/// without a baseline has no contrast; places of a search are no levels.
pub(crate) fn contrasts(plan: &Plan) -> Vec<Contrast> {
    let mut found = Vec::new();
    for factor in factors(plan).iter() {
        let Some(baseline) = factor.levels.first() else {
            continue;
        };
        for (level_cell, cell) in plan.cells.iter().enumerate() {
            if cell.probe.is_some() || cell.levels.get(&factor.name) == Some(baseline) {
                continue;
            }
            if let Some(baseline_cell) = sibling(&plan.cells, cell, &factor.name, baseline) {
                found.push(Contrast {
                    factor: factor.name.clone(),
                    baseline_cell,
                    level_cell,
                });
            }
        }
    }
    found
}

/// Throughput, `(level, baseline)`, of both cells in each repetition that has both.
pub(crate) fn pairs(records: &[&RunRecord], contrast: &Contrast) -> Vec<(f64, f64)> {
    let of_cell = |cell| records.iter().filter(move |record| record.cell == cell);
    of_cell(contrast.level_cell)
        .filter_map(|level| {
            let mut baselines = of_cell(contrast.baseline_cell);
            let baseline = baselines.find(|baseline| baseline.repetition == level.repetition)?;
            Some((level.queries_per_s, baseline.queries_per_s))
        })
        .collect()
}

/// The plan's factors; for results that do not tell them, from the cells' levels.
fn factors(plan: &Plan) -> Cow<'_, [Factor]> {
    if !plan.factors.is_empty() {
        return Cow::Borrowed(&plan.factors);
    }
    let mut levels: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    for (name, level) in plan.cells.iter().flat_map(|cell| &cell.levels) {
        let known = levels.entry(name).or_default();
        if !known.contains(level) {
            known.push(level.clone());
        }
    }
    let factor = |(name, levels): (&String, Vec<String>)| Factor {
        name: name.clone(),
        settings: vec![name.clone()],
        levels,
        within_server: false,
    };
    levels.into_iter().map(factor).collect()
}

/// The cell that differs from `cell` in `factor` alone, where it has `level`.
fn sibling(cells: &[Cell], cell: &Cell, factor: &str, level: &str) -> Option<usize> {
    let mut levels = cell.levels.clone();
    levels.insert(factor.to_owned(), level.to_owned());
    cells
        .iter()
        .position(|candidate| candidate.levels == levels)
}
