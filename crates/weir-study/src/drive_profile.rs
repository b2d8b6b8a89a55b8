//! The profiles of the drives that a study names.

use std::collections::BTreeMap;

use weir_model::{Cell, DriveProfile, Plan};

use crate::StudyError;

/// Whether each drive of `plan` has a profile and the settings that the plan gives it.
///
/// # Errors
/// If a drive has no profile, or its profile no such setting or value.
pub fn check_drives(plan: &Plan) -> Result<(), StudyError> {
    cells_by_drive(plan).try_for_each(|cell| drive_profile(cell).map(drop))
}

/// The profiles of the drives of `plan`; one that cannot be read is told by [`check_drives`].
pub fn drive_profiles(plan: &Plan) -> Vec<DriveProfile> {
    let profile = |cell: &Cell| drive_profile(cell).ok().flatten();
    cells_by_drive(plan).filter_map(profile).collect()
}

/// One cell of `plan` for each drive with its settings: what is asked of drives need not be asked of all cells.
fn cells_by_drive(plan: &Plan) -> impl Iterator<Item = &Cell> {
    let cells = plan.cells.iter();
    let by_drive = cells.map(|cell| (&cell.spec.primary().drive, cell));
    by_drive.collect::<BTreeMap<_, _>>().into_values()
}

/// The profile of the drive of `cell`, called as the cell calls it, also one that was given by its path; `None`:
/// the cell lies on the host's own storage.
fn drive_profile(cell: &Cell) -> Result<Option<DriveProfile>, StudyError> {
    let Some(name) = cell.spec.drive_name() else {
        return Ok(None);
    };
    let profile = weir_drive::profiles::load(&name, None)?;
    Ok(Some(DriveProfile { name, ..profile }))
}
