//! The emulated drives kept their model's time: else their latencies are not the drives'.

use weir_model::{Comparison, DriveStatistics, Finding, RuleId, RunResult};

use super::bound::Bound;
use super::{Evidence, NOTES_WARNS_OR_FORBIDS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::Drive,
    title: "emulated drives keep their model's time",
    checked: "The time that a drive's operations took beyond their modelled time, as a share of the modelled time. \
              A run would have been faster by that share at most, with a drive on time. This bounds the ratio. \
              Error: the bound is as large as the effect. Warning: it reaches across the end of the interval that \
              decides the verdict. Note: it is 1 % of the ratio or more, or more than 1 % of the operations \
              completed late or early, by more than 10 us and 5 %. A drive that is used less than 1 % of the time \
              is not checked. The bound holds for throughput and means, not for p99.",
    reason: "The same cores serve an emulated drive and the server. When they are busy, replies come late, and the \
             measured drive is slower than its profile.",
    remedy: "Use a smaller `scale` for the drive, fewer connections or a quieter host.",
    reference: "docs/decisions/0004-drive-in-real-time.md",
    severities: NOTES_WARNS_OR_FORBIDS,
    comparison: check,
    ..Rule::NONE
};

/// Statistics of the emulated drive of a run that used it.
fn used(run: &RunResult) -> Option<&DriveStatistics> {
    run.drive.as_deref().filter(|drive| !drive.is_unused())
}

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let slowed = |run: &RunResult| used(run).map_or(0.0, DriveStatistics::slower_share);
    let bound = Bound::of(evidence, comparison, slowed);
    let missed = |drive: &DriveStatistics| drive.late_share + drive.early_share;
    let runs = evidence.runs_of(comparison);
    let drives = runs.filter_map(|run| Some((run, used(run)?)));
    let (run, worst) = drives.max_by(|a, b| missed(a.1).total_cmp(&missed(b.1)))?;
    if bound.is_small() && worst.is_on_time() {
        return None;
    }
    let message = format!(
        "the emulated drive was off its modelled times: {}; in the worst run ({}) {:.1} % of the operations missed \
         theirs by more than 10 us and 5 %, 99 % were within {:.0} us; use a smaller scale for the drive or a \
         quieter host",
        bound.words(),
        evidence.cell(run.record.cell).label(),
        missed(worst) * 100.0,
        worst.lateness_us_p99
    );
    Some(RULE.finding(bound.severity(comparison), message))
}
