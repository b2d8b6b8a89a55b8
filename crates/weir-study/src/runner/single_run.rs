//! One run, from restored data to a measured result.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_drive::{DriveProcess, MountOptions};
use weir_load::{LoadOutcome, LoadPlan};
use weir_model::{Cell, DriveStatistics, IntervalRecord, PlannedRun, RunRecord, RunResult, Sample};
use weir_probe::{DriveProbe, HostProbe, Probe, ProcessProbe, Sampler, StatusProbe};
use weir_process::{PathError, WorkDirectory};
use weir_server::{PrivateServer, StartOptions};

use super::bench::Bench;
use super::commands;
use super::data::{self, PreparedData};
use super::usage;
use crate::setting::{is_setting, without_directory};
use crate::{Event, StudyError};

/// How often the probes look.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);

/// Makes one run; `None` if it was stopped. Whatever it started is gone when this returns.
pub(super) fn make(
    bench: &Bench<'_>,
    data: &PreparedData,
    planned: PlannedRun,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event<'_>),
) -> Result<Option<RunResult>, StudyError> {
    let cell = &bench.plan.cells[planned.cell];
    let started_at = jiff::Timestamp::now().to_string();
    let Some(mut stage) = Stage::set(bench, data, cell, stop)? else {
        return Ok(None);
    };
    let variables = stage.variables()?;
    let loaded = stage.load(bench, planned, stop, on_event);
    let Some(measured) = stage.explain(loaded, cell, planned)? else {
        return Ok(None);
    };
    let variables_changed = changed(&variables, &stage.variables()?);
    Ok(Some(measured.into_result(
        planned,
        started_at,
        variables,
        variables_changed,
        stage.commands(),
    )))
}

/// Everything that one run needs, in the order in which it must be taken down: the server, the
/// drive that it writes to, the directory below both.
struct Stage {
    server: PrivateServer,
    drive: Option<DriveProcess>,
    home: WorkDirectory,
    /// What was started, in order.
    commands: Vec<String>,
}

impl Stage {
    fn set(
        bench: &Bench<'_>,
        data: &PreparedData,
        cell: &Cell,
        stop: &AtomicBool,
    ) -> Result<Option<Self>, StudyError> {
        let home = data::home(bench, data)?;
        let backing = home.path().join("backing");
        data.snapshots.restore(&data.key, &backing.join("data"))?;
        let mut data_root = backing.clone();
        let mut commands = Vec::new();
        let drive = match &cell.drive {
            Some(name) => {
                data_root = home.path().join("drive");
                let options = mount_options(bench, name, backing, data_root.clone());
                commands.push(commands::mount(&options));
                Some(DriveProcess::mount(&bench.options.weir, &options)?)
            }
            None => None,
        };
        let mut options = StartOptions::new(data_root.join("data"), home.path().join("server"));
        options.variables = bench.plan.server.variables.clone();
        options.variables.extend(cell.variables.clone());
        commands.push(commands::server(&bench.server, &options)?);
        let watch = &mut data::watching(stop);
        let started = PrivateServer::start_watched(&bench.server, &options, watch);
        let server = data::unless_stopped(started)?;
        Ok(server.map(|server| Self {
            server,
            drive,
            home,
            commands,
        }))
    }

    /// The server's variables, free of this run's own paths.
    fn variables(&self) -> Result<BTreeMap<String, String>, StudyError> {
        let directory = self.home.path();
        let directory = directory
            .canonicalize()
            .map_err(PathError::on("find", directory))?;
        Ok(without_directory(self.server.variables()?, &directory))
    }

    /// What was started, free of this run's own paths.
    fn commands(&self) -> Vec<String> {
        let directory = self.home.path();
        let anonymous = |command: &String| commands::anonymous(command, directory);
        self.commands.iter().map(anonymous).collect()
    }

    /// Loads the server and measures; `None` if it was stopped.
    fn load(
        &mut self,
        bench: &Bench<'_>,
        planned: PlannedRun,
        stop: &AtomicBool,
        on_event: &mut dyn FnMut(&Event<'_>),
    ) -> Result<Option<Measured>, weir_load::LoadError> {
        let cell = &bench.plan.cells[planned.cell];
        let plan = LoadPlan {
            tables: bench.plan.data.tables,
            rows: bench.plan.data.rows,
            connections: cell.threads,
            distribution: bench.plan.load.distribution.into(),
            warmup: bench.plan.load.warmup.0,
            measure: Some(bench.plan.load.measure.0),
            // Cells of one repetition get the same keys: one difference less between them.
            seed: bench.plan.seed.wrapping_add(u64::from(planned.repetition)),
            ..LoadPlan::new(self.server.endpoint(), bench.plan.data.workload)
        };
        let distribution = bench.plan.load.distribution;
        self.commands.push(commands::load(
            &plan,
            bench.plan.data.workload,
            distribution,
        ));
        let sampling_began = Instant::now();
        let sampler = Sampler::start(self.probes(), PROBE_INTERVAL, sampling_began);
        let mut watch = Watch::default();
        let outcome = weir_load::run(&plan, stop, &mut |interval| {
            watch.observe(&interval.record, self.drive.as_ref());
            on_event(&Event::Interval(&interval.record));
        });
        let drive_after = self
            .drive
            .as_ref()
            .and_then(|drive| drive.statistics().ok());
        let (samples, _gaps) = sampler.finish();
        let outcome = outcome?;
        if stop.load(Ordering::Relaxed) || outcome.stopped_early {
            return Ok(None);
        }
        Ok(Some(Measured {
            outcome,
            samples: watch.relative_to_measurement(samples, sampling_began),
            drive: watch
                .drive_before
                .zip(drive_after)
                .map(|(before, after)| after.since(&before)),
            intervals: watch.intervals,
        }))
    }

    fn probes(&self) -> Vec<Box<dyn Probe>> {
        let mut probes: Vec<Box<dyn Probe>> = vec![
            Box::new(HostProbe::new()),
            Box::new(ProcessProbe::server(self.server.pid())),
            Box::new(ProcessProbe::client()),
            Box::new(StatusProbe::new(self.server.endpoint())),
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

fn mount_options(
    bench: &Bench<'_>,
    name: &str,
    backing: PathBuf,
    mountpoint: PathBuf,
) -> MountOptions {
    MountOptions {
        data_scale: bench.plan.data.data_scale,
        drive_scale: bench.plan.data.drive_scale,
        below_floor: bench.options.below_floor,
        ..MountOptions::new(name, backing, mountpoint)
    }
}

/// What is noted while the load runs.
#[derive(Default)]
struct Watch {
    intervals: Vec<IntervalRecord>,
    /// The drive's counters when the measurement began.
    drive_before: Option<DriveStatistics>,
    /// When the measurement began.
    measurement_began: Option<Instant>,
}

impl Watch {
    fn observe(&mut self, interval: &IntervalRecord, drive: Option<&DriveProcess>) {
        self.intervals.push(*interval);
        // The last interval of the warm-up ends at 0; without a warm-up the first one must do.
        if self.measurement_began.is_none() && interval.time_s >= 0.0 {
            let late = Duration::from_secs_f64(interval.time_s.max(0.0));
            self.measurement_began = Instant::now().checked_sub(late);
            self.drive_before = drive.and_then(|drive| drive.statistics().ok());
        }
    }

    /// Moves the samples' times from the start of the sampling to the start of the measurement.
    fn relative_to_measurement(
        &self,
        mut samples: Vec<Sample>,
        sampling_began: Instant,
    ) -> Vec<Sample> {
        let began = self.measurement_began.unwrap_or(sampling_began);
        let shift_s = began
            .saturating_duration_since(sampling_began)
            .as_secs_f64();
        for sample in &mut samples {
            sample.time_s -= shift_s;
        }
        samples
    }
}

/// A completed measurement.
struct Measured {
    outcome: LoadOutcome,
    intervals: Vec<IntervalRecord>,
    samples: Vec<Sample>,
    drive: Option<DriveStatistics>,
}

impl Measured {
    fn into_result(
        self,
        planned: PlannedRun,
        started_at: String,
        variables: BTreeMap<String, String>,
        variables_changed: BTreeMap<String, String>,
        commands: Vec<String>,
    ) -> RunResult {
        let outcome = self.outcome;
        let measured_s = outcome.measured_s;
        let client_cpu = outcome.client_utilization();
        let utilization = usage::utilization(&self.samples, measured_s, client_cpu);
        RunResult {
            record: RunRecord {
                cell: planned.cell,
                repetition: planned.repetition,
                started_at,
                measured_s,
                queries_per_s: outcome.counts.queries as f64 / measured_s,
                transactions_per_s: outcome.counts.transactions as f64 / measured_s,
                latency: outcome.latency,
                errors: outcome.counts.errors,
                unfinished: outcome.unfinished,
                limiter: usage::limiter(&utilization),
                utilization,
            },
            intervals: self.intervals,
            samples: self.samples,
            variables,
            variables_changed,
            drive: self.drive,
            commands,
            histogram: outcome.histogram,
        }
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
