//! Errors of this crate.

use std::net::SocketAddr;
use std::path::PathBuf;

use thiserror::Error;

/// A server of results that cannot start or go on.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is taken or not this host's.
    #[error("cannot listen on {address} ({source}); give another with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The address for a load's metrics is taken or not this host's.
    #[error("cannot serve metrics on {address} ({source}); give another with --metrics")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The runtime failed.
    #[error("cannot serve ({0})")]
    Io(#[from] std::io::Error),
    /// A file that should hold a token.
    #[error(
        "cannot use token file `{path}` ({why}); write at least 16 characters into it, in one line"
    )]
    TokenFile {
        /// The file.
        path: PathBuf,
        /// Reason.
        why: String,
    },
    /// No folder of results.
    #[error("no folder `{path}`; give the folder that holds your results")]
    NoFolder {
        /// Path that was given.
        path: PathBuf,
    },
}
