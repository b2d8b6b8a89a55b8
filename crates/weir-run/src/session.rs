//! One run, from restored data to a measured result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use weir_judge::is_setting;
use weir_load::{LoadError, LoadPlan};
use weir_model::{Approach, Cell, EventKind, Plan, PlannedRun, RunResult, TimelineEvent, Warmup};
use weir_probe::Sampler;
use weir_store::progress::Event;

use crate::cancel::Control;
use crate::counters;
use crate::events::Events;
use crate::live::LiveBottleneck;
use crate::loader::{Loader, Program};
use crate::profile::RunProfile;
use crate::target::Target;
use crate::usage::OfferedLoad;
use crate::watch::{Measurement, ServerRecord, Watch, relative_to_measurement};
use crate::{RunError, commands, warmup};

/// Interval of the probes.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// A target, and what it has served.
pub(crate) struct RunSession {
    target: Box<dyn Target>,
    /// Cell and repetition of the first run on this server.
    first: PlannedRun,
    /// Runs that this server has served.
    runs: u32,
    /// The `weir` program, and the commit that it was built from.
    weir: PathBuf,
    commit: String,
}

impl RunSession {
    /// `target` is ready for `first`, and has served `runs` runs of the study.
    pub(crate) fn new(
        target: Box<dyn Target>,
        first: PlannedRun,
        runs: u32,
        program: Program<'_>,
    ) -> Self {
        Self {
            target,
            first,
            runs,
            weir: program.path.to_owned(),
            commit: program.commit.to_owned(),
        }
    }

    /// Takes everything down; what was changed is as before.
    pub(crate) fn end(self) -> Result<(), RunError> {
        self.target.end()
    }

    /// Returns true if `planned` goes on with this server instead of a new one.
    pub(crate) fn serves(&self, plan: &Plan, planned: PlannedRun) -> bool {
        planned.repetition == self.first.repetition
            && plan.shares_server(self.first.cell, planned.cell)
    }

    /// Makes one run, `planned`, of `cell`.
    pub(crate) fn make(
        &mut self,
        cell: &Cell,
        planned: PlannedRun,
        control: &mut Control<'_>,
    ) -> Result<RunResult, RunError> {
        let started_at = jiff::Timestamp::now().to_string();
        let variables = self.target.variables()?;
        let (spec, endpoint) = (&cell.spec, self.target.endpoint());
        let load = LoadPlan::of_spec(spec, planned.repetition, endpoint);
        let load = load.map_err(RunError::Workload)?;
        let commands = self.commands(commands::load(&load, spec.load.warmup));
        let cancel = control.cancel;
        let events = Events::open(self.target.as_ref(), spec)?;
        let profile = RunProfile::start(cell, self.target.as_ref())?;
        let measured = self.load(load, cell, (events, &profile), control);
        // Also where the stop came while connections were made, which is an error for the load.
        cancel.check()?;
        let measured = measured.map_err(|error| self.explained(error, cell, planned))?;
        let profile = profile.finish()?;
        self.runs += 1;
        // After a failover another server answers, with variables of its own.
        let fails_over = |event: &TimelineEvent| matches!(event.kind, EventKind::Failover { .. });
        let variables_changed = if spec.timeline.iter().any(fails_over) {
            BTreeMap::new()
        } else {
            changed(&variables, &self.target.variables()?)
        };
        let server = ServerRecord {
            variables,
            variables_changed,
            commands,
            log: self.target.log()?,
        };
        Ok(RunResult {
            profile,
            ..measured.into_result(planned, started_at, server)
        })
    }

    /// Returns the commands of the run with the command `load`, free of this run's own paths.
    fn commands(&self, load: String) -> Vec<String> {
        let all = self.target.commands().iter().cloned().chain([load]);
        match self.target.directory() {
            Some(directory) => all
                .map(|command| commands::anonymous(&command, directory))
                .collect(),
            None => all.collect(),
        }
    }

    /// Loads the server and measures, with the events and the profile of the run.
    fn load(
        &mut self,
        mut plan: LoadPlan,
        cell: &Cell,
        (events, profile): (Events, &RunProfile),
        control: &mut Control<'_>,
    ) -> Result<Measurement, LoadError> {
        let settings = &cell.spec.load;
        let connections = plan.load.connections;
        let mut loader = Loader::new(&cell.spec, self.target.gate(), self.program())?;
        let sampling_began = Instant::now();
        let probes = self.target.probes(loader.pid());
        let sampler = Sampler::start(probes, PROBE_INTERVAL, sampling_began);
        let device = self.target.device();
        let server_host = self.target.server_host();
        let client_is_apart = server_host.as_ref().is_some_and(|host| host.is_apart);
        let live = LiveBottleneck {
            sampler: &sampler,
            sampling_began,
            settings,
            connections,
            reactors: plan.reactors,
            client_is_apart,
            device: device.clone().filter(|_| !self.target.has_drive()),
        };
        let mut watch = Watch::default();
        let approach = Approach {
            runs_before: self.runs,
            ..warm_up(&mut loader, &mut plan, &mut watch, &live, control)?
        };
        let stop = control.cancel.flag();
        let (outcome, events) = events.during(stop, |clock| {
            let began = |at| {
                profile.begin_at(at);
                clock.begin(at);
            };
            loader.run(&plan, stop, &began, &mut |record, concurrency| {
                watch.observe(record, || self.target.drive_statistics());
                control.tell(&Event::Interval(record));
                live.tell(record, concurrency, control);
            })
        });
        let drive_after = self.target.drive_statistics();
        let sampled = sampler.finish();
        let outcome = outcome?;
        let hosts = loader.hosts();
        let replay = loader.into_replay(&plan.endpoint);
        let measured_from = outcome.measured_from.unwrap_or(sampling_began);
        let (mut series, gaps) = relative_to_measurement(sampled, sampling_began, measured_from);
        if events.iter().any(|event| event.detail.restart.is_some()) {
            counters::go_on(&mut series);
        }
        Ok(Measurement {
            offered: OfferedLoad {
                client_is_apart,
                ..OfferedLoad::new(&outcome, settings, connections)
            },
            server_host,
            device,
            outcome,
            replay,
            events,
            hosts,
            series,
            gaps,
            drive: watch.drive_until(drive_after),
            intervals: watch.intervals,
            approach,
        })
    }

    /// The program that makes the runs.
    fn program(&self) -> Program<'_> {
        Program {
            path: &self.weir,
            commit: &self.commit,
        }
    }

    /// A failure of the load with what the server said: it usually knows the reason better.
    fn explained(&mut self, error: LoadError, cell: &Cell, planned: PlannedRun) -> RunError {
        RunError::Load {
            run: format!("run of {}, repetition {}", cell.label(), planned.repetition),
            source: Box::new(error),
            server: match self.target.has_exited() {
                Some(words) => format!("; the server has ended: {words}"),
                None => String::new(),
            },
        }
    }
}

/// Loads the server until it is steady, if the run's warm-up is to last so long; `plan` goes on from there. A warm-up of
/// a given length is a part of the measured load.
fn warm_up(
    loader: &mut Loader<'_>,
    plan: &mut LoadPlan,
    watch: &mut Watch,
    live: &LiveBottleneck<'_>,
    control: &mut Control<'_>,
) -> Result<Approach, LoadError> {
    let warmup = live.settings.warmup;
    let Warmup::UntilSteady { at_most, .. } = warmup else {
        return Ok(Approach {
            warmup_s: warmup.least().as_secs_f64(),
            ..Approach::default()
        });
    };
    let warmed = warmup::until_steady(loader, plan, at_most.0, watch, live, control)?;
    warmup::resume(plan);
    Ok(Approach {
        warmup_s: warmed.length_s,
        steady: Some(warmed.steady),
        ..Approach::default()
    })
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
