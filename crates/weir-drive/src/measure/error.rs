//! Errors of this crate.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Errors of the measurement of a drive.
#[derive(Debug, Error)]
pub enum MeasureError {
    /// A file could not be used.
    #[error("cannot {action} `{path}` ({source}); {advice}")]
    Path {
        /// Action that was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
        /// Remedy.
        advice: &'static str,
    },
    /// The file of the measurement must be a new one.
    #[error("file `{0}` exists (the measurement overwrites its file); name a folder or a new file")]
    Exists(PathBuf),
    /// The file is too small to say anything.
    #[error(
        "the file of the measurement may have {free} bytes (64 MiB are the least); free space, or raise --size and \
         --write-limit"
    )]
    NoRoom {
        /// A quarter of the free space, or what the options leave.
        free: u64,
    },
    /// The kernel has no `io_uring`, or does not allow it.
    #[error(
        "cannot use io_uring ({0}); allow it (sysctl kernel.io_uring_disabled=0), or measure on another host"
    )]
    Ring(io::Error),
    /// An operation failed.
    #[error(
        "{what} of `{path}` failed ({source}); look at the kernel's log, the drive may be failing"
    )]
    Operation {
        /// `read`, `write` or `flush`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The options leave no time to measure.
    #[error("budget {0} s is too short (5 s are the least); raise --budget")]
    Budget(f64),
    /// The measured figures make no profile.
    #[error("the learned profile cannot be written ({0}); report this as a bug")]
    Text(String),
}

impl MeasureError {
    /// For `map_err`: `action` on `path` failed.
    pub(crate) fn path(
        action: &'static str,
        path: &Path,
        advice: &'static str,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Path {
            action,
            path,
            source,
            advice,
        }
    }
}
