//! Errors of predictions.

use crate::Prediction;
use serde::Serialize;
use weir_model::{Bytes, StudyResult};
use weir_report::table;

use super::{BlindPrediction, VerifyOptions};
use crate::from_result::calibrated_model::CalibratedModel;
use crate::from_result::data_model::DataModel;
use crate::from_result::error::ForecastError;
use crate::from_result::measured_runs::mean;

/// Outcome of a prediction.
#[derive(Debug, Serialize)]
pub(super) struct PredictionOutcome {
    drive: String,
    pool_bytes: u64,
    connections: u32,
    /// The mean of its runs.
    measured_transactions_per_s: f64,
    measured_transactions_per_s_each: Vec<f64>,
    /// The result has runs of this place: it was not blind.
    ran_before: bool,
    blind: Prediction,
    /// The blind one, for a machine that is as fast as it was during these runs.
    controlled: Prediction,
    /// By a model that knows the new runs, all but those of this place, and nothing else.
    anchored: Prediction,
}

/// Everything that `--json` prints; means are of relative errors without their signs, over places that the result
/// does not have.
#[derive(Debug, Serialize)]
pub struct Verification {
    seed: u64,
    /// Processor time of a transaction during these runs / in the result, by the places that were run again; `None` if
    /// there were none.
    machine_slower_by: Option<f64>,
    blind_error_mean: Option<f64>,
    controlled_error_mean: Option<f64>,
    anchored_error_mean: Option<f64>,
    /// By how much the runs of a place differ from their mean, over places.
    spread_mean: Option<f64>,
    places: Vec<PredictionOutcome>,
}

/// Data that predictions are held against.
pub(super) struct Errors<'a> {
    pub(super) ran: &'a StudyResult,
    pub(super) data: &'a DataModel,
    pub(super) options: VerifyOptions<'a>,
    /// The model of before on a machine that is as fast as it was during the runs.
    pub(super) controlled: CalibratedModel,
    /// Places that were run before.
    pub(super) known: &'a StudyResult,
}

impl Errors<'_> {
    /// Of the place of this cell; `None` where it was not run.
    pub(super) fn in_cell(
        &self,
        cell: usize,
        blind: BlindPrediction,
    ) -> Result<Option<PredictionOutcome>, ForecastError> {
        let runs = self.ran.runs.iter().filter(|run| run.record.cell == cell);
        let measured: Vec<f64> = runs.map(|run| run.record.transactions_per_s).collect();
        let Some(mean) = mean(&measured) else {
            return Ok(None);
        };
        let others = without(self.ran, cell);
        // Of a single place nothing else was run.
        let others = if others.runs.is_empty() {
            self.known
        } else {
            &others
        };
        let others = CalibratedModel::from_result(
            others,
            self.data,
            self.options.drives,
            self.options.threads,
        )?;
        Ok(Some(PredictionOutcome {
            controlled: self.predicted(&self.controlled, &blind)?,
            anchored: self.predicted(&others, &blind)?,
            ran_before: self.ran_before(&blind),
            drive: blind.drive,
            pool_bytes: blind.pool_bytes,
            connections: blind.prediction.connections,
            measured_transactions_per_s: mean,
            measured_transactions_per_s_each: measured,
            blind: blind.prediction,
        }))
    }

    fn ran_before(&self, blind: &BlindPrediction) -> bool {
        let plan = &self.known.plan;
        plan.cells.iter().any(|cell| blind.is_of(cell))
    }

    fn predicted(
        &self,
        by: &CalibratedModel,
        blind: &BlindPrediction,
    ) -> Result<Prediction, ForecastError> {
        let drives = by.drives.iter();
        let drive = drives
            .map(|(_, drive)| drive)
            .find(|drive| drive.name == blind.drive)
            .expect("invariant: predictions are of the drives that are asked about");
        let pages = self.data.frames(Bytes(blind.pool_bytes));
        Ok(by.place(drive, blind.prediction.connections).at(pages)?)
    }
}

/// The result without the runs of a cell.
fn without(result: &StudyResult, cell: usize) -> StudyResult {
    let mut others = result.clone();
    others.runs.retain(|run| run.record.cell != cell);
    others
}

impl Verification {
    pub(super) fn new(seed: u64, slower_by: Option<f64>, places: Vec<PredictionOutcome>) -> Self {
        let counted = || places.iter().filter(|place| !place.ran_before);
        let error_mean = |of: fn(&PredictionOutcome) -> &Prediction| {
            let errors = counted().map(|place| place.error(of(place)).abs());
            mean(&errors.collect::<Vec<_>>())
        };
        let spreads: Vec<f64> = places
            .iter()
            .filter_map(PredictionOutcome::spread)
            .collect();
        Self {
            seed,
            machine_slower_by: slower_by,
            blind_error_mean: error_mean(|place| &place.blind),
            controlled_error_mean: error_mean(|place| &place.controlled),
            anchored_error_mean: error_mean(|place| &place.anchored),
            spread_mean: mean(&spreads),
            places,
        }
    }

    /// The predictions, a line each.
    pub fn table(&self) -> String {
        let header = [
            "drive",
            "pool",
            "threads",
            "measured tx/s",
            "blind",
            "off",
            "at this speed",
            "off",
            "anchored",
            "off",
        ];
        let rows: Vec<_> = self.places.iter().map(PredictionOutcome::row).collect();
        table(&header, &rows)
    }

    /// Returns a summary of the table, line by line.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(slower_by) = self.machine_slower_by {
            lines.push(format!(
                "a transaction took {slower_by:.2} times the processor time that it took in the result (measured on \
                 configurations of the result that ran again here): `at this speed` is the blind prediction for such \
                 a machine"
            ));
        }
        if let Some(spread) = self.spread_mean {
            lines.push(format!(
                "runs of one configuration are {} from their mean, on average",
                percent(spread)
            ));
        }
        let [blind, controlled, anchored] = [
            self.blind_error_mean,
            self.controlled_error_mean,
            self.anchored_error_mean,
        ]
        .map(|error| error.map_or_else(|| "-".to_owned(), percent));
        lines.push(format!(
            "off on average: blind {blind}, at this speed {controlled}, anchored (by all configurations but the one in \
             question) {anchored}; seed {}",
            self.seed
        ));
        if self.places.iter().any(|place| place.ran_before) {
            lines.push("* the result has runs of it: not blind, and not counted".to_owned());
        }
        lines
    }
}

/// `3.2 %`.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

impl PredictionOutcome {
    /// Relative error of a prediction.
    fn error(&self, of: &Prediction) -> f64 {
        of.transactions_per_s / self.measured_transactions_per_s.max(f64::MIN_POSITIVE) - 1.0
    }

    /// Mean relative distance of the runs from their mean; `None` of a single one.
    fn spread(&self) -> Option<f64> {
        let [_, _, ..] = self.measured_transactions_per_s_each[..] else {
            return None;
        };
        let runs = self.measured_transactions_per_s_each.iter();
        let mean_per_s = self.measured_transactions_per_s;
        mean(
            &runs
                .map(|run| (run / mean_per_s - 1.0).abs())
                .collect::<Vec<_>>(),
        )
    }

    fn row(&self) -> Vec<String> {
        let mark = if self.ran_before { "*" } else { "" };
        let mut row = vec![
            self.drive.clone(),
            Bytes(self.pool_bytes).to_string(),
            self.connections.to_string(),
            format!("{:.0}{mark}", self.measured_transactions_per_s),
        ];
        for prediction in [&self.blind, &self.controlled, &self.anchored] {
            row.push(format!("{:.0}", prediction.transactions_per_s));
            row.push(format!("{:+.0} %", self.error(prediction) * 100.0));
        }
        row
    }
}
