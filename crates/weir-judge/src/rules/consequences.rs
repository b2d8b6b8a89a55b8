//! Consequences of a setting in a server: variables that it derives from it.
//!
//! Weir writes the whole option file of a server that it starts, and keeps it with the run. Where two of them
//! differ in declared settings only, the server itself made whatever else differs between all runs of the two cells.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::RunResult;
use weir_model::variables::{BUFFER_POOL_SIZE, NO_VARIABLE};

use super::Evidence;
use crate::instance_variables::{is_setting, on_any_storage};

/// Variables with those that a server is known to derive from them, for servers whose options are not Weir's.
const DERIVED: [(&str, &[&str]); 3] = [
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
    ("innodb_io_capacity_max", &["innodb_io_capacity"]),
];

/// Settings of the process, which servers derive variables from too.
const OF_THE_PROCESS: [&str; 2] = ["cpus", "memory"];

/// The setting that is another server program: its version's defaults come with it.
pub(super) const PROGRAM: &str = "server";

/// Variables that differ between two cells and are not declared to.
#[derive(Debug, Default)]
pub(super) struct UndeclaredDifferences<'a> {
    /// Nothing says why.
    pub(super) unexplained: Vec<&'a str>,
    /// The server derives them from what is declared.
    pub(super) derived: Vec<&'a str>,
}

impl<'a> UndeclaredDifferences<'a> {
    /// Of two cells, the baseline first; `None` without runs of both.
    pub(super) fn between(evidence: &Evidence<'a>, cells: [usize; 2]) -> Option<Self> {
        let baseline = evidence.first_run(cells[0])?;
        let level = evidence.first_run(cells[1])?;
        let declared = evidence.declared_variables(cells);
        // Each program has its own name for it.
        let same_log = baseline.redo_log_capacity() == level.redo_log_capacity();
        let set = declared
            .contains(PROGRAM)
            .then(|| set_apart(evidence, cells));
        let derivation = Derivation::new(evidence, cells, &declared);
        let mut found = Self::default();
        let is_same_place = |name: &str| {
            let [one, other] = [baseline, level].map(|run| run.variables.get(name));
            one.zip(other)
                .is_some_and(|(one, other)| on_any_storage(one) == on_any_storage(other))
        };
        for name in differing_variables(baseline, level) {
            if declared.contains(name)
                || !is_setting(name)
                // Rules of their own tell these.
                || name.starts_with(NO_VARIABLE)
                || is_same_place(name)
                || same_log && RunResult::REDO_LOG_VARIABLES.contains(&name)
                || set.as_ref().is_some_and(|set| !set.contains(name))
            {
                continue;
            }
            if derivation.explains(evidence, cells, name) {
                found.derived.push(name);
            } else {
                found.unexplained.push(name);
            }
        }
        Some(found)
    }
}

/// Names of the variables that the study sets, and that two programs do not say alike, each by its own name.
fn set_apart(evidence: &Evidence<'_>, cells: [usize; 2]) -> BTreeSet<String> {
    // What the study sets in one of both only is declared.
    let set = evidence.cell(cells[0]).spec.primary().variables.keys();
    let apart = set.filter(|name| {
        let [baseline, level] = cells.map(|cell| evidence.said(cell, name));
        baseline.is_none() || baseline != level
    });
    apart
        .flat_map(|name| cells.map(|cell| evidence.shown_names(cell, name)))
        .flatten()
        .collect()
}

/// Reason that variables of two servers differ.
struct Derivation {
    /// Variables with the same setting on both servers, if the settings differ only in what is declared;
    /// `None`: nothing follows.
    fixed: Option<BTreeSet<String>>,
    /// Known consequences of the declared variables.
    known: BTreeSet<&'static str>,
}

impl Derivation {
    fn new(evidence: &Evidence<'_>, cells: [usize; 2], declared: &BTreeSet<String>) -> Self {
        let known = DERIVED.iter().filter(|(from, _)| declared.contains(*from));
        Self {
            fixed: fixed_variables(evidence, cells, declared),
            known: known
                .flat_map(|(_, derived)| derived.iter().copied())
                .collect(),
        }
    }

    /// A variable that the study holds fixed and the server does not is no consequence that a reader expects. Nor is
    /// one that differs between runs of one cell.
    fn explains(&self, evidence: &Evidence<'_>, cells: [usize; 2], name: &str) -> bool {
        let is_constant = |cell: usize| {
            let runs = evidence.runs.runs(cell).iter();
            let values: BTreeSet<_> = runs.map(|run| run.variables.get(name)).collect();
            values.len() <= 1
        };
        let follows =
            |fixed: &BTreeSet<String>| !fixed.contains(name) && cells.into_iter().all(is_constant);
        self.known.contains(name) || self.fixed.as_ref().is_some_and(follows)
    }
}

/// Variables with the same setting on both servers, if Weir wrote their options, and these differ in what is
/// `declared` only.
fn fixed_variables(
    evidence: &Evidence<'_>,
    cells: [usize; 2],
    declared: &BTreeSet<String>,
) -> Option<BTreeSet<String>> {
    let of_process = OF_THE_PROCESS.iter().any(|name| declared.contains(*name));
    let of = |cell: usize| server_command(evidence.first_run(cell)?);
    let [(program, told), (other, others)] = [of(cells[0])?, of(cells[1])?];
    let same = program == other && evidence.version(cells[0]) == evidence.version(cells[1]);
    if of_process || !same {
        return None;
    }
    let shown = |option: &str| evidence.shown_names(cells[0], option);
    let options: BTreeSet<_> = told.keys().chain(others.keys()).copied().collect();
    let (fixed, differing): (Vec<_>, Vec<_>) = options
        .into_iter()
        .partition(|name| told.get(name) == others.get(name));
    let is_declared = |option: &&str| !shown(option).is_disjoint(declared);
    let follows = !differing.is_empty() && differing.iter().all(is_declared);
    follows.then(|| fixed.into_iter().flat_map(shown).collect())
}

/// Program and options of the server that Weir started for `run`.
fn server_command(run: &RunResult) -> Option<(&str, BTreeMap<&str, &str>)> {
    let mut commands = run.commands.iter();
    let command = commands.find(|command| command.contains(" --datadir="))?;
    let mut words = command.split(" --");
    let program = words.next()?;
    let options = words.map(|option| option.split_once('=').unwrap_or((option, "")));
    Some((program, options.collect()))
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
