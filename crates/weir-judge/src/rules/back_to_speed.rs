//! R22: a server that was gone is judged by the time to its earlier throughput; outage and recovery are apart.

use weir_model::{Finding, IntervalRecord, Plan, RuleId, RunResult};
use weir_stats::{BackToSpeed, SeriesInterval, back_to_speed};

use super::{Design, Evidence, ONLY_WARNS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R22,
    title: "a server that was gone is judged by the time to its earlier throughput",
    checked: "Runs with an event that ends the server. Warning: fewer than five seconds of measurement before that \
              event. Warning: a run that had not recovered when it ended. Recovered means five consecutive seconds at \
              95 % of the earlier throughput, with a p99 of at most 1.25 times the earlier one. The table of events has \
              the outage (no answers) and the recovery (slow answers) apart.",
    reason: "A mean over a measurement mixes a time without answers with a time of slow ones, and depends on how \
             long was measured after. A server that answers again is not yet as fast: its buffer pool is empty.",
    remedy: "Raise `load.measure`, or move the event: at least five seconds after the beginning, and early enough \
             to see the recovery. Compare outage and recovery, not the mean throughput.",
    reference: "docs/events.md",
    severities: ONLY_WARNS,
    design: check_design,
    study: check,
    ..Rule::NONE
};

/// Seconds before an event that say what the earlier throughput was.
const BEFORE_S: f64 = 5.0;

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let Some(earliest_s) = earliest_s(design.plan).filter(|at_s| *at_s < BEFORE_S) else {
        return Vec::new();
    };
    vec![RULE.warning(format!(
        "an event ends the server {earliest_s:.1} s after the measurement began, less than {BEFORE_S:.0} s: nothing \
         says what its throughput was; let the event happen later"
    ))]
}

fn earliest_s(plan: &Plan) -> Option<f64> {
    let events = plan.cells.iter().flat_map(|cell| &cell.spec.timeline);
    let ends = events.filter(|event| event.kind.ends_server());
    ends.map(|event| event.at.as_secs_f64()).reduce(f64::min)
}

fn check(evidence: &Evidence<'_>) -> Vec<Finding> {
    let runs = evidence.result.runs.iter();
    let slow: Vec<_> = runs
        .filter(|run| returned(run) == Some(BackToSpeed::Never))
        .collect();
    let Some(named) = evidence.named(&slow) else {
        return Vec::new();
    };
    vec![RULE.warning(format!(
        "{} were not back at their earlier throughput when they ended, the first of them {}: the time to it is longer than \
         shown; raise load.measure",
        named.count, named.first
    ))]
}

/// Returns the time at which the load of a run was as fast as before its first event that ended the
/// server.
fn returned(run: &RunResult) -> Option<BackToSpeed> {
    let gone = run
        .events
        .iter()
        .filter(|event| event.detail.restart.is_some());
    let began_s = gone.map(|event| event.began_s).reduce(f64::min)?;
    let interval = |one: &IntervalRecord| SeriesInterval {
        end_s: one.time_s,
        length_s: one.length_s,
        count: one.transactions,
        latency_us_p99: one.latency_us_p99,
    };
    // The middle decides, so that a late tick stays in its own second.
    let is_measured = |one: &&IntervalRecord| one.time_s - one.length_s / 2.0 > 0.0;
    let measured = run.intervals.iter().filter(is_measured);
    back_to_speed(&measured.map(interval).collect::<Vec<_>>(), began_s)
}
