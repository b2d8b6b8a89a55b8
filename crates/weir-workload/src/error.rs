//! Problems of a workload, in the user's words.

use thiserror::Error;

/// Reason that a workload has no script or no tables.
#[derive(Debug, Error)]
pub enum WorkloadError {
    /// A setting that no workload can have.
    #[error("{setting} = {value} ({why})")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Present value.
        value: String,
        /// Permitted values.
        why: &'static str,
    },
    /// A file that a workload reads is not what it must be.
    #[error("{path}: {why}; {remedy}")]
    File {
        /// Path of the file.
        path: String,
        /// Problem.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
}
