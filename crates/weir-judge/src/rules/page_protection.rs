//! R3: doublewrite off needs a drive that is shown not to tear pages.
//!
//! A warning, not an error, while the study asks what doublewrite costs: the cost is real, the
//! setting is not safe. That two levels are not equally safe is rule R2.

use std::collections::BTreeSet;

use weir_model::{Comparison, Finding, RuleId};

use super::evidence::some_of;
use super::pages::{self, Protection};
use super::{Design, Evidence, ONLY_WARNS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R3,
    title: "doublewrite off has evidence of whole pages",
    checked: "With doublewrite off (or DETECT_ONLY, which cannot repair), in whatever spelling: the drive's profile \
              must promise atomic writes of a page at its place, else the level is named unsafe. Until the study names \
              a crash test of that drive in `[[crash_tests]]` with no page lost, of the same server, page size and \
              flush method, it is said so. A crash test cuts the emulated drive: that a real one of that name keeps \
              its profile stays its maker's word, which is always said. Of storage without a profile the rule knows \
              nothing; `weir crash-test inspect` reads what it promises (NVMe's AWUPF).",
    reason: "InnoDB cannot recover a page of which a power cut left half. All published gains of \
             doublewrite off (up to +48 %) rest on the word of a vendor; none showed a power cut.",
    remedy: "Keep doublewrite on, or choose a drive with atomic writes of innodb_page_size and test the server on it \
             with `weir crash-test run --doublewrite off`; before you rely on a real drive, cut its power.",
    reference: "published studies, sections 1 and 5; NVM Express base specification, AWUPF and NABSPF; \
                MySQL 8.4 manual, innodb_doublewrite",
    severities: ONLY_WARNS,
    design: check_design,
    comparison: check,
    study: |evidence| {
        let cells = 0..evidence.result.plan.cells.len();
        promises(cells.filter_map(|cell| pages::of_result(evidence, cell)))
    },
};

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let unsafe_cell = [comparison.baseline_cell, comparison.level_cell]
        .into_iter()
        .find_map(|cell| match pages::of_result(evidence, cell)? {
            Protection::None(why) => Some(why),
            _ => None,
        })?;
    Some(RULE.warning(format!(
        "unsafe: {unsafe_cell}; read it as the cost of doublewrite, not as advice to turn it off, and \
         rank drives at equal safety"
    )))
}

fn check_design(design: &Design<'_>) -> Vec<Finding> {
    let cells = 0..design.plan.cells.len();
    let found: Vec<_> = cells
        .filter_map(|cell| pages::of_design(design, cell))
        .collect();
    let unsafe_cells: BTreeSet<_> = found
        .iter()
        .filter_map(|protection| match protection {
            Protection::None(why) => Some(why.clone()),
            _ => None,
        })
        .collect();
    let mut findings = promises(found);
    findings.extend(advertised(design));
    if !unsafe_cells.is_empty() {
        let message = format!("unsafe: {}", some_of(unsafe_cells, 3));
        findings.push(RULE.warning(message));
    }
    findings
}

/// Drives that are trusted, once for the whole study: without a crash test that counts, and with one.
fn promises<'a>(found: impl IntoIterator<Item = Protection<'a>>) -> Vec<Finding> {
    let (mut untested, mut tested) = (BTreeSet::new(), BTreeSet::new());
    for protection in found {
        match protection {
            Protection::Promised(drive, None) => untested.insert(drive.name.clone()),
            Protection::Promised(drive, Some(objection)) => {
                untested.insert(format!("{} (there is a test, but {objection})", drive.name))
            }
            Protection::Tested(drive) => tested.insert(drive.name.clone()),
            Protection::Doublewrite | Protection::None(_) => false,
        };
    }
    let untested = (!untested.is_empty()).then(|| {
        RULE.warning(format!(
            "no power-cut test: that {} keeps pages whole without doublewrite is its maker's word, and how this \
             server copes is not known; name a test in [[crash_tests]]",
            some_of(untested, 4)
        ))
    });
    let tested = (!tested.is_empty()).then(|| {
        RULE.warning(format!(
            "the crash test cut an emulated drive: this server loses nothing while {} keeps its profile; that a real \
             one does is its maker's word, so cut its power before you rely on it",
            some_of(tested, 4)
        ))
    });
    untested.into_iter().chain(tested).collect()
}

/// Drives that tell servers of their atomic writes: a server may switch doublewrite off by itself.
fn advertised(design: &Design<'_>) -> Option<Finding> {
    let cells = design.plan.cells.iter();
    let drives = cells.filter_map(|cell| design.profile(cell));
    let drives: BTreeSet<_> = drives
        .filter(|drive| drive.atomicity.advertise)
        .map(|drive| drive.name.clone())
        .collect();
    (!drives.is_empty()).then(|| {
        RULE.warning(format!(
            "{} tells servers that it writes pages whole (atomicity.advertise): MySQL before 9 may then switch \
             doublewrite off by itself, whatever the study sets; look at innodb_doublewrite in the result",
            some_of(drives, 4)
        ))
    })
}
