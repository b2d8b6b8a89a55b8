//! The error of a file or directory that cannot be used, shared by all crates that touch files.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file or directory could not be used.
#[derive(Debug, Error)]
#[error("cannot {action} `{path}` ({source})")]
pub struct PathError {
    /// What was tried: `create`, `remove`.
    pub action: &'static str,
    /// On what.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl PathError {
    /// For `map_err`: `action` on `path` failed.
    pub fn on(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self {
            action,
            path,
            source,
        }
    }
}
