//! Two arms of a replay, kind of statement by kind of statement.
//!
//! The unit is the run: a pair of runs gives one ratio of mean latencies, whatever the number of statements in them,
//! since statements of one run share its server, its pool and its minute. Many kinds are asked about at once, so that
//! probabilities are corrected for their number (Benjamini and Hochberg, false share 5 %).
//!
//! That a kind is equal within 5 % is a claim of its own ([`crate::equality`]). A difference that was shown stays one,
//! however small.
//!
//! The mean of a kind that a run has a few times only is one pause of the machine away from another one, and means of a
//! few runs can agree by chance. So the time that such a kind costs more or less in a run must exceed the longest pause.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use weir_model::{
    EqualityTest, FingerprintComparison, FingerprintRecord, FingerprintVerdict, Plan, Repetition,
    ReplayComparison, ReplayFidelity, ReplayRecord, RunResult,
};
use weir_stats::{benjamini_hochberg, equality_decided_log_ratio, looked_p_value};

use crate::equality::Arms;
use crate::estimate_ratio::{Pairing, RatioAnalysis, at_verdict, paired, unpaired};
use crate::measured::RunsByCell;

/// Share of false ones among the kinds that differ by the verdict.
const FALSE_SHARE: f64 = EqualityTest::P_VALUE_MAX;

/// A kind that a run has less often hangs on single pauses of the machine.
const EXECUTIONS_MIN: f64 = 20.0;

/// A run's number and its kinds of statements.
type Run<'a> = (u32, HashMap<&'a str, &'a FingerprintRecord>);

/// Relation of the runs of both arms.
#[derive(Debug, Clone, Copy)]
struct Design {
    pairing: Pairing,
    seed: u64,
    /// The number of runs depends on what they say.
    is_looked: bool,
}

/// Compares a level with its baseline; `None` if their runs replay nothing.
pub(crate) fn compare(
    plan: &Plan,
    runs: &RunsByCell<'_>,
    (level, baseline): (usize, usize),
    pairing: Pairing,
) -> Option<ReplayComparison> {
    let arms = [baseline, level].map(|cell| of_runs(runs.runs(cell)));
    if arms.iter().any(Vec::is_empty) {
        return None;
    }
    let both = [baseline, level]
        .into_iter()
        .flat_map(|cell| runs.runs(cell));
    let pause_us = longest_pause_us(both.filter_map(|run| run.replay.as_ref()));
    let design = Design {
        pairing,
        seed: plan.seed,
        is_looked: plan.repeat.until.is_some(),
    };
    Some(ReplayComparison {
        fidelity: [baseline, level]
            .map(|cell| fidelity_words(runs.runs(cell)))
            .into(),
        fingerprints: of_kinds(&arms, pause_us, design),
    })
}

/// Compares replays in pairs, each of `level` with the one of `baseline` at the same place: every kind of statement,
/// judged as in a study.
pub fn compare_replays(
    baseline: &[ReplayRecord],
    level: &[ReplayRecord],
    seed: u64,
) -> Vec<FingerprintComparison> {
    let arms = [baseline, level].map(|records| (1..).zip(records.iter().map(kinds)).collect());
    let pause_us = longest_pause_us(baseline.iter().chain(level));
    let design = Design {
        pairing: Pairing::Repetition,
        seed,
        is_looked: false,
    };
    of_kinds(&arms, pause_us, design)
}

/// The longest that a statement of these replays was late, which is a pause of the machine; microseconds.
fn longest_pause_us<'a>(records: impl Iterator<Item = &'a ReplayRecord>) -> f64 {
    let late_us = records.map(|record| record.fidelity.late_us.max);
    late_us.max().unwrap_or(0) as f64
}

/// All kinds of statements of the baseline, with the verdict: worse ones first.
fn of_kinds(arms: &[Vec<Run<'_>>; 2], pause_us: f64, design: Design) -> Vec<FingerprintComparison> {
    let mut names = Vec::new();
    let mut known = BTreeSet::new();
    for (_, kinds) in &arms[0] {
        let mut of_run: Vec<_> = kinds.values().collect();
        of_run.sort_by(|a, b| time_us(b).total_cmp(&time_us(a)));
        names.extend(
            of_run
                .iter()
                .map(|kind| kind.fingerprint.as_str())
                .filter(|name| known.insert(*name)),
        );
    }
    let total_us: f64 = arms[0]
        .iter()
        .flat_map(|(_, kinds)| kinds.values())
        .map(|kind| time_us(kind))
        .sum();
    let (mut found, equal_p_values): (Vec<_>, Vec<_>) = names
        .into_iter()
        .filter_map(|name| of_kind(name, arms, total_us, design))
        .unzip();
    judge(&mut found, pause_us);
    judge_equal(&mut found, &equal_p_values);
    found.sort_by(|a, b| {
        a.verdict
            .cmp(&b.verdict)
            .then(weight(b).total_cmp(&weight(a)))
    });
    found
}

fn kinds(record: &ReplayRecord) -> HashMap<&str, &FingerprintRecord> {
    let kinds = record.fingerprints.iter();
    kinds
        .map(|kind| (kind.fingerprint.as_str(), kind))
        .collect()
}

fn of_runs<'a>(runs: &[&'a RunResult]) -> Vec<Run<'a>> {
    runs.iter()
        .filter_map(|run| Some((run.record.repetition, kinds(run.replay.as_ref()?))))
        .collect()
}

/// Time that a run spent in a kind of statement, microseconds.
fn time_us(kind: &FingerprintRecord) -> f64 {
    kind.latency
        .map_or(0.0, |latency| latency.us_mean * kind.sent as f64)
}

/// Returns the weight by which a kind is ranked: the time that the level costs more or less, else its share.
fn weight(found: &FingerprintComparison) -> f64 {
    match found.verdict {
        FingerprintVerdict::SurelyWorse | FingerprintVerdict::SurelyBetter => difference_us(found),
        FingerprintVerdict::Equal | FingerprintVerdict::NotShown => found.share,
    }
}

/// The time that a run of the level spends more or less in a kind, microseconds.
fn difference_us(found: &FingerprintComparison) -> f64 {
    (found.level_us - found.baseline_us).abs() * found.count
}

/// A kind of statement without its verdict, and the probability of such a ratio if the arms were not equal.
fn of_kind(
    name: &str,
    arms: &[Vec<Run<'_>>; 2],
    total_us: f64,
    design: Design,
) -> Option<(FingerprintComparison, Option<f64>)> {
    let of_arm = |arm: &Vec<Run<'_>>| -> Vec<(u32, FingerprintRecord)> {
        let kinds = arm.iter();
        kinds
            .filter_map(|(repetition, kinds)| {
                Some((*repetition, FingerprintRecord::clone(kinds.get(name)?)))
            })
            .collect()
    };
    let [baseline, level] = [of_arm(&arms[0]), of_arm(&arms[1])];
    let latencies = |read| latencies(&level, &baseline, read, design.pairing);
    let means = latencies(|kind| kind.latency.map(|latency| latency.us_mean));
    let p99s = latencies(|kind| kind.latency.map(|latency| latency.us_p99));
    let mean = ratio(&means, design);
    let records = baseline.iter().chain(&level).map(|(_, kind)| kind);
    let differs = explained(differences(&baseline, &level), records);
    let sent: u64 = baseline
        .iter()
        .chain(&level)
        .map(|(_, kind)| kind.sent)
        .sum();
    if sent == 0 || mean.is_none() && differs.is_empty() {
        return None;
    }
    let mean_us = |arm: &[(u32, FingerprintRecord)]| {
        let means = arm
            .iter()
            .filter_map(|(_, kind)| kind.latency.map(|latency| latency.us_mean));
        average(means)
    };
    let time: f64 = baseline.iter().map(|(_, kind)| time_us(kind)).sum();
    let count = average(baseline.iter().map(|(_, kind)| kind.sent as f64));
    // Means of a few statements agree by chance.
    let equal_p_value = means
        .equality_p_value(Repetition::EQUAL_MARGIN, design.is_looked)
        .filter(|_| count >= EXECUTIONS_MIN);
    let found = FingerprintComparison {
        fingerprint: name.to_owned(),
        verdict: FingerprintVerdict::NotShown,
        count,
        share: time / total_us.max(f64::MIN_POSITIVE),
        baseline_us: mean_us(&baseline),
        level_us: mean_us(&level),
        ratio: mean.map(|mean| mean.ratio.ratio),
        ratio_low: mean.and_then(|mean| mean.ratio.low),
        ratio_high: mean.and_then(|mean| mean.ratio.high),
        p99_ratio: ratio(&p99s, design).map(|p99| p99.ratio.ratio),
        p_value: mean.and_then(|mean| mean.p_value),
        p_value_adjusted: None,
        equal_p_value_adjusted: None,
        differs,
        baseline_plan: plans(&baseline),
        level_plan: plans(&level),
    };
    Some((found, equal_p_value))
}

fn average(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
    if count == 0.0 { 0.0 } else { sum / count }
}

/// A mean or percentile of a kind of statement in the runs of two arms.
fn latencies(
    level: &[(u32, FingerprintRecord)],
    baseline: &[(u32, FingerprintRecord)],
    read: fn(&FingerprintRecord) -> Option<f64>,
    pairing: Pairing,
) -> Arms {
    let values = |arm: &[(u32, FingerprintRecord)]| -> BTreeMap<u32, f64> {
        let read = arm
            .iter()
            .filter_map(|(run, kind)| Some((*run, read(kind)?)));
        read.filter(|(_, value)| *value > 0.0).collect()
    };
    let (level, baseline) = (values(level), values(baseline));
    match pairing {
        Pairing::Repetition => {
            let pairs = level.iter();
            let pairs = pairs.filter_map(|(run, value)| Some((*value, *baseline.get(run)?)));
            Arms::Pairs(pairs.collect())
        }
        Pairing::None => Arms::Unpaired(
            level.into_values().collect(),
            baseline.into_values().collect(),
        ),
    }
}

fn ratio(latencies: &Arms, design: Design) -> Option<RatioAnalysis> {
    match latencies {
        Arms::Pairs(pairs) if pairs.is_empty() => None,
        Arms::Pairs(pairs) => {
            if !design.is_looked {
                return paired(pairs, design.seed);
            }
            let found = at_verdict(pairs, equality_decided_log_ratio(pairs))?;
            let p_value = looked_p_value(pairs).ok()?;
            Some(RatioAnalysis { p_value, ..found })
        }
        Arms::Unpaired(level, baseline) => unpaired(level, baseline),
    }
}

/// A number of a kind of statement in one run.
type Number = fn(&FingerprintRecord) -> u64;

/// Returns the differences of both arms' results. Contents are compared only where the numbers of rows are the same.
fn differences(
    baseline: &[(u32, FingerprintRecord)],
    level: &[(u32, FingerprintRecord)],
) -> Vec<String> {
    let all = |arm: &[(u32, FingerprintRecord)], read: Number| -> BTreeSet<u64> {
        arm.iter().map(|(_, kind)| read(kind)).collect()
    };
    let mut found = Vec::new();
    let numbers: [(&str, Number); 4] = [
        ("rows", |kind| kind.rows),
        ("changed rows", |kind| kind.affected),
        ("errors", |kind| kind.errors),
        ("warnings", |kind| kind.warnings),
    ];
    let mut rows_differ = false;
    for (what, read) in numbers {
        let (before, after) = (all(baseline, read), all(level, read));
        if before.is_disjoint(&after) && !before.is_empty() && !after.is_empty() {
            rows_differ |= what == "rows";
            found.push(format!(
                "{what}: {} instead of {}",
                span(&after),
                span(&before)
            ));
        }
    }
    if !rows_differ {
        if differ_surely([baseline, level], |kind| &kind.results) {
            found.push("contents of the rows".to_owned());
        } else if differ_surely([baseline, level], |kind| &kind.results_in_order) {
            found.push(ORDER.to_owned());
        }
    }
    found
}

/// A difference in the order of rows only.
const ORDER: &str = "order of the rows";

/// Adds to each difference why it can come without a fault of either arm, as far as the statement's text says it.
fn explained<'a>(
    differences: Vec<String>,
    mut records: impl Iterator<Item = &'a FingerprintRecord>,
) -> Vec<String> {
    // All have the same text; older results have no reasons.
    let record = records.find(|record| !record.difference_reasons.is_empty());
    let Some(record) = record else {
        return differences;
    };
    let differences = differences.into_iter().map(|found| {
        let reasons = record.difference_reasons.iter();
        let of_this = reasons.filter(|reason| found == ORDER || !reason.is_of_order);
        let words: Vec<_> = of_this.map(|reason| reason.words.as_str()).collect();
        if words.is_empty() {
            found
        } else {
            format!("{found} ({})", words.join(", "))
        }
    });
    differences.collect()
}

/// Returns true if all runs of an arm have one digest, and the other arm's another. Arms whose own runs differ say nothing
/// by differing from each other.
fn differ_surely(
    arms: [&[(u32, FingerprintRecord)]; 2],
    read: fn(&FingerprintRecord) -> &String,
) -> bool {
    let all = |arm: &[(u32, FingerprintRecord)]| -> BTreeSet<String> {
        arm.iter().map(|(_, kind)| read(kind).clone()).collect()
    };
    let [before, after] = arms.map(all);
    before.len() == 1 && after.len() == 1 && before != after
}

fn span(values: &BTreeSet<u64>) -> String {
    match (values.first(), values.last()) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.to_string(),
        _ => "none".to_owned(),
    }
}

/// The plans of an arm's runs; several where they differ.
fn plans(arm: &[(u32, FingerprintRecord)]) -> Option<String> {
    let plans: BTreeSet<_> = arm
        .iter()
        .filter_map(|(_, kind)| kind.plan.as_deref())
        .collect();
    (!plans.is_empty()).then(|| {
        plans
            .into_iter()
            .collect::<Vec<_>>()
            .join(FingerprintComparison::OR)
    })
}

/// Corrects for many, and says what was shown.
fn judge(found: &mut [FingerprintComparison], pause_us: f64) {
    let p_values: Vec<_> = found.iter().filter_map(|kind| kind.p_value).collect();
    let with_p = found.iter_mut().filter(|kind| kind.p_value.is_some());
    for (kind, adjusted) in with_p.zip(benjamini_hochberg(&p_values)) {
        kind.p_value_adjusted = Some(adjusted);
        let is_pause = kind.count < EXECUTIONS_MIN && difference_us(kind) <= pause_us;
        let is_shown = adjusted <= FALSE_SHARE && !is_pause;
        kind.verdict = match kind.ratio {
            Some(ratio) if is_shown && ratio > 1.0 => FingerprintVerdict::SurelyWorse,
            Some(ratio) if is_shown && ratio < 1.0 => FingerprintVerdict::SurelyBetter,
            _ => FingerprintVerdict::NotShown,
        };
    }
}

/// Corrects for many, and names the kinds that are equal among those without a difference.
fn judge_equal(found: &mut [FingerprintComparison], equal_p_values: &[Option<f64>]) {
    let p_values: Vec<_> = equal_p_values.iter().copied().flatten().collect();
    let mut adjusted = benjamini_hochberg(&p_values).into_iter();
    for (kind, p_value) in found.iter_mut().zip(equal_p_values) {
        kind.equal_p_value_adjusted = p_value.and_then(|_| adjusted.next());
        let is_equal = kind
            .equal_p_value_adjusted
            .is_some_and(|p_value| p_value <= FALSE_SHARE);
        if is_equal && kind.verdict == FingerprintVerdict::NotShown {
            kind.verdict = FingerprintVerdict::Equal;
        }
    }
}

/// Returns the fidelity of an arm's runs: the worst of each.
fn fidelity_words(runs: &[&RunResult]) -> String {
    let all: Vec<&ReplayFidelity> = runs
        .iter()
        .filter_map(|run| Some(&run.replay.as_ref()?.fidelity))
        .collect();
    let worst =
        |read: fn(&ReplayFidelity) -> u64| all.iter().map(|found| read(found)).max().unwrap_or(0);
    let least =
        |read: fn(&ReplayFidelity) -> u64| all.iter().map(|found| read(found)).min().unwrap_or(0);
    let mut words = format!(
        "{} of {} statements sent by {} of {} sessions, lateness p99 {} us, {} of {} numbers of rows and errors differ from the capture, {} new lock errors",
        least(|found| found.sent),
        worst(|found| found.captured),
        least(|found| found.sessions_joined),
        worst(|found| found.sessions),
        worst(|found| found.late_us.p99),
        worst(differing),
        worst(compared),
        worst(|found| found.lock_errors_new),
    );
    let given_up = worst(|found| found.order_given_up);
    if given_up > 0 {
        let _ = write!(words, ", {given_up} transactions ended out of order");
    }
    words
}

/// Results that differ from the capture.
pub(crate) fn differing(found: &ReplayFidelity) -> u64 {
    found.rows_differ + found.affected_differ + found.errors_differ
}

/// Results that are compared with it.
pub(crate) fn compared(found: &ReplayFidelity) -> u64 {
    found.rows_compared + found.affected_compared + found.errors_compared
}

#[cfg(test)]
mod tests;
