//! Conditions of `weir compare`: which of them a comparison surely meets, surely breaks, or leaves open.
//!
//! Each is judged by the 95 % interval: met where all of it lies within the limit, failed where all of it lies beyond. So
//! a gate passes only if the loss that it forbids is excluded, which is a one-sided test at 2.5 %; equality is two of them.

use weir_model::{Comparison, GateCheck, GateOutcome, Ratio, ResultComparison, Severity, Verdict};

use crate::JudgeError;
use crate::percent;

const P99: &str = "latency_us_p99";
/// Beyond that, more runs are no advice.
const REPETITIONS_MAX: f64 = 1_000.0;

/// Most that a change may cost; ratios are level / baseline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GateConditions {
    /// The compared metric is at least this much of the baseline's, times: 0.97 allows a loss of 3 %.
    pub improvement_min: Option<f64>,
    /// p99 latency is at most this much of the baseline's: 1.1 allows 10 % more.
    pub p99_max: Option<f64>,
    /// Kinds of statements whose text has this part take at most this much of the baseline's time.
    pub statements_max: Vec<(String, f64)>,
    /// The compared metric is the baseline's within this: 0.05 allows 1 / 1.05 to 1.05.
    pub equal_within: Option<f64>,
}

impl GateConditions {
    /// Checks all conditions on all comparisons but those that a rule forbids.
    ///
    /// # Errors
    /// No kind of statement has a text that a condition names.
    pub fn check(&self, compared: &ResultComparison) -> Result<Vec<GateCheck>, JudgeError> {
        let mut checks = Vec::new();
        for (index, comparison) in compared.comparisons.iter().enumerate() {
            if comparison.verdict != Verdict::Invalid {
                let mut found = self.check_totals(comparison);
                found.extend(self.check_statements(comparison));
                for check in &mut found {
                    check.comparison = index;
                }
                checks.append(&mut found);
            }
        }
        for (part, _) in &self.statements_max {
            let has = |comparison: &Comparison| kinds(comparison, part).next().is_some();
            if !compared.comparisons.iter().any(has) {
                return Err(JudgeError::NoSuchStatement { part: part.clone() });
            }
        }
        Ok(checks)
    }

    fn check_totals(&self, comparison: &Comparison) -> Vec<GateCheck> {
        let mut checks = Vec::new();
        let metric = &comparison.metric;
        let runs = comparison.pairs;
        // A difference that is none after the correction for all comparisons is no loss.
        let is_sure = is_sure(comparison);
        let improvement = comparison.improvement();
        if let Some(min) = self.improvement_min {
            let condition = format!("{metric} worse by at most {} %", percent(1.0 - min));
            let limits = (min, f64::INFINITY);
            checks.push(check(condition, improvement, limits, runs, is_sure));
        }
        if let Some(margin) = self.equal_within {
            let condition = format!("{metric} equal within {} %", percent(margin));
            let limits = (1.0 / (1.0 + margin), 1.0 + margin);
            checks.push(check(
                condition,
                comparison.estimate(),
                limits,
                runs,
                is_sure,
            ));
        }
        if let Some(max) = self.p99_max {
            let condition = format!("p99 latency at most {:+} %", percent(max - 1.0));
            let found = comparison.others.iter().find(|other| other.metric == P99);
            let unknown = Ratio {
                ratio: 1.0,
                low: None,
                high: None,
            };
            let ratio = found.map_or(unknown, |other| other.ratio);
            checks.push(check(condition, ratio, (0.0, max), runs, true));
        }
        checks
    }

    fn check_statements(&self, comparison: &Comparison) -> Vec<GateCheck> {
        let mut checks = Vec::new();
        for (part, max) in &self.statements_max {
            for kind in kinds(comparison, part) {
                let condition =
                    format!("`{}` at most {:+} %", kind.fingerprint, percent(max - 1.0));
                let ratio = Ratio {
                    ratio: kind.ratio.unwrap_or(1.0),
                    low: kind.ratio_low,
                    high: kind.ratio_high,
                };
                checks.push(check(condition, ratio, (0.0, *max), comparison.pairs, true));
            }
        }
        checks
    }
}

/// Returns true if a difference holds among all comparisons. Levels that are equal within a margin may differ, too.
fn is_sure(comparison: &Comparison) -> bool {
    let mut findings = comparison.findings.iter();
    match comparison.verdict {
        Verdict::Effect => true,
        Verdict::Equal => findings.all(|finding| finding.severity != Severity::Inconclusive),
        Verdict::Inconclusive | Verdict::Invalid => false,
    }
}

/// The kinds of statements whose text has this part, in capitals or not.
fn kinds<'a>(
    comparison: &'a Comparison,
    part: &str,
) -> impl Iterator<Item = &'a weir_model::FingerprintComparison> {
    let part = part.to_lowercase();
    let replay = comparison.replay.iter();
    replay
        .flat_map(|replay| &replay.fingerprints)
        .filter(move |kind| kind.fingerprint.to_lowercase().contains(&part))
}

fn check(
    condition: String,
    ratio: Ratio,
    limits: (f64, f64),
    runs: usize,
    is_sure: bool,
) -> GateCheck {
    let outcome = match ratio.interval() {
        Some((low, high)) if low >= limits.0 && high <= limits.1 => GateOutcome::Met,
        Some((low, high)) if is_sure && (high < limits.0 || low > limits.1) => GateOutcome::Failed,
        _ => GateOutcome::Undecided,
    };
    GateCheck {
        comparison: 0,
        condition,
        outcome,
        ratio,
        repetitions_needed: (outcome == GateOutcome::Undecided)
            .then(|| repetitions_needed(&ratio, limits, runs))
            .flatten(),
    }
}

/// Repetitions that bring the nearer end of the interval to the limit: half-widths fall with the root of their number.
fn repetitions_needed(ratio: &Ratio, limits: (f64, f64), runs: usize) -> Option<u64> {
    let (low, high) = ratio.interval()?;
    let half_width = (high / low).ln() / 2.0;
    let distance = |limit: f64| (ratio.ratio / limit).ln().abs();
    let nearest = distance(limits.0.max(f64::MIN_POSITIVE)).min(distance(limits.1));
    let needed = (runs as f64 * (half_width / nearest).powi(2)).ceil();
    (needed > runs as f64 && needed <= REPETITIONS_MAX).then_some(needed as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ratio: f64, low: f64, high: f64) -> Ratio {
        Ratio {
            ratio,
            low: Some(low),
            high: Some(high),
        }
    }

    fn outcome(found: Ratio, limits: (f64, f64), is_sure: bool) -> GateOutcome {
        check(String::new(), found, limits, 5, is_sure).outcome
    }

    #[test]
    fn a_condition_is_met_or_failed_only_where_the_whole_interval_says_so() {
        use GateOutcome::{Failed, Met, Undecided};
        let loss = (0.97, f64::INFINITY);
        for (low, high, expected) in [
            (0.98, 1.02, Met),
            (0.97, 1.5, Met),
            (0.96, 1.02, Undecided),
            (0.90, 0.98, Undecided),
            (0.90, 0.96, Failed),
        ] {
            assert_eq!(
                outcome(ratio(0.95, low, high), loss, true),
                expected,
                "{low} {high}"
            );
        }
        let unsure = outcome(ratio(0.93, 0.90, 0.96), loss, false);
        assert_eq!(unsure, Undecided);
        let unknown = Ratio {
            ratio: 0.5,
            low: None,
            high: None,
        };
        assert_eq!(outcome(unknown, loss, true), Undecided);
        let equal = (1.0 / 1.05, 1.05);
        assert_eq!(outcome(ratio(1.0, 0.96, 1.04), equal, true), Met);
        assert_eq!(outcome(ratio(1.0, 0.94, 1.04), equal, true), Undecided);
        assert_eq!(outcome(ratio(1.2, 1.1, 1.3), equal, true), Failed);
    }

    #[test]
    fn a_small_loss_of_equal_levels_fails_a_smaller_limit() {
        let compared = |verdict: &str| {
            let mut compared = replayed(verdict);
            let found = &mut compared.comparisons[0];
            (found.ratio, found.ratio_low, found.ratio_high) = (0.97, Some(0.96), Some(0.98));
            let conditions = GateConditions {
                improvement_min: Some(0.99),
                ..GateConditions::default()
            };
            conditions.check(&compared).unwrap()[0].outcome
        };
        assert_eq!(compared("equal"), GateOutcome::Failed);
        assert_eq!(compared("inconclusive"), GateOutcome::Undecided);
    }

    #[test]
    fn the_number_of_repetitions_grows_with_the_square_of_the_noise() {
        let needed = |low, high| {
            let found = ratio(1.0, low, high);
            repetitions_needed(&found, (0.97, f64::INFINITY), 5)
        };
        // Half-widths of 6 and 12 % beside a distance of 3 %.
        assert_eq!(needed(0.9418, 1.0618), Some(20));
        assert_eq!(needed(0.8869, 1.1275), Some(78));
        assert_eq!(needed(0.99, 1.01), None);
        // The limit itself: no number of runs decides.
        let at_limit = ratio(0.97, 0.90, 1.04);
        assert_eq!(
            repetitions_needed(&at_limit, (0.97, f64::INFINITY), 5),
            None
        );
    }

    /// A comparison of a replay with two kinds of statements.
    fn replayed(verdict: &str) -> ResultComparison {
        let kind = |text: &str, low: f64, high: f64| {
            serde_json::json!({
                "fingerprint": text, "verdict": "not_shown", "count": 100.0, "share": 0.5,
                "baseline_us": 100.0, "level_us": 110.0, "ratio": (low * high).sqrt(),
                "ratio_low": low, "ratio_high": high, "p99_ratio": 1.0, "p_value": null,
                "p_value_adjusted": null, "differs": [], "baseline_plan": null, "level_plan": null,
            })
        };
        let comparison = serde_json::json!({
            "factor": "before", "baseline": "A", "level": "B", "context": {}, "metric": "queries_per_s",
            "baseline_cell": 0, "level_cell": 1, "ratio": 1.0, "ratio_low": 0.99, "ratio_high": 1.01,
            "pairs": 5, "method": "paired_t", "p_value": 0.5, "p_value_adjusted": 0.5,
            "second_opinion": null, "negative_control": false, "verdict": verdict, "findings": [],
            "others": [{"metric": "latency_us_p99", "ratio": {"ratio": 1.3, "low": 1.2, "high": 1.4}}],
            "replay": {"fidelity": [], "fingerprints": [
                kind("select * from ORDERS where id = ?", 1.10, 1.30),
                kind("insert into orders values (?)", 0.98, 1.02),
                kind("select * from item", 0.90, 1.50),
            ]},
        });
        ResultComparison {
            basis: String::new(),
            differences: Vec::new(),
            comparisons: vec![serde_json::from_value(comparison).unwrap()],
            findings: Vec::new(),
            gate_checks: Vec::new(),
        }
    }

    #[test]
    fn each_condition_speaks_of_its_own_figure() {
        use GateOutcome::{Failed, Met, Undecided};
        let conditions = GateConditions {
            improvement_min: Some(0.97),
            p99_max: Some(1.1),
            statements_max: vec![("Orders".to_owned(), 1.05), ("item".to_owned(), 1.05)],
            equal_within: Some(0.05),
        };
        let checks = conditions.check(&replayed("inconclusive")).unwrap();
        let found: Vec<_> = checks
            .iter()
            .map(|check| (check.condition.as_str(), check.outcome))
            .collect();
        assert_eq!(
            found,
            [
                ("queries_per_s worse by at most 3 %", Met),
                ("queries_per_s equal within 5 %", Met),
                ("p99 latency at most +10 %", Failed),
                ("`select * from ORDERS where id = ?` at most +5 %", Failed),
                ("`insert into orders values (?)` at most +5 %", Met),
                ("`select * from item` at most +5 %", Undecided),
            ]
        );
        assert!(conditions.check(&replayed("invalid")).unwrap().is_empty());
        let other = GateConditions {
            statements_max: vec![("nowhere".to_owned(), 1.05)],
            ..GateConditions::default()
        };
        let error = other.check(&replayed("inconclusive")).unwrap_err();
        assert!(error.to_string().contains("`nowhere`"), "{error}");
    }
}
