//! The model of a result's workload, calibrated by its runs, and the drives that are asked about.

use std::collections::BTreeMap;

use crate::{
    Calibration, Discrepancy, DriveAbility, Observation, OperatingPoint, PAGE_BYTES, System,
};
use weir_drive::profiles;
use weir_model::{Bytes, Cell, Compression, DriveProfile, Plan, Scale, StudyResult};

use crate::from_result::agreement::{Agreement, PointComparison};
use crate::from_result::data_model::{DataModel, first_cell};
use crate::from_result::error::ForecastError;
use crate::from_result::measured_runs::{MeasuredRun, PointMeasurement, is_alike, mean};

/// Model that predictions of a result are made from.
#[derive(Debug)]
pub struct CalibratedModel {
    pub(crate) calibration: Calibration,
    pub(crate) system: System,
    /// By how much the throughput of drives is scaled, as in the study.
    pub(crate) scale: Scale,
    pub(crate) drives: Vec<(DriveProfile, DriveAbility)>,
    /// Stored bytes / written bytes of the data on a drive that compresses; 1 if none has seen them.
    pub(crate) compressed_fraction: f64,
    /// Numbers of connections.
    pub(crate) threads: Vec<u32>,
    /// Error of predictions where the result has runs; `None` if those are too few.
    pub(crate) agreement: Option<Agreement>,
    /// The result's own runs.
    runs: Vec<MeasuredRun>,
}

impl CalibratedModel {
    /// From `result`, for the named `drives` and numbers of connections (`threads`), or else those of the
    /// first cell.
    ///
    /// # Errors
    ///
    /// A result whose runs say too little, and drives without a profile.
    pub fn from_result(
        result: &StudyResult,
        data: &DataModel,
        drives: &[String],
        threads: &[u32],
    ) -> Result<Self, ForecastError> {
        let plan = &result.plan;
        let first = first_cell(plan)?;
        let scale = first.data.drive_scale;
        let asked = asked_for(result, drives)?;
        let compressed_fraction = compressed_fraction(result);
        let span_bytes = data.popularity.pages() * PAGE_BYTES / first.data.data_scale.factor();
        let profiles = asked.iter().chain(&result.drives);
        let profiles = profiles.map(|profile| profile.short_stroked(span_bytes as u64));
        let abilities = abilities(&profiles.collect::<Vec<_>>(), compressed_fraction)?;
        let abilities: BTreeMap<_, _> = abilities
            .into_iter()
            .map(|ability| (ability.name.clone(), ability.at_scale(scale)))
            .collect();
        // Runs on the host's own storage are taken to have been on the first drive that is asked about.
        let of_cell = |cell: &Cell| {
            let known = cell.spec.drive_name().and_then(|name| abilities.get(&name));
            known.unwrap_or_else(|| &abilities[&asked[0].name])
        };
        let calibration =
            Calibration::from_result(result, &data.popularity, data.pool_use, &of_cell)?;
        let mut system = System {
            popularity: data.popularity.clone(),
            writes: crate::write_settings(result, calibration.redo_bytes)?,
            pool_use: data.pool_use,
            old_blocks_time_s: crate::old_blocks_time_s(first),
            discrepancy: Discrepancy::default(),
            demands: calibration.demands,
        };
        let runs = result.runs.iter();
        let runs: Vec<_> = runs
            .filter_map(|run| MeasuredRun::from_run(plan, data.popularity.references(), run))
            .collect();
        let places = compared(&system, &abilities, &runs, data)?;
        let observed: Vec<Observation> = places.iter().map(PointComparison::observed).collect();
        system.discrepancy = Discrepancy::fit(&observed);
        Ok(Self {
            agreement: Agreement::estimate(&places, &system.discrepancy),
            system,
            calibration,
            scale,
            compressed_fraction,
            runs,
            drives: asked
                .into_iter()
                .map(|profile| {
                    let ability = abilities[&profile.name].clone();
                    (profile, ability)
                })
                .collect(),
            threads: match threads {
                [] => vec![first.load.connections],
                threads => threads.to_vec(),
            },
        })
    }

    /// The same at the full size of `plan`, whose data are then `data`: its own runs say nothing there.
    ///
    /// # Errors
    ///
    /// A plan without cells.
    pub fn at_full_size(mut self, plan: &Plan, data: &DataModel) -> Result<Self, ForecastError> {
        self.system.popularity = data.popularity.clone();
        self.system.writes.redo_capacity_bytes /= first_cell(plan)?.data.data_scale.factor();
        for (_, drive) in &mut self.drives {
            *drive = drive.whole(self.scale);
        }
        self.scale = Scale::FULL;
        // Those drives would be real ones, and their first minutes are not predicted.
        self.system.demands.emulation_s = 0.0;
        self.system.writes.flushing.averaged = 1.0;
        Ok(self.without_runs())
    }

    /// The same on a host with other cores.
    #[must_use]
    pub fn on_cores(mut self, cores: Option<u32>) -> Self {
        if let Some(cores) = cores {
            self.system.demands.cores = cores;
            self = self.without_runs();
        }
        self
    }

    /// The same on a machine whose processors take `factor` times as long.
    pub(crate) fn slower(mut self, factor: f64) -> Self {
        let demands = &mut self.system.demands;
        demands.cpu_s *= factor;
        demands.cpu_s_per_miss *= factor;
        demands.emulation_s *= factor;
        self
    }

    /// The same where the runs say only how far off the model may be.
    fn without_runs(mut self) -> Self {
        self.runs.clear();
        self.system.discrepancy = Discrepancy::default();
        self.agreement = self.agreement.map(Agreement::uncorrected);
        self
    }

    /// Returns the average of the result's runs of a place.
    pub(crate) fn measured(
        &self,
        drive: &str,
        pool: Bytes,
        connections: u32,
    ) -> Option<PointMeasurement> {
        let there = self.runs.iter().filter(|run| {
            run.drive == drive && is_alike(run.pool, pool) && run.connections == connections
        });
        PointMeasurement::mean(&there.map(|run| run.measured).collect::<Vec<_>>())
    }

    /// Names of the drives that are asked about.
    pub fn drives(&self) -> impl Iterator<Item = &str> {
        self.drives.iter().map(|(_, drive)| drive.name.as_str())
    }

    /// The ability of one of the drives that are asked about.
    pub(crate) fn ability(&self, name: &str) -> Option<&DriveAbility> {
        let mut abilities = self.drives.iter().map(|(_, ability)| ability);
        abilities.find(|ability| ability.name == name)
    }

    /// `drive` with so many connections.
    pub(crate) fn place<'a>(
        &'a self,
        drive: &'a DriveAbility,
        connections: u32,
    ) -> OperatingPoint<'a> {
        OperatingPoint {
            system: &self.system,
            drive,
            connections,
        }
    }
}

/// Returns the prediction and the measurement of each place that has `runs`.
fn compared(
    system: &System,
    abilities: &BTreeMap<String, DriveAbility>,
    runs: &[MeasuredRun],
    data: &DataModel,
) -> Result<Vec<PointComparison>, ForecastError> {
    let mut places: BTreeMap<_, Vec<PointMeasurement>> = BTreeMap::new();
    for run in runs {
        let place = (&run.drive, run.pool, run.connections);
        places.entry(place).or_default().push(run.measured);
    }
    let mut both = Vec::new();
    for ((name, pool, connections), measured) in places {
        let (Some(drive), Some(measured)) =
            (abilities.get(name), PointMeasurement::mean(&measured))
        else {
            continue;
        };
        let place = OperatingPoint {
            system,
            drive,
            connections,
        };
        let pages = data.frames(pool);
        both.push(PointComparison {
            drive: name.clone(),
            pages: pages.min(system.popularity.pages()),
            predicted: place.at(pages)?,
            measured,
        });
    }
    // A run without transactions has no ratio.
    both.retain(|place| place.ratio().is_normal());
    Ok(both)
}

/// Returns the abilities of these drives, each asked once.
fn abilities(
    profiles: &[DriveProfile],
    compressed_fraction: f64,
) -> Result<Vec<DriveAbility>, ForecastError> {
    let by_name: BTreeMap<_, _> = profiles
        .iter()
        .map(|profile| (&profile.name, profile))
        .collect();
    let drives = by_name.into_values();
    let drives = drives.map(|profile| (profile, stored_share(profile, compressed_fraction)));
    Ok(DriveAbility::of_each(&drives.collect::<Vec<_>>())?)
}

/// Returns the share that `profile` stores of data of which a drive that compresses stores
/// `compressed_fraction`.
pub(crate) fn stored_share(profile: &DriveProfile, compressed_fraction: f64) -> f64 {
    match profile.compression {
        Compression::None => 1.0,
        Compression::Zlib4k => compressed_fraction,
    }
}

/// Returns the compressed share of the data, by the drives of the runs that compress.
fn compressed_fraction(result: &StudyResult) -> f64 {
    let drives = result.runs.iter().filter_map(|run| run.drive.as_deref());
    let fractions = drives.map(|drive| drive.compressed_fraction);
    let known: Vec<f64> = fractions
        .filter(|fraction| *fraction > 0.0 && *fraction < 1.0)
        .collect();
    mean(&known).unwrap_or(1.0)
}

/// The drive of the first cell.
fn first_drive(result: &StudyResult) -> Option<&DriveProfile> {
    let name = result.plan.cells.first()?.spec.drive_name()?;
    result.drives.iter().find(|drive| drive.name == name)
}

/// The drives of these names, as the study had them if it had, or else that of the first cell.
fn asked_for(result: &StudyResult, names: &[String]) -> Result<Vec<DriveProfile>, ForecastError> {
    if !names.is_empty() {
        let own = |name: &String| result.drives.iter().find(|drive| drive.name == *name);
        let found = names.iter().map(|name| match own(name) {
            Some(drive) => Ok(drive.clone()),
            None => profiles::load(name, None),
        });
        return Ok(found.collect::<Result<_, _>>()?);
    }
    match first_drive(result) {
        Some(drive) => Ok(vec![drive.clone()]),
        None => Err(ForecastError::NoDrive),
    }
}
