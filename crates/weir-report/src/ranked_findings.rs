//! Findings by what they could change: what a reader sees first, a line for each rule.

use serde::Serialize;
use weir_model::{Comparison, Finding, Rank, RuleId, Severity, Verdict};

use crate::comparison_sentences::Answer;
use crate::words::count;

/// Findings in two groups; of notes only how many there are.
#[derive(Debug, Serialize, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RankedFindings {
    /// Findings that refuse a verdict, besides those already in the verdict's sentence.
    pub(crate) refused: Vec<RuleLine>,
    pub(crate) could_change: Vec<RuleLine>,
    /// `2 more notes (R7, R17): ...`; empty without notes.
    pub(crate) notes: String,
}

/// Finding of a rule, in one line.
#[derive(Debug, Serialize, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct RuleLine {
    pub(crate) rule: RuleId,
    pub(crate) text: String,
}

impl RankedFindings {
    /// `of_study` are findings about all of it.
    pub(crate) fn new(comparisons: &[Comparison], of_study: &[Finding]) -> Self {
        let mut found: Vec<FindingScope<'_>> = Vec::new();
        let of_comparisons = comparisons.iter().flat_map(|comparison| {
            let findings = comparison.findings.iter().enumerate();
            let told = move |index: usize| is_in_sentence(comparison, index);
            findings
                .filter(move |(index, _)| !told(*index))
                .map(move |(_, finding)| (finding, Some(comparison)))
        });
        let of_study = of_study.iter().map(|finding| (finding, None));
        for (finding, comparison) in of_study.chain(of_comparisons) {
            let same = |known: &&mut FindingScope<'_>| known.finding == finding;
            match found.iter_mut().find(same) {
                Some(known) => known.comparisons.extend(comparison),
                None => found.push(FindingScope {
                    finding,
                    comparisons: comparison.into_iter().collect(),
                }),
            }
        }
        Self {
            refused: lines(&found, Rank::Refused),
            could_change: lines(&found, Rank::CouldChange),
            notes: notes(&found),
        }
    }
}

/// A finding with the comparisons that it is about; none: it is about the study.
struct FindingScope<'a> {
    finding: &'a Finding,
    comparisons: Vec<&'a Comparison>,
}

impl FindingScope<'_> {
    fn rank(&self) -> Rank {
        self.finding.severity.rank()
    }

    /// `innodb_doublewrite OFF / ON on intel-p4610`, `3 comparisons`.
    fn place(&self) -> Option<String> {
        match self.comparisons.as_slice() {
            [] => None,
            [comparison] => {
                let answer = Answer::new(comparison);
                let context = match answer.context.as_str() {
                    "" => String::new(),
                    context => format!(", {context}"),
                };
                Some(answer.what + &context)
            }
            comparisons => Some(count(comparisons.len(), "comparison")),
        }
    }
}

/// Returns true if the comparison's own sentence has its finding, or there is nothing left that the finding could
/// change.
fn is_in_sentence(comparison: &Comparison, index: usize) -> bool {
    let findings = &comparison.findings;
    match findings[index].severity {
        Severity::Inconclusive => true,
        Severity::Error => {
            let first = findings
                .iter()
                .position(|found| found.severity == Severity::Error);
            first == Some(index)
        }
        Severity::Warning => comparison.verdict == Verdict::Invalid,
        Severity::Note => false,
    }
}

/// One line for each rule with findings of that rank, in the order in which they were found.
fn lines(found: &[FindingScope<'_>], rank: Rank) -> Vec<RuleLine> {
    let ranked = || found.iter().filter(|found| found.rank() == rank);
    rules(ranked())
        .into_iter()
        .filter_map(|rule| {
            let mut of_rule = ranked().filter(|found| found.finding.rule == rule);
            let first = of_rule.next()?;
            let more = of_rule.count();
            let more = (more > 0).then(|| format!("{more} more of {rule} in the report"));
            let beside: Vec<_> = first.place().into_iter().chain(more).collect();
            let beside = match beside.as_slice() {
                [] => String::new(),
                words => format!(" ({})", words.join("; ")),
            };
            Some(RuleLine {
                rule,
                text: first.finding.message.clone() + &beside,
            })
        })
        .collect()
}

fn rules<'a>(found: impl Iterator<Item = &'a FindingScope<'a>>) -> Vec<RuleId> {
    let mut rules = Vec::new();
    for rule in found.map(|found| found.finding.rule) {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn notes(found: &[FindingScope<'_>]) -> String {
    let notes = || {
        found
            .iter()
            .filter(|found| found.rank() == Rank::GoodToKnow)
    };
    let rules = rules(notes());
    let Some(first) = rules.first() else {
        return String::new();
    };
    let names: Vec<_> = rules.iter().map(ToString::to_string).collect();
    format!(
        "{} ({}): `weir explain {first}`, or in the report",
        count(notes().count(), "more note"),
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn finding(rule: RuleId, severity: Severity, message: &str) -> Finding {
        Finding {
            rule,
            severity,
            message: message.to_owned(),
        }
    }

    #[test]
    fn each_rule_has_one_line_and_notes_have_one_together() {
        let mut comparisons = sample::study(4, 3).comparisons;
        comparisons.truncate(3);
        for comparison in &mut comparisons {
            comparison.verdict = Verdict::Effect;
            comparison.findings = vec![
                finding(RuleId::R4, Severity::Warning, "few"),
                finding(RuleId::R7, Severity::Note, "steps"),
            ];
        }
        let context = Answer::new(&comparisons[0]);
        let place = format!("{}, {}", context.what, context.context);
        comparisons[0].findings[0].message = "fewer".to_owned();
        let of_study = [
            finding(RuleId::R6, Severity::Warning, "short"),
            finding(RuleId::R19, Severity::Error, "beyond"),
            finding(RuleId::R17, Severity::Note, "no price"),
        ];
        let ranked = RankedFindings::new(&comparisons, &of_study);
        let line = |rule, text: &str| RuleLine {
            rule,
            text: text.to_owned(),
        };
        assert_eq!(
            ranked,
            RankedFindings {
                refused: vec![line(RuleId::R19, "beyond")],
                could_change: vec![
                    line(RuleId::R6, "short"),
                    line(
                        RuleId::R4,
                        &format!("fewer ({place}; 1 more of R4 in the report)")
                    ),
                ],
                notes: "2 more notes (R17, R7): `weir explain R17`, or in the report".to_owned(),
            }
        );
    }

    #[test]
    fn what_a_sentence_tells_or_took_away_is_not_told_again() {
        let mut comparison = sample::study(4, 3).comparisons.remove(0);
        comparison.verdict = Verdict::Invalid;
        comparison.findings = vec![
            finding(RuleId::R4, Severity::Warning, "few"),
            finding(RuleId::R2, Severity::Error, "unequal"),
            finding(RuleId::R1, Severity::Error, "two factors"),
        ];
        let ranked = RankedFindings::new(&[comparison], &[]);
        assert_eq!(ranked.refused.len(), 1);
        assert_eq!(ranked.refused[0].rule, RuleId::R1);
        assert_eq!(ranked.could_change, []);
        assert_eq!(ranked.notes, "");
    }
}
