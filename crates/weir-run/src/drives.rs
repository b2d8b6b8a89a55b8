//! The drives of a study: profiles as they are shipped, and with settings of the study's own.

use std::collections::BTreeMap;

use weir_model::{Cell, DriveProfile, Plan};

use super::RunOptions;
use crate::StudyError;
use crate::drive_profile::{cells_by_drive, drive_profile};

/// All drives of a plan by [`weir_model::RunSpec::drive_name`], which is also what to mount.
#[derive(Default)]
pub(super) struct Drives {
    by_name: BTreeMap<String, DriveProfile>,
}

impl Drives {
    pub(super) fn of(plan: &Plan, options: &RunOptions) -> Result<Self, StudyError> {
        let mut drives = Self::default();
        for cell in cells_by_drive(plan) {
            let Some(profile) = drive_profile(cell)? else {
                continue;
            };
            if !options.below_floor {
                weir_drive::check_floor(&profile)?;
            }
            drives.by_name.insert(profile.name.clone(), profile);
        }
        if !drives.by_name.is_empty() {
            weir_drive::check_fuse()?;
        }
        Ok(drives)
    }

    /// The drive of `cell`; `None`: it lies on the host's own storage.
    pub(super) fn of_cell(&self, cell: &Cell) -> Option<&DriveProfile> {
        self.by_name.get(&cell.spec.drive_name()?)
    }

    /// The profiles, for the result.
    pub(super) fn profiles(&self) -> Vec<DriveProfile> {
        self.by_name.values().cloned().collect()
    }
}
