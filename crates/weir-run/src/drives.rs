//! The drives of a study: profiles as they are shipped, and with settings of the study's own.

use std::collections::BTreeMap;

use weir_model::{DriveProfile, Node, Plan};

use crate::{RunError, RunOptions};

/// All drives of a plan by [`weir_model::RunSpec::drive_name`], which is also what to mount.
#[derive(Default)]
pub(crate) struct Drives {
    by_name: BTreeMap<String, DriveProfile>,
}

impl Drives {
    /// Those of the servers that are started on this host.
    pub(crate) fn new(plan: &Plan, options: &RunOptions) -> Result<Self, RunError> {
        weir_study::check_drives(plan)?;
        let mut drives = Self::default();
        let mut here = plan.clone();
        here.cells
            .retain(|cell| cell.spec.primary().hosting_agents().is_none());
        for profile in weir_study::drive_profiles(&here) {
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

    /// The drive of `node`; `None`: it lies on the host's own storage.
    pub(crate) fn of_node(&self, node: &Node) -> Option<&DriveProfile> {
        self.by_name.get(&node.drive.as_ref()?.name())
    }

    /// The profiles, for the result.
    pub(crate) fn profiles(&self) -> Vec<DriveProfile> {
        self.by_name.values().cloned().collect()
    }
}
