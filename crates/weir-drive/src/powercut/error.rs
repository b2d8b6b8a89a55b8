//! Errors of the power-cut test.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use weir_model::Bytes;
use weir_process::PathError;

use super::run_id::RunId;

/// Errors of the power-cut test.
#[derive(Debug, Error)]
pub enum PowercutError {
    /// A file or directory could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The storage has no room for the files.
    #[error(
        "not enough space in `{directory}`: {free} free ({needed} are needed); free some, name another --dir, or lower \
         --pages"
    )]
    NoRoom {
        /// The folder.
        directory: PathBuf,
        /// Space that the test needs.
        needed: Bytes,
        /// Space that there is.
        free: Bytes,
    },
    /// A number of pages that no lane can have.
    #[error("--pages {0}: not a power of two from 8 to 16777216; write 256, for example")]
    Pages(u32),
    /// A write or a flush failed, as it does when the device goes away.
    #[error(
        "{what} `{path}` failed ({source}); if you cut the device from this host, run `weir drive powercut check` once \
         it is back"
    )]
    Operation {
        /// `writing` or `flushing`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// The witness cannot be reached, or went away.
    #[error(
        "witness at `{address}`: {why}; start one there with `weir drive powercut witness`, and begin again"
    )]
    Witness {
        /// Address of the witness.
        address: String,
        /// Reason.
        why: String,
    },
    /// The witness cannot listen.
    #[error("cannot listen on `{address}` ({source}); name another --listen HOST:PORT")]
    Listen {
        /// The address.
        address: String,
        /// The system's reason.
        source: io::Error,
    },
    /// Another witness uses the log.
    #[error("log `{0}` is in use by another witness; name another --log")]
    LogInUse(PathBuf),
    /// A file that is no log of a witness, or no verdict.
    #[error("`{path}` cannot be read ({why}); {remedy}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Problem.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// Nothing below the folder can be checked.
    #[error("no run to check in `{directory}` ({why}); {remedy}")]
    NothingToCheck {
        /// The folder.
        directory: PathBuf,
        /// Reason.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// The host has been up since the run began, so nothing was cut.
    #[error(
        "run {0} was not cut (this host has been up since it began); cut the power and check again, or name --cut detach \
         if only the device was cut from this host"
    )]
    NotCut(RunId),
    /// A lane's thread ended without an answer.
    #[error("a writing thread ended early; report this as a bug")]
    Thread,
}
