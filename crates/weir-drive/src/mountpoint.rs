//! A mountpoint's one name, by which its drive's process and its users find each other.

use std::path::{Path, PathBuf};

use crate::DriveError;

/// `mountpoint` as an absolute path without links.
///
/// Only what lies above it is resolved: looking at a mountpoint itself fails once its drive is
/// dead, and a mountpoint is a directory, not a link.
pub(crate) fn resolved(mountpoint: &Path) -> Result<PathBuf, DriveError> {
    let absolute = std::path::absolute(mountpoint).map_err(DriveError::path("find", mountpoint))?;
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => {
            let parent = parent
                .canonicalize()
                .map_err(DriveError::path("find", mountpoint))?;
            Ok(parent.join(name))
        }
        _ => Ok(absolute),
    }
}

/// Returns true if a drive is mounted at `mountpoint`. The drive itself is not looked at: it may be dead or stuck.
pub fn is_mounted(mountpoint: &Path) -> bool {
    resolved(mountpoint).is_ok_and(|path| weir_process::is_mounted(&path))
}
