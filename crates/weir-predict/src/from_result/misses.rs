//! Misses alone, of a study that has no run yet.

use crate::{PoolModel, old_blocks_time_s};
use serde::Serialize;
use weir_model::{Bytes, Plan};
use weir_report::table;

use crate::from_result::ForecastError;
use crate::from_result::data_model::{DataModel, first_cell};

/// Misses of one pool.
#[derive(Debug, Serialize)]
struct Row {
    pool_bytes: u64,
    share_of_data: f64,
    miss_ratio: f64,
    miss_ratio_frozen: f64,
    reads_per_transaction: f64,
}

/// Misses of pools.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct Misses {
    rows: Vec<Row>,
}

/// Returns the misses of the pools that are asked about, on the data of `plan`. Without a run there is no processor
/// time and no throughput.
///
/// # Errors
///
/// A plan without cells.
pub fn misses(plan: &Plan, data: &DataModel) -> Result<Misses, ForecastError> {
    let old_blocks_time_s = old_blocks_time_s(first_cell(plan)?);
    let row = |pool: &Bytes| Row::predict(data, old_blocks_time_s, *pool);
    Ok(Misses {
        rows: data.pools.iter().map(row).collect(),
    })
}

impl Misses {
    /// As a table.
    pub fn table(&self) -> String {
        let header = ["pool", "of data", "misses", "frozen", "reads/transaction"];
        let lines: Vec<_> = self.rows.iter().map(Row::line).collect();
        table(&header, &lines)
    }
}

impl Row {
    fn predict(data: &DataModel, old_blocks_time_s: f64, pool: Bytes) -> Self {
        let frames = data.frames(pool).max(1.0);
        let model = PoolModel::new(&data.popularity, frames, data.pool_use, old_blocks_time_s);
        let promoting = model.promoting();
        Self {
            pool_bytes: pool.0,
            share_of_data: pool.0 as f64 / data.data_bytes,
            miss_ratio: promoting.miss_ratio,
            miss_ratio_frozen: model.frozen().miss_ratio,
            reads_per_transaction: promoting.misses,
        }
    }

    fn line(&self) -> Vec<String> {
        vec![
            Bytes(self.pool_bytes).to_string(),
            format!("{:.0} %", self.share_of_data * 100.0),
            format!("{:.4}", self.miss_ratio),
            format!("{:.4}", self.miss_ratio_frozen),
            format!("{:.3}", self.reads_per_transaction),
        ]
    }
}
