//! The model of a result's workload, calibrated by its runs, and the drives that are asked about.

use std::collections::BTreeMap;

use weir_drive::profiles;
use weir_model::{Bytes, Cell, DriveProfile, Plan, RunResult, Scale, StudyResult};
use weir_predict::{Calibration, DriveAbility, Place, System};

use super::Subject;

/// What predictions of a result are made from.
pub(super) struct Calibrated {
    pub(super) calibration: Calibration,
    pub(super) system: System,
    /// By how much the throughput of drives is scaled, as in the study.
    pub(super) scale: Scale,
    pub(super) drives: Vec<(DriveProfile, DriveAbility)>,
    /// Numbers of connections.
    pub(super) threads: Vec<u32>,
    /// The result's own runs.
    runs: Vec<Measured>,
}

/// A run in the terms of a prediction.
struct Measured {
    drive: String,
    pool: Bytes,
    connections: u32,
    transactions_per_s: f64,
}

impl Measured {
    /// `None` for a run on the host's own storage.
    fn of(plan: &Plan, run: &RunResult) -> Option<Self> {
        let cell = plan.cells.get(run.record.cell)?;
        Some(Self {
            drive: cell.drive_name()?,
            pool: run.variables.get("innodb_buffer_pool_size")?.parse().ok()?,
            connections: cell.threads,
            transactions_per_s: run.record.transactions_per_s,
        })
    }
}

impl Calibrated {
    /// From `result`, for the named `drives` and numbers of connections (`threads`), or else those of the
    /// first cell.
    pub(super) fn of(
        result: &StudyResult,
        subject: &Subject,
        drives: &[String],
        threads: &[u32],
    ) -> anyhow::Result<Self> {
        let plan = &result.plan;
        let scale = plan.data.drive_scale;
        let ability = |profile: &DriveProfile| DriveAbility::of(profile, 1.0);
        let drives = asked_for(result, drives)?.into_iter();
        let drives = drives.map(|profile| {
            let found = ability(&profile)?;
            Ok((profile, found))
        });
        let mut drives = drives.collect::<anyhow::Result<Vec<_>>>()?;
        for (_, drive) in &mut drives {
            *drive = drive.at_scale(scale);
        }
        let own = result.drives.iter();
        let own = own.map(|profile| Ok((profile.name.as_str(), ability(profile)?.at_scale(scale))));
        let own = own.collect::<anyhow::Result<BTreeMap<_, _>>>()?;
        // Runs on the host's own storage are taken to have been on the first drive that is asked about.
        let of_cell = |cell: &Cell| {
            let name = cell.drive_name();
            let known = name.and_then(|name| own.get(name.as_str()));
            known.unwrap_or(&drives[0].1)
        };
        let calibration = Calibration::of(result, &subject.popularity, &of_cell)?;
        let first = plan.cells.first().map_or(1, |cell| cell.threads);
        Ok(Self {
            system: System {
                popularity: subject.popularity.clone(),
                writes: weir_predict::write_settings(result, calibration.redo_bytes),
                old_blocks_time_s: weir_predict::old_blocks_time_s(plan),
                demands: calibration.demands,
            },
            calibration,
            scale,
            drives,
            runs: result
                .runs
                .iter()
                .filter_map(|run| Measured::of(plan, run))
                .collect(),
            threads: match threads {
                [] => vec![first],
                threads => threads.to_vec(),
            },
        })
    }

    /// The same at the study's full size, which is `subject`'s: its own runs say nothing there.
    pub(super) fn at_full_size(mut self, plan: &Plan, subject: &Subject) -> Self {
        self.system.popularity = subject.popularity.clone();
        self.system.writes.redo_capacity_bytes /= plan.data.data_scale.factor();
        for (_, drive) in &mut self.drives {
            *drive = drive.whole(self.scale);
        }
        self.scale = Scale::FULL;
        self.runs.clear();
        self
    }

    /// The same on a host with other cores.
    pub(super) fn on_cores(mut self, cores: Option<u32>) -> Self {
        if let Some(cores) = cores {
            self.system.demands.cores = cores;
            self.runs.clear();
        }
        self
    }

    /// Transactions per second of the result's runs of a place, on average.
    pub(super) fn measured(&self, drive: &str, pool: Bytes, connections: u32) -> Option<f64> {
        // Servers round pools to chunks.
        let is_alike = |other: Bytes| other.0.abs_diff(pool.0) <= pool.0 / 50;
        let there = self.runs.iter().filter(|run| {
            run.drive == drive && is_alike(run.pool) && run.connections == connections
        });
        let per_s: Vec<f64> = there.map(|run| run.transactions_per_s).collect();
        (!per_s.is_empty()).then(|| per_s.iter().sum::<f64>() / per_s.len() as f64)
    }

    /// `drive` with so many connections.
    pub(super) fn place<'a>(&'a self, drive: &'a DriveAbility, connections: u32) -> Place<'a> {
        Place {
            system: &self.system,
            drive,
            connections,
        }
    }
}

/// The drive of the first cell.
fn first_drive(result: &StudyResult) -> Option<&DriveProfile> {
    let name = result.plan.cells.first()?.drive_name()?;
    result.drives.iter().find(|drive| drive.name == name)
}

/// The drives of these names, or else that of the first cell.
fn asked_for(result: &StudyResult, names: &[String]) -> anyhow::Result<Vec<DriveProfile>> {
    if !names.is_empty() {
        let found = names.iter().map(|name| profiles::load(name, None));
        return Ok(found.collect::<Result<_, _>>()?);
    }
    match first_drive(result) {
        Some(drive) => Ok(vec![drive.clone()]),
        None => anyhow::bail!(
            "predict: the result's runs used the host's own storage (which has no profile); name \
             drives with --drive"
        ),
    }
}
