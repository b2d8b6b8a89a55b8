//! "hosts": an effect is the same on all hosts that a study's repetitions are on.

use std::collections::BTreeMap;

use weir_model::{Comparison, Finding, RuleId};
use weir_stats::{WELCH_RUNS_MIN, geometric_mean, welch_log_ratio};

use super::{Design, Evidence, NOTES_OR_WARNS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::Hosts,
    title: "an effect is the same on all hosts",
    checked: "Studies whose repetitions are on several server hosts (`[server] agent` with a list). Each repetition \
              gives a ratio on its host. A warning says where the ratios of two hosts differ (Welch's test of their \
              logarithms, 5 %, corrected for the number of pairs of hosts); else a note has both. With fewer than \
              three repetitions on a host nothing is tested, and a note says so.",
    reason: "All runs of a repetition are on one host, so a faster host does not touch a ratio. But a mean over hosts \
             of different effects holds for none of them: a setting that spares writes helps a slow disk more.",
    remedy: "Run the study on each host by itself, or say for which host the answer is. For the test, set \
             `repeat.runs` to three times the number of hosts.",
    reference: "Blocks and their interaction with treatments: Box, Hunter and Hunter, Statistics for Experimenters, \
                chapter 4",
    severities: NOTES_OR_WARNS,
    design: few_repetitions,
    comparison: hosts_differ,
    study: |evidence| few_repetitions(&evidence.design),
};

/// Probability of a difference between hosts that have the same effect, over all pairs of hosts.
const SIGNIFICANCE: f64 = 0.05;

fn few_repetitions(design: &Design<'_>) -> Vec<Finding> {
    let plan = design.plan;
    let mut cells = plan.cells.iter();
    let Some(agents) = cells.find_map(|cell| cell.spec.primary().several_agents()) else {
        return Vec::new();
    };
    let hosts = agents.all().len();
    let needed = hosts * WELCH_RUNS_MIN;
    if plan.repeat.runs as usize >= needed {
        return Vec::new();
    }
    vec![RULE.note(format!(
        "{} repetitions on {hosts} hosts do not show whether the hosts differ in an effect; raise repeat.runs to {needed}",
        plan.repeat.runs
    ))]
}

fn hosts_differ(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let (level, baseline) = (comparison.level_cell, comparison.baseline_cell);
    let node = evidence.cell(level).spec.primary();
    let mut ratios: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let pairs = evidence
        .runs
        .pairs_by_repetition(level, baseline, &comparison.metric);
    for (repetition, (of_level, of_baseline)) in pairs {
        let host = node.agent_of(repetition)?;
        ratios.entry(host).or_default().push(of_level / of_baseline);
    }
    let tested: Vec<_> = ratios
        .into_iter()
        .filter(|(_, ratios)| ratios.len() >= WELCH_RUNS_MIN)
        .collect();
    let of_two =
        (0..tested.len()).flat_map(|one| (one + 1..tested.len()).map(move |other| (one, other)));
    let tests: Vec<_> = of_two
        .filter_map(|(one, other)| {
            let test = welch_log_ratio(&tested[one].1, &tested[other].1).ok()?;
            Some((test.p_value, [&tested[one], &tested[other]]))
        })
        .collect();
    let (p_value, [(one, ratios), (other, others)]) =
        tests.iter().min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (of_one, of_other) = (geometric_mean(ratios)?, geometric_mean(others)?);
    let p_value = (p_value * tests.len() as f64).min(1.0);
    let ratios = format!("the ratio is {of_one:.2}x on {one} and {of_other:.2}x on {other}");
    Some(if p_value < SIGNIFICANCE {
        RULE.warning(format!(
            "{ratios} (p {p_value:.3}); a mean over both is of neither: run the study on each host by itself"
        ))
    } else {
        RULE.note(format!(
            "{ratios}: no difference between hosts was shown (p {p_value:.2})"
        ))
    })
}
