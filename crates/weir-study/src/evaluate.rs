//! From stored runs to comparisons and findings.

use std::path::Path;

use weir_model::{Severity, StudyResult, Verdict};
use weir_store::Store;

use crate::estimate_ratio::Pairing;
use crate::measured::RunsByCell;
use crate::{StudyError, compare, rules, schedule};

/// The file of a result inside its folder.
pub(crate) const RESULT_FILE: &str = "result.sqlite";

/// Reads the result at `path` (its folder or its file) and judges it.
pub fn read_result(path: &Path) -> Result<StudyResult, StudyError> {
    let file = if path.is_dir() {
        path.join(RESULT_FILE)
    } else {
        path.to_owned()
    };
    evaluate(Store::open(&file)?.read()?)
}

/// Fills in comparisons and findings from the runs. An error of a rule makes a verdict invalid.
pub fn evaluate(mut result: StudyResult) -> Result<StudyResult, StudyError> {
    result.comparisons =
        compare::compare_all(&result, &RunsByCell::new(&result), Pairing::Repetition);
    for index in 0..result.comparisons.len() {
        let findings = rules::of_comparison(&result, &result.comparisons[index]);
        let comparison = &mut result.comparisons[index];
        if findings
            .iter()
            .any(|finding| finding.severity == Severity::Error)
        {
            comparison.verdict = Verdict::Invalid;
        }
        comparison.findings = findings;
    }
    result.findings = rules::of_study(&result);
    let records: Vec<_> = result.runs.iter().map(|run| run.record.clone()).collect();
    result.searches = schedule::answers(&result.plan, &records)?;
    Ok(result)
}
