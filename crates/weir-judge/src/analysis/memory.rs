//! Worth of memory: elasticity between neighbouring buffer pools, and drives in memory.

use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, Cell, MemoryEquivalent, Plan, PoolElasticity, Ratio};
use weir_stats::{CurvePoint, RatioEstimate, elasticity_between, equivalent_size};

use crate::estimate_ratio::{Pairing, ratio};
use crate::measured::{RunsByCell, THROUGHPUT};
use crate::rules::Design;

const DRIVE: &str = "drive";

/// Between each size and the next larger one, for each context.
pub(super) fn elasticities(design: &Design<'_>, runs: &RunsByCell<'_>) -> Vec<PoolElasticity> {
    let plan = design.plan;
    let mut found = Vec::new();
    for (context, cells) in design.index.by_context(&[POOL]) {
        let sizes = by_size(plan, runs, &cells);
        for pair in sizes.windows(2) {
            let [(from_bytes, from), (to_bytes, to)] = *pair else {
                continue;
            };
            let Some(estimate) = ratio(runs, to, from, THROUGHPUT, Pairing::Repetition, plan)
            else {
                continue;
            };
            let result = RatioEstimate {
                ratio: estimate.ratio.ratio,
                interval: estimate.ratio.interval(),
                pairs: estimate.runs,
            };
            let Ok(elasticity) = elasticity_between(to_bytes / from_bytes, &result) else {
                continue;
            };
            found.push(PoolElasticity {
                context: context.clone(),
                from: level(plan, from),
                to: level(plan, to),
                value: elasticity.value,
                low: elasticity.interval.map(|(low, _)| low),
                high: elasticity.interval.map(|(_, high)| high),
            });
        }
    }
    found
}

/// Every drive but the first, at every pool, on the curve of the first drive.
pub(super) fn equivalents(design: &Design<'_>, runs: &RunsByCell<'_>) -> Vec<MemoryEquivalent> {
    let plan = design.plan;
    let Some(baseline) = plan.cells.first().and_then(|cell| cell.levels.get(DRIVE)) else {
        return Vec::new();
    };
    let is_baseline = |cell: &Cell| cell.levels.get(DRIVE) == Some(baseline);
    let mut found = Vec::new();
    for (context, cells) in design.index.by_context(&[POOL, DRIVE]) {
        let (on_baseline, others): (Vec<usize>, Vec<usize>) = cells
            .iter()
            .partition(|cell| is_baseline(&plan.cells[**cell]));
        let curve: Vec<_> = by_size(plan, runs, &on_baseline)
            .into_iter()
            .map(|(size, cell)| CurvePoint {
                size,
                runs: runs.values(cell, THROUGHPUT),
            })
            .collect();
        if curve.len() < 2 || curve.iter().any(|point| point.runs.is_empty()) {
            continue;
        }
        for (size, cell) in by_size(plan, runs, &others) {
            let target = runs.values(cell, THROUGHPUT);
            if target.is_empty() {
                continue;
            }
            let equivalent = equivalent_size(&curve, &target);
            found.push(MemoryEquivalent {
                drive: plan.cells[cell].levels[DRIVE].clone(),
                baseline: baseline.clone(),
                context: context.clone(),
                pool: level(plan, cell),
                memory: equivalent.as_ref().ok().map(|found| Ratio {
                    ratio: found.size / size,
                    low: found.low.map(|low| low / size),
                    high: found.high.map(|high| high / size),
                }),
                why_not: equivalent.err().map(|error| error.to_string()),
            });
        }
    }
    found
}

/// Cells with the bytes of their buffer pool, ascending; those without a size are left out. Sizes are those that
/// the servers say: they round, and two levels may be one.
fn by_size(plan: &Plan, runs: &RunsByCell<'_>, cells: &[usize]) -> Vec<(f64, usize)> {
    let size = |cell: &usize| {
        let said = runs
            .runs(*cell)
            .first()
            .and_then(|run| run.variables.get(POOL));
        let text = match said {
            Some(said) => said,
            None => plan.cells[*cell].spec.variable(POOL)?,
        };
        let Bytes(bytes) = text.parse().ok()?;
        Some((bytes as f64, *cell))
    };
    let mut sizes: Vec<_> = cells.iter().filter_map(size).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    sizes
}

fn level(plan: &Plan, cell: usize) -> String {
    plan.cells[cell].levels[POOL].clone()
}
