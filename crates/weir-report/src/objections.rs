//! Objections to an answer: while one stands, the first sentence is a finding and no advice.

use std::collections::BTreeSet;

use weir_model::{Comparison, Finding, RuleId, Severity, Verdict};

/// Rules that speak against acting on an answer: durability, page protection, steadiness, doubtful profiles.
const RULES: [RuleId; 4] = [RuleId::R2, RuleId::R3, RuleId::R6, RuleId::Profile];

/// Objections to one answer, in the order of their words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Objections(BTreeSet<String>);

impl Objections {
    /// Gathers those of the study, of the comparisons that the answer rests on, and of refused ones beside them.
    pub(crate) fn new(study: &[Finding], basis: &[&Comparison], all: &[&Comparison]) -> Self {
        let of_study = study
            .iter()
            .filter(|found| objects(found, Severity::Warning));
        let of_basis = basis.iter().flat_map(|comparison| &comparison.findings);
        // Of a comparison the note of R3 says that no power cut has tested its level.
        let of_basis = of_basis.filter(|found| {
            let is_untested = found.rule == RuleId::R3;
            objects(
                found,
                if is_untested {
                    Severity::Note
                } else {
                    Severity::Warning
                },
            )
        });
        let rules = of_study.chain(of_basis).map(|found| match found.rule {
            RuleId::Profile => "the rule profile".to_owned(),
            rule => rule.to_string(),
        });
        let mut found: BTreeSet<_> = rules.collect();
        if all
            .iter()
            .any(|comparison| comparison.verdict == Verdict::Invalid)
        {
            found.insert("a refused comparison".to_owned());
        }
        Self(found)
    }

    /// Returns the condition that has to fall first: `while R3 and R6 object`; `None` without objections.
    pub(crate) fn words(&self) -> Option<String> {
        let mut all: Vec<&str> = self.0.iter().map(String::as_str).collect();
        let last = all.pop()?;
        Some(if all.is_empty() {
            format!("while {last} objects")
        } else {
            format!("while {} and {last} object", all.join(", "))
        })
    }
}

fn objects(finding: &Finding, least: Severity) -> bool {
    RULES.contains(&finding.rule) && finding.severity >= least
}
