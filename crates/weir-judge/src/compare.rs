//! Comparisons: every pair of levels that differ in one factor only.

use weir_model::{Comparison, MetricRatio, Plan, Verdict};

use crate::cell_index::{CellIndex, Levels, context};
use crate::contrast::Contrast;
use crate::estimate_ratio::{Pairing, ratio, second_opinion};
use crate::measured::{RunsByCell, THROUGHPUT, study_metric};
use crate::{compare_costs, equality, fingerprints, screen};

/// Metrics that stand beside every ratio in another one: a mean hides stalls (rule R7).
const OTHERS: [&str; 3] = [THROUGHPUT, "latency_us_p95", "latency_us_p99"];

/// For each factor and each context, every level against the factor's first. Places of a search
/// are no levels.
pub(crate) fn contrasts(plan: &Plan, index: &CellIndex<'_>) -> Vec<Contrast> {
    if let Some(screen) = &plan.screen {
        return screen::contrasts(plan, screen);
    }
    let mut contrasts = Vec::new();
    for (factor, baseline) in baselines(plan) {
        for (level_cell, cell) in plan.cells.iter().enumerate() {
            let Some(level) = cell.levels.get(factor) else {
                continue;
            };
            // A study may leave combinations out: then there is nothing to compare with.
            let Some(baseline_cell) = index.sibling(cell, factor, baseline) else {
                continue;
            };
            if baseline_cell != level_cell && cell.is_designed() {
                contrasts.push(Contrast {
                    factor: factor.clone(),
                    baseline: baseline.clone(),
                    level: level.clone(),
                    context: context(cell, factor),
                    baseline_cell,
                    level_cell,
                    metric: study_metric(plan).to_owned(),
                });
            }
        }
    }
    contrasts
}

/// Each factor with its first level; results that do not tell their factors have it in the first
/// cell, since nothing was excluded in them.
fn baselines(plan: &Plan) -> Vec<(&String, &String)> {
    if plan.factors.is_empty() {
        return plan
            .cells
            .first()
            .into_iter()
            .flat_map(|cell| &cell.levels)
            .collect();
    }
    let factors = plan.factors.iter();
    factors
        .filter_map(|factor| Some((&factor.name, factor.levels.first()?)))
        .collect()
}

/// Compares both cells of each of `contrasts` in its metric, and in what stands beside it.
///
/// Verdicts follow the interval alone; [`crate::evaluate`] may overrule them.
pub(crate) fn compare_all(
    plan: &Plan,
    contrasts: &[Contrast],
    runs: &RunsByCell<'_>,
    pairing: Pairing,
) -> Vec<Comparison> {
    contrasts
        .iter()
        .filter_map(|contrast| compare(plan, runs, contrast, pairing))
        .collect()
}

/// One contrast; `None` if no runs can be compared: it was stopped early.
pub(crate) fn compare(
    plan: &Plan,
    runs: &RunsByCell<'_>,
    contrast: &Contrast,
    pairing: Pairing,
) -> Option<Comparison> {
    let metric = contrast.metric.as_str();
    let (level, baseline) = (contrast.level_cell, contrast.baseline_cell);
    let of = |metric| ratio(runs, level, baseline, metric, pairing, plan);
    let estimate = of(metric)?;
    // The second one takes no pairs, and on several hosts runs without pairs differ by their hosts.
    let second = match plan.cells[level].spec.primary().several_agents() {
        Some(_) => None,
        None => second_opinion(runs, level, baseline, metric, &estimate),
    };
    let others = OTHERS.iter().filter(|other| **other != metric);
    let others = others.filter_map(|other| {
        Some(MetricRatio {
            metric: (*other).to_owned(),
            ratio: of(other)?.ratio,
        })
    });
    Some(Comparison {
        factor: contrast.factor.clone(),
        baseline: contrast.baseline.clone(),
        level: contrast.level.clone(),
        context: contrast.context.clone(),
        metric: metric.to_owned(),
        baseline_cell: baseline,
        level_cell: level,
        ratio: estimate.ratio.ratio,
        ratio_low: estimate.ratio.low,
        ratio_high: estimate.ratio.high,
        pairs: estimate.runs,
        method: estimate.method,
        p_value: estimate.p_value,
        p_value_adjusted: None,
        second_opinion: second,
        others: others.collect(),
        costs: compare_costs::ratios(plan, runs, contrast, pairing),
        replay: fingerprints::compare(plan, runs, (level, baseline), pairing),
        negative_control: is_negative_control(plan, contrast),
        equality: equality::test(plan, contrast, runs, pairing),
        verdict: if estimate.ratio.differs_from_one() {
            Verdict::Effect
        } else {
            Verdict::Inconclusive
        },
        findings: Vec::new(),
    })
}

pub(crate) fn is_negative_control(plan: &Plan, contrast: &Contrast) -> bool {
    let mut controls = plan.negative_controls.iter();
    controls.any(|control| {
        control.factor == contrast.factor && holds_at(&contrast.context, &control.at)
    })
}

/// Returns true if `context` has all the levels of `wanted`.
pub(crate) fn holds_at(context: &Levels, wanted: &Levels) -> bool {
    wanted
        .iter()
        .all(|(factor, level)| context.get(factor) == Some(level))
}
