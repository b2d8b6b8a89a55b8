//! The pairs of cells that a published claim speaks of.

use std::collections::BTreeSet;

use weir_model::{Claim, ClaimVerdict, Plan};

use crate::cell_index::{CellIndex, context};
use crate::compare::holds_at;
use crate::contrast::Contrast;
use crate::measured::{METRICS, THROUGHPUT, is_metric};

/// Subject of a claim.
pub(crate) enum Subject {
    /// These pairs of cells, all of them.
    Contrasts(Vec<Contrast>),
    /// Something that the study does not have, and why.
    Unknown(String),
}

/// Finds the pairs of cells that `claim` speaks of.
pub(crate) fn subject(plan: &Plan, index: &CellIndex<'_>, claim: &Claim) -> Subject {
    match contrasts(plan, index, claim) {
        Ok(contrasts) => Subject::Contrasts(contrasts),
        Err(why) => Subject::Unknown(why),
    }
}

/// Returns the cells of the baseline and of the level that a verdict on a claim of `plan` is about; `None` where
/// the study does not have them.
pub fn claim_cells(plan: &Plan, verdict: &ClaimVerdict) -> Option<(usize, usize)> {
    let claim = plan.claims.get(verdict.claim)?;
    let found = contrasts(plan, &CellIndex::new(plan), claim).ok()?;
    let mut found = found.into_iter();
    let contrast = found.find(|contrast| contrast.context == verdict.context)?;
    Some((contrast.baseline_cell, contrast.level_cell))
}

/// Baseline and level of every pair of cells that a claim of `plan` speaks of.
pub(crate) fn claimed(plan: &Plan, index: &CellIndex<'_>) -> BTreeSet<(usize, usize)> {
    let claims = plan.claims.iter();
    let contrasts = claims.filter_map(|claim| contrasts(plan, index, claim).ok());
    contrasts
        .flatten()
        .map(|contrast| (contrast.baseline_cell, contrast.level_cell))
        .collect()
}

fn contrasts(plan: &Plan, index: &CellIndex<'_>, claim: &Claim) -> Result<Vec<Contrast>, String> {
    if let Some(why) = &claim.untestable {
        return Err(why.clone());
    }
    let metric = metric(claim);
    if !is_metric(metric) {
        let known = METRICS.join(", ");
        return Err(format!(
            "`{metric}` is no metric ({known}, or what a probe samples)"
        ));
    }
    let factor = factor(plan, claim)?;
    let levels = levels_of(plan, &factor);
    let known = |level: &str| {
        let found = levels.iter().find(|known| **known == level);
        found
            .copied()
            .ok_or_else(|| format!("{factor} has no level {level}"))
    };
    let baseline = match &claim.baseline {
        Some(baseline) => known(baseline)?,
        None => levels.first().ok_or("it has no levels")?,
    };
    let level = match &claim.level {
        Some(level) => known(level)?,
        None => named_in(
            &claim.says,
            levels.iter().copied().filter(|level| *level != baseline),
        )
        .ok_or_else(|| format!("it names no level of {factor}"))?,
    };
    let cells = plan.cells.iter().enumerate();
    let found: Vec<_> = cells
        .filter(|(_, cell)| cell.levels.get(&factor).map(String::as_str) == Some(level))
        .filter_map(|(level_cell, cell)| {
            let context = context(cell, &factor);
            let baseline_cell = index.sibling(cell, &factor, baseline)?;
            holds_at(&context, &claim.at).then(|| Contrast {
                factor: factor.clone(),
                baseline: baseline.to_owned(),
                level: level.to_owned(),
                context,
                baseline_cell,
                level_cell,
                metric: metric.to_owned(),
            })
        })
        .collect();
    if found.is_empty() {
        let at: Vec<_> = claim
            .at
            .iter()
            .map(|(name, level)| format!("{name} {level}"))
            .collect();
        return Err(format!("{} was not part of the study", at.join(", ")));
    }
    Ok(found)
}

/// The metric of a claim.
pub(crate) fn metric(claim: &Claim) -> &str {
    claim.metric.as_deref().unwrap_or(THROUGHPUT)
}

fn factor(plan: &Plan, claim: &Claim) -> Result<String, String> {
    let factors = || plan.cells.first().map(|cell| cell.levels.keys());
    match &claim.factor {
        Some(factor) if factors().into_iter().flatten().any(|known| known == factor) => {
            Ok(factor.clone())
        }
        Some(factor) => Err(format!("the study has no factor {factor}")),
        None => named_in(
            &claim.says,
            factors().into_iter().flatten().map(String::as_str),
        )
        .map(str::to_owned)
        .ok_or_else(|| "it names no factor of the study".to_owned()),
    }
}

/// Levels of `factor` in the order of the study.
fn levels_of<'a>(plan: &'a Plan, factor: &str) -> Vec<&'a str> {
    let mut levels = Vec::new();
    for level in plan.cells.iter().filter_map(|cell| cell.levels.get(factor)) {
        if !levels.contains(&level.as_str()) {
            levels.push(level.as_str());
        }
    }
    levels
}

/// The first of `names` that stands as a word in `text`.
fn named_in<'a>(text: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let is_word = |name: &str| {
        text.match_indices(name).any(|(start, _)| {
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let before = text[..start].chars().next_back();
            let after = text[start + name.len()..].chars().next();
            !inside(before) && !inside(after)
        })
    };
    names.find(|name| is_word(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_as_a_word_only() {
        let names = ["ON", "OFF"];
        assert_eq!(
            named_in("doublewrite OFF / ON", names.into_iter()),
            Some("ON")
        );
        assert_eq!(named_in("THE LONGER ONE", names.into_iter()), None);
    }
}
