//! R15: drives are equally full, not on burst credit, and not hidden behind their write buffer.

use std::collections::BTreeSet;

use weir_model::{Cell, DriveProfile, Finding, RuleId, RunResult, RunSpec, ThrottleRate};

use super::evidence::some_of;
use super::{Design, Evidence, ONLY_WARNS, Rule};
use weir_model::data_size;

pub(super) const RULE: Rule = Rule {
    id: RuleId::R15,
    title: "drives are equally full, not on burst credit, and not hidden behind their write buffer",
    checked: "Design: the data fill two compared drives to shares more than 10 points apart (of their own \
              capacity, before compression). A cloud volume saves up more credit than warm-up and measurement can \
              spend. The write buffer before disks holds at least 10 % of the scaled data, and more than twice the \
              fraction that it holds at full size. Result: the SLC cache of a drive was not full again when a \
              measurement began. Drives start preconditioned as their profile says.",
    reason: "Flash slows down as it fills: a Fusion-io card went from 500 to 110 MiB/s. Percona's Intel drive of \
             2020 was 78 % full, its rival physically emptier. The P4800X review compared 375 GB with 2 TB. \
             Alibaba measured 100 s inside a volume's burst credit. A controller's memory that shrinks less than \
             the data takes all writes of a short run and hides the disks.",
    remedy: "Choose capacities or fill levels that match, or declare the difference as part of the product. Warm \
             up longer than the credit lasts. Name disks with a buffer as small as their data \
             (`raid10-8x15k-bbu+write.buffer=10M`).",
    reference: "five published studies (docs/studies/README.md)",
    severities: ONLY_WARNS,
    design: check,
    study: |evidence| {
        let of_design = check(&evidence.design).into_iter();
        of_design.chain(measured_in_cache(evidence)).collect()
    },
    ..Rule::NONE
};

const FILL_DIFFERENCE_MAX: f64 = 0.10;

/// A write buffer before disks that holds this share of the data, and [`BUFFER_GROWTH_MAX`] times what it holds
/// of the whole data, takes the writes of a short run.
const BUFFERED_SHARE_MAX: f64 = 0.10;
const BUFFER_GROWTH_MAX: f64 = 2.0;

fn check(design: &Design<'_>) -> Vec<Finding> {
    let unequal: BTreeSet<_> = design
        .contrasts
        .iter()
        .filter_map(|contrast| {
            let (baseline, level) = design.cells(contrast);
            unequally_full(design, baseline, level)
        })
        .collect();
    // Each drive with each run that it serves.
    let on_drives: Vec<_> = design
        .plan
        .designed()
        .filter_map(|cell| Some((design.profile(cell)?, &*cell.spec)))
        .collect();
    let on_credit: BTreeSet<_> = on_drives
        .iter()
        .filter(|(drive, spec)| lives_on_credit(drive, spec))
        .map(|(drive, _)| drive.name.clone())
        .collect();
    let unequal = (!unequal.is_empty()).then(|| {
        RULE.warning(format!(
            "drives are not equally full: {}; a full drive is slower, so match capacities",
            some_of(unequal, 3)
        ))
    });
    let on_credit = (!on_credit.is_empty()).then(|| {
        RULE.warning(format!(
            "{} can live on saved-up burst credit for the whole of warm-up and measurement; warm up \
             longer than it lasts",
            some_of(on_credit, 4)
        ))
    });
    let hidden: BTreeSet<_> = on_drives
        .iter()
        .filter_map(|(drive, spec)| hidden_disks(drive, spec))
        .collect();
    let hidden = (!hidden.is_empty()).then(|| {
        RULE.warning(format!(
            "disks are hidden behind their write buffer: {}; give the buffer the scale of the data, as in \
             `raid10-8x15k-bbu+write.buffer=10M`",
            some_of(hidden, 3)
        ))
    });
    [unequal, on_credit, hidden].into_iter().flatten().collect()
}

/// Share of a drive's capacity that the data of a run take.
fn fill(drive: &DriveProfile, spec: &RunSpec) -> f64 {
    let capacity = spec.data.data_scale.apply(drive.capacity.0).max(1);
    data_size(spec).0 as f64 / capacity as f64
}

fn unequally_full(design: &Design<'_>, baseline: &Cell, level: &Cell) -> Option<String> {
    let (of_baseline, of_level) = (design.profile(baseline)?, design.profile(level)?);
    let fills = [
        fill(of_baseline, &baseline.spec),
        fill(of_level, &level.spec),
    ];
    ((fills[0] - fills[1]).abs() > FILL_DIFFERENCE_MAX).then(|| {
        format!(
            "{} {:.0} %, {} {:.0} %",
            of_level.name,
            fills[1] * 100.0,
            of_baseline.name,
            fills[0] * 100.0
        )
    })
}

/// The share of the data that the buffer before `drive`'s disks holds, where that is much and scaling made it so.
fn hidden_disks(drive: &DriveProfile, spec: &RunSpec) -> Option<String> {
    drive.disks.as_ref()?;
    let buffer = drive.write.buffer.0 as f64 / data_size(spec).0.max(1) as f64;
    let share = buffer * spec.data.drive_scale.factor();
    let share_unscaled = buffer * spec.data.data_scale.factor();
    (share > BUFFERED_SHARE_MAX && share > BUFFER_GROWTH_MAX * share_unscaled).then(|| {
        format!(
            "that of {} holds {:.0} % of the data, {:.1} % at full size",
            drive.name,
            share * 100.0,
            share_unscaled * 100.0
        )
    })
}

/// Returns true if the credit outlasts the run: spent at the drive's own speed, refilled at its
/// rate.
fn lives_on_credit(drive: &DriveProfile, spec: &RunSpec) -> bool {
    let Some(throttle) = &drive.throttle else {
        return false;
    };
    let load = &spec.load;
    let run_s = load.warmup.least().as_secs_f64() + load.measure.as_secs_f64();
    let outlasts = |rate: &ThrottleRate, fastest: f64| {
        let spent_per_s = fastest - rate.per_second(drive.capacity.0);
        rate.burst_credit > 0.0 && rate.burst_credit > spent_per_s * run_s
    };
    let iops = drive.read.iops_max.max(drive.write.iops_max);
    let mb_per_s = drive
        .read
        .bandwidth_mb_per_s
        .max(drive.write.bandwidth_mb_per_s);
    outlasts(&throttle.iops, iops) || outlasts(&throttle.mb_per_s, mb_per_s)
}

/// Runs whose measurement began while a drive's single-bit cache still had room.
fn measured_in_cache(evidence: &Evidence<'_>) -> Option<Finding> {
    let result = evidence.result;
    let runs = result.runs.iter();
    let in_cache: Vec<_> = runs.filter_map(|run| in_cache(evidence, run)).collect();
    let first = in_cache.first()?;
    Some(RULE.warning(format!(
        "{} of {} runs wrote to a drive whose SLC cache was not full when the measurement began, such as {first}; \
         raise load.warmup",
        in_cache.len(),
        result.runs.len()
    )))
}

/// In words, what the drive's cache holds and what the warm-up wrote, if that is less.
fn in_cache(evidence: &Evidence<'_>, run: &RunResult) -> Option<String> {
    let cell = evidence.cell(run.record.cell);
    let profile = evidence.design.profile(cell)?;
    let (slc, counted) = (profile.slc.as_ref()?, run.drive.as_ref()?);
    let (empty, full) = (slc.capacity.0 as f64, slc.capacity_when_full.0 as f64);
    let filled = profile.flash.as_ref().map_or(0.0, |flash| flash.fill);
    let holds_mb = (empty + (full - empty) * filled) * cell.spec.data.drive_scale.factor() / 1e6;
    let mb_per_s = counted.host_written_bytes as f64 / run.record.measured_s.max(1e-9) / 1e6;
    let warm_up_s = run.record.approach.warmup_s;
    let written_mb = mb_per_s * warm_up_s;
    (written_mb > 0.0 && written_mb < holds_mb).then(|| {
        format!(
            "{}: {warm_up_s:.0} s of {mb_per_s:.1} MB/s do not fill its {holds_mb:.0} MB",
            profile.name
        )
    })
}
