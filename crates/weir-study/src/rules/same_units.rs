//! R9: a query is the same query on both sides.

use weir_model::{Comparison, Finding, Plan};

use super::evidence::some_of;
use super::{Design, Evidence, FORBIDS, Rule};

pub(super) const RULE: Rule = Rule {
    id: "R9",
    title: "units match: the same queries, asked for the same rows",
    checked: "Two cells with different workloads, options of a workload or distributions of keys, or \
              whose transactions have different numbers of queries (more than 5 % apart, and more than \
              transactions that were under way at the ends explain), are not compared in queries per second.",
    reason: "A transaction has 6 queries in sysbench's write-only script, 14 or 16 in read-only, 20 in \
             read-write, and the default distribution changed between versions. The first report of one \
             A/A study counted its unit 8 % too high.",
    remedy: "Compare levels within one workload; make the workload a factor only to see where another \
             factor matters.",
    reference: "published studies, sections 3 and 8.2",
    severities: FORBIDS,
    design: check_design,
    comparison: check,
    ..Rule::NONE
};

/// Settings that decide what a query is.
const QUERIES: [&str; 6] = [
    "workload",
    "distribution",
    "rand_type",
    "skip_trx",
    "options",
    "range_size",
];

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
        let connections = f64::from(evidence.cell(cell).threads);
        Some(connections / (record.transactions_per_s * record.measured_s))
    };
    let cells = [comparison.level_cell, comparison.baseline_cell];
    cells.into_iter().filter_map(share).fold(0.0, f64::max)
}

/// What two results ask differently, which forbids to compare them.
pub(crate) fn other_questions(first: &Plan, second: &Plan) -> Option<Finding> {
    let seconds = |plan: &Plan| plan.load.measure.as_secs_f64().to_string();
    let questions = [
        (
            "workload",
            [first, second].map(|plan| plan.data.workload.to_string()),
        ),
        (
            "tables",
            [first, second].map(|plan| plan.data.tables.to_string()),
        ),
        (
            "rows",
            [first, second].map(|plan| plan.data.rows.to_string()),
        ),
        (
            "drive scale",
            [first, second].map(|plan| plan.data.drive_scale.to_string()),
        ),
        (
            "distribution",
            [first, second].map(|plan| plan.load.distribution.as_str().to_owned()),
        ),
        ("seconds measured", [first, second].map(seconds)),
    ];
    let differing: Vec<_> = questions
        .into_iter()
        .filter(|(_, [a, b])| a != b)
        .map(|(what, [a, b])| format!("{what} {a} against {b}"))
        .collect();
    (!differing.is_empty()).then(|| {
        RULE.error(format!(
            "the results do not ask the same ({}); compare results of one study",
            some_of(differing, 6)
        ))
    })
}

fn is_of_queries(name: &str) -> bool {
    QUERIES.contains(&name)
}

fn different(factor: &str, names: impl IntoIterator<Item = String>) -> String {
    format!(
        "{factor} changes what is asked ({}): queries per second of different queries have no ratio; \
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
