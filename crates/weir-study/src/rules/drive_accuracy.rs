//! The emulated drives kept their model's time: else their latencies are not the drives'.

use weir_model::{Comparison, DriveStatistics, Finding, RunResult, Severity};

use super::{Evidence, Rule};

pub(super) const RULE: Rule = Rule {
    id: "drive",
    title: "emulated drives keep their model's time",
    checked: "More than 1 % of a drive's operations completed late or early: by more than 10 us and 5 % of \
              their modelled time (a warning); or all of them took more than 10 % longer on average (the \
              comparison is invalid). A drive that is asked less than 1 % of the time decides nothing and is not looked at. \
              And: several connections, and a redo log that is being flushed for more than a tenth of the time (a \
              warning).",
    reason: "An emulated drive is served by the same cores as the server. When they are busy its replies \
             come late, and the drive that was measured is a slower one than its profile. And Linux keeps a file \
             of a FUSE file system locked while it is flushed, so that the next writes to the redo log wait for a \
             flush that on other file systems they pass: where flushes are slow, fewer commits share one.",
    remedy: "Use a smaller `scale` for the drive, fewer connections or a quieter host; compare drives whose flushes \
             are slow with each other only, or with `innodb_flush_log_at_trx_commit = 2`.",
    reference: "docs/journal/2026-11-20-drive-follows-its-caller.md",
    severities: &[Severity::Error, Severity::Warning],
    comparison: check,
    ..Rule::NONE
};

/// Share of the time for which the redo log is flushed that a few connections do not notice.
const FLUSHING_SHARE_MAX: f64 = 0.1;

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
            "the emulated drive was late, and so another drive than its profile's: in the worst run \
             ({}) operations took {:.0} % longer on average; the host is too slow or too busy for it, so \
             use a smaller scale, a slower drive or a calmer host",
            label(run),
            slowest.slower_share() * 100.0
        )));
    }
    let missed = |drive: &DriveStatistics| drive.late_share + drive.early_share;
    let (run, worst) = drives().max_by(|a, b| missed(a.1).total_cmp(&missed(b.1)))?;
    let late = (!worst.is_on_time()).then(|| {
        format!(
            "the emulated drive was late: in the worst run ({}) {:.1} % of the operations completed \
             more than 10 us and 5 % off their time, 99 % within {:.0} us; the host is too slow or \
             too busy for this drive, so use a smaller scale, a slower drive or a calmer host",
            label(run),
            missed(worst) * 100.0,
            worst.lateness_us_p99
        )
    });
    let told: Vec<_> = late
        .into_iter()
        .chain(held_up(evidence, comparison))
        .collect();
    (!told.is_empty()).then(|| RULE.warning(told.join("; ")))
}

/// Several connections whose commits wait for a redo log that an emulated drive keeps locked while it is flushed.
fn held_up(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<String> {
    let runs = evidence.runs_of(comparison);
    let several = runs.filter(|run| evidence.cell(run.record.cell).threads > 1);
    let shares = several.filter_map(|run| Some((run, run.drive.as_deref()?.redo_flushing_share())));
    let (run, share) = shares.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (share > FLUSHING_SHARE_MAX).then(|| {
        format!(
            "the redo log was being flushed for {:.0} % of the time in {}: on an emulated drive the next writes to \
             it wait for that, on other file systems they do not, so this many connections committed less than on \
             the drive itself",
            share * 100.0,
            evidence.cell(run.record.cell).label()
        )
    })
}
