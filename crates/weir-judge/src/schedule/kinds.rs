//! Kinds of statements that still have no answer: what a replay repeats for.

use std::collections::HashMap;

use weir_model::{Plan, Repetition, ReplayRecord, RunRecord, Until};
use weir_stats::{StatsError, is_equality_decided};

use crate::contrast::Contrast;

/// A kind with less of the time of a run is not waited for.
const SHARE_MIN: f64 = 0.01;
/// Means of fewer statements hang on single pauses of the machine.
const SENT_MIN: u64 = 20;

/// Mean times of the kinds of statements in one run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunKinds {
    cell: usize,
    repetition: u32,
    /// Mean time, microseconds, and share of the run's time, of each kind that a run has often enough.
    kinds: HashMap<String, (f64, f64)>,
}

impl RunKinds {
    /// Reads the replay of a run.
    pub fn new(record: &RunRecord, replay: &ReplayRecord) -> Self {
        let time_us = |us_mean: f64, sent: u64| us_mean * sent as f64;
        let timed = replay.fingerprints.iter();
        let timed = timed.filter_map(|kind| Some((kind, kind.latency?.us_mean)));
        let total_us: f64 = timed
            .clone()
            .map(|(kind, us_mean)| time_us(us_mean, kind.sent))
            .sum();
        let often = timed.filter(|(kind, us_mean)| kind.sent >= SENT_MIN && *us_mean > 0.0);
        let kinds = often.map(|(kind, us_mean)| {
            let share = time_us(us_mean, kind.sent) / total_us;
            (kind.fingerprint.clone(), (us_mean, share))
        });
        Self {
            cell: record.cell,
            repetition: record.repetition,
            kinds: kinds.collect(),
        }
    }

    /// Repetition of the run.
    pub(super) fn repetition(&self) -> u32 {
        self.repetition
    }
}

/// Returns the number of kinds with 1 % or more of the baseline's time that have no answer to the question of `plan` yet,
/// where it asks for equality.
pub(crate) fn open_kinds(
    plan: &Plan,
    runs: &[&RunKinds],
    contrast: &Contrast,
    comparisons: usize,
) -> Result<usize, StatsError> {
    if !matches!(plan.repeat.until, Some(Until::Equal(_))) {
        return Ok(0);
    }
    let of_cell = |cell| runs.iter().filter(move |run| run.cell == cell);
    let mut pairs: HashMap<&str, Vec<(f64, f64)>> = HashMap::new();
    for level in of_cell(contrast.level_cell) {
        let mut baselines = of_cell(contrast.baseline_cell);
        let Some(baseline) = baselines.find(|run| run.repetition == level.repetition) else {
            continue;
        };
        for (name, (baseline_us, share)) in &baseline.kinds {
            if let (true, Some((level_us, _))) = (*share >= SHARE_MIN, level.kinds.get(name)) {
                let of_kind = pairs.entry(name).or_default();
                of_kind.push((*level_us, *baseline_us));
            }
        }
    }
    let questions = comparisons * pairs.len();
    let mut open = 0;
    for pairs in pairs.values() {
        let is_decided = is_equality_decided(pairs, Repetition::EQUAL_MARGIN, questions)?;
        open += usize::from(!is_decided);
    }
    Ok(open)
}
