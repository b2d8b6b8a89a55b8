//! What all runs of a study share: the server program, the drives, the place to work in.
//!
//! Everything that can be found wrong without starting a server is found here, before the first
//! minute is spent.

use std::collections::BTreeMap;

use weir_model::{Bytes, DriveProfile, Plan};
use weir_server::ServerBinary;

use super::RunOptions;
use crate::StudyError;

/// The test bench.
pub(super) struct Bench<'a> {
    pub(super) plan: &'a Plan,
    pub(super) options: &'a RunOptions,
    pub(super) server: ServerBinary,
    /// Profiles of all drives in the plan, by name.
    pub(super) drives: BTreeMap<String, DriveProfile>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(plan: &'a Plan, options: &'a RunOptions) -> Result<Self, StudyError> {
        let server = match &plan.server.binary {
            Some(path) => ServerBinary::at(path)?,
            None => weir_server::choose(&weir_server::find(None)?, plan.server.flavor)?.clone(),
        };
        check_variables(plan, &server)?;
        let drives = drives(plan, options)?;
        if !drives.is_empty() {
            weir_drive::check_fuse()?;
        }
        Ok(Self {
            plan,
            options,
            server,
            drives,
        })
    }

    /// Every drive must hold the data; what a run adds to them is the server's to complain about.
    pub(super) fn check_capacity(&self, needed: Bytes) -> Result<(), StudyError> {
        let scale = self.plan.data.data_scale;
        for drive in self.drives.values() {
            let capacity = Bytes(scale.apply(drive.capacity.0));
            if capacity < needed {
                let name = drive.name.clone();
                return Err(StudyError::DriveTooSmall {
                    name,
                    capacity,
                    scale,
                    needed,
                });
            }
        }
        Ok(())
    }
}

/// Every variable of every cell must be one of the server's.
fn check_variables(plan: &Plan, server: &ServerBinary) -> Result<(), StudyError> {
    let known = weir_server::known_variables(server)?;
    for cell in &plan.cells {
        let all = plan.server.variables.iter().chain(&cell.variables);
        let all = all
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        let translated = weir_server::translate(server.flavor, server.version, &all)?;
        let names: Vec<_> = translated.keys().map(String::as_str).collect();
        weir_server::check_variables(&known, &names)?;
    }
    Ok(())
}

fn drives(plan: &Plan, options: &RunOptions) -> Result<BTreeMap<String, DriveProfile>, StudyError> {
    let mut drives = BTreeMap::new();
    for name in plan.cells.iter().filter_map(|cell| cell.drive.as_ref()) {
        if !drives.contains_key(name) {
            let profile = weir_drive::profiles::load(name, None)?;
            if !options.below_floor {
                weir_drive::check_floor(&profile)?;
            }
            drives.insert(name.clone(), profile);
        }
    }
    Ok(drives)
}
