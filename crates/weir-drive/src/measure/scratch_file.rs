//! The file of a measurement: a new one that loses its name at once, so that it is gone at any end of the program.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, OFlags};

use crate::measure::MeasureError;

/// A file without a name: the kernel removes it when it is closed, also by `kill -9`.
#[derive(Debug)]
pub(crate) struct ScratchFile {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
}

impl ScratchFile {
    /// A new file of `bytes` in the folder `target`, or called so where there is none.
    pub(crate) fn create(target: &Path, bytes: u64) -> Result<Self, MeasureError> {
        let path = path_in(target);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .custom_flags(OFlags::DIRECT.bits().cast_signed())
            .open(&path)
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => MeasureError::Exists(path.clone()),
                _ => MeasureError::path(
                    "create",
                    &path,
                    "name a folder that you may write to, on a file system with O_DIRECT",
                )(error),
            })?;
        std::fs::remove_file(&path).map_err(MeasureError::path(
            "remove",
            &path,
            "remove it, and name a folder in which you may",
        ))?;
        let scratch = Self { file, path };
        // Where the file system cannot, the first write does it.
        let _ = rustix::fs::fallocate(&scratch.file, FallocateFlags::empty(), 0, bytes);
        Ok(scratch)
    }
}

/// The path of the file: `target`, or a name of its own in it.
fn path_in(target: &Path) -> PathBuf {
    if target.is_dir() {
        target.join(format!("weir-drive-measure-{}", std::process::id()))
    } else {
        target.to_owned()
    }
}

/// The folder that the file is in.
pub(crate) fn folder_of(target: &Path) -> PathBuf {
    if target.is_dir() {
        return target.to_owned();
    }
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
