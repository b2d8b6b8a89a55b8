//! Storage below a server's data: of this host, or a drive that Weir emulates.

use std::path::{Path, PathBuf};

use serde::Serialize;
use weir_model::Bytes;
use weir_process::Mount;

use crate::device_rules::DeviceRules;
use crate::error::CrashError;
use crate::kept_rules::KeptRules;
use crate::storage::Storage;

/// Storage below a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum DataStorage {
    /// Storage of this host.
    Storage(Storage),
    /// An emulated drive. Its rules are those of `weir drive cut` on this mount; of the storage that keeps its
    /// backing directory they say nothing.
    Emulated {
        /// The profile's name.
        drive: String,
        /// Mountpoint of the drive.
        mountpoint: PathBuf,
        /// Rules of the drive.
        rules: DeviceRules,
    },
}

impl DataStorage {
    /// Looks below the folder `path`: through the file `through` in it, without writing anything, or else with an
    /// empty file of its own for a moment.
    ///
    /// # Errors
    ///
    /// A folder or file that cannot be opened.
    pub fn below(path: &Path, through: Option<&str>) -> Result<Self, CrashError> {
        if let Some(emulated) = Self::emulated(path) {
            return Ok(emulated);
        }
        Ok(Self::Storage(match through {
            Some(file) => Storage::inspect_through(path, file)?,
            None => Storage::inspect(path)?,
        }))
    }

    /// A drive that does not answer is unknown storage.
    fn emulated(path: &Path) -> Option<Self> {
        let mount = Mount::for_path(path).filter(Mount::is_drive)?;
        let profile = weir_drive::profile(&mount.mountpoint).ok()?;
        Some(Self::Emulated {
            rules: DeviceRules::for_profile(&profile),
            drive: profile.name,
            mountpoint: mount.mountpoint,
        })
    }

    /// Returns the rules that it keeps in a power cut.
    pub fn kept(&self) -> KeptRules {
        match self {
            Self::Storage(storage) => storage.kept(),
            Self::Emulated { rules, .. } => (*rules).into(),
        }
    }

    /// Returns its name in a sentence.
    pub fn name(&self) -> String {
        match self {
            Self::Storage(storage) => format!("the storage of {}", storage.path.display()),
            Self::Emulated {
                drive, mountpoint, ..
            } => format!("the emulated drive {drive} at {}", mountpoint.display()),
        }
    }

    /// Returns the known facts on pages of `page`, in plain words.
    pub fn lines(&self, page: Bytes) -> Vec<String> {
        match self {
            Self::Storage(storage) => storage.lines(page),
            Self::Emulated { rules, .. } => vec![
                format!("storage: {}", self.name()),
                format!(
                    "its rules: writes of {} untorn, {}; they hold on this mount only (`weir drive cut`)",
                    rules.atomicity.unit,
                    rules.cache.words()
                ),
                "what this proves: nothing by itself; a crash test of the server with these rules does, for this \
                 mount. Of real storage neither says anything"
                    .to_owned(),
            ],
        }
    }
}
