//! One run, from restored data to a measured result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_drive::{DriveProcess, MountOptions};
use weir_load::{ArrivalKind, LoadPlan, Rate, reactors_for};
use weir_model::{Approach, Cell, LoadSettings, Plan, PlannedRun, PoolStart, RunResult};
use weir_probe::{DriveProbe, HostProbe, Probe, ProcessProbe, Sampler, ServerProbe};
use weir_process::{PathError, WorkDirectory};
use weir_server::{PrivateServer, StartOptions};

use super::bench::Bench;
use super::commands;
use super::data::{self, DataSets};
use super::drives::Drive;
use super::live::LiveLimiter;
use super::replicas;
use super::usage::Offered;
use super::warmup;
use super::watch::{Measured, Watch};
use crate::setting::{is_setting, without_directory};
use crate::{Event, StudyError, workload};

/// How often the probes look.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Everything that a run needs, in the order in which it must be taken down: the server, the drive
/// that it writes to, the directory below both.
pub(super) struct Stage {
    /// They follow the server.
    _replicas: Vec<PrivateServer>,
    server: PrivateServer,
    drive: Option<DriveProcess>,
    home: WorkDirectory,
    /// Cell and repetition of the first run on this server.
    first: PlannedRun,
    /// Runs that this server has served.
    runs: u32,
    /// What was started for all of them, in order.
    commands: Vec<String>,
}

impl Stage {
    /// Restores the data, mounts the drive and starts the server; `None` if it was stopped.
    pub(super) fn set(
        bench: &Bench<'_>,
        data: &DataSets,
        planned: PlannedRun,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, StudyError> {
        let cell = &bench.plan.cells[planned.cell];
        let data = data.of(bench, cell);
        let home = data::home(bench, data)?;
        let backing = home.path().join("backing");
        data.snapshots.restore(&data.key, &backing.join("data"))?;
        let mut data_root = backing.clone();
        let mut commands = Vec::new();
        let drive = match bench.drives.of_cell(cell) {
            Some(drive) => {
                data_root = home.path().join("drive");
                let options = mount_options(bench, cell, drive, backing, data_root.clone());
                commands.push(commands::mount(&options));
                Some(DriveProcess::mount(&bench.options.weir, &options)?)
            }
            None => None,
        };
        let mut options = StartOptions::new(data_root.join("data"), home.path().join("server"));
        options.variables = bench.plan.variables_of(cell);
        let deployment = bench.plan.deployment_of(cell);
        options.limits = deployment.limits.clone();
        let port = replicas::prepare_primary(bench, cell, &mut options)?;
        commands.push(commands::server(bench.server_of(cell), &options)?);
        let watch = &mut data::watching(stop);
        let started = PrivateServer::start_watched(bench.server_of(cell), &options, watch);
        let Some(server) = data::unless_stopped(started)? else {
            return Ok(None);
        };
        if deployment.pool == PoolStart::Warm {
            server.session()?.load_pool()?;
        }
        let mut followers = Vec::new();
        if let Some(port) = port {
            let primary = (&server, port);
            let lines = &mut commands;
            let started = replicas::start(bench, cell, data, home.path(), primary, lines, stop)?;
            let Some(started) = started else {
                return Ok(None);
            };
            followers = started;
        }
        Ok(Some(Self {
            _replicas: followers,
            server,
            drive,
            home,
            first: planned,
            runs: 0,
            commands,
        }))
    }

    /// Whether `planned` goes on with this server instead of a new one.
    pub(super) fn serves(&self, plan: &Plan, planned: PlannedRun) -> bool {
        planned.repetition == self.first.repetition
            && plan.shares_server(self.first.cell, planned.cell)
    }

    /// Makes one run; `None` if it was stopped.
    pub(super) fn make(
        &mut self,
        bench: &Bench<'_>,
        planned: PlannedRun,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<Option<RunResult>, StudyError> {
        let cell = &bench.plan.cells[planned.cell];
        let started_at = jiff::Timestamp::now().to_string();
        let variables = self.variables()?;
        let load = self.load_plan(&bench.plan, planned);
        let commands = self.commands(commands::load(&load, bench.plan.load_of(cell)));
        let loaded = self.load(load, bench.plan.load_of(cell), stop, on_event);
        let Some(measured) = self.explain(loaded, cell, planned)? else {
            return Ok(None);
        };
        self.runs += 1;
        let variables_changed = changed(&variables, &self.variables()?);
        Ok(Some(measured.into_result(
            planned,
            started_at,
            variables,
            variables_changed,
            commands,
            self.server_log()?,
        )))
    }

    /// The server's variables, free of this run's own paths.
    fn variables(&self) -> Result<BTreeMap<String, String>, StudyError> {
        Ok(without_directory(
            self.server.variables()?,
            &self.directory()?,
        ))
    }

    /// What the server has written to its error log, free of this run's own paths.
    fn server_log(&self) -> Result<String, StudyError> {
        let log = self.server.log_tail();
        Ok(commands::anonymous(&log, &self.directory()?))
    }

    /// This run's directory as the server names it.
    fn directory(&self) -> Result<PathBuf, StudyError> {
        let directory = self.home.path();
        let found = directory.canonicalize();
        Ok(found.map_err(PathError::on("find", directory))?)
    }

    /// What was started for the run with the command `load`, free of this run's own paths.
    fn commands(&self, load: String) -> Vec<String> {
        let directory = self.home.path();
        let all = self.commands.iter().cloned().chain([load]);
        all.map(|command| commands::anonymous(&command, directory))
            .collect()
    }

    /// Loads the server and measures; `None` if it was stopped.
    fn load(
        &mut self,
        mut plan: LoadPlan,
        settings: &LoadSettings,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<Option<Measured>, weir_load::LoadError> {
        let connections = plan.connections;
        let sampling_began = Instant::now();
        let sampler = Sampler::start(self.probes(), PROBE_INTERVAL, sampling_began);
        let device = weir_probe::block_device(self.home.path());
        let live = LiveLimiter {
            sampler: &sampler,
            sampling_began,
            settings,
            connections,
            reactors: plan.reactors,
            device: device.clone().filter(|_| self.drive.is_none()),
        };
        let mut watch = Watch::default();
        let mut warmup_s = settings.warmup.as_secs_f64();
        let mut steady = None;
        if let Some(at_most) = settings.warmup_max {
            let warmed = warmup::until_steady(&plan, at_most.0, stop, &mut watch, &live, on_event)?;
            plan.warmup = warmup::RESUME;
            warmup_s = warmed.length_s;
            steady = Some(warmed.steady);
        }
        let outcome = weir_load::run(&plan, stop, &mut |interval| {
            watch.observe(&interval.record, self.drive.as_ref());
            on_event(&Event::Interval(&interval.record));
            live.tell(interval, on_event);
        });
        let drive_after = self
            .drive
            .as_ref()
            .and_then(|drive| drive.statistics().ok());
        let sampled = sampler.finish();
        let outcome = outcome?;
        if stop.load(Ordering::Relaxed) || outcome.stopped_early {
            return Ok(None);
        }
        let (series, gaps) = watch.relative_to_measurement(sampled, sampling_began);
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

    fn load_plan(&self, plan: &Plan, planned: PlannedRun) -> LoadPlan {
        let cell = &plan.cells[planned.cell];
        let (data, settings) = (plan.data_of(cell), plan.load_of(cell));
        let (mix, distribution) = workload::settings(data.workload, settings)
            .expect("invariant: options were understood when the study was resolved");
        LoadPlan {
            tables: data.tables,
            rows: data.rows,
            connections: cell.threads,
            reactors: reactors_for(cell.threads),
            mix,
            distribution,
            rate: rate(settings),
            rtt: settings.rtt.0,
            warmup: settings.warmup.0,
            measure: Some(settings.measure.0),
            // Cells of one repetition get the same keys: one difference less between them.
            seed: plan.seed.wrapping_add(u64::from(planned.repetition)),
            ..LoadPlan::new(self.server.endpoint(), data.workload)
        }
    }

    fn probes(&self) -> Vec<Box<dyn Probe>> {
        let mut probes: Vec<Box<dyn Probe>> = vec![
            Box::new(HostProbe::new(Some(self.home.path().to_owned()))),
            Box::new(ProcessProbe::server(self.server.pid())),
            Box::new(ProcessProbe::client()),
            Box::new(ServerProbe::new(self.server.endpoint())),
        ];
        if let Some(drive) = &self.drive {
            let mountpoint = drive.mountpoint().to_owned();
            probes.push(Box::new(ProcessProbe::drive(drive.pid())));
            probes.push(Box::new(DriveProbe::new(move || {
                weir_drive::statistics(&mountpoint).ok()
            })));
        }
        probes
    }

    /// Adds what the server said to a failure of the load: it usually knows the reason better.
    fn explain(
        &mut self,
        loaded: Result<Option<Measured>, weir_load::LoadError>,
        cell: &Cell,
        planned: PlannedRun,
    ) -> Result<Option<Measured>, StudyError> {
        loaded.map_err(|source| StudyError::Load {
            run: format!("run of {}, repetition {}", cell.label(), planned.repetition),
            source: Box::new(source),
            server: match self.server.has_exited() {
                Some(words) => format!("; the server has ended: {words}"),
                None => String::new(),
            },
        })
    }
}

fn rate(settings: &LoadSettings) -> Option<Rate> {
    settings.rate_per_s.map(|per_s| Rate {
        per_s,
        arrivals: ArrivalKind::Poisson,
        ramp: None,
    })
}

fn mount_options(
    bench: &Bench<'_>,
    cell: &Cell,
    drive: &Drive,
    backing: PathBuf,
    mountpoint: PathBuf,
) -> MountOptions {
    let data = bench.plan.data_of(cell);
    MountOptions {
        data_scale: data.data_scale,
        drive_scale: data.drive_scale,
        below_floor: bench.options.below_floor,
        ..MountOptions::new(&drive.mounts, backing, mountpoint)
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
