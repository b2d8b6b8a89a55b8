//! The emulated drives kept their model's time: else their latencies are not the drives'.

use weir_model::{Comparison, DriveStatistics, Finding, RuleId, RunResult};

use super::{Evidence, Rule, WARNS_OR_FORBIDS};

pub(super) const RULE: Rule = Rule {
    id: RuleId::Drive,
    title: "emulated drives keep their model's time",
    checked: "Warning: more than 1 % of a drive's operations completed late or early, by more than 10 us and 5 % \
              of their modelled time. Error: operations took more than 10 % longer on average. A drive that is \
              used less than 1 % of the time is not checked.",
    reason: "The same cores serve an emulated drive and the server. When they are busy, replies come late, and the \
             measured drive is slower than its profile.",
    remedy: "Use a smaller `scale` for the drive, fewer connections or a quieter host.",
    reference: "docs/decisions/0004-drive-in-real-time.md",
    severities: WARNS_OR_FORBIDS,
    comparison: check,
    ..Rule::NONE
};

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let drives = || {
        let runs = evidence.runs_of(comparison);
        let asked = runs.filter_map(|run| Some((run, run.drive.as_deref()?)));
        asked.filter(|(_, drive)| !drive.is_unused())
    };
    let label = |run: &RunResult| evidence.cell(run.record.cell).label();
    let (run, slowest) =
        drives().max_by(|a, b| a.1.slower_share().total_cmp(&b.1.slower_share()))?;
    if slowest.slower_share() > DriveStatistics::SLOWER_SHARE_MAX {
        return Some(RULE.error(format!(
            "the emulated drive was late, and so slower than its profile: in the worst run ({}) operations took \
             {:.0} % longer on average; use a smaller scale, a slower drive or a quieter host",
            label(run),
            slowest.slower_share() * 100.0
        )));
    }
    let missed = |drive: &DriveStatistics| drive.late_share + drive.early_share;
    let (run, worst) = drives().max_by(|a, b| missed(a.1).total_cmp(&missed(b.1)))?;
    (!worst.is_on_time()).then(|| {
        RULE.warning(format!(
            "the emulated drive was late: in the worst run ({}) {:.1} % of the operations completed \
             more than 10 us and 5 % off their time, 99 % within {:.0} us; use a smaller scale, a slower \
             drive or a quieter host",
            label(run),
            missed(worst) * 100.0,
            worst.lateness_us_p99
        ))
    })
}
