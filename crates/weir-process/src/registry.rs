//! The record of what runs: one small JSON file per server, mount and working directory.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::{PathError, ProcessError, ProcessIdentity, runtime_directory};

/// Kind of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// A private server process.
    Server,
    /// A drive process with its mount.
    Drive,
    /// A working directory.
    Directory,
}

/// Something that must not outlive its owner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Kind of the entry.
    pub kind: EntryKind,
    /// For whom it exists: when this process is gone, the entry is a leftover.
    pub owner: ProcessIdentity,
    /// The process to end.
    pub process: Option<ProcessIdentity>,
    /// The drive to unmount.
    pub mountpoint: Option<PathBuf>,
    /// The directory to remove with all that is in it.
    pub directory: Option<PathBuf>,
}

impl Entry {
    /// An entry that belongs to the calling process and holds nothing yet.
    pub fn new(kind: EntryKind) -> Self {
        Self {
            kind,
            owner: ProcessIdentity::current(),
            process: None,
            mountpoint: None,
            directory: None,
        }
    }
}

/// The records of one user on one machine.
#[derive(Debug)]
pub struct Registry {
    directory: PathBuf,
}

/// A record that stands until this is dropped.
#[derive(Debug)]
pub struct Registration {
    file: PathBuf,
}

impl Registry {
    /// The user's registry, inside [`runtime_directory`].
    ///
    /// # Errors
    ///
    /// As [`Self::at`], and as [`runtime_directory`].
    pub fn open() -> Result<Self, ProcessError> {
        Self::at(&runtime_directory()?.join("registry"))
    }

    /// A registry in a directory of the caller's choice.
    ///
    /// # Errors
    ///
    /// A directory that cannot be made.
    pub fn at(directory: &Path) -> Result<Self, ProcessError> {
        fs::create_dir_all(directory).map_err(PathError::on("create", directory))?;
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    /// Writes `entry` down until the returned value is dropped.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn record(&self, entry: &Entry) -> Result<Registration, ProcessError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let file = self
            .directory
            .join(format!("{}-{number}.json", entry.owner.pid));
        let text = serde_json::to_string(entry).expect("invariant: an entry is plain data");
        // Written aside and renamed: a reader never sees half a record.
        let aside = file.with_extension("new");
        fs::write(&aside, text).map_err(PathError::on("write", &aside))?;
        fs::rename(&aside, &file).map_err(PathError::on("write", &file))?;
        Ok(Registration { file })
    }

    /// All records with their files. A file that is not a record is passed over.
    pub(crate) fn entries(&self) -> Result<Vec<(PathBuf, Entry)>, ProcessError> {
        let listing = fs::read_dir(&self.directory);
        let listing = listing.map_err(PathError::on("read", &self.directory))?;
        Ok(listing
            .filter_map(Result::ok)
            .filter_map(|file| {
                let text = fs::read_to_string(file.path()).ok()?;
                Some((file.path(), serde_json::from_str(&text).ok()?))
            })
            .collect())
    }
}

impl Registration {
    /// Leaves the record standing, for what goes on without this process.
    pub fn leave(self) {
        std::mem::forget(self);
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}
