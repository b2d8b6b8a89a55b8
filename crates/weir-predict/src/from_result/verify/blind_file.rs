//! The file of predictions that were made before their runs.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use weir_model::Plan;

use super::BlindPrediction;
use crate::from_result::error::ForecastError;

/// Name of the file: a line for each prediction, and only ever added to.
pub const BLIND_FILE: &str = "predictions.jsonl";

/// A line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    at: String,
    seed: u64,
    #[serde(flatten)]
    prediction: BlindPrediction,
}

/// Before anything is run, and never changed afterwards.
pub(super) fn write(
    out: &Path,
    seed: u64,
    predictions: &[BlindPrediction],
) -> Result<(), ForecastError> {
    fs::create_dir_all(out).map_err(failed("make", out))?;
    let path = out.join(BLIND_FILE);
    append(&path, seed, predictions).map_err(failed("write", &path))
}

fn append(path: &Path, seed: u64, predictions: &[BlindPrediction]) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).create(true).open(path)?;
    let at = jiff::Timestamp::now().to_string();
    for prediction in predictions {
        let line = Line {
            at: at.clone(),
            seed,
            prediction: prediction.clone(),
        };
        writeln!(file, "{}", serde_json::to_string(&line)?)?;
    }
    file.sync_all()
}

/// Reads the predictions in `out` for `plan`.
pub(super) fn read(out: &Path, plan: &Plan) -> Result<Vec<BlindPrediction>, ForecastError> {
    let path = out.join(BLIND_FILE);
    let text = fs::read_to_string(&path).map_err(failed("read", &path))?;
    let mut predictions = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let known: Line =
            serde_json::from_str(text).map_err(|source| ForecastError::NoPrediction {
                path: path.clone(),
                line,
                source,
            })?;
        if known.seed == plan.seed {
            predictions.push(known.prediction);
        }
    }
    if predictions.is_empty() || predictions.len() > plan.cells.len() {
        return Err(ForecastError::OtherPredictions {
            path,
            predictions: predictions.len(),
            cells: plan.cells.len(),
        });
    }
    Ok(predictions)
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ForecastError {
    let path = path.to_owned();
    move |source| ForecastError::File {
        doing,
        path,
        source,
    }
}
