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
            let text = with_settings(&profile, &name, &cell.drive_settings)?;
            profile =
                DriveProfile::parse(&name, &text).map_err(|error| StudyError::DriveSetting {
                    reason: error.to_string(),
                })?;
            mounts = self.write(options, &text)?;
        }
        if !options.below_floor {
            weir_drive::check_floor(&profile)?;
        }
        self.by_name.insert(name, Drive { profile, mounts });
        Ok(())
    }

    /// Writes a profile and returns its path.
    fn write(&mut self, options: &RunOptions, text: &str) -> Result<String, StudyError> {
        let folder = match &mut self.folder {
            Some(folder) => folder,
            None => {
                let temporary = std::env::temp_dir();
                let place: &Path = options.work.as_deref().unwrap_or(&temporary);
                fs::create_dir_all(place).map_err(PathError::on("create", place))?;
                self.folder.insert(WorkDirectory::create(place, "drives")?)
            }
        };
        let path = folder.path().join(format!("{}.toml", self.by_name.len()));
        fs::write(&path, text).map_err(PathError::on("write", &path))?;
        Ok(path.display().to_string())
    }
}

/// The text of `profile` with other values at the keys of `settings`, dotted as in the file.
fn with_settings(
    profile: &DriveProfile,
    name: &str,
    settings: &BTreeMap<String, String>,
) -> Result<String, StudyError> {
    let wrong = |reason: String| StudyError::DriveSetting { reason };
    let mut table = toml::Table::try_from(profile).map_err(|error| wrong(error.to_string()))?;
    for (key, value) in settings {
        let mut place = &mut table;
        let (sections, last) = match key.rsplit_once('.') {
            Some((sections, last)) => (sections.split('.').collect(), last),
            None => (Vec::new(), key.as_str()),
        };
        for section in sections {
            let next = place
                .entry(section)
                .or_insert_with(|| toml::Table::new().into());
            place = next
                .as_table_mut()
                .ok_or_else(|| wrong(format!("drive profile `{name}`: `{key}` is no setting")))?;
        }
        place.insert(last.to_owned(), value_of(value));
    }
    toml::to_string(&table).map_err(|error| wrong(error.to_string()))
}

/// A number or truth value where the text is one, else text.
fn value_of(text: &str) -> toml::Value {
    let number = || text.parse().map(toml::Value::Integer);
    let real = || text.parse().map(toml::Value::Float);
    match text {
        "ON" => toml::Value::Boolean(true),
        "OFF" => toml::Value::Boolean(false),
        _ => number()
            .or_else(|_| real())
            .unwrap_or_else(|_| toml::Value::String(text.to_owned())),
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
