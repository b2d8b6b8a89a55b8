//! Errors of a bus.

use std::path::PathBuf;

use thiserror::Error;
use weir_process::PathError;

/// Reason that a bus could not be started or joined.
#[derive(Debug, Error)]
pub enum BusError {
    /// There is no `nats-server` that can be used.
    #[error(
        "nats-server: {why}; run scripts/install-mysql.sh --nats, or put version 2.10 or later into PATH"
    )]
    Program {
        /// Problem.
        why: String,
    },
    /// The server did not begin to listen.
    #[error("nats-server at {address}: not started ({why}); see {log}")]
    NotStarted {
        /// Address at which it was to listen.
        address: String,
        /// Last words of the server, or a note that there were none.
        why: String,
        /// Log of the server.
        log: PathBuf,
    },
    /// An address that no bus can have.
    #[error("address {address}: {why}; give another HOST:PORT, such as 10.0.0.5:4222")]
    Address {
        /// Address that was given.
        address: String,
        /// Problem of the address.
        why: String,
    },
    /// A name that no agent can have.
    #[error(
        "agent {name}: the name has other characters than a-z, 0-9 and `-`; choose another one"
    )]
    Name {
        /// Name that was given.
        name: String,
    },
    /// A file that is no join file, or one of another version.
    #[error("join file {path}: {why}; `weir bus up` of this version writes one")]
    JoinFile {
        /// Path of the file.
        path: PathBuf,
        /// Problem of the file.
        why: String,
    },
    /// Keys or certificates could not be made.
    #[error("keys of the bus: {why}")]
    Keys {
        /// The library's words.
        why: String,
    },
    /// The bus refuses or does not answer.
    #[error(
        "bus at {address}: {why}; look whether `weir bus up` runs there and the join file is its own"
    )]
    Connect {
        /// Address of the bus.
        address: String,
        /// Reason.
        why: String,
    },
    /// A file or folder.
    #[error(transparent)]
    Path(#[from] PathError),
}
