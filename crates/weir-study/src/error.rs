//! Errors of this crate.

use std::path::PathBuf;

use thiserror::Error;

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
    /// Not enough space for a data directory.
    #[error(
        "not enough space for the data: {needed} needed in `{path}`, {available} available; free \
         some, give another place with --work DIR, or lower data.rows"
    )]
    Space {
        /// The directory.
        path: PathBuf,
        /// Needed.
        needed: weir_model::Bytes,
        /// Available.
        available: weir_model::Bytes,
    },
    /// A file or directory could not be used.
    #[error("cannot {action} `{path}` ({source})")]
    Path {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// `--resume` on a result of another study.
    #[error(
        "`{path}` holds another study or other settings; give a new --out folder, or the study \
         file as it was"
    )]
    OtherPlan {
        /// The result.
        path: PathBuf,
    },
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
