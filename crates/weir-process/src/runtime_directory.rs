//! The user's directory for sockets and records.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::{PathError, ProcessError};

/// The user's directory for sockets and records, mode 0700, created if need be.
///
/// `$XDG_RUNTIME_DIR/weir` (XDG Base Directory Specification), else `/tmp/weir-UID`. Both are
/// short, because a Unix socket's path has at most 107 bytes (unix(7)).
///
/// # Errors
///
/// A directory that cannot be made, or that belongs to another user.
pub fn runtime_directory() -> Result<PathBuf, ProcessError> {
    let uid = rustix::process::getuid().as_raw();
    let path = match std::env::var_os("XDG_RUNTIME_DIR") {
        Some(parent) if !parent.is_empty() => PathBuf::from(parent).join("weir"),
        _ => PathBuf::from(format!("/tmp/weir-{uid}")),
    };
    create_private(&path)?;
    let found = fs::symlink_metadata(&path).map_err(PathError::on("look at", &path))?;
    // Any user may create a name in /tmp first: a link or a foreign directory is not ours.
    if !found.is_dir() || found.uid() != uid || found.mode() & 0o077 != 0 {
        return Err(ProcessError::ForeignDirectory { path });
    }
    Ok(path)
}

/// Creates `path` with its parents, for the user alone.
pub(crate) fn create_private(path: &Path) -> Result<(), PathError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(PathError::on("create", path))
}
