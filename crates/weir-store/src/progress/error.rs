//! Errors of this crate.

use std::path::PathBuf;

use thiserror::Error;
use weir_process::PathError;

/// A progress file that cannot be made.
#[derive(Debug, Error)]
pub enum ProgressError {
    /// Another process runs a study into the same folder.
    #[error("`{path}` is in use: process {pid} runs a study into it; give another --out folder")]
    FolderInUse {
        /// The folder.
        path: PathBuf,
        /// The process.
        pid: u32,
    },
    /// A file or directory could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
}
