//! The profiles of the drives that a study names.

use std::collections::BTreeSet;

use weir_model::{DriveProfile, DriveSpec, Plan, Topology};
use weir_process::{FlushCalls, FlushObstacle};

use crate::StudyError;

/// Checks that each drive of `plan` has a profile and the settings that the plan gives it.
///
/// # Errors
/// If a drive has no profile, or its profile no such setting or value.
pub fn check_drives(plan: &Plan) -> Result<(), StudyError> {
    drives(plan)
        .into_iter()
        .try_for_each(|drive| drive_profile(drive).map(drop))
}

/// The profiles of the drives of `plan`; [`check_drives`] reports one that cannot be read.
pub fn drive_profiles(plan: &Plan) -> Vec<DriveProfile> {
    let profile = |drive| drive_profile(drive).ok();
    drives(plan).into_iter().filter_map(profile).collect()
}

/// The drives of all servers of `plan`, each once.
fn drives(plan: &Plan) -> BTreeSet<&DriveSpec> {
    let nodes = plan
        .cells
        .iter()
        .flat_map(|cell| cell.spec.topology.nodes());
    nodes.filter_map(|node| node.drive.as_ref()).collect()
}

/// Returns the reason that flushes of drives of `plan` on this host hold up writes to the same file. `None`: they do
/// not, or no drive flushes slowly.
pub fn flush_obstacle(plan: &Plan) -> Option<FlushObstacle> {
    let here = plan.cells.iter().map(|cell| &cell.spec.topology);
    let here = here.filter(|topology| topology.primary().hosting_agents().is_none());
    let drives = here.flat_map(Topology::nodes);
    let drives: BTreeSet<_> = drives.filter_map(|node| node.drive.as_ref()).collect();
    let mut profiles = drives
        .into_iter()
        .filter_map(|drive| drive_profile(drive).ok());
    let is_slow = profiles.any(|profile| profile.flushes_slowly());
    is_slow.then(FlushCalls::check)?.err()
}

/// The profile of a drive, called as the plan calls it, also one that was given by its path.
fn drive_profile(drive: &DriveSpec) -> Result<DriveProfile, StudyError> {
    let name = drive.name();
    let profile = weir_drive::profiles::load(&name, None)?;
    Ok(DriveProfile { name, ..profile })
}
