//! Answers: one English sentence per comparison, with its interval.

use serde::Serialize;
use weir_model::{Comparison, CostPerQuery, CostRatio, Finding, Severity, Verdict};

use crate::insights::ratio_words;
use crate::number::{RoundedNumber, grouped, interval_decimals, interval_end};
use crate::words::{count, levels_phrase, margin_words, method_name, metric_name, verdict_name};

/// A comparison as the page shows it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Answer<'a> {
    factor: &'a str,
    level: &'a str,
    baseline: &'a str,
    /// `innodb_doublewrite OFF / ON`.
    pub(crate) what: String,
    /// Levels of the other factors; empty if there are none.
    pub(crate) context: String,
    metric: String,
    ratio: Option<RoundedNumber>,
    ratio_low: Option<RoundedNumber>,
    ratio_high: Option<RoundedNumber>,
    /// `1.31x`.
    pub(crate) ratio_text: String,
    /// `1.24 to 1.39`; empty without an interval.
    pub(crate) interval_text: String,
    pub(crate) pairs: usize,
    pub(crate) verdict: Verdict,
    pub(crate) verdict_name: &'static str,
    pub(crate) sentence: String,
    /// Latencies beside it, and a second opinion that disagrees.
    pub(crate) notes: Vec<String>,
}

impl<'a> Answer<'a> {
    pub(crate) fn all(comparisons: &'a [Comparison]) -> Vec<Self> {
        comparisons.iter().map(Self::new).collect()
    }

    pub(crate) fn new(comparison: &'a Comparison) -> Self {
        let numbers = Numbers::new(comparison);
        Self {
            factor: &comparison.factor,
            level: &comparison.level,
            baseline: &comparison.baseline,
            what: format!(
                "{} {} / {}",
                comparison.factor, comparison.level, comparison.baseline
            ),
            context: levels_phrase(&comparison.context),
            metric: metric_name(&comparison.metric),
            ratio: RoundedNumber::fine(comparison.ratio),
            ratio_low: comparison.ratio_low.and_then(RoundedNumber::fine),
            ratio_high: comparison.ratio_high.and_then(RoundedNumber::fine),
            ratio_text: format!("{}x", numbers.ratio),
            interval_text: numbers.interval.unwrap_or_default(),
            pairs: comparison.pairs,
            verdict: comparison.verdict,
            verdict_name: verdict_name(comparison.verdict),
            sentence: sentence(comparison),
            notes: notes(comparison),
        }
    }
}

/// Returns the name of a comparison, without its result: the same in all results of one study. `innodb_doublewrite OFF
/// / ON on intel-p4610, queries per second`.
pub fn comparison_name(comparison: &Comparison) -> String {
    let Answer {
        what,
        context,
        metric,
        ..
    } = Answer::new(comparison);
    match context.as_str() {
        "" => format!("{what}, {metric}"),
        context => format!("{what} on {context}, {metric}"),
    }
}

/// The ratio and its interval as text, with the digits that the interval allows.
struct Numbers {
    ratio: String,
    interval: Option<String>,
}

impl Numbers {
    fn new(comparison: &Comparison) -> Self {
        let ends = comparison.ratio_low.zip(comparison.ratio_high);
        let decimals = ends.map_or(2, |(low, high)| interval_decimals(low, high));
        Self {
            ratio: format!("{:.decimals$}", comparison.ratio),
            interval: ends.map(|(low, high)| {
                let end = |value| interval_end(value, decimals);
                format!("{} to {}", end(low), end(high))
            }),
        }
    }
}

/// Returns the result of `comparison`, in one sentence without a final period.
///
/// `innodb_doublewrite OFF gives 1.31x the queries per second of ON on intel-p4610 (95 % interval
/// 1.24 to 1.39, 3 repetitions)`, or `inconclusive: ...`, or `invalid (R4): ...`.
pub fn sentence(comparison: &Comparison) -> String {
    let Comparison {
        factor,
        level,
        baseline,
        pairs,
        ..
    } = comparison;
    let metric = metric_name(&comparison.metric);
    let place = place(comparison);
    let Numbers { ratio, interval } = Numbers::new(comparison);
    let repetitions = count(*pairs, "repetition");
    match (comparison.verdict, interval) {
        (Verdict::Effect, interval) => {
            let interval = interval.map_or(String::new(), |ends| format!("95 % interval {ends}, "));
            format!(
                "{factor} {level} gives {ratio}x the {metric} of {baseline}{place} \
                 ({interval}{repetitions})"
            )
        }
        (Verdict::Equal, interval) => {
            let interval = interval.map_or(String::new(), |ends| format!("95 % interval {ends}, "));
            format!(
                "{factor} {level} and {baseline}{place} are equal in {metric} within {} (ratio {ratio}, \
                 {interval}{repetitions})",
                margin_words(comparison.equality.map_or(0.0, |test| test.margin))
            )
        }
        (Verdict::Inconclusive, Some(ends)) if comparison.estimate().differs_from_one() => {
            let why = comparison
                .findings
                .iter()
                .find(|finding| finding.severity == Severity::Inconclusive);
            let (rule, why) = why.map_or((String::new(), ""), |finding| {
                (format!(" ({})", finding.rule), finding.message.as_str())
            });
            format!(
                "inconclusive{rule}: {factor} {level} against {baseline}{place} in {metric}: ratio \
                 {ratio}, 95 % interval {ends}, {repetitions}; {why}"
            )
        }
        (Verdict::Inconclusive, Some(ends)) => format!(
            "inconclusive: no difference in {metric} was shown between {factor} {level} and \
             {baseline}{place} (ratio {ratio}, 95 % interval {ends}, {repetitions})"
        ),
        (Verdict::Inconclusive, None) => format!(
            "inconclusive: {repetitions} of {factor} {level} against {baseline}{place} cannot \
             give an interval (ratio of {metric} {ratio})"
        ),
        (Verdict::Invalid, _) => {
            let (rules, why) = broken(&comparison.findings);
            format!("invalid{rules}: {factor} {level} against {baseline}{place}: {why}")
        }
    }
}

/// Returns the rules that refuse a comparison, and why: `refused (R24): other processes used ...`.
pub(crate) fn refusal(comparison: &Comparison) -> String {
    let (rules, why) = broken(&comparison.findings);
    format!("refused{rules}: {why}")
}

/// Returns the notes below the sentence: latencies, a negative control, a second opinion that
/// disagrees.
fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if comparison.verdict != Verdict::Invalid && !comparison.others.is_empty() {
        let others = comparison.others.iter().map(|other| {
            let metric = metric_name(&other.metric);
            format!("{metric} {}", ratio_words(&other.ratio))
        });
        notes.push(others.collect::<Vec<_>>().join(", "));
    }
    notes.extend(equality(comparison));
    notes.extend(costs(comparison));
    if comparison.negative_control {
        notes.push(format!(
            "negative control: {} can do nothing here, so this shift is the study's own error",
            comparison.factor
        ));
    }
    if let Some(opinion) = &comparison.second_opinion
        && opinion.disagrees
    {
        notes.push(format!(
            "a second opinion disagrees: {} {}",
            method_name(opinion.method),
            ratio_words(&opinion.ratio)
        ));
    }
    notes
}

/// Equality where it is not the verdict: that a sure difference is a small one, or what would show equality.
fn equality(comparison: &Comparison) -> Option<String> {
    let test = comparison.equality?;
    let margin = margin_words(test.margin);
    match comparison.verdict {
        Verdict::Effect if test.is_shown() => Some(format!(
            "a small difference: both are equal within {margin}"
        )),
        Verdict::Inconclusive => {
            let needed = test.repetitions_needed?;
            Some(format!(
                "equality within {margin} was not shown either; about {needed} repetitions would show it, if it is so"
            ))
        }
        Verdict::Effect | Verdict::Equal | Verdict::Invalid => None,
    }
}

/// The costs of a query that surely differ, and the server's CPU time in any case.
fn costs(comparison: &Comparison) -> Option<String> {
    let is_told = |cost: &&CostRatio| {
        cost.verdict == Verdict::Effect || cost.metric == CostPerQuery::SERVER_CPU.name
    };
    let told = comparison.costs.iter().filter(is_told);
    let words = told.filter_map(|cost| {
        let known = CostPerQuery::find(&cost.metric)?;
        let differs = match cost.verdict {
            Verdict::Effect => "",
            Verdict::Inconclusive | Verdict::Equal => "; no difference was shown",
            Verdict::Invalid => return None,
        };
        let [baseline, level] = [cost.baseline, cost.level].map(grouped);
        let ratio = ratio_words(&cost.ratio);
        let (title, unit) = (known.title, known.unit);
        Some(format!(
            "{title} {ratio}, from {baseline} to {level} {unit}{differs}"
        ))
    });
    let words: Vec<_> = words.collect();
    (!words.is_empty()).then(|| format!("per query: {}", words.join("; ")))
}

/// Returns the place where the comparison holds: ` on intel-p4610, 32 connections`, or nothing.
pub(crate) fn place(comparison: &Comparison) -> String {
    let phrase = levels_phrase(&comparison.context);
    let preposition = if comparison.context.contains_key("drive") {
        "on"
    } else {
        "with"
    };
    if phrase.is_empty() {
        String::new()
    } else {
        format!(" {preposition} {phrase}")
    }
}

/// The rules that forbid the comparison, ` (R4)`, and what the first of them says.
fn broken(findings: &[Finding]) -> (String, &str) {
    let errors: Vec<_> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .collect();
    let mut rules: Vec<_> = errors
        .iter()
        .map(|finding| finding.rule.to_string())
        .collect();
    rules.dedup();
    match errors.first() {
        Some(first) => (format!(" ({})", rules.join(", ")), &first.message),
        None => (
            String::new(),
            "a rule of the study forbids this comparison; see the study's findings",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use weir_model::{EqualityTest, Method, Ratio, RuleId};

    fn comparison(verdict: Verdict, ratio: f64, ends: Option<(f64, f64)>) -> Comparison {
        Comparison {
            factor: "innodb_doublewrite".to_owned(),
            baseline: "ON".to_owned(),
            level: "OFF".to_owned(),
            context: BTreeMap::from([("drive".to_owned(), "intel-p4610".to_owned())]),
            metric: "queries_per_s".to_owned(),
            baseline_cell: 0,
            level_cell: 1,
            ratio,
            ratio_low: ends.map(|(low, _)| low),
            ratio_high: ends.map(|(_, high)| high),
            pairs: if ends.is_some() { 3 } else { 1 },
            method: Method::PairedT,
            p_value: None,
            p_value_adjusted: None,
            second_opinion: None,
            others: Vec::new(),
            costs: Vec::new(),
            replay: None,
            negative_control: false,
            equality: None,
            verdict,
            findings: Vec::new(),
        }
    }

    #[test]
    fn an_effect_is_said_with_its_interval() {
        assert_eq!(
            sentence(&comparison(Verdict::Effect, 1.3129, Some((1.2402, 1.3898)))),
            "innodb_doublewrite OFF gives 1.31x the queries per second of ON on intel-p4610 \
             (95 % interval 1.24 to 1.39, 3 repetitions)"
        );
    }

    #[test]
    fn equality_is_told_with_its_margin() {
        let mut equal = comparison(Verdict::Equal, 1.0, Some((0.98, 1.02)));
        let test = EqualityTest {
            margin: 0.05,
            p_value: 0.01,
            p_value_adjusted: Some(0.02),
            repetitions_needed: Some(12),
        };
        equal.equality = Some(test);
        assert_eq!(
            sentence(&equal),
            "innodb_doublewrite OFF and ON on intel-p4610 are equal in queries per second within 5 % (ratio 1.00, 95 % \
             interval 0.98 to 1.02, 3 repetitions)"
        );
        assert!(notes(&equal).is_empty());
        equal.verdict = Verdict::Effect;
        assert_eq!(
            notes(&equal),
            ["a small difference: both are equal within 5 %"]
        );
        equal.verdict = Verdict::Inconclusive;
        equal.equality = Some(EqualityTest {
            p_value_adjusted: Some(0.3),
            ..test
        });
        assert_eq!(
            notes(&equal),
            [
                "equality within 5 % was not shown either; about 12 repetitions would show it, if it is so"
            ]
        );
    }

    #[test]
    fn a_cost_that_differs_is_told_also_where_throughput_does_not() {
        let mut same = comparison(Verdict::Inconclusive, 1.0, Some((0.99, 1.01)));
        let cost = |metric: &str, verdict| CostRatio {
            metric: metric.to_owned(),
            baseline: 41.9,
            level: 43.2,
            ratio: Ratio {
                ratio: 1.031,
                low: Some(1.022),
                high: Some(1.041),
            },
            p_value: Some(0.001),
            p_value_adjusted: Some(0.001),
            verdict,
        };
        let cpu = CostPerQuery::SERVER_CPU.name;
        same.costs = vec![
            cost(cpu, Verdict::Effect),
            cost("context_switches_per_query", Verdict::Inconclusive),
        ];
        let told = "per query: server CPU 1.031x (1.022 to 1.041), from 41.9 to 43.2 us";
        assert_eq!(costs(&same).unwrap(), told);
        same.costs[0].verdict = Verdict::Inconclusive;
        assert_eq!(
            costs(&same).unwrap(),
            format!("{told}; no difference was shown")
        );
        same.costs[0].verdict = Verdict::Invalid;
        assert_eq!(costs(&same), None);
    }

    #[test]
    fn an_interval_that_just_excludes_one_never_reads_as_one() {
        let text = sentence(&comparison(Verdict::Effect, 1.05, Some((1.002, 1.1))));
        assert!(
            text.contains("1.05x") && text.contains("1.002 to 1.10,"),
            "{text}"
        );
    }

    #[test]
    fn no_difference_and_no_interval_are_inconclusive() {
        assert_eq!(
            sentence(&comparison(
                Verdict::Inconclusive,
                1.02,
                Some((0.957, 1.087))
            )),
            "inconclusive: no difference in queries per second was shown between \
             innodb_doublewrite OFF and ON on intel-p4610 (ratio 1.02, 95 % interval 0.96 to 1.09, \
             3 repetitions)"
        );
        assert_eq!(
            sentence(&comparison(Verdict::Inconclusive, 1.3, None)),
            "inconclusive: 1 repetition of innodb_doublewrite OFF against ON on intel-p4610 cannot \
             give an interval (ratio of queries per second 1.30)"
        );
    }

    #[test]
    fn an_invalid_comparison_names_the_rule_and_gives_no_number() {
        let mut comparison = comparison(Verdict::Invalid, 1.31, Some((1.2, 1.4)));
        comparison.findings = vec![
            Finding {
                rule: RuleId::R14,
                severity: Severity::Warning,
                message: "the client was busy".to_owned(),
            },
            Finding {
                rule: RuleId::R4,
                severity: Severity::Error,
                message: "two repetitions; run three".to_owned(),
            },
        ];
        assert_eq!(
            sentence(&comparison),
            "invalid (R4): innodb_doublewrite OFF against ON on intel-p4610: two repetitions; run \
             three"
        );
    }

    #[test]
    fn without_other_factors_no_place_is_named() {
        let mut comparison = comparison(Verdict::Effect, 2.0, Some((1.9, 2.1)));
        comparison.context.clear();
        assert!(sentence(&comparison).contains("per second of ON (95 %"));
    }
}
