//! Costs of a query in a comparison: ratios with intervals, and verdicts of their own.
//!
//! Where a drive or a lock limits both levels, throughput is the same and the server's work is not.

use weir_model::{Comparison, CostPerQuery, CostRatio, Plan, Verdict};
use weir_stats::{benjamini_hochberg, geometric_mean};

use crate::contrast::Contrast;
use crate::estimate_ratio::{Pairing, ratio};
use crate::measured::RunsByCell;

/// Share of false differences among those that are found.
const FALSE_SHARE_MAX: f64 = 0.05;

/// The costs that runs of both cells of `contrast` have.
pub(crate) fn ratios(
    plan: &Plan,
    runs: &RunsByCell<'_>,
    contrast: &Contrast,
    pairing: Pairing,
) -> Vec<CostRatio> {
    let (level, baseline) = (contrast.level_cell, contrast.baseline_cell);
    let of_cost = |cost: &CostPerQuery| {
        let estimate = ratio(runs, level, baseline, cost.name, pairing, plan)?;
        let mean = |cell| geometric_mean(&runs.values(cell, cost.name));
        Some(CostRatio {
            metric: cost.name.to_owned(),
            baseline: mean(baseline)?,
            level: mean(level)?,
            ratio: estimate.ratio,
            p_value: estimate.p_value,
            p_value_adjusted: None,
            verdict: Verdict::Inconclusive,
        })
    };
    CostPerQuery::ALL.iter().filter_map(of_cost).collect()
}

/// Fills in corrected p-values and verdicts, for each cost over all comparisons of the study.
pub(crate) fn correct(comparisons: &mut [Comparison]) {
    for cost in CostPerQuery::ALL {
        let compared = comparisons
            .iter_mut()
            .filter(|found| !found.negative_control);
        let ratios = compared.flat_map(|found| &mut found.costs);
        let mut family: Vec<_> = ratios
            .filter(|ratio| ratio.metric == cost.name && ratio.p_value.is_some())
            .collect();
        let p_values: Vec<_> = family.iter().filter_map(|ratio| ratio.p_value).collect();
        for (ratio, adjusted) in family.iter_mut().zip(benjamini_hochberg(&p_values)) {
            ratio.p_value_adjusted = Some(adjusted);
            if ratio.ratio.differs_from_one() && adjusted <= FALSE_SHARE_MAX {
                ratio.verdict = Verdict::Effect;
            }
        }
    }
}
