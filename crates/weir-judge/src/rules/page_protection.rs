//! R3: doublewrite off needs a drive that is shown not to tear pages.
//!
//! A warning, not an error, while the study asks what doublewrite costs: the cost is real, the
//! setting is not safe. That two levels are not equally safe is rule R2.

use std::collections::BTreeSet;

use weir_model::{Comparison, Finding, RuleId};

use super::evidence::some_of;
use super::pages::{self, Protection};
use super::{Design, Evidence, NOTES_OR_WARNS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::R3,
    title: "doublewrite off has evidence of whole pages",
    checked: "Cells with doublewrite off, or with DETECT_ONLY, which cannot repair. Unsafe: the drive's profile \
              does not promise atomic writes of a page. Untested: the study names no crash test in \
              `[[crash_tests]]` of that drive without a lost page, for the same server, page size and flush \
              method. Both are warnings. A comparison of which only one side hangs on an untested promise has a \
              note. A note also says that a crash test cuts an emulated drive: that a real one keeps its profile \
              stays a vendor claim. Of storage without a profile the rule knows nothing; `weir crash-test inspect` \
              prints its promises (NVMe's AWUPF).",
    reason: "InnoDB cannot recover a page of which a power cut left half. All published gains of doublewrite off \
             (up to +48 %) rest on a vendor claim; none showed a power cut.",
    remedy: "Keep doublewrite on. Or choose a drive with atomic writes of innodb_page_size, and test the server \
             with `weir crash-test run --doublewrite off`. Cut the power of a real drive before you rely on it.",
    reference: "Percona on ScaleFlux, 2020 (docs/studies/scaleflux-csd2000.md); Alibaba Cloud \
                (docs/studies/alibaba-write-optimisation.md); NVM Express base specification, AWUPF and NABSPF; \
                MySQL 8.4 manual, innodb_doublewrite",
    severities: NOTES_OR_WARNS,
    design: check_design,
    comparison: check,
    study: |evidence| {
        let cells = 0..evidence.result.plan.cells.len();
        promises(cells.filter_map(|cell| pages::of_result(evidence, cell)))
    },
};

/// A warning that one side is unsafe, or a note that only the level trusts a drive that was not tested.
fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let baseline = pages::of_result(evidence, comparison.baseline_cell);
    let level = pages::of_result(evidence, comparison.level_cell);
    match (baseline, level) {
        (Some(Protection::None(why)), _) | (_, Some(Protection::None(why))) => {
            Some(RULE.warning(format!(
                "unsafe: {why}; this is the cost of doublewrite, not advice to turn it off; rank drives at equal \
                 safety"
            )))
        }
        (
            Some(Protection::Doublewrite | Protection::Tested(_)),
            Some(Protection::Promised(drive, _)),
        ) => Some(RULE.note(format!(
            "no power-cut test of {}: test before you choose this level",
            drive.name
        ))),
        _ => None,
    }
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
            "no power-cut test: whole pages on {} without doublewrite are a vendor claim, and this server's recovery \
             is not tested; name a test in [[crash_tests]]",
            some_of(untested, 4)
        ))
    });
    let tested = (!tested.is_empty()).then(|| {
        RULE.note(format!(
            "the crash test cut an emulated drive: this server loses nothing while {} keeps its profile; that a real \
             one does is a vendor claim, so cut its power before you rely on it",
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
