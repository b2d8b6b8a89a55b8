//! R9: a query is the same query on both sides.

use std::collections::BTreeMap;

use weir_model::{Comparison, Finding, Plan, RuleId, RunSpec, Settings, SysbenchOptions};

use super::evidence::some_of;
use super::{Design, Evidence, FORBIDS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R9,
    title: "units match: the same queries on the same rows",
    checked: "Two cells are not compared in queries per second if their workloads, options of a workload or \
              distributions of keys differ. The same holds if their transactions have different numbers of \
              queries, by more than 5 %. Transactions that were cut off at the start and the end are allowed for.",
    reason: "A transaction has 6 queries in sysbench's write-only script, 14 or 16 in read-only, 20 in read-write, \
             and the default distribution changed between versions. The first report of one A/A study counted its \
             unit 8 % too high.",
    remedy: "Compare levels within one workload. Make the workload a factor only to see where another factor \
             matters.",
    reference: "Tencent Cloud, 2022 (docs/studies/txsql-new-architecture.md); A/A pairs of 2026 \
                (Percona-Lab-results, tpcc-benchmark-framework and mysql-tpcc-buffer-pool-sweep)",
    severities: FORBIDS,
    design: check_design,
    comparison: check,
    ..Rule::NONE
};

/// Settings that decide on how much queries work, and for how long.
const OF_DATA: [&str; 4] = ["tables", "rows", "drive_scale", "measure"];

const DEVIATION_MAX: f64 = 0.05;

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let declared = evidence.declared(comparison).into_iter();
    let names: Vec<_> = declared.filter(|name| is_of_queries(name)).collect();
    if !names.is_empty() {
        return Some(RULE.error(different(&comparison.factor, names)));
    }
    let per_transaction = |cell: usize| {
        let record = &evidence.first_run(cell)?.record;
        (record.transactions_per_s > 0.0).then(|| record.queries_per_s / record.transactions_per_s)
    };
    let level = per_transaction(comparison.level_cell)?;
    let baseline = per_transaction(comparison.baseline_cell)?;
    let unfinished = unfinished_share(evidence, comparison);
    ((level / baseline - 1.0).abs() > DEVIATION_MAX + unfinished).then(|| {
        RULE.error(format!(
            "a transaction has {level:.1} queries here and {baseline:.1} there, so queries per second \
             are not the same unit; compare one workload"
        ))
    })
}

/// By how much the counts of queries and of transactions may differ for transactions that were under way when
/// the measurement began or ended: their share of all, in the shorter run.
fn unfinished_share(evidence: &Evidence<'_>, comparison: &Comparison) -> f64 {
    let share = |cell: usize| {
        let record = &evidence.first_run(cell)?.record;
        let connections = f64::from(evidence.cell(cell).spec.load.connections);
        Some(connections / (record.transactions_per_s * record.measured_s))
    };
    let cells = [comparison.level_cell, comparison.baseline_cell];
    cells.into_iter().filter_map(share).fold(0.0, f64::max)
}

/// Two results without a combination that both have.
pub(crate) fn nothing_in_common() -> Finding {
    let message = "the two results have no combination in common; compare results of one study";
    RULE.error(message.to_owned())
}

/// Returns the questions that two results ask differently in the same combination of levels, which forbids to compare
/// them.
pub(crate) fn other_questions(first: &Plan, second: &Plan) -> Option<Finding> {
    let of_second: BTreeMap<_, _> = second
        .designed()
        .map(|cell| (&cell.levels, &*cell.spec))
        .collect();
    let mut pairs = first
        .designed()
        .filter_map(|cell| Some((&*cell.spec, *of_second.get(&cell.levels)?)));
    let differing = pairs.find_map(|(first, second)| {
        let differing = questions(first, second);
        (!differing.is_empty()).then_some(differing)
    })?;
    Some(RULE.error(format!(
        "the two results run different queries or data ({}); compare results of one study",
        some_of(differing, 6)
    )))
}

/// Returns the questions that two runs ask differently, in words. Servers and their storage are compared, and are no
/// difference.
fn questions(first: &RunSpec, second: &RunSpec) -> Vec<String> {
    let (of_first, of_second) = (first.settings(), second.settings());
    let asked = first
        .differences(second)
        .into_iter()
        .filter(|name| is_of_queries(name) || OF_DATA.contains(&name.as_str()));
    let value = |settings: &Settings, name: &str| {
        let value = settings.get(name).map_or("the default", String::as_str);
        // Of a workload in a file it is the whole text.
        value.lines().next().unwrap_or_default().to_owned()
    };
    asked
        .map(|name| {
            let values = [&of_first, &of_second].map(|settings| value(settings, &name));
            format!("{name} {} against {}", values[0], values[1])
        })
        .collect()
}

/// Returns true if a setting decides the meaning of a query.
fn is_of_queries(name: &str) -> bool {
    matches!(name, "workload" | "distribution" | "text_file")
        || SysbenchOptions::NAMES.contains(&name)
}

fn different(factor: &str, names: impl IntoIterator<Item = String>) -> String {
    format!(
        "{factor} changes the queries or the data ({}): queries per second of different queries have no ratio; \
         compare other factors within each level",
        some_of(names, 4)
    )
}

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for contrast in &design.contrasts {
        let names: Vec<_> = design
            .differing(contrast)
            .into_iter()
            .filter(|name| is_of_queries(name))
            .collect();
        if !names.is_empty() {
            let finding = RULE.error(different(&contrast.factor, names));
            if !findings.contains(&finding) {
                findings.push(finding);
            }
        }
    }
    findings
}
