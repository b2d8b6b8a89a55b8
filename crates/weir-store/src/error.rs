//! Errors of this crate.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

const ANOTHER: &str =
    "take a copy of it if there is one, or run the study again into a new --out folder";

/// A result that cannot be read or written.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is no such file.
    #[error("no result at `{path}`; give the folder that `weir run` named, or its result.sqlite")]
    Missing {
        /// Path at which it was looked for.
        path: PathBuf,
    },
    /// There is one already.
    #[error("`{path}` exists already; give another --out folder, or --resume to go on with it")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A new result could not be put into its place.
    #[error("cannot create result `{path}` ({source})")]
    Rename {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// Written by another Weir.
    #[error(
        "`{path}` has result schema {version}, this weir reads {} to {}; use the weir that wrote it",
        crate::EARLIER[0].0,
        crate::SCHEMA_VERSION
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Schema of the file.
        version: i64,
    },
    /// A run for a result of an earlier schema.
    #[error("`{path}` was made by an earlier weir and can be read only; give a new --out folder")]
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// SQLite says no: not a database, locked, disk full.
    #[error("cannot {action} result `{path}` ({source}); {}", remedy(source))]
    Sqlite {
        /// Action that was tried.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
    /// A column holds what this version does not understand.
    #[error("result `{path}` is damaged in column `{column}` ({reason}); {ANOTHER}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The column.
        column: &'static str,
        /// Reason that it cannot be read.
        reason: String,
    },
}

/// Returns the remedy for an error of SQLite.
fn remedy(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => {
            "it is no result of weir: give the folder that `weir run` named"
        }
        Some(ErrorCode::DiskFull) => "make room, then go on with --resume",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another weir writes it: wait until it has ended"
        }
        Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
            "see who may read and write the file and its folder"
        }
        _ => ANOTHER,
    }
}

impl StoreError {
    pub(crate) fn sqlite(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(rusqlite::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Sqlite {
            action,
            path,
            source,
        }
    }
}
