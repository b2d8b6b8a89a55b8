//! The emulated drives kept their model's time: else their latencies are not the drives'.

use weir_model::{Comparison, Finding, Severity};

use super::{Evidence, Rule};

pub(super) const RULE: Rule = Rule {
    id: "drive",
    title: "emulated drives keep their model's time",
    checked: "More than 1 % of a drive's operations completed late: by more than 10 us and 5 % of their \
              modelled time.",
    reason: "An emulated drive is served by the same cores as the server. When they are busy its replies \
             come late, and the drive that was measured is a slower one than its profile.",
    remedy: "Use a smaller `scale` for the drive, fewer connections or a quieter host.",
    reference: "docs/journal/2026-11-20-wakeful-processors.md",
    severities: &[Severity::Warning],
    comparison: check,
    ..Rule::NONE
};

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let drives = evidence
        .runs_of(comparison)
        .filter_map(|run| Some((run, run.drive.as_ref()?)));
    let (run, worst) = drives.max_by(|a, b| a.1.late_share.total_cmp(&b.1.late_share))?;
    (!worst.is_on_time()).then(|| {
        RULE.warning(format!(
            "the emulated drive was late: in the worst run ({}) {:.1} % of the operations completed \
             more than 10 us and 5 % after their time, 99 % within {:.0} us; the host is too slow or \
             too busy for this drive, so use a smaller scale, a slower drive or a calmer host",
            evidence.cell(run.record.cell).label(),
            worst.late_share * 100.0,
            worst.lateness_us_p99
        ))
    })
}
