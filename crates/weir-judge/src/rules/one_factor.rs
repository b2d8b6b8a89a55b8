//! R1: nothing but the factor differs between the two cells.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{Comparison, Finding, RuleId};

use super::consequences::{PROGRAM, UndeclaredDifferences};
use super::evidence::some_of;
use super::{Design, Evidence, NOTES_WARNS_OR_FORBIDS, Rule};
use crate::contrast::Contrast;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R1,
    title: "one factor differs between two levels",
    checked: "Weir compares SHOW GLOBAL VARIABLES of both servers. Error: any difference that you did not ask for. \
              Option files do not count, because a server rounds, caps and overrides. Between two different programs \
              only the variables that the study sets are compared. A setting that the study holds fixed and the \
              server does not is an error, too. Warning: the levels of a factor change several settings together. \
              Note: the server derives other variables from the factor. Weir knows that where it wrote the options \
              of both servers, these differ in the factor only, and all runs of a cell agree.",
    reason: "Four of five published studies changed several things at once: drive and doublewrite, hardware and \
             kernel and network, device and capacity. Their effect belongs to no single one of them.",
    remedy: "Set the variables that differ to the same value in `[server.config]`. Where settings have to move \
             together, add levels that change each of them alone.",
    reference: "five published studies (docs/studies/README.md); Raasveldt et al., \"Fair Benchmarking Considered \
                Difficult\", DBTest 2018, doi 10.1145/3209950.3209955",
    severities: NOTES_WARNS_OR_FORBIDS,
    design: check_design,
    comparison: check,
    study: check_study,
};

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let cells = [comparison.baseline_cell, comparison.level_cell];
    let unexplained = UndeclaredDifferences::between(evidence, cells)?.unexplained;
    if unexplained.is_empty() {
        return None;
    }
    let unexplained = unexplained.into_iter().map(str::to_owned);
    Some(RULE.error(format!(
        "the servers differ in more than {}: {}; set these to the same values in server.config",
        comparison.factor,
        some_of(unexplained, 12)
    )))
}

/// Returns the variables that the server derives from each factor, once.
fn check_study(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut by_factor: BTreeMap<&str, BTreeMap<&str, String>> = BTreeMap::new();
    for contrast in &evidence.design.contrasts {
        let cells = [contrast.baseline_cell, contrast.level_cell];
        let found = UndeclaredDifferences::between(evidence, cells).unwrap_or_default();
        for name in found.derived {
            let of_factor = by_factor.entry(&contrast.factor).or_default();
            of_factor
                .entry(name)
                .or_insert_with(|| change(evidence, cells, name));
        }
    }
    let told = by_factor.into_iter();
    told.map(|(factor, derived)| {
        RULE.note(format!(
            "with {factor} the server changes {} more ({}): it derives them, so they are part of the effect; set them \
             in server.config to hold them fixed",
            derived.len(),
            some_of(derived.into_values(), 6)
        ))
    })
    .collect()
}

/// `host_cache_size 279 -> 653`.
fn change(evidence: &Evidence<'_>, cells: [usize; 2], name: &str) -> String {
    let of = |cell| {
        let run = evidence.first_run(cell);
        let value = run.and_then(|run| run.variables.get(name));
        value.map_or("none", String::as_str)
    };
    let [from, to] = cells.map(of);
    format!("{name} {from} -> {to}")
}

/// Settings in which the cells of `contrast` differ; another server is as many as it has properties that differ.
fn moved_together(design: &Design<'_>, contrast: &Contrast) -> BTreeSet<String> {
    let mut names = design.differing(contrast);
    let (baseline, level) = design.cells(contrast);
    let [of_baseline, of_level] = [baseline, level].map(|cell| &cell.spec.primary().server);
    if of_baseline.flavor != of_level.flavor && of_baseline.version != of_level.version {
        names.remove(PROGRAM);
        names.extend(["server flavor", "server version"].map(str::to_owned));
    }
    names
}

/// Each factor whose levels move several settings, once.
fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let mut by_factor: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for contrast in &design.contrasts {
        let names = moved_together(design, contrast);
        if names.len() > 1 {
            by_factor.entry(&contrast.factor).or_default().extend(names);
        }
    }
    let bundles = by_factor.into_iter();
    bundles
        .map(|(factor, names)| {
            RULE.warning(format!(
                "the levels of {factor} change {} settings together ({}): an effect belongs to all \
                 of them, to none alone; add levels that change one at a time",
                names.len(),
                some_of(names, 6)
            ))
        })
        .collect()
}
