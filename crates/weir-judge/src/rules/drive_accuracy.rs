//! The emulated drives kept their model's time, and took no processor that the server needed: else what is compared is
//! not the drives.

use weir_model::variables::FLUSHES_HOLD_WRITES;
use weir_model::{Bottleneck, Comparison, DriveStatistics, Finding, RuleId, RunResult};

use super::bound::Bound;
use super::evidence::RunList;
use super::{Evidence, NOTES_WARNS_OR_FORBIDS, Rule};

pub(super) const RULE: Rule = Rule {
    id: RuleId::Drive,
    title: "emulated drives keep their model's time and take nothing from the server",
    checked: "The time that a drive's operations took beyond their modelled time, as a share of the modelled time. \
              A run would have been faster by that share at most, with a drive on time. This bounds the ratio. \
              Error: the bound is as large as the effect. Warning: with drives on time the interval might include 1. \
              Note: it is 1 % of the ratio or more, or more than 1 % of the operations \
              completed late or early, by more than 10 us and 5 %. A drive that is used less than 1 % of the time \
              is not checked. The bound holds for throughput and means, not for p99. Also the cores that the drive's \
              process used in runs that were limited by the server's CPU. With them a run would have been faster \
              by at most their share of the server's own cores. The difference of both cells adds to the bound. \
              Warning: the host forbids Weir to intercept flushes, as some profiles of containers do, and a flush \
              of the emulated drive takes 0.2 ms or more.",
    reason: "The same cores serve an emulated drive and the server. When they are busy, replies come late, and the \
             measured drive is slower than its profile. A real drive takes none of them. The emulation of a disk \
             that two cores could not use up took 0.34 to 0.52 cores, and the server had 0.71 to 0.88 of the \
             throughput. Linux lets no write pass a flush of the same file of an emulated drive. Without interception \
             MySQL committed 17 to 25 % less often than with it.",
    remedy: "Use a smaller `scale` for the drive, fewer connections or a quieter host; more cores. In a container add `--cap-add SYS_PTRACE`; \
             `weir doctor` checks that it is enough.",
    reference: "docs/decisions/0004-drive-in-real-time.md, docs/decisions/0005-flushes-beside-writes.md, docs/twin.md",
    severities: NOTES_WARNS_OR_FORBIDS,
    comparison: check,
    study: |evidence| held_up(evidence).into_iter().collect(),
    ..Rule::NONE
};

/// Servers on drives whose flushes held up writes.
fn held_up(evidence: &Evidence<'_>) -> Option<Finding> {
    let why = |run: &RunResult| run.variables.get(FLUSHES_HOLD_WRITES).cloned();
    let runs = evidence.result.runs.iter();
    let held_up: Vec<_> = runs.filter(|run| why(run).is_some()).collect();
    let RunList { count, first } = evidence.named(&held_up)?;
    Some(RULE.warning(format!(
        "in {count}, such as {first}, flushes of the emulated drive held up writes to the same file, as those of the \
         drive itself do not; MySQL commits up to a quarter less often ({})",
        why(held_up[0])?
    )))
}

/// Statistics of the emulated drive of a run that used it.
fn used(run: &RunResult) -> Option<&DriveStatistics> {
    run.drive.as_deref().filter(|drive| !drive.is_unused())
}

fn check(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<Finding> {
    let found = [late(evidence, comparison), taken(evidence, comparison)];
    let (bounds, words): (Vec<_>, Vec<_>) = found.into_iter().flatten().unzip();
    let bound = bounds.into_iter().reduce(Bound::and)?;
    let message = format!(
        "{}; use a smaller scale for the drive or a quieter host",
        words.join("; ")
    );
    Some(RULE.finding(bound.severity(comparison), message))
}

/// Returns the lateness of the drives.
fn late(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<(Bound, String)> {
    let slowed = |run: &RunResult| used(run).map_or(0.0, DriveStatistics::slower_share);
    let bound = Bound::new(evidence, comparison, slowed);
    let missed = |drive: &DriveStatistics| drive.late_share + drive.early_share;
    let runs = evidence.runs_of(comparison);
    let drives = runs.filter_map(|run| Some((run, used(run)?)));
    let (run, worst) = drives.max_by(|a, b| missed(a.1).total_cmp(&missed(b.1)))?;
    if bound.is_small() && worst.is_on_time() {
        return None;
    }
    let words = format!(
        "the emulated drive was off its modelled times: {}; in the worst run ({}) {:.1} % of the operations missed \
         theirs by more than 10 us and 5 %, 99 % were within {:.0} us",
        bound.words(),
        evidence.cell(run.record.cell).label(),
        missed(worst) * 100.0,
        worst.lateness_us_p99
    );
    Some((bound, words))
}

/// Returns the cores that the drives' processes took from servers that had too few.
fn taken(evidence: &Evidence<'_>, comparison: &Comparison) -> Option<(Bound, String)> {
    let bound = Bound::of_the_difference(evidence, comparison, taken_share);
    if bound.is_small() {
        return None;
    }
    let cores = |cell: usize| {
        let runs = evidence.runs.runs(cell);
        let sum: f64 = runs
            .iter()
            .map(|run| run.record.utilization.drive_cores)
            .sum();
        let mean = sum / runs.len().max(1) as f64;
        if mean < 0.005 {
            return "none".to_owned();
        }
        format!("{mean:.2}")
    };
    let words = format!(
        "of the host's cores the emulated drive's process took {} in one level and {} in the other, and the server's \
         CPU was the limit: {}",
        cores(comparison.level_cell),
        cores(comparison.baseline_cell),
        bound.words()
    );
    Some((bound, words))
}

/// By what share a run would at most have been faster with the cores that the drive's process used.
fn taken_share(run: &RunResult) -> f64 {
    let used = &run.record.utilization;
    let is_limited = run.record.bottleneck == Bottleneck::ServerCpu && used.server_cores > 0.0;
    if is_limited {
        used.drive_cores / used.server_cores
    } else {
        0.0
    }
}
