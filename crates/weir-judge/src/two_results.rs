//! Two results set against each other: throughput on one host, ratios across hosts.
//!
//! On one host the two results become one with a factor `result` (A, B), so that every rule judges
//! them as it judges a study. Their runs are not pairs: hours lie between them. Across hosts
//! throughput has no ratio, but what a factor does within each result has.

use std::collections::BTreeMap;
use std::path::Path;

use weir_model::{
    Cell, Comparison, Factor, Finding, JudgedResult, Plan, ResultComparison, RunResult, Severity,
    StudyResult, Verdict,
};
use weir_store::Store;

use crate::JudgeError;
use crate::cell_index::CellIndex;
use crate::compare::{contrasts, holds_at};
use crate::estimate_ratio::{Pairing, unpaired};
use crate::evaluate::{comparisons_of, judge, result_file};
use crate::measured::{RunsByCell, THROUGHPUT};
use crate::part::part_of_result;
use crate::rules::{nothing_in_common, other_questions};

/// The factor that tells two results apart.
const RESULT: &str = "result";
const FIRST: &str = "A";
const SECOND: &str = "B";

/// Reads the result at `path` (its folder or its file) with what [`compare_results`] looks at; not judged.
///
/// # Errors
/// If the result cannot be read.
pub fn read_for_comparison(path: &Path) -> Result<StudyResult, JudgeError> {
    Ok(Store::open(&result_file(path))?.read_without_samples()?)
}

/// Reads the result at `path` with the runs of the cells that levels of `factor` are compared in
/// where other factors are `at` given levels. It is judged in `metric`, or in the study's own.
///
/// # Errors
/// If the result cannot be read, or has no such factor or levels.
pub fn read_factor(
    path: &Path,
    factor: &str,
    at: &BTreeMap<String, String>,
    metric: Option<&str>,
) -> Result<JudgedResult, JudgeError> {
    let store = Store::open(&result_file(path))?;
    let plan = store.header()?.plan;
    let of_factor = contrasts(&plan, &CellIndex::new(&plan))
        .into_iter()
        .filter(|contrast| contrast.factor == factor && holds_at(&contrast.context, at));
    let mut cells: Vec<_> = of_factor
        .flat_map(|contrast| [contrast.baseline_cell, contrast.level_cell])
        .collect();
    cells.sort_unstable();
    cells.dedup();
    if cells.is_empty() {
        let known = plan.cells.first().map(|cell| cell.levels.keys().cloned());
        return Err(JudgeError::NoSuchFactor {
            factor: factor.to_owned(),
            known: known.into_iter().flatten().collect::<Vec<_>>().join(", "),
        });
    }
    // What is asked of a few of a thousand combinations is judged by these few.
    let mut part = part_of_result(store.read_cells(&cells)?, &cells);
    if let Some(metric) = metric {
        part.plan.repeat.metric = Some(metric.to_owned());
    }
    let mut result = judge(part, Pairing::Repetition);
    let wanted = |found: &Comparison| found.factor == factor && holds_at(&found.context, at);
    result.comparisons.retain(wanted);
    Ok(result)
}

/// Compares `second` (B) with `first` (A) in `metric` wherever both have the same combination; without a metric, in
/// throughput.
pub fn compare_results(
    first: &StudyResult,
    second: &StudyResult,
    metric: Option<&str>,
) -> ResultComparison {
    let named = metric.unwrap_or("throughput");
    let mut findings: Vec<Finding> = other_questions(&first.plan, &second.plan)
        .into_iter()
        .collect();
    let comparable = findings.is_empty();
    let (basis, comparisons) = if !comparable {
        (
            "nothing: the two results run different queries or data".to_owned(),
            Vec::new(),
        )
    } else if same_host(first, second) {
        let basis = format!("{named}: both results were measured on the same kind of host");
        (basis, of_one_host(first, second, metric))
    } else {
        let basis =
            format!("ratios within each result: the hosts differ, so {named} is not compared");
        (basis, of_two_hosts(first, second, metric))
    };
    if comparable && comparisons.is_empty() {
        findings.push(nothing_in_common());
    }
    ResultComparison {
        basis,
        differences: differences(first, second),
        comparisons,
        findings,
        gate_checks: Vec::new(),
    }
}

/// Returns true if absolute numbers may be compared: the same processor, cores and memory.
fn same_host(first: &StudyResult, second: &StudyResult) -> bool {
    let same = |label| first.host.get(label) == second.host.get(label);
    ["processor", "cores", "memory"].into_iter().all(same)
}

/// Returns the differences besides the numbers, for the reader: one of them is probably the cause.
fn differences(first: &StudyResult, second: &StudyResult) -> Vec<String> {
    let mut lines = Vec::new();
    let mut note = |what: &str, a: String, b: String| {
        if a != b {
            lines.push(format!("{what}: {a} in A, {b} in B"));
        }
    };
    let server = |result: &StudyResult| format!("{} {}", result.flavor, result.server_version);
    note("server", server(first), server(second));
    let labels = first.host.keys().chain(second.host.keys());
    let labels: std::collections::BTreeSet<_> = labels.collect();
    let of = |result: &StudyResult, label: &str| {
        let text = result.host.get(label).cloned();
        text.unwrap_or_else(|| "unknown".to_owned())
    };
    for label in labels {
        note(label, of(first, label), of(second, label));
    }
    let weir =
        |result: &StudyResult| format!("{} {}", result.weir_version, result.provenance.weir_commit);
    note("weir", weir(first), weir(second));
    lines
}

fn of_one_host(first: &StudyResult, second: &StudyResult, metric: Option<&str>) -> Vec<Comparison> {
    let mut both = merged(first, second);
    both.plan.repeat.metric = metric.map(str::to_owned);
    comparisons_of(&both, Pairing::None)
}

/// Both results as one, with a factor more.
fn merged(first: &StudyResult, second: &StudyResult) -> StudyResult {
    let mut merged = first.without_runs();
    merged.plan.claims.clear();
    merged.plan.negative_controls.clear();
    merged.plan.search = None;
    merged.plan.screen = None;
    merged.plan.factors = vec![Factor {
        name: RESULT.to_owned(),
        settings: Vec::new(),
        levels: vec![FIRST.to_owned(), SECOND.to_owned()],
        within_server: false,
    }];
    merged.plan.cells.clear();
    for drive in &second.drives {
        if !merged.drives.iter().any(|known| known.name == drive.name) {
            merged.drives.push(drive.clone());
        }
    }
    for (index, cell) in designed(&first.plan) {
        let Some((other, of_second)) =
            designed(&second.plan).find(|(_, other)| other.levels == cell.levels)
        else {
            continue;
        };
        add(&mut merged, first, index, whole(first, cell, FIRST));
        add(&mut merged, second, other, whole(second, of_second, SECOND));
    }
    merged
}

fn designed(plan: &Plan) -> impl Iterator<Item = (usize, &Cell)> {
    let cells = plan.cells.iter().enumerate();
    cells.filter(|(_, cell)| cell.is_designed())
}

/// `cell` with the version that served it, as a cell of a study that varies the result.
fn whole(result: &StudyResult, cell: &Cell, name: &str) -> Cell {
    let mut whole = cell.clone();
    let server = &mut whole.spec_mut().primary_mut().server;
    server.version = Some(result.server_version.to_string());
    whole.levels.insert(RESULT.to_owned(), name.to_owned());
    whole
}

/// Adds `cell` and its runs, which are those of the cell `index` of `from`.
fn add(merged: &mut StudyResult, from: &StudyResult, index: usize, cell: Cell) {
    let number = merged.plan.cells.len();
    merged.plan.cells.push(cell);
    let runs = from.runs.iter().filter(|run| run.record.cell == index);
    let renumbered = |run: &RunResult| {
        let mut run = run.clone();
        run.record.cell = number;
        run
    };
    merged.runs.extend(runs.map(renumbered));
}

/// Returns the ratio of every factor's effect in B to that in A.
fn of_two_hosts(
    first: &StudyResult,
    second: &StudyResult,
    metric: Option<&str>,
) -> Vec<Comparison> {
    let metric = metric.unwrap_or(THROUGHPUT);
    let (runs_of_first, runs_of_second) = (RunsByCell::new(first), RunsByCell::new(second));
    let [of_first, of_second] =
        [first, second].map(|result| comparisons_of(result, Pairing::Repetition));
    let mut comparisons = Vec::new();
    for found in &of_first {
        let same = |other: &&Comparison| {
            other.factor == found.factor
                && other.level == found.level
                && other.baseline == found.baseline
                && other.context == found.context
        };
        let Some(other) = of_second.iter().find(same) else {
            continue;
        };
        let ratios = |runs: &RunsByCell<'_>, of: &Comparison| -> Vec<f64> {
            let pairs = runs.pairs(of.level_cell, of.baseline_cell, metric);
            pairs
                .into_iter()
                .map(|(level, baseline)| level / baseline)
                .collect()
        };
        let (in_first, in_second) = (
            ratios(&runs_of_first, found),
            ratios(&runs_of_second, other),
        );
        let Some(estimate) = unpaired(&in_second, &in_first) else {
            continue;
        };
        comparisons.push(ratio_of_ratios(found, other, &estimate));
    }
    comparisons
}

fn ratio_of_ratios(
    first: &Comparison,
    second: &Comparison,
    estimate: &crate::estimate_ratio::RatioAnalysis,
) -> Comparison {
    let forbids = |finding: &&Finding| finding.severity == Severity::Error;
    let errors = first
        .findings
        .iter()
        .chain(&second.findings)
        .filter(forbids);
    let findings: Vec<_> = errors.cloned().collect();
    let verdict = if !findings.is_empty() {
        Verdict::Invalid
    } else if estimate.ratio.differs_from_one() {
        Verdict::Effect
    } else {
        Verdict::Inconclusive
    };
    Comparison {
        factor: RESULT.to_owned(),
        baseline: FIRST.to_owned(),
        level: SECOND.to_owned(),
        context: first.context.clone(),
        metric: format!(
            "effect of {} {} / {}",
            first.factor, first.level, first.baseline
        ),
        ratio: estimate.ratio.ratio,
        ratio_low: estimate.ratio.low,
        ratio_high: estimate.ratio.high,
        pairs: estimate.runs,
        method: estimate.method,
        p_value: estimate.p_value,
        p_value_adjusted: None,
        second_opinion: None,
        others: Vec::new(),
        costs: Vec::new(),
        replay: None,
        negative_control: false,
        equality: None,
        verdict,
        findings,
        ..first.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use weir_model::DataSource;

    use super::*;
    use crate::rules::tests::{change_all, fair};

    /// The fair result with all throughputs (and nothing else) times `factor`.
    fn scaled(factor: f64) -> StudyResult {
        let mut result = fair();
        for run in &mut result.runs {
            run.record.queries_per_s *= factor;
            run.record.transactions_per_s *= factor;
        }
        result
    }

    #[test]
    fn on_one_host_throughput_is_compared_wherever_both_have_the_combination() {
        let compared = compare_results(&scaled(1.0), &scaled(0.8), None);
        assert_eq!(compared.findings, []);
        assert_eq!(compared.comparisons.len(), 2);
        for comparison in &compared.comparisons {
            assert!((comparison.ratio - 0.8).abs() < 1e-9);
            assert_eq!(comparison.verdict, Verdict::Effect, "{comparison:?}");
            assert_eq!((comparison.factor.as_str(), comparison.pairs), (RESULT, 3));
            assert!(comparison.context.contains_key("innodb_doublewrite"));
        }
        let same = compare_results(&scaled(1.0), &scaled(1.0), None);
        let verdicts = same.comparisons.iter().map(|found| found.verdict);
        assert!(verdicts.eq([Verdict::Equal; 2]));
    }

    #[test]
    fn across_hosts_only_ratios_are_compared() {
        let mut other = scaled(3.0);
        other.host.insert("cores".into(), "64".into());
        let compared = compare_results(&scaled(1.0), &other, None);
        let [comparison] = compared.comparisons.as_slice() else {
            panic!("one ratio expected: {compared:?}")
        };
        // Three times as fast, but doublewrite does the same.
        assert!((comparison.ratio - 1.0).abs() < 1e-9);
        assert_eq!(comparison.verdict, Verdict::Inconclusive);
        assert!(compared.basis.contains("hosts differ"));
        assert!(
            compared
                .differences
                .iter()
                .any(|line| line.starts_with("cores"))
        );
    }

    #[test]
    fn results_that_do_not_ask_the_same_are_refused() {
        let mut other = scaled(1.0);
        change_all(&mut other, |spec| {
            spec.data.source = DataSource::Sysbench { tables: 1, rows: 2 };
            spec.load.measure = weir_model::Duration::from_secs(9);
        });
        let compared = compare_results(&scaled(1.0), &other, None);
        assert_eq!(compared.comparisons, []);
        let message = &compared.findings[0].message;
        assert!(
            message.contains("measure 1800s against 9s, rows 1 against 2"),
            "{message}"
        );
    }

    #[test]
    fn a_server_that_differs_in_more_than_its_version_is_invalid() {
        let mut other = fair();
        for run in &mut other.runs {
            Arc::make_mut(&mut run.variables).insert("innodb_io_capacity".into(), "9".into());
        }
        let compared = compare_results(&scaled(1.0), &other, None);
        assert_eq!(compared.comparisons[0].verdict, Verdict::Invalid);
        assert_eq!(
            compared.comparisons[0].findings[0].rule,
            weir_model::RuleId::R1
        );
    }

    /// 500 numbers of connections x doublewrite ON and OFF x 10 repetitions, each with 5 seconds,
    /// 5 samples and 20 variables.
    fn ten_thousand_runs(path: &Path) {
        let mut large = fair();
        let (cells, run) = (large.plan.cells.clone(), large.runs[0].clone());
        large.runs.clear();
        large.plan.cells = (0..1000)
            .map(|index| {
                let mut cell = cells[index % 2].clone();
                let threads = 1 + index as u32 / 2;
                cell.spec_mut().load.connections = threads;
                cell.levels.insert("threads".into(), threads.to_string());
                cell
            })
            .collect();
        let mut store = Store::create(path, &large).unwrap();
        for number in 0..10_000 {
            let mut run = run.clone();
            run.record.cell = number % 1000;
            run.record.repetition = 1 + (number / 1000) as u32;
            run.intervals = run.intervals.iter().cycle().take(5).copied().collect();
            run.series = vec![weir_model::Series {
                metric: "server.cpu_s".into(),
                times_s: (0..5).map(f64::from).collect(),
                values: vec![1.0; 5],
                ..weir_model::Series::default()
            }];
            let doublewrite = cells[number % 2].spec.variable("innodb_doublewrite");
            let many = (0..20).map(|n| (format!("v{n}"), n.to_string()));
            let own = doublewrite.map(|value| ("innodb_doublewrite".to_owned(), value.to_owned()));
            run.variables = Arc::new(many.chain(own).collect());
            store.append(&run).unwrap();
        }
    }

    #[test]
    fn two_cells_of_ten_thousand_runs_are_compared_without_reading_the_rest() {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = folder.path().join("result.sqlite");
        ten_thousand_runs(&path);
        let at = BTreeMap::from([("threads".to_owned(), "77".to_owned())]);
        let began = std::time::Instant::now();
        let result = read_factor(&path, "innodb_doublewrite", &at, None).unwrap();
        let took = began.elapsed();
        println!("two cells of 10,000 runs: {took:.1?}");
        assert_eq!(
            (result.evidence.runs.len(), result.comparisons.len()),
            (20, 1)
        );
        assert!(took < std::time::Duration::from_secs(5), "{took:?}");
    }
}
