//! R1: nothing but the factor differs between the two cells.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::variables::BUFFER_POOL_SIZE;
use weir_model::{Comparison, Finding, RuleId, RunResult};

use super::evidence::some_of;
use super::{Design, Evidence, Rule, WARNS_OR_FORBIDS};
use crate::compare::Contrast;
use crate::setting::is_setting;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R1,
    title: "one factor differs between two levels",
    checked: "Error: the servers' own variables (SHOW GLOBAL VARIABLES, not the option files: a server \
              rounds, caps and overrides) differ in more than the two cells declare; between two \
              different programs only the variables that the study sets are compared. Warning: the \
              levels of a factor change several settings together, by the design.",
    reason: "Four of the five published studies changed several things at once: drive and doublewrite, \
             hardware and kernel and network, device and capacity. Their effect belongs to no single \
             one of them.",
    remedy: "Set what differs to the same value in `[server.config]`. Where settings have to move \
             together, add levels that change each of them alone.",
    reference: "published studies, section 6; SIGMOD/DBTest 2018, Raasveldt et al., \"Fair Benchmarking \
                Considered Difficult\", doi 10.1145/3209950.3209955",
    severities: WARNS_OR_FORBIDS,
    design: check_design,
    comparison: check,
    ..Rule::NONE
};

/// Variables with those that the server derives from them.
const DERIVED: [(&str, &[&str]); 2] = [
    (
        BUFFER_POOL_SIZE,
        &[
            "innodb_buffer_pool_chunk_size",
            "innodb_buffer_pool_instances",
            "innodb_buffer_pool_size_auto_min",
            "innodb_buffer_pool_size_max",
            "innodb_lru_scan_depth",
            "innodb_page_cleaners",
        ],
    ),
    ("innodb_io_capacity", &["innodb_io_capacity_max"]),
];

/// The setting that is another server program: its version's defaults come with it.
const PROGRAM: &str = "server";

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let baseline = evidence.first_run(comparison.baseline_cell)?;
    let level = evidence.first_run(comparison.level_cell)?;
    let declared = evidence.declared(comparison);
    let is_derived = |name: &str| {
        let mut varying = DERIVED.iter().filter(|(from, _)| declared.contains(*from));
        varying.any(|(_, derived)| derived.contains(&name))
    };
    let program_varies = declared.contains(PROGRAM);
    // Each program has its own name for it.
    let same_log = baseline.redo_log_capacity() == level.redo_log_capacity();
    // What the study sets in one of both only is declared.
    let set = &evidence
        .cell(comparison.baseline_cell)
        .spec
        .primary()
        .variables;
    let undeclared: Vec<_> = differing_variables(baseline, level)
        .into_iter()
        .filter(|name| !declared.contains(*name) && is_setting(name))
        .filter(|name| !is_derived(name))
        .filter(|name| !program_varies || set.contains_key(*name))
        .filter(|name| !(same_log && RunResult::REDO_LOG_VARIABLES.contains(name)))
        .map(str::to_owned)
        .collect();
    if undeclared.is_empty() {
        return None;
    }
    Some(RULE.error(format!(
        "the servers differ in more than {}: {}; set these to the same values in server.config",
        comparison.factor,
        some_of(undeclared, 12)
    )))
}

/// Names of the variables that only one of both has, or that differ. Both are sorted, so one pass over
/// them side by side is enough: there are hundreds of variables and may be hundreds of comparisons.
fn differing_variables<'a>(baseline: &'a RunResult, level: &'a RunResult) -> BTreeSet<&'a str> {
    let mut differing = BTreeSet::new();
    let (mut of_baseline, mut of_level) = (baseline.variables.iter(), level.variables.iter());
    let (mut one, mut other) = (of_baseline.next(), of_level.next());
    while let Some(name) = one.into_iter().chain(other).map(|(name, _)| name).min() {
        let [has_one, has_other] = [one, other].map(|of| of.is_some_and(|of| of.0 == name));
        if !has_one || !has_other || one != other {
            differing.insert(name.as_str());
        }
        if has_one {
            one = of_baseline.next();
        }
        if has_other {
            other = of_level.next();
        }
    }
    differing
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
