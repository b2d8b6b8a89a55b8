//! A forecast of pools, drives and connections, with its tables.

use crate::Calibration;
use serde::Serialize;
use weir_model::Scale;
use weir_report::{PredictedThroughput, connections};

use crate::from_result::ForecastError;
use crate::from_result::agreement::Agreement;
use crate::from_result::calibrated_model::CalibratedModel;
use crate::from_result::data_model::DataModel;
use crate::from_result::drive_forecast::{DriveForecast, DriveQuery};
use crate::from_result::query::Query;
use crate::from_result::slo_capacity::SloCapacity;

/// Predictions for pools, drives and connections.
#[derive(Debug, Serialize)]
pub struct Forecast {
    calibration: Calibration,
    /// Cores of the host that is asked about.
    cores: u32,
    /// Time that the emulation of the drives that are asked about takes for each page that is read or written; 0 for
    /// real drives.
    emulation_s: f64,
    /// Nearness of the page cleaner's averages to their limits.
    page_cleaner_averaged: f64,
    drive_scale: Scale,
    /// Stored bytes / written bytes on a drive that compresses.
    compressed_fraction: f64,
    agreement: Option<Agreement>,
    parts: Vec<DriveForecast>,
    promise: Option<SloCapacity>,
}

impl Forecast {
    /// Of all pools, drives and numbers of connections that are asked about.
    ///
    /// # Errors
    ///
    /// What the model does not describe, as more connections than were measured.
    pub fn predict(
        calibrated: &CalibratedModel,
        data: &DataModel,
        query: &Query,
    ) -> Result<Self, ForecastError> {
        let pools = data.pools.iter();
        let pools: Vec<_> = pools
            .map(|pool| (*pool, calibrated.system.pool(data.frames(*pool))))
            .collect();
        let mut parts = Vec::new();
        for (number, (profile, drive)) in calibrated.drives.iter().enumerate() {
            let asked = DriveQuery {
                data,
                calibrated,
                profile,
                drive,
                beside: (number > 0).then(|| &calibrated.drives[0].1),
                query,
            };
            parts.extend(asked.parts(&pools)?);
        }
        let promise = |objective| SloCapacity::find(calibrated, data, objective);
        Ok(Self {
            promise: query.objective.map(promise).transpose()?,
            calibration: calibrated.calibration.clone(),
            cores: calibrated.system.demands.cores,
            emulation_s: calibrated.system.demands.emulation_s,
            page_cleaner_averaged: calibrated.system.writes.flushing.averaged,
            drive_scale: calibrated.scale,
            compressed_fraction: calibrated.compressed_fraction,
            agreement: calibrated.agreement,
            parts,
        })
    }

    /// For each drive and number of connections.
    pub fn parts(&self) -> &[DriveForecast] {
        &self.parts
    }

    /// Returns the load that keeps the objective, as a title and a table over pools and drives.
    pub fn promise(&self) -> Option<(String, String)> {
        let promise = self.promise.as_ref()?;
        Some((promise.title(), promise.table()))
    }

    /// The figures of the report: one for each number of connections, a line for each drive.
    pub fn figures(&self) -> Vec<PredictedThroughput> {
        let mut figures: Vec<PredictedThroughput> = Vec::new();
        for part in &self.parts {
            let title = connections(part.connections);
            let line = part.figure();
            match figures.iter_mut().find(|figure| figure.title == title) {
                Some(figure) => figure.drives.push(line),
                None => figures.push(PredictedThroughput {
                    title,
                    drives: vec![line],
                    notes: self.agreement().into_iter().chain(self.assumed()).collect(),
                }),
            }
        }
        figures
    }

    /// Returns the error of the model where it can be seen.
    pub fn agreement(&self) -> Option<String> {
        self.agreement.as_ref().map(Agreement::line)
    }

    /// Returns notes for a reader beside the figures.
    pub fn assumed(&self) -> Vec<String> {
        let demands = &self.calibration.demands;
        let mut lines = vec![format!(
            "{} cores; a transaction takes {:.3} ms of processor time and {:.1} us more for each page \
             read, and waits {:.3} ms for neither (measured, up to {} connections)",
            self.cores,
            demands.cpu_s * 1e3,
            demands.cpu_s_per_miss * 1e6,
            demands.wait_s * 1e3,
            demands.connections_max
        )];
        if self.emulation_s > 0.0 {
            lines.push(format!(
                "the drives' emulation takes {:.0} us of the same cores for each page that is read or written",
                self.emulation_s * 1e6
            ));
        }
        lines.extend(self.calibration.assumed.iter().cloned());
        if self.calibration.redo_bytes > 0.0 && self.page_cleaner_averaged < 1.0 {
            lines.push(format!(
                "MySQL's page cleaner as in the middle of the study's measurements, with averages at {:.0} % of their \
                 values after minutes",
                self.page_cleaner_averaged * 100.0
            ));
        }
        if self.drive_scale < Scale::FULL {
            lines.push(format!(
                "drives have {} of their throughput, as in the study",
                self.drive_scale
            ));
        }
        let data = if self.compressed_fraction < 1.0 {
            let percent = self.compressed_fraction * 100.0;
            format!("data that a drive stores in {percent:.0} % of their size if it compresses")
        } else {
            "data that do not compress".to_owned()
        };
        lines.push(format!(
            "steady state, independent keys, {data}, commits in groups"
        ));
        lines
    }
}
