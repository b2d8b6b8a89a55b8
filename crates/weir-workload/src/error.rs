//! What is wrong with a workload, in the user's words.

use thiserror::Error;

/// Why a workload has no script or no tables.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// A setting that no workload can have.
    #[error("{setting} = {value} ({why})")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// What it holds.
        value: String,
        /// What it must be.
        why: &'static str,
    },
    /// A file that a workload reads is not what it must be.
    #[error("{path}: {why}; {remedy}")]
    File {
        /// Its path.
        path: String,
        /// What is wrong.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
}
