//! Published claims beside what was measured here: borne out, refuted, or neither.

use std::collections::BTreeSet;

use weir_model::{
    Agreement, Bound, Claim, ClaimVerdict, Comparison, Finding, Plan, Ratio, Severity, Verdict,
};

use crate::compare::{Contrast, compare, context, holds_at, index, sibling};
use crate::estimate_ratio::Pairing;
use crate::measured::{METRICS, THROUGHPUT, is_metric, value};
use crate::rules::{self, Evidence};

/// What a claim speaks of.
pub(crate) enum Subject {
    /// These pairs of cells, all of them.
    Contrasts(Vec<Contrast>),
    /// Something that the study does not have, and why.
    Unknown(String),
}

/// Finds the pairs of cells that `claim` speaks of.
pub(crate) fn subject(plan: &Plan, claim: &Claim) -> Subject {
    match contrasts(plan, claim) {
        Ok(contrasts) => Subject::Contrasts(contrasts),
        Err(why) => Subject::Unknown(why),
    }
}

/// Baseline and level of every pair of cells that a claim of `plan` speaks of.
pub(crate) fn claimed(plan: &Plan) -> BTreeSet<(usize, usize)> {
    let claims = plan.claims.iter();
    let contrasts = claims.filter_map(|claim| contrasts(plan, claim).ok());
    contrasts
        .flatten()
        .map(|contrast| (contrast.baseline_cell, contrast.level_cell))
        .collect()
}

fn contrasts(plan: &Plan, claim: &Claim) -> Result<Vec<Contrast>, String> {
    if let Some(why) = &claim.untestable {
        return Err(why.clone());
    }
    let metric = metric(claim);
    if !is_metric(metric) {
        let known = METRICS.join(", ");
        return Err(format!(
            "`{metric}` is no metric ({known}, or what a probe samples)"
        ));
    }
    let factor = factor(plan, claim)?;
    let levels = levels_of(plan, &factor);
    let known = |level: &str| {
        let found = levels.iter().find(|known| **known == level);
        found
            .copied()
            .ok_or_else(|| format!("{factor} has no level {level}"))
    };
    let baseline = match &claim.baseline {
        Some(baseline) => known(baseline)?,
        None => levels.first().ok_or("it has no levels")?,
    };
    let level = match &claim.level {
        Some(level) => known(level)?,
        None => named_in(
            &claim.says,
            levels.iter().copied().filter(|level| *level != baseline),
        )
        .ok_or_else(|| format!("it names no level of {factor}"))?,
    };
    let index = index(&plan.cells);
    let cells = plan.cells.iter().enumerate();
    let found: Vec<_> = cells
        .filter(|(_, cell)| cell.levels.get(&factor).map(String::as_str) == Some(level))
        .filter_map(|(level_cell, cell)| {
            let context = context(cell, &factor);
            let baseline_cell = sibling(&index, cell, &factor, baseline)?;
            holds_at(&context, &claim.at).then(|| Contrast {
                factor: factor.clone(),
                baseline: baseline.to_owned(),
                level: level.to_owned(),
                context,
                baseline_cell,
                level_cell,
            })
        })
        .collect();
    if found.is_empty() {
        let at: Vec<_> = claim
            .at
            .iter()
            .map(|(name, level)| format!("{name} {level}"))
            .collect();
        return Err(format!("{} was not part of the study", at.join(", ")));
    }
    Ok(found)
}

fn metric(claim: &Claim) -> &str {
    claim.metric.as_deref().unwrap_or(THROUGHPUT)
}

fn factor(plan: &Plan, claim: &Claim) -> Result<String, String> {
    let factors = || plan.cells.first().map(|cell| cell.levels.keys());
    match &claim.factor {
        Some(factor) if factors().into_iter().flatten().any(|known| known == factor) => {
            Ok(factor.clone())
        }
        Some(factor) => Err(format!("the study has no factor {factor}")),
        None => named_in(
            &claim.says,
            factors().into_iter().flatten().map(String::as_str),
        )
        .map(str::to_owned)
        .ok_or_else(|| "it names no factor of the study".to_owned()),
    }
}

/// Levels of `factor` in the order of the study.
fn levels_of<'a>(plan: &'a Plan, factor: &str) -> Vec<&'a str> {
    let mut levels = Vec::new();
    for level in plan.cells.iter().filter_map(|cell| cell.levels.get(factor)) {
        if !levels.contains(&level.as_str()) {
            levels.push(level.as_str());
        }
    }
    levels
}

/// The first of `names` that stands as a word in `text`.
fn named_in<'a>(text: &str, mut names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let is_word = |name: &str| {
        text.match_indices(name).any(|(start, _)| {
            let inside = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let before = text[..start].chars().next_back();
            let after = text[start + name.len()..].chars().next();
            !inside(before) && !inside(after)
        })
    };
    names.find(|name| is_word(name))
}

/// What became of every claim, in each context that it speaks of.
pub(crate) fn verdicts(evidence: &Evidence<'_>) -> Vec<ClaimVerdict> {
    let plan = &evidence.result.plan;
    let claims = plan.claims.iter().enumerate();
    claims
        .flat_map(|(index, claim)| match subject(plan, claim) {
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
        })
        .collect()
}

fn verdict(
    evidence: &Evidence<'_>,
    claim: usize,
    published: &Claim,
    contrast: &Contrast,
) -> ClaimVerdict {
    let plan = &evidence.result.plan;
    let measured = compare(
        plan,
        evidence.runs,
        contrast,
        metric(published),
        Pairing::Repetition,
    );
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
        let mut runs = evidence.runs.of(cell).iter();
        runs.any(|run| value(run, metric).is_some())
    };
    if cells.into_iter().all(was_measured) {
        "it was 0, of which there is no ratio".to_owned()
    } else {
        "it was not measured".to_owned()
    }
}

/// A number is held against another also where a rule forbids to rank the two levels by it: so was the published
/// one. That is said.
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
        let why = format!("invalid ({}): {}", finding.rule, finding.message);
        return (Agreement::CannotSay, why);
    }
    let measured = comparison.estimate();
    let (agreement, why) = match published.bound {
        Bound::Equal => of_interval(&measured, published.value),
        Bound::Above => of_bound(&measured, published.value, false),
        Bound::Below => of_bound(&measured, published.value, true),
    };
    match of_ranking.first() {
        Some(finding) => (agreement, format!("{why}; no ranking ({})", finding.rule)),
        None => (agreement, why),
    }
}

/// Whether the interval lies on the claimed side of `value`.
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

/// A claim this close to 1 is that there is no effect.
const NO_EFFECT: f64 = 0.01;
/// A measurement narrower than this (half-width over its ratio) may bear out that there is none.
const NARROW: f64 = 0.10;

fn of_interval(measured: &Ratio, value: f64) -> (Agreement, String) {
    let Some((low, high)) = measured.interval() else {
        let why = "too few repetitions for an interval";
        return (Agreement::CannotSay, why.to_owned());
    };
    let claims_none = (value - 1.0).abs() <= NO_EFFECT;
    let is_narrow = (high - low) / 2.0 <= NARROW * measured.ratio;
    if (low..=high).contains(&value) {
        return if measured.differs_from_one() || (claims_none && is_narrow) {
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
    } else if (measured.ratio > 1.0) != (value > 1.0) && !claims_none {
        "the effect has the other direction"
    } else if (measured.ratio.ln().abs()) < value.ln().abs() {
        "the effect is smaller than published"
    } else {
        "the effect is larger than published"
    };
    (Agreement::Disagrees, why.to_owned())
}

/// Whether a comparison is one that a report may quote a ratio of.
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
        assert_eq!(of(0.99, 1.02, 1.0).0, Agreement::Agrees);
        assert_eq!(of(0.50, 2.00, 1.0).0, Agreement::CannotSay);
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
    fn a_claim_of_a_direction_is_held_against_the_whole_interval() {
        let of = |low, high, below| of_bound(&measured(low, high), 1.0, below).0;
        assert_eq!(of(1.1, 1.3, false), Agreement::Agrees);
        assert_eq!(of(1.1, 1.3, true), Agreement::Disagrees);
        assert_eq!(of(0.7, 0.9, true), Agreement::Agrees);
        assert_eq!(of(0.7, 0.9, false), Agreement::Disagrees);
        assert_eq!(of(0.9, 1.1, false), Agreement::CannotSay);
    }

    #[test]
    fn a_name_is_found_as_a_word_only() {
        let names = ["ON", "OFF"];
        assert_eq!(
            named_in("doublewrite OFF / ON", names.into_iter()),
            Some("ON")
        );
        assert_eq!(named_in("THE LONGER ONE", names.into_iter()), None);
    }
}
