//! R14: the client is not the limit.

use weir_model::{Bottleneck, Comparison, Finding, RuleId};

use super::{Evidence, Rule, WARNS_OR_FORBIDS};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R14,
    title: "the client is not the limit",
    checked: "CPU of the load generator's busiest thread: above 70 % of a core a warning; an error if the client \
              was the bottleneck of a run. Weir does not start a second client to see whether it raises \
              throughput.",
    reason: "Tencent asked one 8-core client for the work of 3,000 connections. A client that is the limit \
             compares itself with itself.",
    remedy: "Give the client more cores, or a host of its own; lower the rate.",
    reference: "Tencent Cloud, 2022 (docs/studies/txsql-new-architecture.md); Brendan Gregg, \"Systems \
                Performance\", 2nd edition, 12.2",
    severities: WARNS_OR_FORBIDS,
    comparison: check,
    ..Rule::NONE
};

/// Above this share of a core per reactor, the client begins to be part of the result.
const CLIENT_CPU_MAX: f64 = 0.70;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let records = || evidence.runs_of(comparison).map(|run| &run.record);
    if records().any(|record| record.bottleneck == Bottleneck::ClientCpu) {
        let message = "the load generator was the bottleneck: this compares the client with itself; \
                       lower the throughput or give the client more cores";
        return Some(RULE.error(message.to_owned()));
    }
    let busiest = records()
        .map(|record| record.utilization.client_cpu)
        .fold(0.0, f64::max);
    (busiest > CLIENT_CPU_MAX).then(|| {
        RULE.warning(format!(
            "the load generator used {:.0} % of its core; above {:.0} % it may hide a difference",
            busiest * 100.0,
            CLIENT_CPU_MAX * 100.0
        ))
    })
}
