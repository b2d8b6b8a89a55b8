//! A screen: all rows, then blocks of the configurations that would be recommended, until each has its verdict.

use weir_model::{Plan, PlannedRun, RunRecord, ScreenPlan};

use super::Next;
use super::blocks::{first_missing, next_of_blocks};
use crate::JudgeError;
use crate::screen::ranking;

/// Candidates that win a screen, as far as one can expect before it.
const EXPECTED_WINNERS: usize = 3;

pub(super) fn next(
    plan: &Plan,
    screen: &ScreenPlan,
    records: &[RunRecord],
    failed: &[PlannedRun],
) -> Result<Next, JudgeError> {
    if let Some(run) = first_missing(&plan.runs, records, failed) {
        return Ok(Next::Run(run));
    }
    if !screen.winners.is_empty() {
        return next_of_blocks(plan, 1, (records, &[]), failed);
    }
    let records: Vec<_> = records.iter().collect();
    let winners = ranking(plan, screen, &records)?.winners;
    Ok(if winners.is_empty() {
        Next::Done
    } else {
        Next::Confirm(winners)
    })
}

/// Runs that measure winners anew, at least, each without the others' candidates and all together.
pub(super) fn expected_confirmations(plan: &Plan, screen: &ScreenPlan) -> usize {
    let winners = match screen.winners.len() {
        0 => EXPECTED_WINNERS,
        known => known,
    };
    let alone = if winners > 1 { winners } else { 0 };
    (2 + alone) * plan.repeat.runs as usize
}
