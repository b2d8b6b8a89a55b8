//! Working directories, recorded until they are removed.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use crate::runtime_directory::create_private;
use crate::{Entry, EntryKind, PathError, ProcessError, Registration, Registry};

/// A working directory, mode 0700, that is recorded until it is removed (on drop).
#[derive(Debug)]
pub struct WorkDirectory {
    path: PathBuf,
    _registration: Registration,
}

impl WorkDirectory {
    /// Creates `weir-PREFIX-PID-N` inside `parent`; it belongs to the calling process.
    ///
    /// # Errors
    ///
    /// A directory that cannot be made.
    pub fn create(parent: &Path, prefix: &str) -> Result<Self, ProcessError> {
        create_private(parent)?;
        let registry = Registry::open()?;
        let pid = std::process::id();
        let mut number = 0_u32;
        loop {
            let path = parent.join(format!("weir-{prefix}-{pid}-{number}"));
            if let Some(directory) = Self::create_at(&registry, path)? {
                return Ok(directory);
            }
            number += 1;
        }
    }

    /// None if `path` is taken: by a leftover, or at this moment by another thread.
    fn create_at(registry: &Registry, path: PathBuf) -> Result<Option<Self>, ProcessError> {
        if path.exists() {
            return Ok(None);
        }
        // Recorded first: a kill between the two steps leaves a record without a directory,
        // which a sweep ignores, never a directory without a record.
        let entry = Entry {
            directory: Some(path.clone()),
            ..Entry::new(EntryKind::Directory)
        };
        let registration = registry.record(&entry)?;
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Some(Self {
                path,
                _registration: registration,
            })),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(PathError::on("create", &path)(error).into()),
        }
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        // What cannot be removed now keeps no record, but a failed removal here means that the
        // file system is gone or foreign, and then a later attempt would fail as well.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Makes the folder of the user's choice where it is missing, but none above it: `/mnt/nvme/weir` without the drive's
/// mount would lie on another drive.
///
/// # Errors
///
/// A folder that cannot be made.
pub fn create_users_folder(work: &Path) -> Result<(), ProcessError> {
    match fs::create_dir(work) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(ProcessError::NoWorkParent {
            work: work.to_owned(),
        }),
        Err(_) if work.is_dir() => Ok(()),
        made => Ok(made.map_err(PathError::on("create", work))?),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn a_work_directory_is_private_and_goes_when_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let first = WorkDirectory::create(parent.path(), "test").unwrap();
        let second = WorkDirectory::create(parent.path(), "test").unwrap();
        assert_ne!(first.path(), second.path());
        assert_eq!(fs::metadata(first.path()).unwrap().mode() & 0o777, 0o700);
        let path = first.path().to_owned();
        drop(first);
        assert!(!path.exists() && second.path().exists());
    }
    #[test]
    fn threads_that_create_at_once_share_none() {
        let parent = tempfile::tempdir().unwrap();
        let made = std::thread::scope(|scope| {
            let create = || WorkDirectory::create(parent.path(), "test").unwrap();
            let threads: Vec<_> = (0..16).map(|_| scope.spawn(create)).collect();
            let made = threads.into_iter().map(|thread| thread.join().unwrap());
            made.collect::<Vec<_>>()
        });
        let mut paths: Vec<_> = made.iter().map(WorkDirectory::path).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), made.len());
    }
}
