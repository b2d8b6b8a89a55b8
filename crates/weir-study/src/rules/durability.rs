//! R3: doublewrite off needs a drive that does not tear pages.
//!
//! A warning, not an error, while the study asks what doublewrite costs: the cost is real, the
//! setting is not safe. A drive's word is not a proof either; power cuts are.

use weir_model::{Bytes, Comparison, Finding, StudyResult};

use super::warning;

pub(super) fn check(result: &StudyResult, comparison: &Comparison) -> Option<Finding> {
    let unsafe_cell = [comparison.baseline_cell, comparison.level_cell]
        .into_iter()
        .find_map(|cell| torn_pages_possible(result, cell))?;
    Some(warning(
        "R3",
        format!(
            "unsafe: {unsafe_cell}; read it as the cost of doublewrite, not as advice to turn it \
             off, and rank drives at equal safety"
        ),
    ))
}

/// Why `cell` may lose pages in a power cut; `None` if doublewrite or the drive protects them.
fn torn_pages_possible(result: &StudyResult, cell: usize) -> Option<String> {
    let run = result.runs.iter().find(|run| run.record.cell == cell)?;
    let doublewrite = run.variables.get("innodb_doublewrite")?;
    // DETECT_ONLY finds torn pages but cannot repair them.
    if !["OFF", "0", "DETECT_ONLY"].contains(&doublewrite.as_str()) {
        return None;
    }
    let page_size = run
        .variables
        .get("innodb_page_size")
        .and_then(|size| size.parse().ok());
    let page_size = Bytes(page_size.unwrap_or(16_384));
    let Some(name) = &result.plan.cells[cell].drive else {
        return Some("doublewrite is OFF on storage of unknown atomicity".to_owned());
    };
    let drive = result.drives.iter().find(|drive| drive.name == *name)?;
    (drive.atomicity.unit < page_size).then(|| {
        format!(
            "doublewrite is {doublewrite} on {name}, whose writes are atomic up to {} bytes, less \
             than a page of {page_size}",
            drive.atomicity.unit.0
        )
    })
}
