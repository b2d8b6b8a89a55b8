//! Space: what a directory occupies, and whether as much is free elsewhere.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::statvfs;
use weir_model::Bytes;

use crate::ServerError;
use weir_process::PathError;

/// Bytes that the files of `directory` occupy: holes of sparse files do not count.
///
/// # Errors
///
/// A directory that cannot be read.
pub fn space_occupied(directory: &Path) -> Result<Bytes, ServerError> {
    let mut total = 0;
    let entries = fs::read_dir(directory).map_err(PathError::on("read", directory))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let found = fs::symlink_metadata(&path).map_err(PathError::on("read", &path))?;
        total += if found.is_dir() {
            space_occupied(&path)?.0
        } else {
            // st_blocks counts 512 bytes whatever the block size (stat(3type)).
            found.blocks() * 512
        };
    }
    Ok(Bytes(total))
}

/// Bytes that this user may still write to `directory`'s file system.
///
/// # Errors
///
/// A directory that is not there.
pub fn space_available(directory: &Path) -> Result<Bytes, ServerError> {
    let found =
        statvfs(directory).map_err(|errno| PathError::on("look at", directory)(errno.into()))?;
    Ok(Bytes(found.f_bavail.saturating_mul(found.f_frsize)))
}

/// Bytes of `directory`'s whole file system.
pub(super) fn space_total(directory: &Path) -> Result<Bytes, ServerError> {
    let found =
        statvfs(directory).map_err(|errno| PathError::on("look at", directory)(errno.into()))?;
    Ok(Bytes(found.f_blocks.saturating_mul(found.f_frsize)))
}

/// Fails if `directory`'s file system has less than `needed` left for this user.
///
/// # Errors
///
/// Too little room, or a directory that is not there.
pub fn check_space(directory: &Path, needed: Bytes) -> Result<(), ServerError> {
    let available = space_available(directory)?;
    if available >= needed {
        return Ok(());
    }
    Err(ServerError::Space {
        path: directory.to_owned(),
        needed,
        available,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_that_no_disk_has_is_refused_in_one_line() {
        let directory = tempfile::tempdir().unwrap();
        check_space(directory.path(), Bytes(1)).unwrap();
        let error = check_space(directory.path(), Bytes(1 << 62)).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("4194304T needed"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}
