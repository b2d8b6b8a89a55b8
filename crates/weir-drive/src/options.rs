//! Options of a mount.

use std::ffi::OsString;
use std::path::PathBuf;

use weir_model::{DriveProfile, Scale};

use crate::{DriveError, profiles};

use crate::RecordingOptions;

/// A drive to be mounted.
#[derive(Debug, Clone, PartialEq)]
pub struct MountOptions {
    /// Name of the profile, or a path to its file.
    pub profile: String,
    /// Figures of the profile to replace: keys as in its file, dotted, or `advertise`.
    pub settings: Vec<(String, String)>,
    /// Shrinks the capacity.
    pub data_scale: Scale,
    /// Shrinks throughput and write buffer; latency is never scaled.
    pub drive_scale: Scale,
    /// The directory that holds the drive's contents; created if it does not exist.
    pub backing: PathBuf,
    /// The directory on which the drive appears; created if it does not exist.
    pub mountpoint: PathBuf,
    /// Accept latencies below what this machine can emulate: completions will be late.
    pub below_floor: bool,
    /// Remove the backing directory with all that is in it after the drive is unmounted.
    pub remove_backing: bool,
    /// Record all that reaches the drive.
    pub recording: Option<RecordingOptions>,
}

impl MountOptions {
    /// `profile` at full size.
    pub fn new(
        profile: impl Into<String>,
        backing: impl Into<PathBuf>,
        mountpoint: impl Into<PathBuf>,
    ) -> Self {
        Self {
            profile: profile.into(),
            settings: Vec::new(),
            data_scale: Scale::FULL,
            drive_scale: Scale::FULL,
            backing: backing.into(),
            mountpoint: mountpoint.into(),
            below_floor: false,
            remove_backing: false,
            recording: None,
        }
    }

    /// The profile with its settings.
    pub(crate) fn resolved_profile(&self) -> Result<DriveProfile, DriveError> {
        let profile = profiles::load(&self.profile, None)?;
        let with = |profile: DriveProfile, (key, value): &(String, String)| {
            let key = match key.as_str() {
                "advertise" => "atomicity.advertise",
                key => key,
            };
            profile.with(key, value)
        };
        Ok(self.settings.iter().try_fold(profile, with)?)
    }

    /// The arguments of `weir` that mount this drive.
    pub fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = ["drive", "mount"].map(Into::into).into();
        arguments.push(self.profile.clone().into());
        arguments.push(self.mountpoint.clone().into());
        arguments.extend(["--backing".into(), self.backing.clone().into()]);
        arguments.extend(["--data-scale".into(), self.data_scale.to_string().into()]);
        arguments.extend(["--drive-scale".into(), self.drive_scale.to_string().into()]);
        for (key, value) in &self.settings {
            arguments.extend(["--set".into(), format!("{key}={value}").into()]);
        }
        arguments.push("--foreground".into());
        if self.below_floor {
            arguments.push("--below-floor".into());
        }
        if self.remove_backing {
            arguments.push("--remove-backing".into());
        }
        if let Some(recording) = &self.recording {
            arguments.extend(["--record".into(), recording.directory.clone().into()]);
            let limit = recording.limit.0.to_string();
            arguments.extend(["--record-limit".into(), limit.into()]);
        }
        arguments
    }
}
