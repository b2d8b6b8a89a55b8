//! Sessions of one study: claims and comparisons are judged over several results of it together.

use weir_model::{
    ClaimVerdict, Comparison, Finding, JudgedResult, Plan, Ratio, RuleId, Severity, Verdict,
};
use weir_stats::sessions_ratio;

use crate::claims::{Equality, agreement_of_ratio, is_refused, ranking_words};
use crate::equality::is_inside;

/// Judges results of the same study together. Such results become one, the first, whose claims and comparisons have
/// the interval over all sessions. Other results stay as they are.
pub fn merge_sessions(results: Vec<JudgedResult>) -> Vec<JudgedResult> {
    let mut studies: Vec<Vec<JudgedResult>> = Vec::new();
    for result in results {
        match studies
            .iter_mut()
            .find(|study| is_same_study(&study[0], &result))
        {
            Some(study) => study.push(result),
            None => studies.push(vec![result]),
        }
    }
    studies.into_iter().map(merged).collect()
}

/// The same cells and claims on the same server; seeds and numbers of runs may differ.
fn is_same_study(one: &JudgedResult, other: &JudgedResult) -> bool {
    let (first, second) = (&one.evidence, &other.evidence);
    let reseeded = |plan: &Plan| {
        let mut plan = plan.clone();
        plan.reseed(0);
        let designed: Vec<_> = plan.designed().cloned().collect();
        (plan.title, plan.factors, designed, plan.claims)
    };
    (first.flavor, first.server_version) == (second.flavor, second.server_version)
        && first.drives == second.drives
        && reseeded(&first.plan) == reseeded(&second.plan)
}

fn merged(mut sessions: Vec<JudgedResult>) -> JudgedResult {
    let mut first = sessions.remove(0);
    if sessions.is_empty() {
        return first;
    }
    for verdict in &mut first.analysis.claims {
        let others = sessions.iter().flat_map(|session| &session.analysis.claims);
        let others =
            others.filter(|other| other.claim == verdict.claim && other.context == verdict.context);
        let all: Vec<&ClaimVerdict> = [&*verdict].into_iter().chain(others).collect();
        let claim = first.evidence.plan.claims.get(verdict.claim);
        let over_sessions = claim.and_then(|claim| {
            let (measured, words) = over_sessions(&all)?;
            let margin = first.evidence.plan.repeat.equal_margin();
            let equality = Equality {
                margin,
                is_shown: is_inside(&measured, margin),
            };
            let (agreement, why) = agreement_of_ratio(&measured, equality, claim);
            Some(ClaimVerdict {
                measured: Some(measured),
                agreement,
                why: format!("{why}; {words}{}", ranking_words(verdict)),
                ..verdict.clone()
            })
        });
        if let Some(pooled) = over_sessions {
            *verdict = pooled;
        }
    }
    widen_comparisons(&mut first, &sessions);
    first
}

/// Gives each comparison of `first` the interval over all sessions, and the verdict that follows from it. One that a
/// rule forbids stays so.
fn widen_comparisons(first: &mut JudgedResult, sessions: &[JudgedResult]) {
    let margin = first.evidence.plan.repeat.equal_margin();
    for comparison in &mut first.comparisons {
        let others = sessions.iter().flat_map(|session| &session.comparisons);
        let others = others.filter(|other| is_same_place(comparison, other));
        let all = std::iter::once(&*comparison).chain(others);
        let intervals: Vec<_> = all
            .filter(|one| one.verdict != Verdict::Invalid)
            .filter_map(|one| one.ratio_low.zip(one.ratio_high))
            .collect();
        let Some((measured, words)) = pooled(&intervals) else {
            continue;
        };
        (comparison.ratio_low, comparison.ratio_high) = (measured.low, measured.high);
        comparison.ratio = measured.ratio;
        // They are of the first session alone.
        (comparison.p_value, comparison.p_value_adjusted) = (None, None);
        comparison.second_opinion = None;
        if comparison.verdict != Verdict::Invalid {
            comparison.verdict = verdict_of(&measured, margin);
        }
        comparison.findings.push(Finding {
            rule: RuleId::R4,
            severity: Severity::Note,
            message: words,
        });
    }
}

fn is_same_place(one: &Comparison, other: &Comparison) -> bool {
    (&one.factor, &one.baseline, &one.level) == (&other.factor, &other.baseline, &other.level)
        && (&one.context, &one.metric) == (&other.context, &other.metric)
}

fn verdict_of(measured: &Ratio, margin: f64) -> Verdict {
    let has_effect = measured
        .interval()
        .is_some_and(|(low, high)| low > 1.0 || high < 1.0);
    match (is_inside(measured, margin), has_effect) {
        (true, _) => Verdict::Equal,
        (_, true) => Verdict::Effect,
        _ => Verdict::Inconclusive,
    }
}

/// Returns the ratio over sessions and a phrase about them; `None` if less than two have an interval that counts.
fn over_sessions(verdicts: &[&ClaimVerdict]) -> Option<(Ratio, String)> {
    let counts = verdicts.iter().filter(|verdict| !is_refused(verdict));
    let intervals: Vec<_> = counts
        .filter_map(|verdict| verdict.measured?.interval())
        .collect();
    pooled(&intervals)
}

/// Returns the ratio over the intervals of sessions and a phrase about them; `None` for less than two.
fn pooled(intervals: &[(f64, f64)]) -> Option<(Ratio, String)> {
    let found = sessions_ratio(intervals)?;
    let each = intervals
        .iter()
        .map(|(low, high)| format!("{:.2}x", (low * high).sqrt()));
    let each = each.collect::<Vec<_>>().join(", ");
    let apart = if found.is_disjoint {
        " that do not overlap"
    } else {
        ""
    };
    let measured = Ratio {
        ratio: found.ratio,
        low: Some(found.low),
        high: Some(found.high),
    };
    let words = format!(
        "over {} sessions{apart} ({each}), with the spread between them",
        intervals.len()
    );
    Some((measured, words))
}

#[cfg(test)]
mod tests {
    use weir_model::{Agreement, Claim};

    use super::*;
    use crate::evaluate;
    use crate::rules::tests::fair;

    /// A session in which OFF gives about 1.5x times `factor` of ON, beside a claim of 1.6x.
    fn session(seed: u64, factor: f64) -> JudgedResult {
        let mut result = fair();
        result.plan.seed = seed;
        result.plan.claims = vec![Claim {
            source: "A vendor".to_owned(),
            says: "innodb_doublewrite OFF / ON in qps".to_owned(),
            value: 1.6,
            ..Claim::default()
        }];
        let mut judged = evaluate(result).unwrap();
        let measured = judged.analysis.claims[0].measured.as_mut().unwrap();
        let (low, high) = measured.interval().unwrap();
        *measured = Ratio {
            ratio: measured.ratio * factor,
            low: Some(low * factor),
            high: Some(high * factor),
        };
        judged
    }

    fn verdict(results: Vec<JudgedResult>) -> ClaimVerdict {
        let [merged] = merge_sessions(results).try_into().unwrap();
        let [verdict] = merged.analysis.claims.try_into().unwrap();
        verdict
    }

    #[test]
    fn sessions_that_do_not_overlap_are_a_finding_and_widen_the_interval() {
        let alone = verdict(vec![session(1, 1.0)]);
        assert_eq!(alone.agreement, Agreement::Disagrees, "{alone:?}");
        let apart = [1.0, 1.2, 0.9].iter().zip(1..);
        let apart = verdict(apart.map(|(factor, seed)| session(seed, *factor)).collect());
        assert!(
            apart.why.contains("over 3 sessions that do not overlap ("),
            "{apart:?}"
        );
        let (low, high) = apart.measured.unwrap().interval().unwrap();
        assert!(low < 1.5 * 0.9 && high > 1.5 * 1.2, "{apart:?}");
        assert_ne!(apart.agreement, Agreement::Disagrees, "{apart:?}");
        let alike = verdict((1..4).map(|seed| session(seed, 1.0)).collect());
        assert!(alike.why.contains("over 3 sessions ("), "{alike:?}");
        assert_eq!(alike.agreement, Agreement::Disagrees, "{alike:?}");
    }

    #[test]
    fn comparisons_of_sessions_that_do_not_overlap_are_wider() {
        let scaled = |seed, factor: f64| {
            let mut session = session(seed, factor);
            for comparison in &mut session.comparisons {
                comparison.ratio *= factor;
                comparison.ratio_low = comparison.ratio_low.map(|low| low * factor);
                comparison.ratio_high = comparison.ratio_high.map(|high| high * factor);
            }
            session
        };
        let alone = scaled(1, 1.0).comparisons.remove(0);
        assert_eq!(alone.verdict, Verdict::Effect, "{alone:?}");
        let all = vec![scaled(1, 1.0), scaled(2, 2.5), scaled(3, 0.4)];
        let [merged] = merge_sessions(all).try_into().unwrap();
        let merged = &merged.comparisons[0];
        assert!(merged.ratio_low < alone.ratio_low && merged.ratio_high > alone.ratio_high);
        assert_eq!(merged.verdict, Verdict::Inconclusive, "{merged:?}");
        let said = merged.findings.iter().map(|finding| &finding.message);
        let words = "over 3 sessions that do not overlap";
        assert!(
            said.into_iter().any(|message| message.contains(words)),
            "{merged:?}"
        );
    }

    #[test]
    fn other_studies_and_refused_numbers_stay_as_they_are() {
        let mut other = session(2, 1.0);
        other.evidence.plan.title = "Another study".to_owned();
        assert_eq!(merge_sessions(vec![session(1, 1.0), other]).len(), 2);
        let mut refused = session(2, 1.2);
        refused.analysis.claims[0].why = "invalid (R2): pages can be torn".to_owned();
        let merged = verdict(vec![session(1, 1.0), refused]);
        assert_eq!(merged, session(1, 1.0).analysis.claims[0]);
    }
}
