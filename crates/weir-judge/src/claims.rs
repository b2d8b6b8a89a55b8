//! Published claims beside what was measured here: borne out, refuted, or neither.

use weir_model::{
    Agreement, Bound, Claim, ClaimVerdict, Comparison, EqualityTest, Finding, Ratio, Severity,
    Verdict,
};

use crate::claim_contrasts::{Subject, metric, subject};
use crate::compare::compare;
use crate::contrast::Contrast;
use crate::estimate_ratio::Pairing;
use crate::measured::value;
use crate::percent;
use crate::rules::{self, Evidence};

/// Begin of the reason where a rule refuses the numbers.
const INVALID: &str = "invalid (";
/// Begin of what a rule adds to a reason that forbids to rank the levels.
const NO_RANKING: &str = "; no ranking (";

/// Returns the verdict on every claim, in each context that it speaks of.
pub(crate) fn verdicts(evidence: &Evidence<'_>) -> Vec<ClaimVerdict> {
    let plan = &evidence.result.plan;
    let claims = plan.claims.iter().enumerate();
    claims
        .flat_map(
            |(index, claim)| match subject(plan, &evidence.design.index, claim) {
                Subject::Contrasts(contrasts) => contrasts
                    .iter()
                    .map(|contrast| verdict(evidence, index, claim, contrast))
                    .collect(),
                Subject::Unknown(why) => vec![ClaimVerdict {
                    claim: index,
                    context: claim.at.clone(),
                    measured: None,
                    agreement: Agreement::CannotSay,
                    why,
                }],
            },
        )
        .collect()
}

fn verdict(
    evidence: &Evidence<'_>,
    claim: usize,
    published: &Claim,
    contrast: &Contrast,
) -> ClaimVerdict {
    let plan = &evidence.result.plan;
    let measured = compare(plan, evidence.runs, contrast, Pairing::Repetition);
    let findings = measured
        .as_ref()
        .map(|comparison| rules::of_comparison(evidence, comparison))
        .unwrap_or_default();
    let (agreement, why) = match &measured {
        None => (
            Agreement::CannotSay,
            why_without_ratio(evidence, contrast, metric(published)),
        ),
        Some(comparison) => agreement(evidence, comparison, &findings, published),
    };
    ClaimVerdict {
        claim,
        context: contrast.context.clone(),
        measured: measured.map(|comparison| comparison.estimate()),
        agreement,
        why,
    }
}

fn why_without_ratio(evidence: &Evidence<'_>, contrast: &Contrast, metric: &str) -> String {
    let cells = [contrast.level_cell, contrast.baseline_cell];
    let was_measured = |cell: usize| {
        let mut runs = evidence.runs.runs(cell).iter();
        runs.any(|run| value(run, metric).is_some())
    };
    if cells.into_iter().all(was_measured) {
        "it was 0, of which there is no ratio".to_owned()
    } else {
        "it was not measured".to_owned()
    }
}

/// A number is held against another also where a rule forbids to rank the two levels by it: so was the published
/// one. The report says so.
fn agreement(
    evidence: &Evidence<'_>,
    comparison: &Comparison,
    findings: &[Finding],
    published: &Claim,
) -> (Agreement, String) {
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    let (of_ranking, of_numbers): (Vec<_>, Vec<_>) =
        errors.partition(|finding| rules::is_of_ranking(evidence, comparison, finding));
    if let Some(finding) = of_numbers.first() {
        let why = format!("{INVALID}{}): {}", finding.rule, finding.message);
        return (Agreement::CannotSay, why);
    }
    let equality = Equality {
        margin: evidence.result.plan.repeat.equal_margin(),
        // Each claim is a question of its own, so that nothing is corrected for the others.
        is_shown: comparison
            .equality
            .is_some_and(|test| test.p_value <= EqualityTest::P_VALUE_MAX),
    };
    let (agreement, why) = agreement_of_ratio(&comparison.estimate(), equality, published);
    match of_ranking.first() {
        Some(finding) => (agreement, format!("{why}{NO_RANKING}{})", finding.rule)),
        None => (agreement, why),
    }
}

/// Equality of two levels, as far as it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Equality {
    /// Levels are equal within this share.
    pub(crate) margin: f64,
    /// True if they surely are.
    pub(crate) is_shown: bool,
}

/// Returns the agreement of a ratio with a claim, and the reason.
pub(crate) fn agreement_of_ratio(
    measured: &Ratio,
    equality: Equality,
    published: &Claim,
) -> (Agreement, String) {
    match published.bound {
        Bound::Equal if says_equal(published) => of_equality(measured, equality),
        Bound::Equal => of_interval(measured, published.value),
        Bound::Above => of_bound(measured, published.value, false),
        Bound::Below => of_bound(measured, published.value, true),
    }
}

/// Returns true if a rule refuses the numbers that a claim would be held against.
pub(crate) fn is_refused(verdict: &ClaimVerdict) -> bool {
    verdict.why.starts_with(INVALID)
}

/// Returns the end of a reason that says that the levels may not be ranked.
pub(crate) fn ranking_words(verdict: &ClaimVerdict) -> &str {
    let at = verdict.why.find(NO_RANKING);
    at.map_or("", |at| &verdict.why[at..])
}

/// Returns the agreement of the interval with a claim of one side of `value`.
fn of_bound(measured: &Ratio, value: f64, below: bool) -> (Agreement, String) {
    let Some((low, high)) = measured.interval() else {
        let why = "too few repetitions for an interval";
        return (Agreement::CannotSay, why.to_owned());
    };
    let (agreement, why) = if (low..=high).contains(&value) {
        (Agreement::CannotSay, "the interval reaches to both sides")
    } else if (high < value) == below {
        (Agreement::Agrees, "the interval lies on the claimed side")
    } else {
        (Agreement::Disagrees, "the interval lies on the other side")
    };
    (agreement, why.to_owned())
}

/// A claim this close to 1 is that both levels are equal.
const EQUAL: f64 = 0.01;

/// Returns true if the claim is that both levels are about equal.
pub(crate) fn says_equal(claim: &Claim) -> bool {
    claim.bound == Bound::Equal && (claim.value - 1.0).abs() <= EQUAL
}

/// Returns the agreement with a claim that both levels are about equal.
fn of_equality(measured: &Ratio, equality: Equality) -> (Agreement, String) {
    let percent = percent(equality.margin);
    if measured.interval().is_none() {
        let why = "too few repetitions for an interval";
        (Agreement::CannotSay, why.to_owned())
    } else if equality.is_shown {
        let why = format!("both are equal within {percent} %");
        (Agreement::Agrees, why)
    } else if measured.differs_from_one() {
        let why = format!("both differ, and equality within {percent} % was not shown");
        (Agreement::Disagrees, why)
    } else {
        let why = format!("neither a difference was shown nor equality within {percent} %");
        (Agreement::CannotSay, why)
    }
}

fn of_interval(measured: &Ratio, value: f64) -> (Agreement, String) {
    let Some((low, high)) = measured.interval() else {
        let why = "too few repetitions for an interval";
        return (Agreement::CannotSay, why.to_owned());
    };
    if (low..=high).contains(&value) {
        return if measured.differs_from_one() {
            (
                Agreement::Agrees,
                "the interval holds the published number".to_owned(),
            )
        } else {
            let why = "the interval holds the published number and also no effect at all";
            (Agreement::CannotSay, why.to_owned())
        };
    }
    let why = if !measured.differs_from_one() {
        "no effect was shown, and the published one is outside the interval"
    } else if (measured.ratio > 1.0) != (value > 1.0) {
        "the effect has the other direction"
    } else if (measured.ratio.ln().abs()) < value.ln().abs() {
        "the effect is smaller than published"
    } else {
        "the effect is larger than published"
    };
    (Agreement::Disagrees, why.to_owned())
}

/// Returns true if a comparison is one that a report may quote a ratio of.
pub(crate) fn is_valid(comparison: &Comparison) -> bool {
    comparison.verdict != Verdict::Invalid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(low: f64, high: f64) -> Ratio {
        Ratio {
            ratio: (low * high).sqrt(),
            low: Some(low),
            high: Some(high),
        }
    }

    #[test]
    fn an_interval_agrees_disagrees_or_cannot_say() {
        let of = |low, high, value| of_interval(&measured(low, high), value);
        assert_eq!(of(1.40, 1.55, 1.48).0, Agreement::Agrees);
        assert_eq!(of(0.90, 1.60, 1.48).0, Agreement::CannotSay);
        let (agreement, why) = of(1.20, 1.30, 1.48);
        assert_eq!(agreement, Agreement::Disagrees);
        assert!(why.contains("smaller"), "{why}");
        assert!(of(1.60, 1.70, 1.48).1.contains("larger"));
        assert!(of(0.70, 0.80, 1.48).1.contains("other direction"));
        assert!(of(0.95, 1.05, 1.48).1.contains("no effect was shown"));
        let none = Ratio {
            ratio: 1.48,
            low: None,
            high: None,
        };
        assert_eq!(of_interval(&none, 1.48).0, Agreement::CannotSay);
    }

    #[test]
    fn a_claim_of_equality_needs_more_than_that_no_difference_was_shown() {
        let of = |low, high, is_shown| {
            let margin = 0.05;
            of_equality(&measured(low, high), Equality { margin, is_shown })
        };
        let (agreement, why) = of(0.98, 1.03, true);
        assert_eq!(
            (agreement, why.as_str()),
            (Agreement::Agrees, "both are equal within 5 %")
        );
        assert_eq!(of(1.01, 1.03, true).0, Agreement::Agrees);
        assert_eq!(of(0.50, 2.00, false).0, Agreement::CannotSay);
        assert_eq!(of(1.10, 1.20, false).0, Agreement::Disagrees);
        let claim = |value, bound| Claim {
            value,
            bound,
            ..Claim::default()
        };
        assert!(says_equal(&claim(1.0, Bound::Equal)));
        assert!(!says_equal(&claim(1.0, Bound::Above)) && !says_equal(&claim(1.02, Bound::Equal)));
    }

    #[test]
    fn a_claim_of_a_direction_is_held_against_the_whole_interval() {
        let of = |low, high, below| of_bound(&measured(low, high), 1.0, below).0;
        assert_eq!(of(1.1, 1.3, false), Agreement::Agrees);
        assert_eq!(of(1.1, 1.3, true), Agreement::Disagrees);
        assert_eq!(of(0.7, 0.9, true), Agreement::Agrees);
        assert_eq!(of(0.7, 0.9, false), Agreement::Disagrees);
        assert_eq!(of(0.9, 1.1, false), Agreement::CannotSay);
    }
}
