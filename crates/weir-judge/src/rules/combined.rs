//! R13: a claim about two changes together needs each of them alone.

use std::collections::BTreeSet;

use weir_model::{Comparison, Finding, RuleId};

use super::evidence::some_of;
use super::{Design, Evidence, FORBIDS, Rule};
use crate::cell_settings::CellSettings;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R13,
    title: "a claim about A and B has A, B, both and neither",
    checked: "A claim about two levels that differ in several settings, when the study has no cell in which one of \
              these settings changes alone. Where all four cells are there, the report prints the interaction.",
    reason: "Alibaba claims +93 % for two features together. One alone gave +48 %, the other +30 %: 1.48 x 1.30 is \
             1.92, so the 93 % are most likely both against *neither*, which the manual does not say. Without the \
             single arms a buyer cannot choose.",
    remedy: "Add the levels with each change alone, or withdraw the claim.",
    reference: "Alibaba Cloud (docs/studies/alibaba-write-optimisation.md); Montgomery, \"Design and Analysis of \
                Experiments\", chapter 5",
    severities: FORBIDS,
    design: check_design,
    comparison: check,
    ..Rule::NONE
};

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    finding(
        &evidence.design,
        [&comparison.factor, &comparison.baseline, &comparison.level],
        (comparison.baseline_cell, comparison.level_cell),
    )
}

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let contrasts = design.contrasts.iter();
    let found = contrasts.filter_map(|contrast| {
        finding(
            design,
            [&contrast.factor, &contrast.baseline, &contrast.level],
            (contrast.baseline_cell, contrast.level_cell),
        )
    });
    found.collect()
}

/// About two cells, the baseline first.
fn finding(
    design: &Design<'_>,
    [factor, baseline, level]: [&str; 3],
    cells: (usize, usize),
) -> Option<Finding> {
    if !design.claimed.contains(&cells) {
        return None;
    }
    let missing = missing_alone(&design.settings, cells);
    (!missing.is_empty()).then(|| {
        RULE.error(format!(
            "a claim credits {factor} {level} with all that differs from {baseline}, but no cell \
             changes {} alone; add such levels",
            some_of(missing, 4)
        ))
    })
}

/// The settings in which `level` differs from `baseline`, if there are several, that no other cell
/// changes alone.
fn missing_alone(settings: &CellSettings, (baseline, level): (usize, usize)) -> BTreeSet<String> {
    let mut differing = settings.differing(baseline, level);
    if differing.len() < 2 {
        return BTreeSet::new();
    }
    let changed_alone = |name: &String| {
        let mut wanted = settings.settings(baseline).clone();
        match settings.settings(level).get(name) {
            Some(value) => wanted.insert(name.clone(), value.clone()),
            None => wanted.remove(name),
        };
        settings.has(&wanted)
    };
    differing.retain(|name| !changed_alone(name));
    differing
}
