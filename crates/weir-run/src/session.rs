//! One run, from restored data to a measured result.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_load::LoadPlan;
use weir_model::{Approach, Cell, LoadSpec, Plan, PlannedRun, RunResult, Warmup};
use weir_probe::Sampler;

use crate::RunError;
use crate::commands;
use crate::context::StudyContext;
use crate::data::DataSets;
use crate::live::LiveBottleneck;
use crate::target::ServerUnderTest;
use crate::usage::Offered;
use crate::warmup;
use crate::watch::{Measured, Watch, relative_to_measurement};
use weir_judge::is_setting;
use weir_progress::Event;

/// How often the probes look.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// What serves a run, and what it has served.
pub(crate) struct RunSession {
    target: ServerUnderTest,
    /// Cell and repetition of the first run on this server.
    first: PlannedRun,
    /// Runs that this server has served.
    runs: u32,
    /// What was started for all of them, in order.
    commands: Vec<String>,
}

impl RunSession {
    /// Starts the server on restored data, or takes the one that the user gives, which has served
    /// `runs_before` runs of the study; `None` if it was stopped.
    pub(crate) fn set(
        context: &StudyContext<'_>,
        data: &DataSets,
        planned: PlannedRun,
        runs_before: u32,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, RunError> {
        let cell = &context.plan.cells[planned.cell];
        let (started, runs) = match context.external_of(cell) {
            Some(server) => (
                Some(ServerUnderTest::take(context, cell, server)?),
                runs_before,
            ),
            None => (
                ServerUnderTest::start(context, cell, data.of(cell), stop)?,
                0,
            ),
        };
        Ok(started.map(|(target, commands)| Self {
            target,
            first: planned,
            runs,
            commands,
        }))
    }

    /// Takes everything down; what was changed is as before.
    pub(crate) fn take_down(self) -> Result<(), RunError> {
        self.target.end()
    }

    /// Whether `planned` goes on with this server instead of a new one.
    pub(crate) fn serves(&self, plan: &Plan, planned: PlannedRun) -> bool {
        planned.repetition == self.first.repetition
            && plan.shares_server(self.first.cell, planned.cell)
    }

    /// Makes one run; `None` if it was stopped.
    pub(crate) fn make(
        &mut self,
        context: &StudyContext<'_>,
        planned: PlannedRun,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<Option<RunResult>, RunError> {
        let cell = &context.plan.cells[planned.cell];
        let started_at = jiff::Timestamp::now().to_string();
        let variables = self.target.variables()?;
        let (spec, endpoint) = (&cell.spec, self.target.endpoint());
        let load = LoadPlan::of_spec(spec, planned.repetition, endpoint);
        let load = load.map_err(RunError::Workload)?;
        let commands = self.commands(commands::load(&load, spec.load.warmup));
        let loaded = self.load(load, &spec.load, stop, on_event);
        let Some(measured) = self.explain(loaded, cell, planned)? else {
            return Ok(None);
        };
        self.runs += 1;
        let variables_changed = changed(&variables, &self.target.variables()?);
        Ok(Some(measured.into_result(
            planned,
            started_at,
            variables,
            variables_changed,
            commands,
            self.target.server_log()?,
        )))
    }

    /// What was started for the run with the command `load`, free of this run's own paths.
    fn commands(&self, load: String) -> Vec<String> {
        let all = self.commands.iter().cloned().chain([load]);
        match self.target.directory() {
            Some(directory) => all
                .map(|command| commands::anonymous(&command, directory))
                .collect(),
            None => all.collect(),
        }
    }

    /// Loads the server and measures; `None` if it was stopped.
    fn load(
        &mut self,
        mut plan: LoadPlan,
        settings: &LoadSpec,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<Option<Measured>, weir_load::LoadError> {
        let connections = plan.connections;
        let sampling_began = Instant::now();
        let sampler = Sampler::start(self.target.probes(), PROBE_INTERVAL, sampling_began);
        let device = self.target.directory().and_then(weir_probe::block_device);
        let live = LiveBottleneck {
            sampler: &sampler,
            sampling_began,
            settings,
            connections,
            reactors: plan.reactors,
            device: device.clone().filter(|_| self.target.drive().is_none()),
        };
        let gate = self.target.gate();
        let mut watch = Watch::default();
        let mut warmup_s = settings.warmup.least().as_secs_f64();
        let mut steady = None;
        if let Warmup::UntilSteady { at_most, .. } = settings.warmup {
            let warmed =
                warmup::until_steady(&plan, &gate, at_most.0, stop, &mut watch, &live, on_event)?;
            warmup::resume(&mut plan);
            warmup_s = warmed.length_s;
            steady = Some(warmed.steady);
        }
        let outcome = weir_load::run(&plan, &gate, stop, &mut |interval| {
            watch.observe(&interval.record, self.target.drive());
            on_event(&Event::Interval(&interval.record));
            live.tell(interval, on_event);
        });
        let drive_after = self
            .target
            .drive()
            .and_then(|drive| drive.statistics().ok());
        let sampled = sampler.finish();
        // Also where the stop came while connections were made, which is an error for the load.
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let outcome = outcome?;
        if outcome.stopped_early {
            return Ok(None);
        }
        let measured_from = outcome.measured_from.unwrap_or(sampling_began);
        let (series, gaps) = relative_to_measurement(sampled, sampling_began, measured_from);
        Ok(Some(Measured {
            offered: Offered::of(&outcome, settings, connections),
            device,
            outcome,
            series,
            gaps,
            drive: watch
                .drive_before
                .zip(drive_after)
                .map(|(before, after)| after.since(&before)),
            intervals: watch.intervals,
            approach: Approach {
                warmup_s,
                steady,
                runs_before: self.runs,
            },
        }))
    }

    /// Adds what the server said to a failure of the load: it usually knows the reason better.
    fn explain(
        &mut self,
        loaded: Result<Option<Measured>, weir_load::LoadError>,
        cell: &Cell,
        planned: PlannedRun,
    ) -> Result<Option<Measured>, RunError> {
        loaded.map_err(|source| RunError::Load {
            run: format!("run of {}, repetition {}", cell.label(), planned.repetition),
            source: Box::new(source),
            server: match self.target.has_exited() {
                Some(words) => format!("; the server has ended: {words}"),
                None => String::new(),
            },
        })
    }
}

/// Variables with another value after the run than before it.
fn changed(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let moved =
        |(name, value): &(&String, &String)| before.get(*name) != Some(*value) && is_setting(name);
    after
        .iter()
        .filter(moved)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_variables_that_do_not_move_by_themselves_count_as_changed() {
        let set = |values: &[(&str, &str)]| {
            values
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        let before = set(&[
            ("innodb_io_capacity", "200"),
            ("timestamp", "1"),
            ("port", "0"),
        ]);
        let after = set(&[
            ("innodb_io_capacity", "400"),
            ("timestamp", "2"),
            ("port", "0"),
        ]);
        assert_eq!(
            changed(&before, &after),
            set(&[("innodb_io_capacity", "400")])
        );
    }
}
