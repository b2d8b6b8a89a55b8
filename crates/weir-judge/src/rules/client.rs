//! R14: the client is not the limit.

use weir_model::{Bottleneck, Comparison, Finding, RuleId, RunResult, Utilization};

use super::bound::Bound;
use super::{Evidence, NOTES_WARNS_OR_FORBIDS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R14,
    title: "the client is not the limit",
    checked: "CPU of the load generator's busiest thread. Error: the client was the bottleneck of a run. \
              Above 70 % of a core, requests queue in the client, and Weir bounds the effect on the ratio. \
              At utilization u a thread holds at most u / (1 - u) connections. Without that queue a run \
              would have been faster by at most their share of all connections. Error: the bound is as large \
              as the effect. Warning: without the busy client the interval might include 1. \
              Note: neither. Weir does not start a second client to see whether it raises \
              throughput.",
    reason: "Tencent asked one 8-core client for the work of 3,000 connections. A client that is the limit \
             compares itself with itself.",
    remedy: "Give the client more cores, or run it on its own host (`agents` in `[load]`); lower the rate.",
    reference: "Tencent Cloud, 2022 (docs/studies/txsql-new-architecture.md); Brendan Gregg, \"Systems \
                Performance\", 2nd edition, 12.2",
    severities: NOTES_WARNS_OR_FORBIDS,
    comparison: check,
    ..Rule::NONE
};

/// Above this share of a core per reactor, the client begins to be part of the result.
const CLIENT_CPU_MAX: f64 = 0.70;
/// A thread is never seen busier than this: times of CPU and wall are read one after the other.
const BUSY_MAX: f64 = 0.99;

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
    if busiest <= CLIENT_CPU_MAX {
        return None;
    }
    let slowed = |run: &RunResult| {
        let connections = evidence.cell(run.record.cell).spec.load.connections;
        slowed(&run.record.utilization, connections)
    };
    let bound = Bound::new(evidence, comparison, slowed);
    let message = format!(
        "the load generator used up to {:.0} % of a core: {}; give the client more cores or lower the throughput",
        busiest * 100.0,
        bound.words()
    );
    Some(RULE.finding(bound.severity(comparison), message))
}

/// By what share a run would have been faster at most with a client that takes no time.
///
/// In a closed network of queues a station of utilization u holds at most u / (1 - u) requests: with n in the
/// network it holds u (1 + what it holds with n - 1), which is no more (Reiser and Lavenberg, "Mean-Value Analysis
/// of Closed Multichain Queuing Networks", Journal of the ACM 27, 1980).
fn slowed(used: &Utilization, connections: u32) -> f64 {
    let busy = used.client_cpu;
    if busy <= CLIENT_CPU_MAX {
        return 0.0;
    }
    let threads = (used.client_cores / busy).ceil().max(1.0);
    let busy = busy.min(BUSY_MAX);
    let queue = threads * busy / (1.0 - busy);
    let share = (queue / f64::from(connections.max(1))).min(busy);
    share / (1.0 - share)
}
