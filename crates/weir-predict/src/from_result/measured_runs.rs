//! Measurements of runs at one pool, drive and number of connections.

use crate::per_transaction;
use weir_model::variables::BUFFER_POOL_SIZE as POOL;
use weir_model::{Bytes, Plan, RunResult, metrics};

/// Measurement at one point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointMeasurement {
    pub(crate) transactions_per_s: f64,
    /// Pages read / pages that the model says are asked for; `None` where the server did not tell.
    pub(crate) miss_ratio: Option<f64>,
}

impl PointMeasurement {
    /// The means of runs that are alike; `None` without any.
    pub(crate) fn mean(runs: &[Self]) -> Option<Self> {
        let missed: Vec<f64> = runs.iter().filter_map(|run| run.miss_ratio).collect();
        let per_s: Vec<f64> = runs.iter().map(|run| run.transactions_per_s).collect();
        Some(Self {
            transactions_per_s: mean(&per_s)?,
            miss_ratio: mean(&missed),
        })
    }
}

/// Point of a run, and its measurement.
#[derive(Debug)]
pub(crate) struct MeasuredRun {
    pub(crate) drive: String,
    pub(crate) pool: Bytes,
    pub(crate) connections: u32,
    pub(crate) measured: PointMeasurement,
}

impl MeasuredRun {
    /// A transaction asks for so many pages (`references`). `None` for a run on the host's own storage.
    pub(crate) fn from_run(plan: &Plan, references: f64, run: &RunResult) -> Option<Self> {
        let cell = plan.cells.get(run.record.cell)?;
        let reads = per_transaction(run, metrics::STATUS_POOL_READS);
        Some(Self {
            drive: cell.spec.drive_name()?,
            pool: run.variables.get(POOL)?.parse().ok()?,
            connections: cell.spec.load.connections,
            measured: PointMeasurement {
                transactions_per_s: run.record.transactions_per_s,
                miss_ratio: reads.map(|reads| reads / references),
            },
        })
    }
}

/// Servers round pools to chunks.
pub(crate) fn is_alike(a: Bytes, b: Bytes) -> bool {
    a.0.abs_diff(b.0) <= b.0 / 50
}

/// `None` of nothing.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
