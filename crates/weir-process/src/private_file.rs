//! Files and directories that only their owner may read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

use crate::PathError;

/// Writes a file that only its owner may read.
///
/// # Errors
///
/// A file that cannot be made or written.
pub fn write_private(path: &Path, text: &str) -> Result<(), PathError> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(PathError::on("write", path))
}

/// Makes a new file that only its owner may read, also in a process without a umask; open for reading and writing.
///
/// # Errors
///
/// A file that is there already, or that cannot be made.
pub fn create_private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Makes a directory, and those above it, that only its owner may enter; one that is there stays as it is.
///
/// # Errors
///
/// A directory that cannot be made.
pub fn create_private_directory(path: &Path) -> Result<(), PathError> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(PathError::on("create", path))
}
