//! R6: what was measured was a steady state, and for long enough.

use weir_model::{Finding, RunResult};
use weir_stats::steady_state;

use super::{Design, Evidence, ONLY_WARNS, Rule};
use crate::measured::measured_series;

pub(super) const RULE: Rule = Rule {
    id: "R6",
    title: "a steady state is measured, and for long enough",
    checked: "Of the design: measurements shorter than 1,800 s (what the slowest published warm-up took), \
              and those shorter than 300 s as a first look. Of each run: five windows within 20 % and a \
              slope of at most 10 %. Weir does not count turnovers of the buffer pool or wraps of the \
              redo log.",
    reason: "On a 90 GB data set the first 100 s missed the steady throughput by -46 to +32 %, with a \
             sign that changes with the buffer pool: 80 GB against 30 GB is 2.63x, but 1.08x in the \
             first 100 s and 1.94x in the first 300 s (Percona's memory sweep of 2018).",
    remedy: "Raise `load.warmup` (or set it to `auto`) and `load.measure`.",
    reference: "published studies, section 8.1; SNIA Solid State Storage Performance Test Specification, \
                steady state",
    severities: ONLY_WARNS,
    design: check_design,
    study: check,
    ..Rule::NONE
};

/// Shortest measurement that may claim to be more than a look, seconds.
const MEASURE_S_MIN: f64 = 300.0;
/// What the slowest of the published warm-ups took, seconds.
const MEASURE_S_SAFE: f64 = 1_800.0;

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let measure_s = design.plan.load.measure.as_secs_f64();
    if !(MEASURE_S_MIN..MEASURE_S_SAFE).contains(&measure_s) {
        return short(measure_s).into_iter().collect();
    }
    vec![RULE.warning(format!(
        "each run measures {measure_s:.0} s; warm-ups of {MEASURE_S_SAFE:.0} s were published, so look \
         at whether the runs were steady"
    ))]
}

fn short(measure_s: f64) -> Option<Finding> {
    (measure_s < MEASURE_S_MIN).then(|| {
        let message = format!(
            "each run measures {measure_s:.0} s, less than {MEASURE_S_MIN:.0} s: a first look, not \
             a steady state proven; raise load.measure before you decide on it"
        );
        RULE.warning(message)
    })
}

fn check(evidence: &Evidence<'_>) -> Vec<Finding> {
    let result = evidence.result;
    let short = short(result.plan.load.measure.as_secs_f64());
    let unsteady: Vec<_> = result.runs.iter().filter(|run| is_unsteady(run)).collect();
    let unsteady = unsteady.first().map(|first| {
        let label = result.plan.cells[first.record.cell].label();
        RULE.warning(format!(
            "{} of {} runs were not steady (five windows within 20 %, slope at most 10 %), such as \
             repetition {} of {label}; raise load.warmup",
            unsteady.len(),
            result.runs.len(),
            first.record.repetition
        ))
    });
    short.into_iter().chain(unsteady).collect()
}

fn is_unsteady(run: &RunResult) -> bool {
    steady_state(&measured_series(run)).is_some_and(|found| !found.is_steady())
}
