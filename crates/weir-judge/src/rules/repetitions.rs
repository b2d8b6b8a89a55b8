//! R4: enough repetitions, in random order, from restored data, without a trend.

mod servers;

use weir_model::{Comparison, Finding, Plan, RuleId, Until};
use weir_stats::{OrderedRun, order_effect};

use crate::contrast::Contrast;
use crate::percent;
use crate::schedule::{RunKinds, is_open, open_kinds};

use super::{Design, Evidence, Rule, WARNS_OR_FORBIDS};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R4,
    title: "at least 3 repetitions (5 for less than 20 %), interleaved, from restored data",
    checked: "Error: fewer than 3 repetitions of either level. Warning: fewer than 5 for an effect below 20 %; a \
              linear trend over the order of the runs (p < 0.01); effects less known than `repeat.until` asks. \
              Also a warning: runs on a server that others had used (`repeat.within_server`), or on your own \
              server, whose data Weir does not restore. On servers that Weir starts, repetitions are blocks in \
              random order, and the data are restored before each run.",
    reason: "One run of each level has a 95 % half-width of about 19 % on a ratio when I/O-bound, 11 % with three, \
             9 % with five. The same pairs shifted by 6.2 % within hours when data were not restored. All five \
             published studies ran each level once.",
    remedy: "Raise `repeat.runs`. After a trend, find out what ages: the drive, the host, a cache.",
    reference: "A/A pairs of 2026 (Percona-Lab-results, tpcc-benchmark-framework and \
                mysql-tpcc-buffer-pool-sweep); Montgomery, \"Design and Analysis of Experiments\", chapter 4",
    severities: WARNS_OR_FORBIDS,
    design: check_design,
    comparison: check,
    study: check_study,
};

const PAIRS_MIN: usize = 3;
const PAIRS_MIN_SMALL_EFFECT: usize = 5;
/// Effects below this (as |ratio - 1|) are small.
const SMALL_EFFECT: f64 = 0.20;
/// A trend this unlikely by chance is one.
const P_VALUE_MAX: f64 = 0.01;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let pairs = comparison.pairs;
    if let Some(finding) = too_few(pairs) {
        return Some(finding);
    }
    // A verdict that ended the repetitions had to be surer.
    let until = evidence.result.plan.repeat.until;
    let is_decided = matches!(until, Some(Until::Verdict | Until::Equal(_)));
    let small = (comparison.ratio - 1.0).abs() < SMALL_EFFECT;
    (small && !is_decided && pairs < PAIRS_MIN_SMALL_EFFECT).then(|| {
        let message = format!(
            "an effect below {:.0} % needs {PAIRS_MIN_SMALL_EFFECT} repetitions, {pairs} were \
             made; raise repeat.runs",
            SMALL_EFFECT * 100.0
        );
        RULE.warning(message)
    })
}

/// The design alone shows that there will be too few.
fn check_design(design: &Design<'_>) -> Vec<Finding> {
    if design.plan.search.is_some() {
        return Vec::new(); // It repeats by rules of its own and compares nothing.
    }
    let repetitions = design.plan.runs.iter().map(|run| run.repetition).max();
    too_few(repetitions.unwrap_or(0) as usize)
        .into_iter()
        .collect()
}

fn too_few(pairs: usize) -> Option<Finding> {
    (pairs < PAIRS_MIN).then(|| {
        let message =
            format!("{pairs} repetitions, at least {PAIRS_MIN} are needed; raise repeat.runs");
        RULE.error(message)
    })
}

fn check_study(evidence: &Evidence<'_>) -> Vec<Finding> {
    let found = [
        servers::shared(evidence),
        servers::external(evidence),
        open_intervals(evidence),
    ];
    let found = found.into_iter().flatten();
    trend(evidence).into_iter().chain(found).collect()
}

/// Effects that are not known as well as the study wants; one without an interval is one of them.
fn open_intervals(evidence: &Evidence<'_>) -> Option<Finding> {
    let result = evidence.result;
    let until = result.plan.repeat.until?;
    let records: Vec<_> = result.runs.iter().map(|run| &run.record).collect();
    let kinds: Vec<_> = result
        .runs
        .iter()
        .filter_map(|run| Some(RunKinds::new(&run.record, run.replay.as_ref()?)))
        .collect();
    let kinds: Vec<_> = kinds.iter().collect();
    let comparisons = evidence.design.contrasts.len();
    let contrasts = evidence.design.contrasts.iter();
    let open = contrasts.filter(|contrast| {
        is_open(&result.plan, &records, &kinds, contrast, comparisons).unwrap_or(true)
    });
    let open: Vec<_> = open.collect();
    let first = open.first()?;
    let (count, factor, level) = (open.len(), &first.factor, &first.level);
    let repetitions = records.iter().map(|record| record.repetition).max();
    let repetitions = repetitions.unwrap_or(0);
    let message = match until {
        Until::Within(half_width) => format!(
            "{count} effects have wider intervals than the +-{} % of repeat.until, such as that of {factor} {level}; \
             raise repeat.at_most or repeat.budget",
            half_width * 100.0
        ),
        Until::Verdict => format!(
            "{count} effects have no verdict after {repetitions} repetitions, such as that of {factor} {level}; measure \
             longer, or take it for less than its interval shows"
        ),
        Until::Equal(margin) => format!(
            "after {repetitions} repetitions it is open for {count} effects if levels are equal within {} % or differ by \
             more, such as that of {factor} {level}{}; measure longer, or ask for a larger margin",
            percent(margin),
            open_kinds_words(&result.plan, &kinds, first, comparisons)
        ),
    };
    Some(RULE.warning(message))
}

/// ` (3 kinds of statements)`; nothing where no kind is open.
fn open_kinds_words(
    plan: &Plan,
    kinds: &[&RunKinds],
    contrast: &Contrast,
    comparisons: usize,
) -> String {
    match open_kinds(plan, kinds, contrast, comparisons) {
        Ok(count) if count > 0 => format!(" ({count} kinds of statements)"),
        _ => String::new(),
    }
}

/// Blocks in random order keep a trend from favouring a level, but a trend says that something ages.
fn trend(evidence: &Evidence<'_>) -> Option<Finding> {
    let ordered = |run: &weir_model::RunResult| {
        let (cell, repetition) = (run.record.cell, run.record.repetition as usize);
        let agents = evidence.cell(cell).spec.primary().agent.as_ref();
        let hosts = agents.map_or(1, |agents| agents.all().len());
        OrderedRun {
            // Runs on another host repeat other ones.
            cell: cell * hosts + repetition % hosts,
            value: run.record.queries_per_s,
        }
    };
    let runs: Vec<_> = evidence.result.runs.iter().map(ordered).collect();
    // Too few runs to tell a trend from chance say nothing about one.
    let trend = order_effect(&runs).ok()?;
    if trend.p_value >= P_VALUE_MAX {
        return None;
    }
    let percent = |ratio: f64| (ratio - 1.0) * 100.0;
    Some(RULE.warning(format!(
        "results drifted by {:+.1} % from the first run to the last (95 % interval {:+.1} to {:+.1} \
         %): something aged or warmed up between runs; look at the host and repeat",
        percent(trend.ratio),
        percent(trend.interval.0),
        percent(trend.interval.1)
    )))
}
