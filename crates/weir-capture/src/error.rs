//! Errors of captures, in one line each.

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use thiserror::Error;

/// Why a capture was not made, read or imported.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// A file that could not be read or written.
    #[error("{what} `{path}` ({why}); check the name, the rights and the space")]
    File {
        /// The action that failed.
        what: &'static str,
        /// The file.
        path: String,
        /// The system's words.
        why: String,
    },
    /// A file that is no capture, or one of a version that is not known here.
    #[error(
        "`{path}` is no capture that this version reads ({why}); name another file, or read it with the version that wrote it"
    )]
    NotACapture {
        /// The file.
        path: String,
        /// Reason why the file is not readable as a capture.
        why: String,
    },
    /// Bytes of a block that are not what a writer writes.
    #[error("{path}, byte {offset}: a block cannot be read ({why}); what stands before it is good")]
    Block {
        /// The file.
        path: String,
        /// Where the block begins, bytes from the beginning.
        offset: u64,
        /// The fault of the block.
        why: &'static str,
    },
    /// A log or packets whose content is not that of the format.
    #[error("{path}, byte {offset}: {why}")]
    Log {
        /// The log.
        path: String,
        /// Where it is, bytes from the beginning.
        offset: u64,
        /// The fault.
        why: String,
    },
    /// Logs that do not go into one capture.
    #[error("{path} and {other}: {why}; import each into a capture of its own")]
    Logs {
        /// The log that begins first.
        path: String,
        /// The other log.
        other: String,
        /// Why they are no logs of one server.
        why: &'static str,
    },
    /// A capture that could not be written to its end.
    #[error(
        "{why}; the capture lacks {statements} statements ({bytes} bytes) of {sessions} sessions"
    )]
    Ended {
        /// The first error.
        why: String,
        /// Sessions that are missing, whole or from some point on.
        sessions: u64,
        /// Their statements that were seen.
        statements: u64,
        /// The bytes of these.
        bytes: u64,
    },
    /// An address that a proxy cannot listen on.
    #[error("cannot listen on {address} ({why}); give another address or port with --listen")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's words.
        why: String,
    },
    /// A resource of this host that a proxy needs.
    #[error("{what}: {why}")]
    Host {
        /// The action that failed.
        what: &'static str,
        /// The system's words.
        why: String,
    },
    /// A server of which no statements can be polled.
    #[error("cannot poll the server ({why}); {remedy}")]
    NotPolled {
        /// The reason.
        why: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// The server behind a proxy, or one that is polled.
    #[error(transparent)]
    Server(#[from] weir_mysql::ClientError),
}

impl CaptureError {
    pub(crate) fn file(what: &'static str, path: &Path, error: &io::Error) -> Self {
        Self::File {
            what,
            path: path.display().to_string(),
            why: error.to_string().to_lowercase(),
        }
    }

    pub(crate) fn host(what: &'static str, error: &io::Error) -> Self {
        Self::Host {
            what,
            why: error.to_string().to_lowercase(),
        }
    }
}
