//! The interpreters that report while a script runs.

use std::sync::Arc;

use crate::lua::State;
use weir_load::Progress;

use crate::hooks;
use crate::host::Part;
use crate::states::with_options;
use crate::world::{Report, World};

/// The interpreters that report intervals and checkpoints, where there are any.
pub(crate) struct Reporters {
    intervals: Option<State>,
    checkpoints: Option<State>,
}

impl Reporters {
    pub(crate) fn new(world: &Arc<World>) -> Self {
        let state = |is_wanted: bool| {
            let threads = world.threads();
            let state = is_wanted.then(|| with_options(world, threads, &Part::default()))?;
            state
                .map_err(|error| world.log.fatal(&error.to_string()))
                .ok()
        };
        Self {
            intervals: state(world.plan.report_interval_s > 0),
            checkpoints: state(!world.plan.load.checkpoints.is_empty()),
        }
    }

    pub(crate) fn tell(&self, world: &World, report: &dyn Report, progress: &Progress<'_>) {
        let uses_sql = world.uses_sql();
        let (told, text) = match progress {
            Progress::Warning(warning) => {
                world.log.remark(&format!("WARNING: {warning}"));
                return;
            }
            Progress::Began(measured_from) => {
                report.began(*measured_from);
                return;
            }
            Progress::Interval(interval) => {
                report.measured(interval);
                let interval_s = f64::from(world.plan.report_interval_s);
                // sysbench is silent while it warms up, and about a part of an interval.
                let is_whole = interval.record.length_s > interval_s - 0.001;
                if interval_s == 0.0 || interval.record.time_s <= 0.0 || !is_whole {
                    return;
                }
                let state = self.intervals.as_ref();
                let told = state.map(|state| hooks::intermediate(world, state, interval));
                (told, report.interval(interval, uses_sql))
            }
            Progress::Checkpoint(totals) => {
                let state = self.checkpoints.as_ref();
                let threads = world.threads();
                let told = state.map(|state| hooks::cumulative(world, state, totals, threads));
                (told, report.checkpoint(totals, uses_sql))
            }
        };
        match told {
            Some(Ok(true)) => {}
            Some(Err(error)) => world.log.fatal(&error.to_string()),
            _ => world.log.report(&text),
        }
    }
}
