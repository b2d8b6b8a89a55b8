//! Each effect over all its contexts: geometric mean, smallest, largest (rule R12).

use std::collections::BTreeMap;

use weir_model::{Comparison, OverallEffect};
use weir_stats::geometric_mean;

use crate::claims::is_valid;

/// Effects that were compared in two contexts or more, in the order of the comparisons.
pub(super) fn effects(comparisons: &[Comparison]) -> Vec<OverallEffect> {
    let mut groups: BTreeMap<_, Vec<&Comparison>> = BTreeMap::new();
    for comparison in comparisons.iter().filter(|c| !c.negative_control) {
        let key = (&comparison.factor, &comparison.level, &comparison.baseline);
        groups.entry(key).or_default().push(comparison);
    }
    let groups = groups.into_values().filter(|group| group.len() > 1);
    groups.filter_map(|group| effect(&group)).collect()
}

fn effect(group: &[&Comparison]) -> Option<OverallEffect> {
    let valid = group.iter().filter(|comparison| is_valid(comparison));
    let ratios: Vec<_> = valid.map(|comparison| comparison.ratio).collect();
    let first = group.first()?;
    Some(OverallEffect {
        factor: first.factor.clone(),
        baseline: first.baseline.clone(),
        level: first.level.clone(),
        contexts: ratios.len(),
        invalid: group.len() - ratios.len(),
        geometric_mean: geometric_mean(&ratios)?,
        ratio_min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
        ratio_max: ratios.iter().copied().fold(0.0, f64::max),
    })
}
