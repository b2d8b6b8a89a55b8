//! The drives of a study: profiles as they are shipped, and with settings of the study's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use weir_model::{Cell, DriveProfile, Plan};
use weir_process::{PathError, WorkDirectory};

use super::RunOptions;
use crate::StudyError;

/// A drive that can be mounted.
pub(super) struct Drive {
    pub(super) profile: DriveProfile,
    /// What to mount: a name, or the path of a profile that this study wrote.
    pub(super) mounts: String,
}

/// All drives of a plan by [`Cell::drive_name`].
#[derive(Default)]
pub(super) struct Drives {
    by_name: BTreeMap<String, Drive>,
    /// Holds the profiles that are not shipped.
    folder: Option<WorkDirectory>,
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
    pub(super) fn of_cell(&self, cell: &Cell) -> Option<&Drive> {
        self.by_name.get(&cell.drive_name()?)
    }

    /// The profiles, for the result.
    pub(super) fn profiles(&self) -> Vec<DriveProfile> {
        self.by_name
            .values()
            .map(|drive| drive.profile.clone())
            .collect()
    }

    fn add(&mut self, cell: &Cell, options: &RunOptions) -> Result<(), StudyError> {
        let Some(shipped) = &cell.drive else {
            return match cell.drive_settings.keys().next() {
                Some(key) => Err(StudyError::DriveSettingWithoutDrive { key: key.clone() }),
                None => Ok(()),
            };
        };
        let name = cell.drive_name().unwrap_or_default();
        if self.by_name.contains_key(&name) {
            return Ok(());
        }
        let mut profile = weir_drive::profiles::load(shipped, None)?;
        let mut mounts = shipped.clone();
        if !cell.drive_settings.is_empty() {
            for (key, value) in &cell.drive_settings {
                profile = profile.with(key, value)?;
            }
            profile.name.clone_from(&name);
            mounts = self.write(options, &profile)?;
        }
        if !options.below_floor {
            weir_drive::check_floor(&profile)?;
        }
        self.by_name.insert(name, Drive { profile, mounts });
        Ok(())
    }

    /// Writes a profile and returns its path.
    fn write(
        &mut self,
        options: &RunOptions,
        profile: &DriveProfile,
    ) -> Result<String, StudyError> {
        let folder = if let Some(folder) = &mut self.folder {
            folder
        } else {
            let temporary = std::env::temp_dir();
            let place: &Path = options.work.as_deref().unwrap_or(&temporary);
            fs::create_dir_all(place).map_err(PathError::on("create", place))?;
            self.folder.insert(WorkDirectory::create(place, "drives")?)
        };
        let text = toml::to_string(profile).expect("invariant: a profile is plain data");
        let path = folder.path().join(format!("{}.toml", self.by_name.len()));
        fs::write(&path, text).map_err(PathError::on("write", &path))?;
        Ok(path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(work: &Path) -> RunOptions {
        RunOptions {
            out: work.to_owned(),
            resume: false,
            work: Some(work.to_owned()),
            weir: "weir".into(),
            below_floor: true,
            allow_config: false,
            surroundings: weir_load::sysbench::Surroundings::default(),
            provenance: weir_model::Provenance::default(),
        }
    }

    fn added(settings: &[(&str, &str)]) -> Result<Drives, StudyError> {
        let place = tempfile::tempdir().unwrap();
        let settings = settings
            .iter()
            .map(|(key, value)| ((*key).into(), (*value).into()));
        let cell = Cell {
            drive: Some("intel-p4610".to_owned()),
            drive_settings: settings.collect(),
            ..Cell::default()
        };
        let mut drives = Drives::default();
        drives.add(&cell, &options(place.path()))?;
        let drive = drives.of_cell(&cell).unwrap();
        let mounted = weir_drive::profiles::load(&drive.mounts, None)?;
        assert_eq!(mounted.read, drive.profile.read);
        Ok(drives)
    }

    #[test]
    fn a_setting_replaces_one_figure_of_the_profile() {
        let drives = added(&[("read.latency_us", "200"), ("compression", "zlib4k")]).unwrap();
        let profile = &drives.profiles()[0];
        assert_eq!(
            profile.name,
            "intel-p4610+compression=zlib4k+read.latency_us=200"
        );
        let shipped = weir_drive::profiles::load("intel-p4610", None).unwrap();
        assert!((profile.read.latency_us - 200.0).abs() < 1e-9);
        assert_eq!(profile.write, shipped.write);
        assert_ne!(profile.compression, shipped.compression);
    }

    #[test]
    fn a_setting_that_profiles_do_not_have_is_named_with_the_nearest() {
        let error = added(&[("read.latencyus", "200")])
            .err()
            .unwrap()
            .to_string();
        assert!(
            error.contains("latencyus") && error.contains("`latency_us`?"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}
