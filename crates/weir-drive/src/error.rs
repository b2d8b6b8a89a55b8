//! Errors of this crate.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
use weir_model::{FaultError, ProfileError};
use weir_process::{MAKE_ROOM, ProcessError};

/// Errors of an emulated drive.
#[derive(Debug, Error)]
pub enum DriveError {
    /// No profile of that name.
    #[error("no drive `{name}` in {folder}; {advice}")]
    UnknownProfile {
        /// The name that was asked for.
        name: String,
        /// Folder in which it was looked for.
        folder: String,
        /// Remedy: the nearest name, or all names.
        advice: String,
    },
    /// A profile that cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A latency below what this machine can emulate.
    #[error(
        "drive `{name}`: {what} latency of {latency_us} us cannot be emulated in real time (the \
         FUSE path itself takes {floor_us} us); use a slower drive, or --below-floor to accept \
         completions that are late"
    )]
    BelowFloor {
        /// The profile.
        name: String,
        /// `read` or `write`.
        what: &'static str,
        /// The profile's latency, microseconds.
        latency_us: f64,
        /// The floor, microseconds.
        floor_us: f64,
    },
    /// FUSE is not there or not permitted.
    #[error("cannot mount a drive ({why}); {remedy}")]
    FuseUnavailable {
        /// Missing part.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
    /// A file or directory could not be used.
    #[error("cannot {action} `{path}` ({source}){advice}")]
    Path {
        /// Action that was tried: `mount on`, `create`.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
        /// Remedy, beginning with `; `, or nothing.
        advice: &'static str,
    },
    /// The process of a drive could not be started, or ended before it was ready.
    #[error("drive `{name}` did not start: {message}")]
    Start {
        /// The profile.
        name: String,
        /// Message of its process.
        message: String,
    },
    /// No drive is mounted there, or its process does not answer.
    #[error(
        "no drive answers at `{mountpoint}` ({why}); `weir drive list` shows profiles, `weir clean` removes a dead mount"
    )]
    NoAnswer {
        /// Mountpoint at which a drive was looked for.
        mountpoint: PathBuf,
        /// Reason that it did not answer.
        why: String,
    },
    /// The drive does not do what it was asked for.
    #[error("{0}")]
    Refused(String),
    /// A fault that no drive has.
    #[error(transparent)]
    Fault(#[from] FaultError),
    /// A file that is not a whole trace.
    #[error("trace `{path}` {why}; record one with `weir drive trace DIR --out FILE`")]
    Trace {
        /// The file.
        path: PathBuf,
        /// Problem.
        why: String,
    },
    /// A recording that cannot be read.
    #[error("recording `{directory}` cannot be read ({why}); record it again")]
    Recording {
        /// Directory in which it lies.
        directory: PathBuf,
        /// Problem.
        why: String,
    },
    /// Recording or ending a process failed.
    #[error(transparent)]
    Process(#[from] ProcessError),
}

impl DriveError {
    /// For `map_err`: `action` on `path` failed.
    pub(crate) fn path(
        action: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Path {
            action,
            path,
            advice: match source.kind() {
                io::ErrorKind::StorageFull => MAKE_ROOM,
                io::ErrorKind::NotFound => "; check the name",
                _ => "",
            },
            source,
        }
    }
}
