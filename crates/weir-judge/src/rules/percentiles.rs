//! R7: percentiles and stalls, not means alone; one statistic for all.

mod steps;

use std::collections::BTreeSet;

use weir_model::{Finding, RuleId};
use weir_stats::stalls;

use super::evidence::some_of;
use super::{Design, Evidence, ONLY_NOTES, Rule};
use crate::measured::measured_series;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R7,
    title: "percentiles and stalls stand beside means, one statistic for all",
    checked: "Result: more than 5 % of a cell's seconds are below half of their median, or throughput steps by 10 \
              % or more inside a run. Claims: a mean latency, or different statistics of latency. Weir keeps p50, \
              p95, p99, p99.9, the maximum and the full histogram of every run.",
    reason: "In the memory sweep of 2018 one engine had a worst second of 67 transactions at a mean of 4,206. The \
             P4800X review read averages off one chart and p95 off another. Tencent collected p95 and did not \
             publish it.",
    remedy: "Look at throughput over time and at p99. State all claims in one percentile.",
    reference: "Percona's memory sweep of 2018 (Percona-Lab-results, 201803-sysbench-tpcc-myrocks); P4800X \
                reviews, 2017 (docs/studies/optane-p4800x.md); Tencent Cloud, 2022 \
                (docs/studies/txsql-new-architecture.md)",
    severities: ONLY_NOTES,
    design: |design| claims(design).into_iter().collect(),
    study: |evidence| {
        let found = [stalled(evidence), steps::check(evidence)];
        found.into_iter().flatten().collect()
    },
    ..Rule::NONE
};

/// Share of the measured seconds that may be stalled without a finding.
const STALLED_SHARE_MAX: f64 = 0.05;

fn claims(design: &Design<'_>) -> Option<Finding> {
    let metrics = design.plan.claims.iter();
    let latencies: BTreeSet<_> = metrics
        .filter_map(|claim| claim.metric.clone())
        .filter(|metric| metric.starts_with("latency_"))
        .collect();
    if latencies.len() > 1 {
        let names = some_of(latencies, 4);
        return Some(RULE.note(format!(
            "the claims mix statistics of latency ({names}); compare one"
        )));
    }
    latencies.contains("latency_us_mean").then(|| {
        let message = "a claim is about mean latency, which hides stalls; look at p99 beside it";
        RULE.note(message.to_owned())
    })
}

fn stalled(evidence: &Evidence<'_>) -> Option<Finding> {
    let cells = evidence.result.plan.cells.iter().enumerate();
    let stalled: Vec<_> = cells
        .filter_map(|(index, cell)| {
            let share = stalled_share(evidence, index)?;
            let percent = share * 100.0;
            (share > STALLED_SHARE_MAX).then(|| format!("{} ({percent:.0} %)", cell.label()))
        })
        .collect();
    if stalled.is_empty() {
        return None;
    }
    Some(RULE.note(format!(
        "throughput fell below half of its median in many seconds: {}; a mean hides that, so look \
         at throughput over time and at p99",
        some_of(stalled, 8)
    )))
}

/// Stalled / measured seconds over all repetitions of a cell.
fn stalled_share(evidence: &Evidence<'_>, cell: usize) -> Option<f64> {
    let (mut stalled, mut measured) = (0, 0);
    for run in evidence.runs.runs(cell) {
        let series = measured_series(run);
        stalled += stalls(&series)?.seconds();
        measured += series.len();
    }
    (measured > 0).then(|| stalled as f64 / measured as f64)
}
