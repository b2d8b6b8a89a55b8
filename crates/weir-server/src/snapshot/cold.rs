//! Files that nobody has read yet, as far as the host's page cache knows.

use std::fs::{self, File};
use std::path::Path;

use rustix::fs::{Advice, fadvise};
use weir_process::PathError;

use crate::ServerError;

/// Drops the files of `directory` from the host's page cache; pages that are not on the medium yet stay
/// (`posix_fadvise(2)`).
pub fn make_cold(directory: &Path) -> Result<(), ServerError> {
    let entries = fs::read_dir(directory).map_err(PathError::on("read", directory))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let kind = entry.file_type().map_err(PathError::on("read", &path))?;
        if kind.is_dir() {
            make_cold(&path)?;
        } else if kind.is_file() {
            let file = File::open(&path).map_err(PathError::on("read", &path))?;
            let dropped = fadvise(&file, 0, None, Advice::DontNeed);
            dropped.map_err(|errno| PathError::on("read", &path)(errno.into()))?;
        }
    }
    Ok(())
}
