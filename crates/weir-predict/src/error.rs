//! Reason that something cannot be predicted.

use thiserror::Error;

/// A prediction that is refused.
#[derive(Debug, Error)]
pub enum PredictError {
    /// A figure that no system can have.
    #[error("predict: {what} = {value} ({why})")]
    Value {
        /// Name of the figure.
        what: &'static str,
        /// Value of the figure.
        value: f64,
        /// Permitted values.
        why: &'static str,
    },
    /// The study does something that the model does not describe.
    #[error("predict: {what} `{value}` (outside the model: {why}); {remedy}")]
    Outside {
        /// Kind of the thing.
        what: &'static str,
        /// Value that is not modelled.
        value: String,
        /// Reason that the model has no answer.
        why: &'static str,
        /// Remedy.
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
        /// Missing part.
        why: String,
        /// Remedy.
        remedy: &'static str,
    },
}
