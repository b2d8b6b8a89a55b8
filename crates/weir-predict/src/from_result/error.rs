//! Errors of a forecast.

use std::io;
use std::num::ParseFloatError;
use std::path::PathBuf;

use thiserror::Error;
use weir_model::LRU_SCAN_DEPTH;

/// A forecast that could not be made.
#[derive(Debug, Error)]
pub enum ForecastError {
    /// A study of nothing.
    #[error("predict: the study has no cell; give it one")]
    NoCell,
    /// A workload file.
    #[error(
        "predict: workload `{workload}` (a script, whose pages are not modelled); predict a study of one of sysbench's \
         workloads or of a workload file"
    )]
    OwnWorkload {
        /// Name of the workload.
        workload: String,
    },
    /// Tables that are not as usual.
    #[error(
        "predict: table_options `{options}` (pages of such tables are not modelled); predict a study without them"
    )]
    TableOptions {
        /// Text that is appended to `CREATE TABLE`.
        options: String,
    },
    /// A workload file that holds together no more.
    #[error("predict: workload `{workload}` ({why}); mend the file")]
    FileWorkload {
        /// Name of the workload.
        workload: String,
        /// Problem.
        why: String,
    },
    /// A mix of workloads.
    #[error(
        "predict: workload `{workload}` (several at once, whose pages are not modelled together); predict a study of \
         one of them"
    )]
    SeveralWorkloads {
        /// Their names.
        workload: String,
    },
    /// A setting that is no number.
    #[error("predict: {LRU_SCAN_DEPTH} of the study is no number")]
    LruScanDepth(#[source] ParseFloatError),
    /// A range that ends before it begins.
    #[error("--pool {text} (from the smaller to the larger, above 0); write it as `1G..64G`")]
    PoolRange {
        /// As it was given.
        text: String,
    },
    /// A price of something else.
    #[error(
        "--price {name} (no drive that is asked about); write `memory=AMOUNT` for a GiB, or one of {drives}"
    )]
    Price {
        /// Of what.
        name: String,
        /// The drives that are asked about.
        drives: String,
    },
    /// Runs on storage without a profile.
    #[error(
        "predict: the result's runs used the host's own storage (which has no profile); name drives with --drive"
    )]
    NoDrive,
    /// Runs without load.
    #[error("predict: the result has no run with a connection; measure one")]
    NoConnection,
    /// Predictions of drives that are not asked about any more.
    #[error(
        "predict verify: {folder} has predictions of {drive}, which --drive does not name; go on with the same --drive"
    )]
    DriveNotAsked {
        /// Folder of the predictions.
        folder: PathBuf,
        /// The drive.
        drive: String,
    },
    /// More runs than a verification takes.
    #[error(
        "predict verify: {points} configurations (pools x drives), and each runs; name {most} at most"
    )]
    TooManyPoints {
        /// So many.
        points: usize,
        /// The most.
        most: usize,
    },
    /// A file of predictions that is not one.
    #[error("{path}: line {line} is no prediction")]
    NoPrediction {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// Error of the JSON.
        source: serde_json::Error,
    },
    /// Predictions of another result.
    #[error(
        "{path} has {predictions} predictions of the result beside it, which has {cells} cells; verify into another --out"
    )]
    OtherPredictions {
        /// The file.
        path: PathBuf,
        /// Number of predictions.
        predictions: usize,
        /// Cells of the result.
        cells: usize,
    },
    /// The file of predictions cannot be written or read.
    #[error("cannot {doing} {path}")]
    File {
        /// Action that was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The model.
    #[error(transparent)]
    Predict(#[from] crate::PredictError),
    /// The result, or a choice of its cells.
    #[error(transparent)]
    Judge(#[from] weir_judge::JudgeError),
    /// A drive.
    #[error(transparent)]
    Drive(#[from] weir_drive::DriveError),
    /// A size.
    #[error(transparent)]
    Unit(#[from] weir_model::UnitError),
}
