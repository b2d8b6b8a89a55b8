//! R13: a claim about two changes together needs each of them alone.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Cell, Comparison, Finding, Plan};

use super::evidence::some_of;
use super::{Design, Evidence, FORBIDS, Rule};
use crate::claims::is_about;
use crate::compare::Contrast;
use crate::settings::settings;

pub(super) const RULE: Rule = Rule {
    id: "R13",
    title: "a claim about A and B has A, B, both and neither",
    checked: "A claim about two levels that differ in several settings, when the study lacks a cell in \
              which one of these settings changes alone. Where all four cells are there, the report \
              prints the interaction.",
    reason: "Study 5 claims +93 % for two features together. One alone gave +48 %, the other +30 %: \
             1.48 x 1.30 is 1.92, so the 93 % are most likely both against *neither*, which the study \
             does not say. Without the single arms nobody can tell what to buy.",
    remedy: "Add the levels with each change alone, or withdraw the claim.",
    reference: "published studies, sections 5 and 6; Montgomery, \"Design and Analysis of Experiments\", \
                chapter 5",
    severities: FORBIDS,
    design: check_design,
    comparison: check,
    ..Rule::NONE
};

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let plan = &evidence.result.plan;
    let contrast = Contrast {
        factor: comparison.factor.clone(),
        baseline: comparison.baseline.clone(),
        level: comparison.level.clone(),
        context: comparison.context.clone(),
        baseline_cell: comparison.baseline_cell,
        level_cell: comparison.level_cell,
    };
    finding(plan, &contrast)
}

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let contrasts = design.contrasts.iter();
    contrasts
        .filter_map(|contrast| finding(design.plan, contrast))
        .collect()
}

fn finding(plan: &Plan, contrast: &Contrast) -> Option<Finding> {
    plan.claims
        .iter()
        .find(|claim| is_about(plan, claim, contrast))?;
    let missing = missing_alone(
        plan,
        &plan.cells[contrast.baseline_cell],
        &plan.cells[contrast.level_cell],
    );
    (!missing.is_empty()).then(|| {
        RULE.error(format!(
            "a claim credits {} {} with all that differs from {}, but no cell changes {} alone; add \
             such levels",
            contrast.factor,
            contrast.level,
            contrast.baseline,
            some_of(missing, 4)
        ))
    })
}

/// The settings in which `level` differs from `baseline`, if there are several, that no other cell
/// changes alone.
fn missing_alone(plan: &Plan, baseline: &Cell, level: &Cell) -> BTreeSet<String> {
    let (from, to) = (settings(plan, baseline), settings(plan, level));
    let names = from.keys().chain(to.keys());
    let differing: BTreeSet<_> = names
        .filter(|name| from.get(*name) != to.get(*name))
        .collect();
    if differing.len() < 2 {
        return BTreeSet::new();
    }
    let all: Vec<_> = plan.cells.iter().map(|cell| settings(plan, cell)).collect();
    let changed_alone = |name: &String| {
        let mut wanted: BTreeMap<_, _> = from.clone();
        match to.get(name) {
            Some(value) => wanted.insert(name.clone(), value.clone()),
            None => wanted.remove(name),
        };
        all.contains(&wanted)
    };
    differing
        .into_iter()
        .filter(|name| !changed_alone(name))
        .cloned()
        .collect()
}
