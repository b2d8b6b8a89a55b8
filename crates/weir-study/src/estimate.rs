//! What a plan will need, before it runs.

use weir_model::{Bytes, Duration, Plan};

/// Bytes of a row on disk with its share of the secondary index. Two million rows of sysbench's
/// table loaded by Weir occupy 260 each; published data sets have 220 to 230.
pub(crate) const ROW_BYTES: u64 = 256;

/// Restore, mount, start and stop around the load of one run; measured on two cores.
const AROUND_A_RUN_S: f64 = 3.0;

/// Size of the tables as loaded.
pub fn data_size(plan: &Plan) -> Bytes {
    Bytes(u64::from(plan.data.tables) * plan.data.rows * ROW_BYTES)
}

/// Time for `runs` runs, without the loading of the data.
pub fn run_time(plan: &Plan, runs: usize) -> Duration {
    let load_s = plan.load.warmup.as_secs_f64() + plan.load.measure.as_secs_f64();
    Duration::from_secs(((load_s + AROUND_A_RUN_S) * runs as f64).round() as u64)
}
