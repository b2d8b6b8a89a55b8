//! Blocks of repetitions: those of the plan, then as many as the intervals need.

use std::collections::BTreeSet;

use weir_model::{Plan, PlannedRun, RunRecord, Until};
use weir_stats::{StatsError, is_decided, is_equality_decided, is_settled};

use super::Next;
use super::kinds::{RunKinds, open_kinds};
use crate::cell_index::CellIndex;
use crate::compare::{contrasts, is_negative_control};
use crate::contrast::Contrast;
use crate::measured::recorded_value;
use crate::{JudgeError, order};

/// Complete runs; of a replay, with their kinds of statements.
type Runs<'a> = (&'a [RunRecord], &'a [RunKinds]);

pub(super) fn next(plan: &Plan, runs: Runs<'_>, failed: &[PlannedRun]) -> Result<Next, JudgeError> {
    if let Some(run) = first_missing(&plan.runs, runs.0, failed) {
        return Ok(Next::Run(run));
    }
    if plan.repeat.until.is_none() {
        return Ok(Next::Done);
    }
    let first = plan.repeat.runs + 1;
    next_of_blocks(plan, first, runs, failed)
}

/// The next run of the blocks from the repetition `first` on: each has the cells whose effects are still open.
pub(super) fn next_of_blocks(
    plan: &Plan,
    first: u32,
    (records, kinds): Runs<'_>,
    failed: &[PlannedRun],
) -> Result<Next, JudgeError> {
    for repetition in first..=plan.repeat.at_most {
        // A block is decided by those before it alone, also when some of its runs are there.
        let before: Vec<_> = records
            .iter()
            .filter(|r| r.repetition < repetition)
            .collect();
        let kinds_before: Vec<_> = kinds
            .iter()
            .filter(|run| run.repetition() < repetition)
            .collect();
        let cells = open_cells(plan, &before, &kinds_before)?;
        let block = order::block(plan, repetition, &cells);
        if block.is_empty() || is_over_budget(plan, &before, &block) {
            return Ok(Next::Done);
        }
        if let Some(run) = first_missing(&block, records, failed) {
            return Ok(Next::Run(run));
        }
    }
    Ok(Next::Done)
}

/// Returns true if the effect of `contrast`, one of `comparisons`, is not known as well as the study wants, after
/// `records` and the `kinds` of statements in them.
pub(crate) fn is_open(
    plan: &Plan,
    records: &[&RunRecord],
    kinds: &[&RunKinds],
    contrast: &Contrast,
    comparisons: usize,
) -> Result<bool, StatsError> {
    let pairs = pairs(records, contrast, &contrast.metric);
    Ok(match plan.repeat.until {
        None => false,
        Some(Until::Within(half_width)) => !is_settled(&pairs, half_width)?,
        // A verdict on what must not differ is not waited for.
        Some(Until::Verdict) => {
            !is_negative_control(plan, contrast) && !is_decided(&pairs, comparisons)?
        }
        Some(Until::Equal(margin)) => {
            !is_equality_decided(&pairs, margin, comparisons)?
                || open_kinds(plan, kinds, contrast, comparisons)? > 0
        }
    })
}

/// The cells of the open contrasts: the time goes where it decides something.
fn open_cells(
    plan: &Plan,
    records: &[&RunRecord],
    kinds: &[&RunKinds],
) -> Result<Vec<usize>, JudgeError> {
    let mut cells = BTreeSet::new();
    let contrasts = contrasts(plan, &CellIndex::new(plan));
    for contrast in &contrasts {
        if is_open(plan, records, kinds, contrast, contrasts.len())? {
            cells.extend([contrast.baseline_cell, contrast.level_cell]);
        }
    }
    Ok(cells.into_iter().collect())
}

/// Returns true if `block` would end later than the budget allows. Time is counted in runs, not on
/// the clock, so that a study that was interrupted decides as one that was not.
fn is_over_budget(plan: &Plan, records: &[&RunRecord], block: &[PlannedRun]) -> bool {
    let Some(budget) = plan.repeat.budget else {
        return false;
    };
    let planned = block
        .iter()
        .map(|run| weir_model::planned_s(&plan.cells[run.cell].spec));
    let spent_s = weir_model::spent_s(records.iter().copied());
    spent_s + planned.sum::<f64>() > budget.as_secs_f64()
}

/// The study's metric, `(level, baseline)`, of both cells in each repetition that has both.
fn pairs(records: &[&RunRecord], contrast: &Contrast, metric: &str) -> Vec<(f64, f64)> {
    let of_cell = |cell| records.iter().filter(move |record| record.cell == cell);
    of_cell(contrast.level_cell)
        .filter_map(|level| {
            let mut baselines = of_cell(contrast.baseline_cell);
            let baseline = baselines.find(|baseline| baseline.repetition == level.repetition)?;
            let of = |record| recorded_value(record, metric);
            Some((of(level)?, of(baseline)?))
        })
        .collect()
}

pub(super) fn first_missing(
    runs: &[PlannedRun],
    records: &[RunRecord],
    failed: &[PlannedRun],
) -> Option<PlannedRun> {
    let is_there = |run: &PlannedRun| {
        let same =
            |record: &RunRecord| (record.cell, record.repetition) == (run.cell, run.repetition);
        records.iter().any(same) || failed.contains(run)
    };
    runs.iter().find(|run| !is_there(run)).copied()
}
