//! From stored runs to comparisons, findings and what follows from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weir_model::{Analysis, Comparison, Finding, JudgedResult, Severity, StudyResult, Verdict};
use weir_stats::{RatioEstimate, benjamini_hochberg};
use weir_store::Store;

use crate::estimate_ratio::Pairing;
use crate::measured::RunsByCell;
use crate::rules::{Design, Evidence};
use crate::{
    JudgeError, SettingsPreview, analysis, compare, compare_costs, equality, rules, schedule,
};

/// Of a result the servers themselves are the evidence.
static NO_PREVIEW: SettingsPreview = SettingsPreview::NOTHING;

/// The file of a result inside its folder.
pub const RESULT_FILE: &str = "result.sqlite";

/// Reads the result at `path` (its folder or its file) and judges it.
///
/// # Errors
/// If the result cannot be read, or statistics of its runs cannot be computed.
pub fn read_result(path: &Path) -> Result<JudgedResult, JudgeError> {
    evaluate(read_evidence(path)?)
}

/// Reads what the result at `path` (its folder or its file) measured, and judges nothing.
///
/// # Errors
/// If the result cannot be read.
pub fn read_evidence(path: &Path) -> Result<StudyResult, JudgeError> {
    Ok(Store::open(&result_file(path))?.read()?)
}

/// The file of the result at `path`, which may be its folder.
pub(crate) fn result_file(path: &Path) -> PathBuf {
    if path.is_dir() {
        path.join(RESULT_FILE)
    } else {
        path.to_owned()
    }
}

/// Judges `evidence`: comparisons, findings, analysis and the answers of searches.
///
/// # Errors
/// If statistics of its runs cannot be computed.
pub fn evaluate(evidence: StudyResult) -> Result<JudgedResult, JudgeError> {
    let mut result = judge(evidence, Pairing::Repetition);
    let evidence = &result.evidence;
    let records: Vec<_> = evidence.runs.iter().map(|run| run.record.clone()).collect();
    result.searches = schedule::answers(&evidence.plan, &records)?;
    Ok(result)
}

/// All but searches; `pairing` tells which runs belong together.
pub(crate) fn judge(evidence: StudyResult, pairing: Pairing) -> JudgedResult {
    let (comparisons, findings, analysis) = judgement(&evidence, pairing);
    JudgedResult {
        evidence,
        comparisons,
        analysis,
        findings,
        searches: Vec::new(),
    }
}

fn judgement(result: &StudyResult, pairing: Pairing) -> (Vec<Comparison>, Vec<Finding>, Analysis) {
    let runs = RunsByCell::new(result);
    let (evidence, comparisons) = judged_comparisons(result, &runs, pairing);
    let analysis = analysis::analyse(&evidence, &comparisons);
    (comparisons, rules::of_study(&evidence), analysis)
}

/// The comparisons of `result` alone, which is all that a comparison of two results needs.
pub(crate) fn comparisons_of(result: &StudyResult, pairing: Pairing) -> Vec<Comparison> {
    judged_comparisons(result, &RunsByCell::new(result), pairing).1
}

/// The first comparison of `result` with its verdict: a result in a sentence. It needs no samples.
pub fn first_comparison(result: &StudyResult) -> Option<Comparison> {
    let comparisons = comparisons_of(result, Pairing::Repetition);
    comparisons.into_iter().next()
}

fn judged_comparisons<'a>(
    result: &'a StudyResult,
    runs: &'a RunsByCell<'a>,
    pairing: Pairing,
) -> (Evidence<'a>, Vec<Comparison>) {
    let design = Design::new(&result.plan, &result.drives, &NO_PREVIEW);
    let plan = &result.plan;
    let mut comparisons = compare::compare_all(plan, &design.contrasts, runs, pairing);
    correct(&mut comparisons);
    compare_costs::correct(&mut comparisons);
    equality::correct(&mut comparisons);
    let evidence = Evidence {
        result,
        noise: analysis::noise(&design, runs, pairing),
        design,
        runs,
        controls: controls(&comparisons),
    };
    let comparisons = comparisons
        .into_iter()
        .map(|comparison| judged(&evidence, comparison))
        .collect();
    (evidence, comparisons)
}

/// The worst finding decides the verdict, unless it only warns.
fn judged(evidence: &Evidence<'_>, mut comparison: Comparison) -> Comparison {
    let findings = rules::of_comparison(evidence, &comparison);
    match findings.iter().map(|finding| finding.severity).max() {
        Some(Severity::Error) => {
            comparison.verdict = Verdict::Invalid;
            for cost in &mut comparison.costs {
                cost.verdict = Verdict::Invalid;
            }
        }
        Some(Severity::Inconclusive) => comparison.verdict = Verdict::Inconclusive,
        Some(Severity::Warning | Severity::Note) | None => {}
    }
    comparison.verdict = equality::verdict(&evidence.result.plan, &comparison);
    comparison.findings = findings;
    comparison
}

/// Fills in the p-values that are corrected for all comparisons of the study.
fn correct(comparisons: &mut [Comparison]) {
    let asked =
        |comparison: &&mut Comparison| comparison.p_value.is_some() && !comparison.negative_control;
    let family: Vec<_> = comparisons.iter_mut().filter(asked).collect();
    let p_values: Vec<_> = family
        .iter()
        .filter_map(|comparison| comparison.p_value)
        .collect();
    for (comparison, adjusted) in family.into_iter().zip(benjamini_hochberg(&p_values)) {
        comparison.p_value_adjusted = Some(adjusted);
    }
}

/// Factor -> its largest shift where the study says that it can do nothing.
fn controls(comparisons: &[Comparison]) -> BTreeMap<String, RatioEstimate> {
    let mut controls: BTreeMap<String, RatioEstimate> = BTreeMap::new();
    for comparison in comparisons.iter().filter(|c| c.negative_control) {
        let shift = RatioEstimate {
            ratio: comparison.ratio,
            interval: comparison.estimate().interval(),
            pairs: comparison.pairs,
        };
        let larger = |known: &RatioEstimate| known.ratio.ln().abs() >= shift.ratio.ln().abs();
        if !controls.get(&comparison.factor).is_some_and(larger) {
            controls.insert(comparison.factor.clone(), shift);
        }
    }
    controls
}
