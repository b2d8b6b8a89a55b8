//! R3: doublewrite off needs a drive that is shown not to tear pages.
//!
//! A warning, not an error, while the study asks what doublewrite costs: the cost is real, the
//! setting is not safe. That two levels are not equally safe is rule R2.

use std::collections::BTreeSet;

use weir_model::{Cell, Comparison, DriveProfile, Finding};

use super::evidence::{page_bytes, some_of};
use super::{Design, Evidence, ONLY_WARNS, Rule};

pub(super) const RULE: Rule = Rule {
    id: "R3",
    title: "doublewrite off has evidence of whole pages",
    checked: "With doublewrite off (or DETECT_ONLY, which cannot repair): the drive's profile must promise \
              atomic writes of a page at its place, else the level is named unsafe. A profile's promise \
              is the maker's word: until the study names a power-cut test of that drive in \
              `[[crash_tests]]` with no page lost, it is said so. Of a real drive the rule knows nothing; \
              `weir crash-test --path` reads what it promises (NVMe's AWUPF).",
    reason: "InnoDB cannot recover a page of which a power cut left half. All published gains of \
             doublewrite off (up to +48 %) rest on the word of a vendor; none showed a power cut.",
    remedy: "Keep doublewrite on, or choose a drive with atomic writes of innodb_page_size and test it by \
             cutting power.",
    reference: "published studies, sections 1 and 5; NVM Express base specification, AWUPF and NABSPF; \
                MySQL 8.4 manual, innodb_doublewrite",
    severities: ONLY_WARNS,
    design: check_design,
    comparison: check,
    study: |evidence| promises(&evidence.design),
};

/// Whether this value of `innodb_doublewrite` leaves torn pages unrepaired.
pub(super) fn is_off(doublewrite: &str) -> bool {
    ["OFF", "0", "DETECT_ONLY"].contains(&doublewrite)
}

/// What keeps a page whole, as far as it is known.
enum Protection<'a> {
    Doublewrite,
    /// The profile of this drive promises it, and nobody has cut its power.
    Promised(&'a DriveProfile),
    /// A power-cut test lost no page.
    Tested,
    None(String),
}

fn protection<'a>(
    doublewrite: Option<&str>,
    page_size: Option<&str>,
    cell: &Cell,
    drive: Option<&'a DriveProfile>,
    design: &Design<'_>,
) -> Protection<'a> {
    let Some(doublewrite) = doublewrite.filter(|value| is_off(value)) else {
        return Protection::Doublewrite;
    };
    let (Some(_), Some(drive)) = (&cell.spec.primary().drive, drive) else {
        return Protection::None("doublewrite is OFF on storage of unknown atomicity".to_owned());
    };
    let page = page_bytes(page_size);
    if !drive.atomicity.keeps_whole(page.0) {
        return Protection::None(format!(
            "doublewrite is {doublewrite} on {}, whose writes are atomic up to {} bytes, less than a \
             page of {page}",
            drive.name, drive.atomicity.unit.0
        ));
    }
    let tests = &design.plan.crash_tests;
    if tests.iter().any(|test| test.shows_whole_pages(&drive.name)) {
        Protection::Tested
    } else {
        Protection::Promised(drive)
    }
}

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let design = &evidence.design;
    let unsafe_cell = [comparison.baseline_cell, comparison.level_cell]
        .into_iter()
        .find_map(|cell| {
            let variables = &evidence.first_run(cell)?.variables;
            let variable = |name: &str| variables.get(name).map(String::as_str);
            let (doublewrite, page) =
                (variable("innodb_doublewrite"), variable("innodb_page_size"));
            let drive = evidence.profile(cell);
            match protection(doublewrite, page, evidence.cell(cell), drive, design) {
                Protection::None(why) => Some(why),
                _ => None,
            }
        })?;
    Some(RULE.warning(format!(
        "unsafe: {unsafe_cell}; read it as the cost of doublewrite, not as advice to turn it off, and \
         rank drives at equal safety"
    )))
}

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let cells = design.plan.cells.iter();
    let unsafe_cells: BTreeSet<_> = cells
        .filter_map(|cell| match of_cell(design, cell) {
            Protection::None(why) => Some(why),
            _ => None,
        })
        .collect();
    let mut findings = promises(design);
    if !unsafe_cells.is_empty() {
        let message = format!("unsafe: {}", some_of(unsafe_cells, 3));
        findings.push(RULE.warning(message));
    }
    findings
}

fn of_cell<'a>(design: &Design<'a>, cell: &'a Cell) -> Protection<'a> {
    let doublewrite = cell.spec.variable("innodb_doublewrite");
    let page = cell.spec.variable("innodb_page_size");
    protection(doublewrite, page, cell, design.profile(cell), design)
}

/// Drives that are trusted without a power cut, once for the whole study.
fn promises(design: &Design<'_>) -> Vec<Finding> {
    let cells = design.plan.cells.iter();
    let promised: BTreeSet<_> = cells
        .filter_map(|cell| match of_cell(design, cell) {
            Protection::Promised(drive) => Some(drive.name.clone()),
            _ => None,
        })
        .collect();
    if promised.is_empty() {
        return Vec::new();
    }
    vec![RULE.warning(format!(
        "no power-cut test: that {} keeps pages whole without doublewrite is its maker's word; name a \
         test in [[crash_tests]] before you rely on it",
        some_of(promised, 4)
    ))]
}
