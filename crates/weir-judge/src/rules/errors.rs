//! R16: failed transactions are few, and the server answered to the end.

use weir_model::{Comparison, Finding, RuleId};

use super::{Evidence, Rule, WARNS_OR_FORBIDS};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R16,
    title: "failed transactions are few, and the server answers to the end",
    checked: "Error: more than 1 % of the transactions of a run failed (deadlocks, lock timeouts), or a run \
              completed none. An error of a replay counts if the capture did not have it. Warning: connections \
              without a reply seconds after the end. Weir does not count rows after a run.",
    reason: "A transaction that fails is fast. A server that stalls at the end has latencies that are in no \
             percentile.",
    remedy: "Use more rows or fewer connections; look at the server's error log and at its drive.",
    reference: "Brendan Gregg's benchmark checklist, 2018: \"did it error?\"",
    severities: WARNS_OR_FORBIDS,
    comparison: check,
    ..Rule::NONE
};

/// Largest share of tries that may fail (deadlocks, lock timeouts).
const ERROR_SHARE_MAX: f64 = 0.01;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    if evidence
        .runs_of(comparison)
        .any(|run| run.record.queries_per_s <= 0.0)
    {
        let message =
            "a run completed no transaction; look at the server's error log and at its drive";
        return Some(RULE.error(message.to_owned()));
    }
    let worst = evidence
        .runs_of(comparison)
        .map(|run| {
            let done = run.record.transactions_per_s * run.record.measured_s;
            run.record.errors as f64 / (done + run.record.errors as f64).max(1.0)
        })
        .fold(0.0, f64::max);
    if worst <= ERROR_SHARE_MAX {
        return stalled(evidence, comparison);
    }
    Some(RULE.error(format!(
        "{:.1} % of the transactions failed in a run, more than {:.0} %; use more rows \
         or fewer threads",
        worst * 100.0,
        ERROR_SHARE_MAX * 100.0
    )))
}

fn stalled(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let unfinished: u64 = evidence
        .runs_of(comparison)
        .map(|run| run.record.unfinished)
        .sum();
    (unfinished > 0).then(|| {
        RULE.warning(format!(
            "{unfinished} connections had no reply within seconds of the end of a run: the server \
             stalled, and no latency contains that; look at its error log and drive"
        ))
    })
}
