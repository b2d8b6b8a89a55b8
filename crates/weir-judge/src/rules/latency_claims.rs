//! R8: latencies agree with Little's law, and claims about them come from an open loop.

use weir_model::{Finding, RuleId, RunResult};

use super::evidence::RunList;
use super::{Design, Evidence, ONLY_WARNS, Rule};
use weir_model::less_is_better;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R8,
    title: "latency obeys Little's law, and claims about it come from an open loop",
    checked: "Result: in a closed loop, connections / throughput must be the mean latency within 5 %. Else the \
              numbers contradict each other. Design: a claim about latency while all cells are closed loops (no \
              `rate`).",
    reason: "A closed loop waits for a stalled server and asks less just then, so its percentiles are too good \
             (coordinated omission). Tencent's \"80 % lower latency\" would need five times the throughput at the \
             same connections; it published +22 %.",
    remedy: "Measure latency at a fixed `rate` of 50 to 80 % of the peak.",
    reference: "Little, Operations Research 9, 1961; Schroeder et al., \"Open Versus Closed: A Cautionary Tale\", \
                NSDI 2006; Tencent Cloud, 2022 (docs/studies/txsql-new-architecture.md)",
    severities: ONLY_WARNS,
    design: |design| closed_loop(design).into_iter().collect(),
    study: |evidence| contradiction(evidence).into_iter().collect(),
    ..Rule::NONE
};

const DEVIATION_MAX: f64 = 0.05;

fn closed_loop(design: &Design<'_>) -> Option<Finding> {
    let mut claims = design.plan.claims.iter();
    let about_latency = claims.any(|claim| claim.metric.as_deref().is_some_and(less_is_better));
    (about_latency && design.plan.cells.iter().all(|cell| cell.spec.load.asks_at_once())).then(|| {
        let message = "a claim is about latency, and every cell is a closed loop, which waits for a \
                       stalled server; add cells with a rate of 50 to 80 % of the peak";
        RULE.warning(message.to_owned())
    })
}

fn contradiction(evidence: &Evidence<'_>) -> Option<Finding> {
    let plan = &evidence.result.plan;
    let off = |run: &&RunResult| {
        let load = &plan.cells[run.record.cell].spec.load;
        load.asks_at_once() && deviation(run, load.connections).is_some_and(|d| d > DEVIATION_MAX)
    };
    let runs: Vec<_> = evidence.result.runs.iter().filter(off).collect();
    let RunList { count, first } = evidence.named(&runs)?;
    let threads = plan.cells[runs[0].record.cell].spec.load.connections;
    Some(RULE.warning(format!(
        "in {count} connections / throughput is not the mean latency, such as {first} ({:.0} % apart): connections \
         were idle, lost or waiting outside the measurement",
        deviation(runs[0], threads).unwrap_or(0.0) * 100.0
    )))
}

/// Returns the relative deviation of connections / throughput from the mean latency; `None` without
/// either.
fn deviation(run: &RunResult, connections: u32) -> Option<f64> {
    let record = &run.record;
    let expected_us = f64::from(connections) / record.transactions_per_s * 1e6;
    let measured_us = record.latency.us_mean;
    (measured_us > 0.0 && expected_us.is_finite()).then(|| (expected_us / measured_us - 1.0).abs())
}
