//! Users of a snapshot: a lock on its key's file (flock(2)), whose modification time is the time of its last use.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use weir_process::PathError;

use super::{SnapshotKey, Snapshots, key};
use crate::ServerError;

/// A snapshot that no process removes while this lives.
#[derive(Debug)]
pub struct SnapshotHold {
    data: PathBuf,
    _lock: File,
}

impl SnapshotHold {
    /// Returns the data directory. Read it, never start a server on it.
    pub fn data_dir(&self) -> &Path {
        &self.data
    }
}

impl Snapshots {
    /// Keeps the snapshot of `key` from being removed, and marks it as used now; `None` if there is
    /// none.
    ///
    /// # Errors
    ///
    /// A snapshot that cannot be opened.
    pub fn hold(&self, key: &SnapshotKey) -> Result<Option<SnapshotHold>, ServerError> {
        let directory = self.directory.join(key.name());
        let path = directory.join(key::FILE);
        while let Some(data) = self.find(key) {
            let Ok(lock) = File::open(&path) else {
                continue; // Removed between the two looks.
            };
            lock.lock_shared().map_err(PathError::on("lock", &path))?;
            // The process that removed it held the lock until it had another name.
            let locked = lock.metadata().map_err(PathError::on("read", &path))?;
            if fs::metadata(&path).is_ok_and(|found| found.ino() == locked.ino()) {
                // A cache that cannot be written to can still be read.
                let _ = File::options()
                    .append(true)
                    .open(&path)
                    .and_then(|file| file.set_modified(SystemTime::now()));
                return Ok(Some(SnapshotHold { data, _lock: lock }));
            }
        }
        Ok(None)
    }
}

/// Returns the time at which the snapshot in `directory` was last stored or restored.
pub(super) fn last_used(directory: &Path) -> SystemTime {
    fs::metadata(directory.join(key::FILE))
        .and_then(|found| found.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Returns true if a process reads the snapshot in `directory`.
pub(super) fn is_in_use(directory: &Path) -> bool {
    matches!(lock_alone(directory), Ok(None))
}

/// The lock of the snapshot in `directory`, against all readers; `None` if there are some.
pub(super) fn lock_alone(directory: &Path) -> Result<Option<File>, PathError> {
    let path = directory.join(key::FILE);
    let file = File::open(&path).map_err(PathError::on("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(PathError::on("lock", &path)(error)),
    }
}
