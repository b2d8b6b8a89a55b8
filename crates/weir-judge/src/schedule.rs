//! Order of runs: a pure function of the plan and the runs that are complete.
//!
//! So a study that was killed goes on where it was: the stored runs are all there is to know.

mod blocks;
mod kinds;
mod screen;
mod search;

use weir_model::{Plan, PlannedRun, Probe, RunRecord, Winner};

use crate::JudgeError;

pub(crate) use blocks::is_open;
pub use kinds::RunKinds;
pub(crate) use kinds::open_kinds;
pub(crate) use search::answers;

#[cfg(test)]
mod tests;

/// Next step.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// One more run of a cell of the plan.
    Run(PlannedRun),
    /// A run at a place that has no cell yet.
    Probe(Probe),
    /// These candidates of a screen are to be measured anew: they get cells before the next run.
    Confirm(Vec<Winner>),
    /// Nothing more.
    Done,
}

/// The next run after `records`, of which those of a replay have `kinds`. Runs in `failed` are not made again; a search has
/// none.
///
/// # Errors
/// If statistics of the runs cannot be computed.
pub fn next(
    plan: &Plan,
    records: &[RunRecord],
    kinds: &[RunKinds],
    failed: &[PlannedRun],
) -> Result<Next, JudgeError> {
    match (&plan.search, &plan.screen) {
        (Some(search), _) => search::next(plan, search, records),
        (None, Some(screen)) => screen::next(plan, screen, records, failed),
        (None, None) => blocks::next(plan, (records, kinds), failed),
    }
}

/// Returns the number of runs that there will be, as far as can be known: never fewer than are
/// complete.
pub fn total_runs(plan: &Plan, records: &[RunRecord]) -> usize {
    let open = usize::from(plan.search.is_some() || plan.repeat.until.is_some());
    expected_runs(plan).max(records.len() + open)
}

/// Returns the number of runs that `plan` takes: those that it names, or about as many as its
/// search needs.
pub fn expected_runs(plan: &Plan) -> usize {
    match (&plan.search, &plan.screen) {
        (Some(search), _) => search::expected_runs(plan, search),
        (None, Some(screen)) => plan.runs.len() + screen::expected_confirmations(plan, screen),
        (None, None) => plan.runs.len(),
    }
}
