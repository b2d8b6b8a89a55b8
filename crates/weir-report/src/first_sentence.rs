//! The answer of a study in one sentence: advice, or a finding while something objects to it.

use weir_model::{Comparison, Finding, JudgedResult, RuleId, Severity, Verdict};

use crate::comparison_sentences::{Answer, place};
use crate::objections::Objections;
use crate::words::{levels_phrase, margin_words, metric_name};
use crate::{searches, statements};

/// Factors that one sentence speaks of.
const FACTORS_MAX: usize = 2;
/// Combinations that are named; of more only their number is printed.
const NAMED_MAX: usize = 2;

/// Facts about the study that each clause needs.
#[derive(Clone, Copy)]
struct Ground<'a> {
    /// Findings about the whole study.
    findings: &'a [Finding],
    /// An emulated drive lies below a server.
    is_emulated: bool,
}

/// Returns the first sentence for a reader, by the verdicts; `None` if nothing was compared or found.
///
/// `Choose scaleflux-csd2000: 2.15x the queries per second of intel-p4610`, or while a rule objects: `In this emulation
/// innodb_doublewrite OFF gave 1.61x the queries per second of ON: no advice while R6 objects`.
pub(crate) fn advice(result: &JudgedResult) -> Option<String> {
    // It begins with a name, which keeps its spelling.
    if let Some(found) = searches::sentences(result).into_iter().next() {
        return Some(found);
    }
    let mut cells = result.evidence.plan.cells.iter();
    let ground = Ground {
        findings: &result.findings,
        is_emulated: cells.any(|cell| cell.spec.drive_name().is_some()),
    };
    let sentence = slower_statements(&result.comparisons)
        .or_else(|| of_comparisons(&result.comparisons, ground))?;
    let mut characters = sentence.chars();
    let first = characters.next()?.to_uppercase();
    Some(first.chain(characters).collect())
}

/// Of replays: on which level statements are surely slower, and the first of them.
fn slower_statements(comparisons: &[Comparison]) -> Option<String> {
    let clauses = comparisons.iter().filter_map(statements::slower);
    let clauses: Vec<_> = clauses.take(FACTORS_MAX).collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

fn of_comparisons(comparisons: &[Comparison], ground: Ground<'_>) -> Option<String> {
    let asked = || comparisons.iter().filter(|found| !found.negative_control);
    let mut factors: Vec<&str> = Vec::new();
    for comparison in asked() {
        if !factors.contains(&comparison.factor.as_str()) {
            factors.push(&comparison.factor);
        }
    }
    let clauses = factors.into_iter().take(FACTORS_MAX).filter_map(|factor| {
        let of_factor = asked().filter(|found| found.factor == factor);
        of_levels(&of_factor.collect::<Vec<_>>(), ground)
    });
    let clauses: Vec<_> = clauses.collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Worth of a comparison to a reader who has to choose, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Refused,
    NotShown,
    Equal,
    Loss,
    /// A gain at the price of pages that a power cut may tear.
    UnsafeGain,
    Gain,
}

impl Worth {
    fn new(comparison: &Comparison) -> Self {
        let mut findings = comparison.findings.iter();
        let is_unsafe =
            findings.any(|found| found.rule == RuleId::R3 && found.severity == Severity::Warning);
        match comparison.verdict {
            Verdict::Invalid => Self::Refused,
            Verdict::Inconclusive => Self::NotShown,
            Verdict::Equal => Self::Equal,
            Verdict::Effect if comparison.improvement().ratio < 1.0 => Self::Loss,
            Verdict::Effect if is_unsafe => Self::UnsafeGain,
            Verdict::Effect => Self::Gain,
        }
    }
}

/// The clause about the level of a factor that is worth most.
fn of_levels(comparisons: &[&Comparison], ground: Ground<'_>) -> Option<String> {
    let worth_of_level = |level: &str| {
        let of_level = comparisons.iter().filter(|found| found.level == level);
        let worths = of_level.map(|found| (Worth::new(found), found.improvement().ratio));
        let best = worths.clone().map(|(worth, _)| worth).max();
        let ratios = worths.filter(|(worth, _)| Some(*worth) == best);
        let logs: Vec<_> = ratios.map(|(_, ratio)| ratio.ln()).collect();
        (best, logs.iter().sum::<f64>() / logs.len().max(1) as f64)
    };
    let best = comparisons.iter().max_by(|one, other| {
        let (one, other) = (worth_of_level(&one.level), worth_of_level(&other.level));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    })?;
    let of_level = comparisons.iter().filter(|found| found.level == best.level);
    Some(of_level_in_words(
        &of_level.copied().collect::<Vec<_>>(),
        ground,
    ))
}

/// About one level in all contexts.
fn of_level_in_words(comparisons: &[&Comparison], ground: Ground<'_>) -> String {
    let first = comparisons[0];
    let (baseline, metric) = (&first.baseline, metric_name(&first.metric));
    let [level, kept] = [&first.level, baseline]
        .map(|level| levels_phrase(&[(first.factor.clone(), level.clone())].into()));
    let worth = comparisons.iter().map(|found| Worth::new(found)).max();
    let worth = worth.unwrap_or(Worth::Refused);
    let there = comparisons
        .iter()
        .filter(|found| Worth::new(found) == worth);
    let there: Vec<_> = there.copied().collect();
    let gain = ratios(&there);
    let objections = Objections::new(ground.findings, &there, comparisons).words();
    match (worth, objections) {
        (Worth::NotShown, _) => {
            format!("no difference in {metric} was shown between {level} and {baseline}")
        }
        (Worth::Equal, _) => {
            let margins = there.iter().filter_map(|found| found.equality);
            let margin = margins.map(|test| test.margin).fold(0.0, f64::max);
            format!(
                "{level} and {baseline} are equal in {metric} within {}{}",
                margin_words(margin),
                where_it_holds(&there, comparisons)
            )
        }
        (Worth::Refused, _) => {
            format!("no advice on {level} against {baseline}: rules refuse it")
        }
        (worth, Some(objections)) => {
            let (place, price) = match worth {
                Worth::Gain => (where_it_holds(&there, comparisons), ""),
                Worth::UnsafeGain => (String::new(), ", but a power cut may tear pages"),
                _ => (String::new(), ""),
            };
            let here = if ground.is_emulated {
                "in this emulation"
            } else {
                "in these runs"
            };
            format!(
                "{here} {level} gave {gain} the {metric} of {baseline}{place}{price}: no advice {objections}"
            )
        }
        (Worth::Loss, None) => {
            format!("keep {kept}: {} gives {gain} the {metric}", first.level)
        }
        (_, None) => {
            let place = where_it_holds(&there, comparisons);
            format!("choose {level}{place}: {gain} the {metric} of {baseline}")
        }
    }
}

/// `1.61x`, or `1.61x to 1.88x`.
fn ratios(comparisons: &[&Comparison]) -> String {
    let mut sorted = comparisons.to_vec();
    sorted.sort_by(|one, other| one.ratio.total_cmp(&other.ratio));
    let text = |found: Option<&&Comparison>| found.map(|found| Answer::new(found).ratio_text);
    let [least, most] = [sorted.first(), sorted.last()].map(|end| text(end).unwrap_or_default());
    if least == most {
        least
    } else {
        format!("{least} to {most}")
    }
}

/// Returns the place where a gain holds; nothing if it holds in all of several `comparisons`.
fn where_it_holds(there: &[&Comparison], comparisons: &[&Comparison]) -> String {
    if there.len() == comparisons.len() && comparisons.len() > 1 {
        return String::new();
    }
    let worse = |found: &&Comparison| matches!(Worth::new(found), Worth::Loss | Worth::UnsafeGain);
    let only = if comparisons.iter().any(worse) {
        " only"
    } else {
        ""
    };
    if there.len() > NAMED_MAX {
        return format!(
            "{only} in {} of {} combinations",
            there.len(),
            comparisons.len()
        );
    }
    let mut words = format!("{only}{}", place(there[0]));
    for found in &there[1..] {
        words.push_str(" and ");
        words.push_str(&levels_phrase(&found.context));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use weir_model::Finding;

    /// A comparison of doublewrite OFF with ON on a drive.
    fn on(drive: &str, verdict: Verdict, ratio: f64) -> Comparison {
        let mut comparison = sample::study(4, 3).comparisons.remove(0);
        comparison.factor = "innodb_doublewrite".to_owned();
        comparison.baseline = "ON".to_owned();
        comparison.level = "OFF".to_owned();
        comparison.context = [("drive".to_owned(), drive.to_owned())].into();
        comparison.verdict = verdict;
        comparison.ratio = ratio;
        comparison.ratio_low = Some(ratio * 0.9);
        comparison.ratio_high = Some(ratio * 1.1);
        comparison.findings.clear();
        comparison
    }

    fn unsafe_on(drive: &str, ratio: f64) -> Comparison {
        with_page_finding(drive, ratio, Severity::Warning)
    }

    fn with_page_finding(drive: &str, ratio: f64, severity: Severity) -> Comparison {
        let mut comparison = on(drive, Verdict::Effect, ratio);
        comparison.findings = vec![Finding {
            rule: RuleId::R3,
            severity,
            message: "pages".to_owned(),
        }];
        comparison
    }

    fn said(comparisons: &[Comparison]) -> String {
        with_study(comparisons, &[])
    }

    fn with_study(comparisons: &[Comparison], findings: &[Finding]) -> String {
        let ground = Ground {
            findings,
            is_emulated: true,
        };
        of_comparisons(comparisons, ground).unwrap()
    }

    #[test]
    fn a_gain_is_advised_only_where_it_is_safe() {
        let gain = on("scaleflux-csd2000", Verdict::Effect, 1.61);
        assert_eq!(
            said(&[unsafe_on("intel-p4610", 1.88), gain]),
            "choose innodb_doublewrite OFF only on scaleflux-csd2000: 1.61x the queries per second of ON"
        );
        assert_eq!(
            said(&[unsafe_on("a", 1.88), unsafe_on("b", 1.61)]),
            "in this emulation innodb_doublewrite OFF gave 1.61x to 1.88x the queries per second of ON, but a power cut \
             may tear pages: no advice while R3 objects"
        );
    }

    #[test]
    fn levels_that_are_equal_are_called_so() {
        let mut equal = on("b", Verdict::Equal, 1.0);
        equal.equality = Some(weir_model::EqualityTest {
            margin: 0.05,
            p_value: 0.01,
            p_value_adjusted: Some(0.01),
            repetitions_needed: None,
        });
        let words = "innodb_doublewrite OFF and ON are equal in queries per second within 5 % on b";
        assert_eq!(said(&[equal.clone()]), words);
        assert_eq!(said(&[equal, on("a", Verdict::Inconclusive, 1.0)]), words);
    }

    #[test]
    fn what_was_not_shown_is_no_reason_to_keep_the_other() {
        assert_eq!(
            said(&[on("b", Verdict::Inconclusive, 1.0)]),
            "no difference in queries per second was shown between innodb_doublewrite OFF and ON"
        );
        assert_eq!(
            said(&[on("b", Verdict::Invalid, 1.0)]),
            "no advice on innodb_doublewrite OFF against ON: rules refuse it"
        );
        assert_eq!(
            said(&[on("a", Verdict::Effect, 0.5)]),
            "keep innodb_doublewrite ON: OFF gives 0.50x the queries per second"
        );
    }

    /// Each objection, as a finding about the study and about the comparison.
    fn objections() -> Vec<(Finding, &'static str)> {
        let rules = [
            (RuleId::R2, Severity::Warning, "while R2 objects"),
            (RuleId::R3, Severity::Warning, "while R3 objects"),
            (RuleId::R6, Severity::Warning, "while R6 objects"),
            (RuleId::R6, Severity::Inconclusive, "while R6 objects"),
            (
                RuleId::Profile,
                Severity::Warning,
                "while the rule profile objects",
            ),
        ];
        let finding = |(rule, severity, words)| {
            let message = "it may be otherwise".to_owned();
            (
                Finding {
                    rule,
                    severity,
                    message,
                },
                words,
            )
        };
        rules.map(finding).into()
    }

    #[test]
    fn no_answer_recommends_anything_over_an_objection() {
        let levels = [
            on("a", Verdict::Effect, 1.5),
            on("a", Verdict::Effect, 0.5),
            on("a", Verdict::Inconclusive, 1.0),
            on("a", Verdict::Invalid, 1.0),
        ];
        for answer in levels {
            let free = said(std::slice::from_ref(&answer));
            let recommends = |text: &str| text.starts_with("choose ") || text.starts_with("keep ");
            assert_eq!(
                recommends(&free),
                answer.verdict == Verdict::Effect,
                "{free}"
            );
            for (finding, words) in objections() {
                let mut objected = answer.clone();
                objected.findings = vec![finding.clone()];
                let by_comparison = said(&[objected]);
                let by_study = with_study(std::slice::from_ref(&answer), &[finding]);
                for text in [by_comparison, by_study] {
                    assert!(!recommends(&text), "{text}");
                    let is_finding =
                        text.starts_with("in this emulation innodb_doublewrite OFF gave ");
                    assert_eq!(is_finding, answer.verdict == Verdict::Effect, "{text}");
                    assert!(!is_finding || text.ends_with(words), "{text}");
                }
            }
            let refused = said(&[answer.clone(), on("b", Verdict::Invalid, 2.0)]);
            assert!(!recommends(&refused), "{refused}");
        }
        let noted = with_page_finding("csd", 1.94, Severity::Note);
        assert_eq!(
            said(&[noted]),
            "in this emulation innodb_doublewrite OFF gave 1.94x the queries per second of ON on csd: no advice while R3 \
             objects"
        );
    }

    #[test]
    fn other_findings_are_no_objection_to_an_answer() {
        let mut gain = on("a", Verdict::Effect, 1.5);
        let note = |rule| Finding {
            rule,
            severity: Severity::Note,
            message: "good to know".to_owned(),
        };
        gain.findings = [RuleId::R2, RuleId::R6, RuleId::Profile].map(note).into();
        let study = [RuleId::R3, RuleId::R6].map(note);
        assert!(with_study(&[gain], &study).starts_with("choose "));
    }

    #[test]
    fn the_best_of_several_levels_is_advised_in_one_sentence_of_two_factors() {
        let with = |level: &str, ratio| Comparison {
            factor: "threads".to_owned(),
            baseline: "8".to_owned(),
            level: level.to_owned(),
            ..on("a", Verdict::Effect, ratio)
        };
        let mut result = sample::study(4, 3);
        result.findings.clear();
        result.comparisons = vec![
            with("16", 1.5),
            with("32", 1.8),
            with("64", 1.2),
            on("a", Verdict::Effect, 1.31),
        ];
        assert_eq!(
            advice(&result).unwrap(),
            "Choose 32 connections on a: 1.80x the queries per second of 8; choose innodb_doublewrite OFF on a: 1.31x \
             the queries per second of ON"
        );
        result.findings.push(objections().remove(2).0);
        assert_eq!(
            advice(&result).unwrap(),
            "In this emulation 32 connections gave 1.80x the queries per second of 8 on a: no advice while R6 objects; in \
             this emulation innodb_doublewrite OFF gave 1.31x the queries per second of ON on a: no advice while R6 objects"
        );
        result.comparisons.clear();
        assert_eq!(advice(&result), None);
    }
}
