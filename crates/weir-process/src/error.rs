//! Errors of this crate.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::PathError;

/// Errors of recording or ending processes, mounts and directories.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// A file or directory could not be used.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The directory for sockets and records belongs to another user.
    #[error(
        "cannot use `{path}` for sockets and records (it belongs to another user or others may \
         enter it); remove it or set XDG_RUNTIME_DIR to a directory of your own"
    )]
    ForeignDirectory {
        /// The directory.
        path: PathBuf,
    },
    /// A working folder in a folder that is not there.
    #[error(
        "cannot create folder `{work}` for --work (the folder above it does not exist); create that, or see whether \
         the drive is mounted there"
    )]
    NoWorkParent {
        /// The folder that was asked for.
        work: PathBuf,
    },
    /// A process could not be signalled.
    #[error("cannot signal process {pid} ({source})")]
    Signal {
        /// Id of the process.
        pid: u32,
        /// The system's reason.
        source: io::Error,
    },
    /// Memory could not be limited.
    #[error(
        "cannot limit memory to {limit_bytes} bytes ({why}); run as root, or in a unit of systemd's \
         with Delegate=memory, or without the limit"
    )]
    MemoryLimit {
        /// The limit.
        limit_bytes: u64,
        /// Words of the system.
        why: String,
    },
    /// A mount could not be removed.
    #[error("cannot unmount `{path}` ({reason}); try `fusermount3 -u -z {path}`")]
    Unmount {
        /// The mountpoint.
        path: PathBuf,
        /// The system's reason.
        reason: String,
    },
}
