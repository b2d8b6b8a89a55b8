//! The drives of a study: profiles as they are shipped, and with settings of the study's own.

use std::collections::BTreeMap;

use weir_model::{Cell, DriveProfile, Plan};

use super::RunOptions;
use crate::StudyError;

/// All drives of a plan by [`Cell::drive_name`], which is also what to mount.
#[derive(Default)]
pub(super) struct Drives {
    by_name: BTreeMap<String, DriveProfile>,
}

impl Drives {
    pub(super) fn of(plan: &Plan, options: &RunOptions) -> Result<Self, StudyError> {
        let mut drives = Self::default();
        for cell in &plan.cells {
            drives.add(cell, options)?;
        }
        if !drives.by_name.is_empty() {
            weir_drive::check_fuse()?;
        }
        Ok(drives)
    }

    /// The drive of `cell`; `None`: it lies on the host's own storage.
    pub(super) fn of_cell(&self, cell: &Cell) -> Option<&DriveProfile> {
        self.by_name.get(&cell.drive_name()?)
    }

    /// The profiles, for the result.
    pub(super) fn profiles(&self) -> Vec<DriveProfile> {
        self.by_name.values().cloned().collect()
    }

    fn add(&mut self, cell: &Cell, options: &RunOptions) -> Result<(), StudyError> {
        let Some(name) = cell.drive_name() else {
            return match cell.drive_settings.keys().next() {
                Some(key) => Err(StudyError::DriveSettingWithoutDrive { key: key.clone() }),
                None => Ok(()),
            };
        };
        if self.by_name.contains_key(&name) {
            return Ok(());
        }
        let profile = weir_drive::profiles::load(&name, None)?;
        if !options.below_floor {
            weir_drive::check_floor(&profile)?;
        }
        // A profile that was given by its path is called by it, as in the study.
        let called = DriveProfile {
            name: name.clone(),
            ..profile
        };
        self.by_name.insert(name, called);
        Ok(())
    }
}
