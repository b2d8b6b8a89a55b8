//! What cannot be predicted, and why.

use thiserror::Error;

/// A prediction that is refused.
#[derive(Debug, Error)]
pub enum PredictError {
    /// A figure that no system can have.
    #[error("predict: {what} = {value} ({why})")]
    Value {
        /// Which figure.
        what: &'static str,
        /// What it holds.
        value: f64,
        /// What it must be.
        why: &'static str,
    },
    /// The study does something that the model does not describe.
    #[error("predict: {what} `{value}` (outside the model: {why}); {remedy}")]
    Outside {
        /// What kind of thing.
        what: &'static str,
        /// Which one.
        value: String,
        /// Why the model cannot tell.
        why: &'static str,
        /// What would be needed.
        remedy: &'static str,
    },
    /// More connections than the measurements support.
    #[error(
        "predict: {wanted} connections (the largest measured is {measured}, and beyond 1.5 times \
         that published forecasts miss by 33 to 46 %); measure a run with more connections"
    )]
    Concurrency {
        /// Asked for.
        wanted: u32,
        /// Largest measured.
        measured: u32,
    },
    /// A trace that cannot be read.
    #[error(transparent)]
    Drive(#[from] weir_drive::DriveError),
    /// A distribution that cannot be.
    #[error(transparent)]
    Workload(#[from] weir_workload::WorkloadError),
    /// A trace that says too little.
    #[error("predict: trace {path}: {why}; {remedy}")]
    Trace {
        /// The file.
        path: String,
        /// What it lacks.
        why: String,
        /// What to do.
        remedy: &'static str,
    },
}
