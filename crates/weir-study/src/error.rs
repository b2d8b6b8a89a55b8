//! Errors of this crate.

use std::path::PathBuf;

use thiserror::Error;
use weir_model::{Bytes, Scale};
use weir_process::PathError;

/// A study that cannot be read, planned or run.
#[derive(Debug, Error)]
pub enum StudyError {
    /// Not TOML, or a key that studies do not have.
    #[error("{file}: {message}")]
    Syntax {
        /// The study file.
        file: String,
        /// Place, reason and suggestion.
        message: String,
    },
    /// A value that cannot be used.
    #[error("{file}: `{key}` = {value} ({why})")]
    Value {
        /// The study file.
        file: String,
        /// The key, dotted: `data.rows`.
        key: String,
        /// What it holds.
        value: String,
        /// Why not, and what to write.
        why: String,
    },
    /// A server program does not take a setting.
    #[error("{server} refuses {refused}; set what it takes, or leave it out")]
    RefusedSetting {
        /// Flavour and version.
        server: String,
        /// Setting and reason, in the program's words.
        refused: String,
    },
    /// The load failed in a run.
    #[error("{run}: {source}{server}")]
    Load {
        /// Which run.
        run: String,
        /// The load engine's reason.
        source: Box<weir_load::LoadError>,
        /// What the server's error log said, after "; ", or nothing.
        server: String,
    },
    /// A file or directory could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// `--resume` on a result of another study.
    #[error(
        "`{path}` holds another study or other settings; give a new --out folder, or the study \
         file as it was"
    )]
    OtherPlan {
        /// The result.
        path: PathBuf,
    },
    /// Another process runs a study into the same folder.
    #[error("`{path}` is in use: process {pid} runs a study into it; give another --out folder")]
    FolderInUse {
        /// The folder.
        path: PathBuf,
        /// The process.
        pid: u32,
    },
    /// A comparison of levels that the result does not have.
    #[error("no factor `{factor}` with two levels that were measured; there are {known}")]
    NoSuchFactor {
        /// What was asked for.
        factor: String,
        /// The factors of the result.
        known: String,
    },
    /// Levels that no cell has.
    #[error("no cell with {wanted}; there are {known}")]
    NoSuchCells {
        /// What was asked for.
        wanted: String,
        /// The factors with their levels.
        known: String,
    },
    /// A drive cannot hold the data.
    #[error(
        "drive `{name}` holds {capacity} at data scale {scale}, less than the data ({needed}); \
         choose a larger drive, a larger scale or fewer rows"
    )]
    DriveTooSmall {
        /// Its profile.
        name: String,
        /// Its scaled capacity.
        capacity: Bytes,
        /// The scale.
        scale: Scale,
        /// The data directory's size.
        needed: Bytes,
    },
    /// A drive's settings vary, but there is no drive.
    #[error("factor `drive.{key}` needs a drive; add factor `drive` with one level or more")]
    DriveSettingWithoutDrive {
        /// The setting.
        key: String,
    },
    /// A profile does not accept a setting of the study.
    #[error(transparent)]
    Profile(#[from] weir_model::ProfileError),
    /// A server that the user gives, of which something is asked that it cannot have.
    #[error("cannot use `{url}` ({why})")]
    Given {
        /// As the user names it.
        url: String,
        /// Why not, and what would do.
        why: String,
    },
    /// A version that is not installed.
    #[error(
        "no {flavor} {version} found (installed: {installed}); install it, or name a server \
         program's path"
    )]
    NoSuchVersion {
        /// Flavour.
        flavor: weir_model::Flavor,
        /// The version that was asked for.
        version: String,
        /// Versions of the flavour that there are.
        installed: String,
    },
    /// Another process removed the data set that this study was about to use.
    #[error("the snapshot `{name}` was removed meanwhile; run the study again to make a new one")]
    SnapshotRemoved {
        /// Its name in the cache.
        name: String,
    },
    /// Ctrl-C while the data were being loaded.
    #[error("stopped before the first run; nothing was measured")]
    StoppedBeforeFirstRun,
    /// The server.
    #[error(transparent)]
    Server(#[from] weir_server::ServerError),
    /// The drive.
    #[error(transparent)]
    Drive(#[from] weir_drive::DriveError),
    /// The store.
    #[error(transparent)]
    Store(#[from] weir_store::StoreError),
    /// Processes and directories.
    #[error(transparent)]
    Process(#[from] weir_process::ProcessError),
    /// Statistics.
    #[error(transparent)]
    Stats(#[from] weir_stats::StatsError),
}
