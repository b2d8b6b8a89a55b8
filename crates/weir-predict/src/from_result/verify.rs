//! Predictions that are written down first and run afterwards.

mod blind_file;
mod controls;
mod errors;

use std::collections::BTreeMap;
use std::path::Path;

use crate::{Prediction, cliffs};
use serde::{Deserialize, Serialize};
use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, Cell, DriveSpec, Factor, Plan, Repetition, StudyResult};

pub use self::blind_file::BLIND_FILE;
use self::controls::Controls;
use self::errors::Errors;
pub use self::errors::Verification;
use crate::from_result::calibrated_model::CalibratedModel;
use crate::from_result::data_model::DataModel;
use crate::from_result::error::ForecastError;
use crate::from_result::measured_runs::is_alike;
use crate::from_result::pools::whole_mebibytes;

/// A pool in which all pages fit, in pages that are used.
const ALL_FIT: f64 = 1.2;
/// The most points that are run if none are named, and if they are.
const POINTS_MAX: usize = 5;
const NAMED_MAX: usize = 100;

/// Options of a verification.
#[derive(Debug, Clone, Copy)]
pub struct VerifyOptions<'a> {
    /// Pools, as `1G..64G` or `1G,2G`; by default where all pages fit, the knee, and where a third fits.
    pub pools: Option<&'a str>,
    /// Drives; by default the first cell's.
    pub drives: &'a [String],
    /// Numbers of connections, of which the largest is run; by default the first cell's.
    pub threads: &'a [u32],
    /// Number of runs of each.
    pub runs: u32,
    /// Seed of the order of the runs and of their load.
    pub seed: u64,
}

/// A prediction that is run.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct BlindPrediction {
    drive: String,
    pool_bytes: u64,
    prediction: Prediction,
}

impl BlindPrediction {
    /// Returns true if it is that of `cell`.
    fn is_of(&self, cell: &Cell) -> bool {
        pool_of(cell).is_some_and(|pool| is_alike(pool, Bytes(self.pool_bytes)))
            && cell.spec.drive_name().as_ref() == Some(&self.drive)
            && cell.spec.load.connections == self.prediction.connections
    }
}

/// Predictions that are written down, and the plan that runs them.
#[derive(Debug)]
pub struct VerificationPlan<'a> {
    result: &'a StudyResult,
    options: VerifyOptions<'a>,
    data: DataModel,
    blind: CalibratedModel,
    predictions: Vec<BlindPrediction>,
    plan: Plan,
}

impl<'a> VerificationPlan<'a> {
    /// Predicts from `result`, and writes that down in the folder `out` before anything is run.
    ///
    /// # Errors
    ///
    /// A result that calibrates no model, too many points, a folder that cannot be written.
    pub fn begin(
        result: &'a StudyResult,
        options: VerifyOptions<'a>,
        out: &Path,
    ) -> Result<Self, ForecastError> {
        let (data, blind) = models(result, options)?;
        let predictions = predictions(&data, &blind, options)?;
        let controls = Controls::choose(result, &predictions);
        let plan = plan_of(&result.plan, &predictions, &controls, options);
        blind_file::write(out, plan.seed, &predictions)?;
        Ok(Self {
            result,
            options,
            data,
            blind,
            predictions,
            plan,
        })
    }

    /// Continues the predictions that [`Self::begin`] wrote to `out`, and their runs there.
    ///
    /// # Errors
    ///
    /// No such predictions, or predictions of drives that are not asked about.
    pub fn resume(
        result: &'a StudyResult,
        options: VerifyOptions<'a>,
        out: &Path,
    ) -> Result<Self, ForecastError> {
        let (data, blind) = models(result, options)?;
        let plan = weir_judge::read_evidence(out)?.plan;
        let predictions = blind_file::read(out, &plan)?;
        let is_asked = |name: &str| blind.drives.iter().any(|(_, drive)| drive.name == name);
        if let Some(other) = predictions.iter().find(|one| !is_asked(&one.drive)) {
            return Err(ForecastError::DriveNotAsked {
                folder: out.to_owned(),
                drive: other.drive.clone(),
            });
        }
        Ok(Self {
            result,
            options,
            data,
            blind,
            predictions,
            plan,
        })
    }

    /// The runs that are to be made: those of the predictions, and of points that were run before.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the number of predictions.
    pub fn predictions(&self) -> usize {
        self.predictions.len()
    }

    /// Returns the errors in `ran`, the result of the plan.
    ///
    /// # Errors
    /// If a run of `ran` lies outside of the model.
    pub fn verified_by(self, ran: &StudyResult) -> Result<Verification, ForecastError> {
        let controls = Controls::choose(self.result, &self.predictions);
        let slower_by = controls.slower_by(ran, self.predictions.len());
        let errors = Errors {
            ran,
            data: &self.data,
            options: self.options,
            controlled: self.blind.slower(slower_by.unwrap_or(1.0)),
            known: self.result,
        };
        let points = self.predictions.into_iter().enumerate();
        let points = points.filter_map(|(cell, blind)| errors.in_cell(cell, blind).transpose());
        let points = points.collect::<Result<_, _>>()?;
        Ok(Verification::new(ran.plan.seed, slower_by, points))
    }
}

/// The models of what is asked about.
fn models(
    result: &StudyResult,
    options: VerifyOptions<'_>,
) -> Result<(DataModel, CalibratedModel), ForecastError> {
    let data = DataModel::from_plan(&result.plan, options.pools)?;
    let blind = CalibratedModel::from_result(result, &data, options.drives, options.threads)?;
    Ok((data, blind))
}

/// On each drive, with the most connections: all pages fit, the knee, a third of them fits; as many
/// as there may be.
fn predictions(
    data: &DataModel,
    blind: &CalibratedModel,
    options: VerifyOptions<'_>,
) -> Result<Vec<BlindPrediction>, ForecastError> {
    let connections = blind.threads.iter().copied().max().unwrap_or(1);
    let mut predictions = Vec::new();
    for (profile, drive) in &blind.drives {
        let place = blind.place(drive, connections);
        let named = cliffs(&place)?;
        let pools: Vec<Bytes> = match options.pools {
            Some(_) => data.pools.clone(),
            None => [named.third, named.reach[1], ALL_FIT * named.all_fit]
                .map(|pages| whole_mebibytes(pages + data.popularity.upper_pages()))
                .to_vec(),
        };
        for pool in pools {
            predictions.push(BlindPrediction {
                drive: profile.name.clone(),
                pool_bytes: pool.0,
                prediction: place.at(data.frames(pool))?,
            });
        }
    }
    predictions.dedup_by_key(|one| (one.drive.clone(), one.pool_bytes));
    if options.pools.is_none() {
        predictions.truncate(POINTS_MAX);
    } else if predictions.len() > NAMED_MAX {
        return Err(ForecastError::TooManyPoints {
            points: predictions.len(),
            most: NAMED_MAX,
        });
    }
    Ok(predictions)
}

/// The study with these points for its cells, and the controls behind them, in blocks of a random order.
fn plan_of(
    plan: &Plan,
    predictions: &[BlindPrediction],
    controls: &Controls,
    options: VerifyOptions<'_>,
) -> Plan {
    let first = plan.cells.first().cloned().unwrap_or_default();
    let predicted = predictions.iter().map(|one| cell_of(&first, one));
    let cells: Vec<Cell> = predicted.chain(controls.cells.iter().cloned()).collect();
    let mut plan = Plan {
        title: format!("{}: predictions verified", plan.title),
        factors: vec![factor("drive", &cells), factor(POOL, &cells)],
        cells,
        repeat: Repetition {
            runs: options.runs,
            ..Repetition::default()
        },
        search: None,
        screen: None,
        claims: Vec::new(),
        negative_controls: Vec::new(),
        ..plan.clone()
    };
    plan.reseed(options.seed);
    plan.runs = weir_judge::interleaved(&plan);
    plan
}

/// `first` with the drive, pool and connections of a prediction.
fn cell_of(first: &Cell, predicted: &BlindPrediction) -> Cell {
    let mut cell = first.clone();
    let spec = cell.spec_mut();
    let primary = spec.primary_mut();
    primary.drive = Some(DriveSpec {
        profile: predicted.drive.clone(),
        // Its name has them.
        settings: BTreeMap::new(),
    });
    let pool = Bytes(predicted.pool_bytes).to_string();
    primary.variables.insert(POOL.to_owned(), pool);
    spec.load.connections = predicted.prediction.connections;
    at_levels(&cell).unwrap_or(cell)
}

/// The factor `name` with the levels that `cells` have.
fn factor(name: &str, cells: &[Cell]) -> Factor {
    let mut levels: Vec<String> = Vec::new();
    for cell in cells {
        let level = &cell.levels[name];
        if !levels.contains(level) {
            levels.push(level.clone());
        }
    }
    Factor {
        name: name.to_owned(),
        settings: vec![name.to_owned()],
        levels,
        within_server: false,
    }
}

/// The pool of a cell; `None` where it is the server's default.
fn pool_of(cell: &Cell) -> Option<Bytes> {
    cell.spec.variable(POOL)?.parse().ok()
}

/// `cell` as one of a study that varies drive and pool; `None` where it does not say both.
fn at_levels(cell: &Cell) -> Option<Cell> {
    let pool = pool_of(cell)?;
    let levels = [("drive", cell.spec.drive_name()?), (POOL, pool.to_string())];
    Some(Cell {
        levels: levels.map(|(name, level)| (name.to_owned(), level)).into(),
        probe: None,
        screened: None,
        ..cell.clone()
    })
}
