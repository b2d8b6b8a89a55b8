//! The model of a result's workload, calibrated by its runs, and the drives that are asked about.

use weir_drive::profiles;
use weir_model::{DriveProfile, Scale, StudyResult};
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
        let ability = |profile: &DriveProfile| -> anyhow::Result<DriveAbility> {
            Ok(DriveAbility::of(profile, 1.0)?.at_scale(scale))
        };
        let drives = asked_for(result, drives)?.into_iter();
        let drives = drives.map(|profile| {
            let found = ability(&profile)?;
            Ok((profile, found))
        });
        let drives = drives.collect::<anyhow::Result<Vec<_>>>()?;
        let measured = match first_drive(result) {
            Some(profile) => ability(profile)?,
            None => drives[0].1.clone(),
        };
        let calibration = Calibration::of(result, &subject.popularity, &measured)?;
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
            threads: match threads {
                [] => vec![first],
                threads => threads.to_vec(),
            },
        })
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
