//! Why a capture was not sent again.

use thiserror::Error;
use weir_capture::CaptureError;
use weir_load::LoadError;

/// Why a capture was not sent again.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The capture.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The load engine, or the server.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The server did not say its version.
    #[error(transparent)]
    Client(#[from] weir_mysql::ClientError),
    /// There is nothing to send.
    #[error("{path}: {why}")]
    Nothing {
        /// The capture.
        path: String,
        /// Why not.
        why: String,
    },
}
