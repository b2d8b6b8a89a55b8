//! The one place where a load is compared with what its plan asks for.
//!
//! A load that did less, for another cause than its caller's wish, is an error and no result.

use crate::LoadError;
use crate::completion::{Completion, Duty, Goal, LoadEnd};
use crate::plan::LoadPlan;
use crate::statistics::LoadOutcome;

/// A load engine that stood still for longer did not load the server meanwhile. As long as an agent may be silent.
const STANDSTILL_S_MAX: f64 = 2.25;

/// The outcome with its [`Completion`], if it is one.
///
/// # Errors
///
/// A load that did less than `plan` asks for, or whose engine stood still, unless the caller stopped it.
pub(crate) fn conclude(
    plan: &LoadPlan,
    mut outcome: LoadOutcome,
    is_stopped: bool,
) -> Result<LoadOutcome, LoadError> {
    let completion = Completion::new(goals(plan, &outcome), is_stopped);
    completion.check(plan.ends_with_sessions)?;
    if outcome.standstill_s > STANDSTILL_S_MAX && completion.end != LoadEnd::Stopped {
        return Err(LoadError::Standstill(outcome.standstill_s));
    }
    outcome.completion = Some(completion);
    Ok(outcome)
}

/// The quantities of `plan` beside those that were done.
fn goals(plan: &LoadPlan, outcome: &LoadOutcome) -> Vec<Goal> {
    let load = &plan.load;
    let mut goals = Vec::new();
    if !load.measure.0.is_zero() {
        let (asked_s, done_s) = (load.measure.as_secs_f64(), outcome.measured_s_least);
        goals.push(Goal::new("seconds", Duty::Limit, asked_s, done_s));
    }
    if let Some(events) = plan.max_events {
        let done = outcome.counts_whole_run.transactions as f64;
        goals.push(Goal::new("transactions", Duty::Limit, events as f64, done));
    }
    if let Some(rate) = load.pace.rate() {
        let done = outcome.counts.transactions as f64 / outcome.measured_s.max(f64::EPSILON);
        goals.push(Goal::new("transactions/s", Duty::Wish, rate.per_s, done));
    }
    let (asked, done) = (load.connections, outcome.connections);
    goals.push(Goal::owed("connections", asked.into(), done));
    if load.idle_connections > 0 {
        let (asked, done) = (load.idle_connections, outcome.idle_connections);
        goals.push(Goal::owed("idle connections", asked.into(), done));
    }
    goals
}
