//! Errors of a fit, in one line each.

use thiserror::Error;
use weir_capture::CaptureError;
use weir_mysql::ClientError;

/// Why a capture has no fit.
#[derive(Debug, Error)]
pub enum FitError {
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The server with the tables.
    #[error(transparent)]
    Server(#[from] ClientError),
    /// The capture has no values.
    #[error("{path} has no values (it was made with --literals drop); make it with keep or hash")]
    NoValues {
        /// The capture.
        path: String,
    },
    /// The capture has kinds of statements, and of none are the values known.
    #[error(
        "{path} has kinds of statements without their values; give the URL of a server that has their tables"
    )]
    NoValuesOfDigests {
        /// The capture.
        path: String,
    },
    /// The capture has no transactions that a workload file can have.
    #[error(
        "{path} has no whole transaction of SELECT, INSERT, UPDATE or DELETE; `weir capture show {path}` lists it"
    )]
    NoTransactions {
        /// The capture.
        path: String,
    },
    /// A written file that is no workload: a fault of the fit.
    #[error(
        "the fitted workload does not hold together ({why}); report this with the statement's form"
    )]
    NotAWorkload {
        /// The workload's complaint.
        why: String,
    },
    /// The workload that is compared.
    #[error("{path}: {why}")]
    Workload {
        /// File of the workload.
        path: String,
        /// The fault of the workload.
        why: String,
    },
}
