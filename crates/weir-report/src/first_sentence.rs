//! The answer of a study in one sentence of advice.

use weir_model::{Comparison, JudgedResult, RuleId, Severity, Verdict};

use crate::comparison_sentences::{Answer, place};
use crate::words::{levels_phrase, metric_name};
use crate::{searches, statements};

/// Factors that one sentence speaks of.
const FACTORS_MAX: usize = 2;
/// Combinations that are named; of more only their number is printed.
const NAMED_MAX: usize = 2;

/// Returns the advice for a reader, by the verdicts; `None` if nothing was compared or found.
///
/// `Choose scaleflux-csd2000: 2.15x the queries per second of intel-p4610; choose innodb_doublewrite OFF only on
/// scaleflux-csd2000: 1.61x the queries per second of ON`.
pub(crate) fn advice(result: &JudgedResult) -> Option<String> {
    // It begins with a name, which keeps its spelling.
    if let Some(found) = searches::sentences(result).into_iter().next() {
        return Some(found);
    }
    let sentence =
        slower_statements(&result.comparisons).or_else(|| of_comparisons(&result.comparisons))?;
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

fn of_comparisons(comparisons: &[Comparison]) -> Option<String> {
    let asked = || comparisons.iter().filter(|found| !found.negative_control);
    let mut factors: Vec<&str> = Vec::new();
    for comparison in asked() {
        if !factors.contains(&comparison.factor.as_str()) {
            factors.push(&comparison.factor);
        }
    }
    let clauses = factors.into_iter().take(FACTORS_MAX).filter_map(|factor| {
        let of_factor = asked().filter(|found| found.factor == factor);
        of_levels(&of_factor.collect::<Vec<_>>())
    });
    let clauses: Vec<_> = clauses.collect();
    (!clauses.is_empty()).then(|| clauses.join("; "))
}

/// Worth of a comparison to a reader who has to choose, the best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Worth {
    Refused,
    NotShown,
    Loss,
    /// A gain at the price of pages that a power cut may tear.
    UnsafeGain,
    Gain,
}

impl Worth {
    fn new(comparison: &Comparison) -> Self {
        let is_unsafe = has_page_finding(comparison, Severity::Warning);
        match comparison.verdict {
            Verdict::Invalid => Self::Refused,
            Verdict::Inconclusive => Self::NotShown,
            Verdict::Effect if comparison.improvement().ratio < 1.0 => Self::Loss,
            Verdict::Effect if is_unsafe => Self::UnsafeGain,
            Verdict::Effect => Self::Gain,
        }
    }
}

/// Returns true if only the level of `comparison` trusts a drive to write whole pages, and no power cut has tested it.
fn is_untested(comparison: &Comparison) -> bool {
    has_page_finding(comparison, Severity::Note)
}

fn has_page_finding(comparison: &Comparison, severity: Severity) -> bool {
    let mut findings = comparison.findings.iter();
    findings.any(|found| found.rule == RuleId::R3 && found.severity == severity)
}

/// The clause about the level of a factor that is worth most.
fn of_levels(comparisons: &[&Comparison]) -> Option<String> {
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
    Some(of_level_in_words(&of_level.copied().collect::<Vec<_>>()))
}

/// About one level in all contexts.
fn of_level_in_words(comparisons: &[&Comparison]) -> String {
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
    match worth {
        Worth::Gain => {
            let place = where_it_holds(&there, comparisons);
            let condition = if there.iter().any(|found| is_untested(found)) {
                ", once a power-cut test shows whole pages (R3)"
            } else {
                ""
            };
            format!("choose {level}{place}: {gain} the {metric} of {baseline}{condition}")
        }
        Worth::UnsafeGain => format!(
            "keep {kept}: {} gives {gain} the {metric}, but a power cut may tear pages (R3)",
            first.level
        ),
        Worth::Loss => format!("keep {kept}: {} gives {gain} the {metric}", first.level),
        Worth::NotShown => {
            format!("no difference in {metric} was shown between {level} and {baseline}")
        }
        Worth::Refused => format!("no advice on {level} against {baseline}: rules refuse it"),
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

    #[test]
    fn a_gain_on_a_drive_without_a_power_cut_test_has_that_condition() {
        let text = of_comparisons(&[with_page_finding("csd", 1.94, Severity::Note)]);
        assert_eq!(
            text.unwrap(),
            "choose innodb_doublewrite OFF on csd: 1.94x the queries per second of ON, once a power-cut test shows \
             whole pages (R3)"
        );
    }

    #[test]
    fn a_gain_is_advised_only_where_it_is_safe() {
        let text = of_comparisons(&[
            unsafe_on("intel-p4610", 1.88),
            on("scaleflux-csd2000", Verdict::Effect, 1.61),
        ]);
        assert_eq!(
            text.unwrap(),
            "choose innodb_doublewrite OFF only on scaleflux-csd2000: 1.61x the queries per second of ON"
        );
        let text = of_comparisons(&[unsafe_on("a", 1.88), unsafe_on("b", 1.61)]);
        assert_eq!(
            text.unwrap(),
            "keep innodb_doublewrite ON: OFF gives 1.61x to 1.88x the queries per second, but a power cut may tear \
             pages (R3)"
        );
    }

    #[test]
    fn what_was_refused_or_not_shown_is_no_reason_to_keep_the_other() {
        let gain = on("a", Verdict::Effect, 1.5);
        let text = of_comparisons(&[gain.clone(), on("b", Verdict::Invalid, 2.0)]);
        assert_eq!(
            text.unwrap(),
            "choose innodb_doublewrite OFF on a: 1.50x the queries per second of ON"
        );
        let text = of_comparisons(&[on("b", Verdict::Inconclusive, 1.0)]);
        assert_eq!(
            text.unwrap(),
            "no difference in queries per second was shown between innodb_doublewrite OFF and ON"
        );
        let text = of_comparisons(&[on("b", Verdict::Invalid, 1.0)]);
        assert_eq!(
            text.unwrap(),
            "no advice on innodb_doublewrite OFF against ON: rules refuse it"
        );
        let text = of_comparisons(&[on("a", Verdict::Effect, 0.5)]);
        assert_eq!(
            text.unwrap(),
            "keep innodb_doublewrite ON: OFF gives 0.50x the queries per second"
        );
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
        result.comparisons.clear();
        assert_eq!(advice(&result), None);
    }
}
