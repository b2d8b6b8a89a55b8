//! The rules that judge a design, a comparison and a result.
//!
//! One table, [`RULES`]: `weir explain`, `docs/rules.md` and the checks all read it. A rule looks at
//! the design before anything runs, at each comparison, and at the result as a whole; an error
//! makes a comparison invalid, *inconclusive* an effect, a warning could change the answer, a note could not. No
//! finding has another source than this table, and the severities in it are what findings are ranked by.

mod as_asked;
mod back_to_speed;
mod bound;
mod client;
mod combined;
mod conditions;
mod consequences;
mod cost;
mod drive_accuracy;
mod drive_profile;
mod drive_state;
mod durability;
mod errors;
mod events_as_named;
mod evidence;
mod faithful_replay;
mod hosts_agree;
mod latency_claims;
mod noise;
mod one_factor;
mod other_processes;
mod page_protection;
mod pages;
mod percentiles;
mod picked_points;
mod pool_grid;
mod provenance;
mod repetitions;
mod same_units;
mod scope;
mod steadiness;

use std::fmt::Write as _;

use weir_model::{Comparison, DriveProfile, Finding, Plan, RuleId, Severity};

use crate::settings_preview::SettingsPreview;

pub(crate) use self::evidence::{Design, Evidence};
pub(crate) use self::same_units::{nothing_in_common, other_questions};

/// A rule: what it asks, why, what is checked here, and what to do.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// Name of the rule.
    pub id: RuleId,
    /// Practice of a fair study, in a few words.
    pub title: &'static str,
    /// Checks of Weir, with thresholds, and their limits.
    pub checked: &'static str,
    /// Reason for the rule, with numbers.
    pub reason: &'static str,
    /// Remedy for a finding.
    pub remedy: &'static str,
    /// Source of method and numbers.
    pub reference: &'static str,
    /// Severities of its findings, the worst last.
    pub severities: &'static [Severity],
    /// Before anything runs.
    design: fn(&Design<'_>) -> Vec<Finding>,
    /// About two cells.
    comparison: fn(&Evidence<'_>, &Comparison) -> Option<Finding>,
    /// About all runs.
    study: fn(&Evidence<'_>) -> Vec<Finding>,
}

/// All rules, in the order of their numbers.
pub const RULES: [&Rule; 27] = [
    &one_factor::RULE,
    &durability::RULE,
    &page_protection::RULE,
    &repetitions::RULE,
    &noise::RULE,
    &steadiness::RULE,
    &percentiles::RULE,
    &latency_claims::RULE,
    &same_units::RULE,
    &conditions::RULE,
    &pool_grid::RULE,
    &picked_points::RULE,
    &combined::RULE,
    &client::RULE,
    &drive_state::RULE,
    &errors::RULE,
    &cost::RULE,
    &provenance::RULE,
    &scope::RULE,
    &events_as_named::RULE,
    &faithful_replay::RULE,
    &back_to_speed::RULE,
    &as_asked::RULE,
    &other_processes::RULE,
    &drive_accuracy::RULE,
    &drive_profile::RULE,
    &hosts_agree::RULE,
];

const ONLY_NOTES: &[Severity] = &[Severity::Note];
const ONLY_WARNS: &[Severity] = &[Severity::Warning];
const NOTES_OR_WARNS: &[Severity] = &[Severity::Note, Severity::Warning];
const NOTES_WARNS_OR_FORBIDS: &[Severity] = &[Severity::Note, Severity::Warning, Severity::Error];
const MAKES_INCONCLUSIVE: &[Severity] = &[Severity::Inconclusive];
const FORBIDS: &[Severity] = &[Severity::Error];
const WARNS_OR_FORBIDS: &[Severity] = &[Severity::Warning, Severity::Error];

impl Rule {
    /// A rule with nothing to check yet: the fields that a rule does not use.
    const NONE: Self = Self {
        id: RuleId::Drive,
        title: "",
        checked: "",
        reason: "",
        remedy: "",
        reference: "",
        severities: ONLY_WARNS,
        design: |_| Vec::new(),
        comparison: |_, _| None,
        study: |_| Vec::new(),
    };

    /// The rule that is called `id`.
    pub fn by_id(id: RuleId) -> &'static Self {
        let found = RULES.into_iter().find(|rule| rule.id == id);
        found.expect("invariant: each rule stands in the table")
    }

    /// Returns its severities in words: `note`, `inconclusive`, `warning or error`, `note, warning or error`.
    pub fn severity_words(&self) -> String {
        let words = self.severities.iter().map(|severity| match severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Inconclusive => "inconclusive",
            Severity::Error => "error",
        });
        let words: Vec<_> = words.collect();
        match words.as_slice() {
            [first @ .., last] if first.len() > 1 => format!("{} or {last}", first.join(", ")),
            words => words.join(" or "),
        }
    }

    fn note(&self, message: String) -> Finding {
        self.finding(Severity::Note, message)
    }

    fn warning(&self, message: String) -> Finding {
        self.finding(Severity::Warning, message)
    }

    fn inconclusive(&self, message: String) -> Finding {
        self.finding(Severity::Inconclusive, message)
    }

    fn error(&self, message: String) -> Finding {
        self.finding(Severity::Error, message)
    }

    fn finding(&self, severity: Severity, message: String) -> Finding {
        debug_assert!(self.severities.contains(&severity), "{}", self.id);
        Finding {
            rule: self.id,
            severity,
            message,
        }
    }
}

/// Returns the findings on `plan` before anything runs, on `drives` and with servers that answered as in `preview`.
pub fn findings_of_design(
    plan: &Plan,
    drives: &[DriveProfile],
    preview: &SettingsPreview,
) -> Vec<Finding> {
    let design = Design::new(plan, drives, preview);
    RULES
        .iter()
        .flat_map(|rule| (rule.design)(&design))
        .collect()
}

/// Returns the findings on `comparison`.
pub(crate) fn of_comparison(evidence: &Evidence<'_>, comparison: &Comparison) -> Vec<Finding> {
    RULES
        .iter()
        .filter_map(|rule| (rule.comparison)(evidence, comparison))
        .collect()
}

/// Returns true if `finding` forbids to rank the levels of `comparison`, but says nothing against their numbers.
pub(crate) fn is_of_ranking(
    evidence: &Evidence<'_>,
    comparison: &Comparison,
    finding: &Finding,
) -> bool {
    let changed = durability::changed_meanwhile(evidence, comparison);
    finding.rule == RuleId::R2 && changed.is_none()
}

/// Returns the findings on the study as a whole.
pub(crate) fn of_study(evidence: &Evidence<'_>) -> Vec<Finding> {
    RULES
        .iter()
        .flat_map(|rule| (rule.study)(evidence))
        .collect()
}

/// `docs/rules.md`, from the table of rules.
pub fn rules_as_markdown() -> String {
    let mut text = String::from(
        "# Rules\n\nA study can be wrong in ways that its numbers do not show. Weir checks these rules before a \
         run\n(`weir plan`), on every comparison, and on the result as a whole. Print one of them:\n\n```\nweir \
         explain R4\n```\n\n| severity | consequence |\n|---|---|\n| error | the comparison is *invalid*, exit \
         code 3 |\n| inconclusive | no effect is shown |\n| warning | could change the answer: \
         printed below it |\n| note | good to know: in the report, or by `weir explain` |\n\nThis page is \
         generated from the rules (`crates/weir-judge/src/rules/`).\n\n| rule | checks that | severity \
         |\n|---|---|---|\n",
    );
    // Writing to a String cannot fail.
    for rule in RULES {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            rule.id,
            rule.title,
            rule.severity_words()
        );
    }
    for rule in RULES {
        let _ = write!(
            text,
            "\n## {}: {}\n\n**Checked.** {}\n\n**Why.** {}\n\n**What to do.** {}\n\n**Reference.** {}\n",
            rule.id, rule.title, rule.checked, rule.reason, rule.remedy, rule.reference
        );
    }
    text
}

#[cfg(test)]
mod published_designs;
#[cfg(test)]
pub(crate) mod tests;
