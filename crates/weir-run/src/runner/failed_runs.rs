//! Runs that a script has failed in. They cost themselves, not the study.

use weir_load::LoadError;
use weir_model::{Plan, PlannedRun};

use crate::RunError;

/// Failures before which a study does not end, unless it has fewer runs.
const FAILURES_MIN: usize = 3;

/// Runs that have failed, which this study does not make again.
#[derive(Debug, Default)]
pub(super) struct FailedRuns {
    runs: Vec<PlannedRun>,
    /// Reasons, a line each.
    reasons: Vec<String>,
    /// The first error itself.
    first: Option<RunError>,
}

impl FailedRuns {
    /// The runs.
    pub(super) fn runs(&self) -> &[PlannedRun] {
        &self.runs
    }

    /// Notes a failed run, after `complete` ones that did not fail; why it failed.
    ///
    /// # Errors
    ///
    /// The error itself, if it ends the study: all but failures of a script. A search ends, because its next run
    /// depends on this one.
    pub(super) fn take(
        &mut self,
        error: RunError,
        planned: PlannedRun,
        plan: &Plan,
        complete: usize,
    ) -> Result<&str, RunError> {
        if !is_of_script(&error) || plan.search.is_some() {
            return Err(error);
        }
        self.runs.push(planned);
        if complete == 0 && self.is_hopeless(plan) {
            return Err(error);
        }
        self.reasons.push(error.to_string());
        self.first.get_or_insert(error);
        Ok(self.reasons.last().map_or("", String::as_str))
    }

    /// Returns true if the scripts of all cells have failed, and often enough.
    fn is_hopeless(&self, plan: &Plan) -> bool {
        let has_failed = |cell| self.runs.iter().any(|run| run.cell == cell);
        self.runs.len() >= FAILURES_MIN && (0..plan.cells.len()).all(has_failed)
    }

    /// The first error.
    pub(super) fn into_first(self) -> Option<RunError> {
        self.first
    }

    /// Returns the reasons of the failures.
    pub(super) fn into_reasons(self) -> Vec<String> {
        self.reasons
    }
}

fn is_of_script(error: &RunError) -> bool {
    let RunError::Load { source, .. } = error else {
        return false;
    };
    matches!(**source, LoadError::Script { .. })
}
