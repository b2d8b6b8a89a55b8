//! R23: what was asked is what the server does.

use std::collections::{BTreeMap, BTreeSet};

use weir_model::{
    Bytes, Comparison, Finding, RuleId, ServerVariables, in_units, option_spelling,
    option_variable, variables,
};
use weir_variables::{meaning, native_variables};

use super::consequences::PROGRAM;
use super::evidence::some_of;
use super::{Design, Evidence, NOTES_WARNS_OR_FORBIDS, Rule};
use crate::cell_settings::CellSettings;
use crate::screen;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R23,
    title: "the server does what the study sets",
    checked: "Settings of a study against the servers' own variables (SHOW GLOBAL VARIABLES) and, on Linux, the \
              flags of their open data files. Error: the levels of a factor are one value on the server, so no \
              setting differs. Note: the server changed a setting that all levels share by more than 1 %, or \
              switched off a value that it did not understand. Warning: it writes pages through the page cache \
              although O_DIRECT is set, or one of several settings of a level stays the same. A setting that the \
              study gives to one of two server programs only is not compared. Before a run Weir asks an installed server of that version. No server reports options that \
              are no variable, such as `skip_grant_tables`.",
    reason: "Servers round, cap and switch off without an error. MySQL makes 256M of pools of 200M and of 250M; a \
             ratio of the two would be called the effect of memory. `general_log = maybe` is OFF; a capacity below \
             100 is 100.",
    remedy: "Choose levels that the server keeps apart, in the units that it rounds to. `weir plan` prints the \
             values of an installed server.",
    reference: "MySQL 8.4 manual, \"Configuring InnoDB Buffer Pool Size\" and \"Server System Variables\"; MariaDB \
                Knowledge Base, \"InnoDB System Variables\"",
    severities: NOTES_WARNS_OR_FORBIDS,
    design: check_design,
    comparison: check,
    study: check_study,
};

/// A setting is reported from this much more or less than asked: below, it is rounded to whole units.
const SUBSTITUTED_MIN: f64 = 0.01;

/// Values that two servers show of the settings in which they were meant to differ.
struct Levels {
    /// Setting -> what both say.
    same: BTreeMap<String, String>,
    /// True if something else differs.
    differs: bool,
}

impl Levels {
    /// `said` tells what a cell's server says of a setting, in one spelling for all that mean the same.
    fn new(
        declared: &BTreeSet<String>,
        cells: [usize; 2],
        said: impl Fn(usize, &str) -> Option<String>,
    ) -> Self {
        let mut found = Self {
            same: BTreeMap::new(),
            differs: false,
        };
        for name in declared {
            match cells.map(|cell| said(cell, name)) {
                [Some(baseline), Some(level)] if baseline == level => {
                    found.same.insert(name.clone(), baseline);
                }
                _ => found.differs = true,
            }
        }
        found
    }

    /// The finding about levels of a factor that asked the servers of `cells` for two values each.
    fn finding(&self, factor: &str, cells: [usize; 2], settings: &CellSettings) -> Option<Finding> {
        let values = cells.map(|cell| settings.settings(cell));
        let same_program = values[0].get(PROGRAM) == values[1].get(PROGRAM);
        let is_compared =
            |name: &String| same_program || values.iter().all(|of| of.contains_key(name));
        let same = self.same.iter().filter(|(name, _)| is_compared(name));
        let same: Vec<_> = same.collect();
        if same.is_empty() {
            return None;
        }
        let words = same.into_iter().map(|(name, value)| {
            let [baseline, level] = cells.map(|cell| asked(settings.settings(cell).get(name)));
            let value = in_units(value, &[&baseline, &level]);
            format!("{name} is {value} on the server, set to {baseline} and {level}")
        });
        let words = some_of(words, 4);
        Some(if self.differs {
            RULE.warning(format!(
                "one setting of the levels of {factor} stays the same ({words}), so the effect is of the others"
            ))
        } else {
            RULE.error(format!(
                "both levels of {factor} are one value ({words}), so the ratio is noise; choose levels that the server \
                 keeps apart"
            ))
        })
    }
}

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let cells = [comparison.baseline_cell, comparison.level_cell];
    let declared = evidence.declared(comparison);
    let levels = Levels::new(&declared, cells, |cell, name| {
        let said = evidence.said(cell, name);
        said.or_else(|| ignored(evidence, cell, name))
    });
    levels.finding(&comparison.factor, cells, &evidence.design.settings)
}

/// Returns the words for a `loose_` option that the server does not have.
fn ignored(evidence: &Evidence<'_>, cell: usize, name: &str) -> Option<String> {
    evidence.first_run(cell)?;
    let mut options = evidence.cell(cell).spec.primary().variables.keys();
    let is_loose = options.any(|option| {
        let option = option_spelling(option);
        option.starts_with("loose_") && option_variable(&option) == name
    });
    is_loose.then(|| "not there".to_owned())
}

fn asked(value: Option<&String>) -> String {
    value.map_or_else(|| "the default".to_owned(), |value| in_units(value, &[]))
}

/// Settings of which servers made something else, once, and pages that `O_DIRECT` did not keep from the page cache.
fn check_study(evidence: &Evidence<'_>) -> Vec<Finding> {
    let cells = || 0..evidence.result.plan.cells.len();
    let found: BTreeSet<_> = cells()
        .flat_map(|cell| substituted(evidence, cell))
        .collect();
    let substituted = (!found.is_empty()).then(|| {
        RULE.note(format!(
            "the server uses other values than the study sets: {}; the result is that of the server's values",
            some_of(found, 6)
        ))
    });
    let cached = cells().find_map(|cell| {
        let said = evidence.variables(cell)?;
        let why = said.get(variables::PAGES_CACHED_BECAUSE)?;
        Some(RULE.warning(format!(
            "data files go through the page cache ({why}), although O_DIRECT is set; the host's memory takes part in \
             the result"
        )))
    });
    substituted.into_iter().chain(cached).collect()
}

/// Settings of a cell of which its server made something else, as `innodb_io_capacity 100 of 1`.
fn substituted(evidence: &Evidence<'_>, cell: usize) -> Vec<String> {
    let node = evidence.cell(cell).spec.primary();
    let Some(said) = evidence.variables(cell) else {
        return Vec::new();
    };
    let flavor = node.server.flavor;
    let told = native_variables(flavor, evidence.version(cell), &node.variables);
    let Ok(told) = told else {
        return Vec::new();
    };
    let names = told.values().keys();
    names
        .filter_map(|name| substitution(&told, &said, name))
        .collect()
}

fn substitution(
    told: &ServerVariables<'_>,
    said: &ServerVariables<'_>,
    name: &str,
) -> Option<String> {
    let made = told.substitute(said, name)?;
    let written = told.get(name)?;
    let number = |text: &str| {
        let number: Option<f64> = text.parse().ok();
        number.or_else(|| Some(text.parse::<Bytes>().ok()?.0 as f64))
    };
    if let (Some(asked), Some(given)) = (number(written), number(made))
        && asked > 0.0
        && (given / asked - 1.0).abs() < SUBSTITUTED_MIN
    {
        return None;
    }
    let written = in_units(written, &[]);
    Some(format!(
        "{name} {} instead of {written}",
        in_units(made, &[&written])
    ))
}

/// Levels that the installed servers would make one.
fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let said = |cell: usize, name: &str| {
        let version = design.version(cell)?;
        meaning(design.variables(cell), version, name)
    };
    let mut findings: Vec<Finding> = Vec::new();
    for contrast in &design.contrasts {
        let cells = [contrast.baseline_cell, contrast.level_cell];
        let levels = Levels::new(&design.differing(contrast), cells, said);
        let found = levels.finding(&contrast.factor, cells, &design.settings);
        findings.extend(found.filter(|finding| !findings.contains(finding)));
    }
    for (candidate, cells) in screen::candidates(design.plan) {
        let names = candidate.variables.keys().map(|name| option_variable(name));
        let levels = Levels::new(&names.collect(), cells, said);
        findings.extend(levels.finding(&candidate.factor, cells, &design.settings));
    }
    findings
}
