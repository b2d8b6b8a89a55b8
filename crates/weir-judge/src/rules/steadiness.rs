//! R6: what was measured was a steady state, and for long enough.

use weir_model::{
    Cell, Finding, Flavor, Plan, RuleId, RunResult, ServerVariables, Warmup, metrics,
};
use weir_stats::steady_state;

use super::evidence::RunList;
use super::{Design, Evidence, NOTES_OR_WARNS, Rule};
use crate::measured::{counted, series_before_events};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R6,
    title: "a steady state is measured, and for long enough",
    checked: "Each run, up to its first event: five windows within 20 %, and a slope of at most 10 %. Buffer \
              pool: where pages are read into it, the server's counters must show three turnovers. Redo log: \
              where it is written, they must show one turn. A measurement shorter than 300 s is a first \
              look, and a warning. It is a note if all warm-ups were automatic and all runs pass these \
              checks. In a design, a measurement shorter than 1,800 s (the slowest published warm-up) is a \
              note, too. An automatic warm-up: throughput was steady before `load.warmup.at_most`. Runs of \
              MySQL that write pages: a warm-up of at least innodb_flushing_avg_loops seconds. Before that \
              the page cleaner has only one of the three terms of its flushing target; the other two are \
              running averages.",
    reason: "On a 90 GB data set the first 100 s missed the steady throughput by -46 to +32 %, with a sign that \
             changes with the buffer pool. 80 GB against 30 GB is 2.63x, but 1.08x in the first 100 s and 1.94x in \
             the first 300 s.",
    remedy: "Raise `load.warmup` (or set it to `auto`) and `load.measure`.",
    reference: "Percona's memory sweep of 2018 (Percona-Lab-results, 201803-sysbench-tpcc-myrocks); SNIA Solid \
                State Storage Performance Test Specification, steady state",
    severities: NOTES_OR_WARNS,
    design: check_design,
    study: check,
    ..Rule::NONE
};

/// Shortest measurement that may claim to be more than a look, seconds.
const MEASURE_S_MIN: f64 = 300.0;
/// Turnovers of the buffer pool after which its pages are those that the load leaves in it.
const POOL_TURNS_MIN: f64 = 3.0;
/// Turns of the redo log after which its space has to be freed by checkpoints.
const REDO_TURNS_MIN: f64 = 1.0;
/// Below this share of one turn nothing is read in, or written: cached, or read only.
const TURNS_NONE: f64 = 0.05;
/// For how many seconds `MySQL` averages what its page cleaner wrote, and what the redo log asks for.
const AVERAGES: &str = "innodb_flushing_avg_loops";
/// Time that the slowest of the published warm-ups took, seconds.
const MEASURE_S_SAFE: f64 = 1_800.0;

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let measure_s = shortest_s(design.plan);
    if measure_s < MEASURE_S_MIN {
        let by_rule = |cell: &Cell| matches!(cell.spec.load.warmup, Warmup::UntilSteady { .. });
        return vec![first_look(
            design.plan,
            design.plan.cells.iter().all(by_rule),
        )];
    }
    let is_short = measure_s < MEASURE_S_SAFE;
    let note = is_short.then(|| {
        RULE.note(format!(
            "each run measures {measure_s:.0} s, less than the longest published warm-up ({MEASURE_S_SAFE:.0} s); \
             check that the runs were steady"
        ))
    });
    note.into_iter().collect()
}

/// The shortest measurement of a plan, seconds.
fn shortest_s(plan: &Plan) -> f64 {
    let measured = plan.cells.iter().map(|cell| cell.spec.load.measure);
    measured.min().unwrap_or_default().as_secs_f64()
}

/// About a short measurement of runs that were steady by all checks, or that may not have been.
fn first_look(plan: &Plan, is_steady: bool) -> Finding {
    let measure_s = shortest_s(plan);
    let short = format!("each run measures {measure_s:.0} s, less than {MEASURE_S_MIN:.0} s");
    if is_steady {
        RULE.note(format!(
            "{short}, from when throughput is steady; a longer one shows what comes rarely, such as stalls"
        ))
    } else {
        RULE.warning(format!(
            "{short}: a first look, no proof of a steady state; {} before you decide",
            longer(plan)
        ))
    }
}

/// Returns the words for the option that makes a measurement longer.
fn longer(plan: &Plan) -> &'static str {
    if plan
        .cells
        .iter()
        .all(|cell| cell.spec.load.replay.is_some())
    {
        "capture a longer time"
    } else {
        "set load.warmup to auto, or raise load.measure"
    }
}

fn check(evidence: &Evidence<'_>) -> Vec<Finding> {
    let result = evidence.result;
    let measure_s = shortest_s(&result.plan);
    let is_short = measure_s < MEASURE_S_MIN;
    let unsteady = unsteady(evidence);
    let unturned = few_turns(evidence);
    let others = [ended_early(evidence), before_averages(evidence)];
    let mut records = result.runs.iter().map(|run| &run.record);
    let until_steady = records.all(|record| record.approach.steady == Some(true));
    let others: Vec<_> = others.into_iter().flatten().collect();
    let passes = until_steady && unsteady.is_none() && unturned.is_none() && others.is_empty();
    let short = is_short.then(|| first_look(&result.plan, passes));
    // A first look that is no more than that need not say what it lacks.
    let unturned = unturned.filter(|_| !is_short || until_steady);
    let found = short.into_iter().chain(unsteady).chain(unturned);
    found.chain(others).collect()
}

fn unsteady(evidence: &Evidence<'_>) -> Option<Finding> {
    let runs = evidence.result.runs.iter();
    let unsteady: Vec<_> = runs.filter(|run| is_unsteady(run)).collect();
    let RunList { count, first } = evidence.named(&unsteady)?;
    Some(RULE.warning(format!(
        "{count} were not steady (five windows within 20 %, slope at most 10 %), such as {first}; raise load.warmup"
    )))
}

/// Warm-ups that lasted as long as they may, without becoming steady.
fn ended_early(evidence: &Evidence<'_>) -> Option<Finding> {
    let runs = &evidence.result.runs;
    let is_unsteady = |run: &&RunResult| run.record.approach.steady == Some(false);
    let unsteady: Vec<_> = runs.iter().filter(is_unsteady).collect();
    let first = &unsteady.first()?.record;
    Some(RULE.warning(format!(
        "{} of {} warm-ups were ended by load.warmup.at_most before throughput was steady, such as \
         that of {} after {:.0} s; raise it",
        unsteady.len(),
        runs.len(),
        evidence.name(first),
        first.approach.warmup_s
    )))
}

/// Runs whose measurement began before the page cleaner had averages.
fn before_averages(evidence: &Evidence<'_>) -> Option<Finding> {
    let result = evidence.result;
    let early = |run: &&RunResult| began_before_averages(&result.plan, run) == Some(true);
    let runs: Vec<_> = result.runs.iter().filter(early).collect();
    let RunList { count, first } = evidence.named(&runs)?;
    Some(RULE.warning(format!(
        "in {count} the measurement began before MySQL's page cleaner had its averages ({AVERAGES} = {} s of load; \
         until then it writes less than later), such as {first}; raise load.warmup above that",
        runs[0].variables[AVERAGES]
    )))
}

/// `None` where the server does not tell. (`page_cleaner_flush_pages_recommendation` in storage/innobase/buf/buf0flu.cc
/// of `MySQL` 8.0.)
fn began_before_averages(plan: &Plan, run: &RunResult) -> Option<bool> {
    let server = &plan.cells[run.record.cell].spec.primary().server;
    let averages_s: f64 = run.variables.get(AVERAGES)?.parse().ok()?;
    let variables = ServerVariables::said(server.flavor, &run.variables);
    let (pool, page) = (variables.buffer_pool_size()?, variables.page_size());
    let written = counted(run, &metrics::STATUS_PAGES_WRITTEN)?;
    let approach = &run.record.approach;
    Some(
        server.flavor == Flavor::Mysql
            && approach.runs_before == 0
            && approach.warmup_s < averages_s
            && written * page.0 as f64 > TURNS_NONE * pool.0 as f64,
    )
}

/// Runs that ended before pool and redo log were in the state in which they stay.
fn few_turns(evidence: &Evidence<'_>) -> Option<Finding> {
    let runs = evidence.result.runs.iter();
    let plan = &evidence.result.plan;
    let few: Vec<_> = runs
        .filter(|run| missing_turns(plan, run).is_some())
        .collect();
    let RunList { count, first } = evidence.named(&few)?;
    let missing = missing_turns(plan, few[0])?;
    Some(RULE.warning(format!(
        "in {count} {missing}, such as {first}; raise load.warmup"
    )))
}

/// Returns the turns that a run did not see often enough, in words.
fn missing_turns(plan: &Plan, run: &RunResult) -> Option<String> {
    let server = &plan.cells[run.record.cell].spec.primary().server;
    let variables = ServerVariables::said(server.flavor, &run.variables);
    let page = variables.page_size().0 as f64;
    let too_few = |turns: f64, wanted: f64| (TURNS_NONE..wanted).contains(&turns);
    let pool = counted(run, &metrics::STATUS_POOL_READS)
        .zip(variables.buffer_pool_size())
        .map(|(reads, pool)| reads * page / pool.0 as f64)
        .filter(|turns| too_few(*turns, POOL_TURNS_MIN))
        .map(|turns| format!("the buffer pool was read in only {turns:.1} times over"));
    let redo = counted(run, &metrics::STATUS_REDO_WRITTEN)
        .zip(run.redo_log_capacity())
        .map(|(written, capacity)| written / capacity.0 as f64)
        .filter(|turns| too_few(*turns, REDO_TURNS_MIN))
        .map(|turns| format!("the redo log was written only {turns:.1} times over"));
    let words: Vec<_> = pool.into_iter().chain(redo).collect();
    (!words.is_empty()).then(|| words.join(" and "))
}

fn is_unsteady(run: &RunResult) -> bool {
    steady_state(&series_before_events(run)).is_some_and(|found| !found.is_steady())
}
