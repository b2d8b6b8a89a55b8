//! Needs of a plan, before it runs.

use crate::{Bytes, Duration, Plan, RunRecord, RunSpec, WorkloadName, WorkloadSpec};

/// Bytes of a row on disk with its share of the secondary index. Two million rows of sysbench's
/// table loaded by Weir occupy 260 each; published data sets have 220 to 230.
const ROW_BYTES: u64 = 256;

/// The same of the text workloads' table: published data sets have 435 to 463.
const TEXT_ROW_BYTES: u64 = 450;

/// Bytes that a run writes beside its data: redo, undo, temporary tablespaces, the server's own
/// tables.
const HEADROOM_BYTES: u64 = 384 << 20;

/// Restore, mount, start and stop around the load of one run; measured on two cores.
const AROUND_A_RUN_S: f64 = 3.0;

/// Size of the tables of a run, as loaded; rows of a workload's own file are taken to be as long as
/// sysbench's.
pub fn data_size(spec: &RunSpec) -> Bytes {
    let row_bytes = if spec.workload.has_text() {
        TEXT_ROW_BYTES
    } else {
        ROW_BYTES
    };
    Bytes(spec.data.rows_total() * row_bytes)
}

/// Space that a run needs where it works, at most: its data, their growth, logs and undo.
pub fn run_space(plan: &Plan) -> Bytes {
    let sizes = plan.cells.iter().map(|cell| data_size(&cell.spec));
    with_headroom(sizes.max().unwrap_or_default())
}

/// Space for a run on so many bytes of data.
pub fn with_headroom(data: Bytes) -> Bytes {
    Bytes(data.0 + data.0 / 4 + HEADROOM_BYTES)
}

/// Bytes of a row of the tables of `workload`; `None` for those that were never measured.
pub fn known_row_bytes(workload: &WorkloadSpec) -> Option<u64> {
    let is_measured = match workload {
        WorkloadSpec::Sysbench(sysbench) => {
            let is_bulk = |name| name == WorkloadName::BulkInsert;
            !workload.has_text() && !sysbench.shares.any(is_bulk)
        }
        WorkloadSpec::File(_) | WorkloadSpec::Lua(_) | WorkloadSpec::OrderEntry(_) => false,
    };
    is_measured.then_some(ROW_BYTES)
}

/// Time for `runs` runs, without the loading of the data. A warm-up that ends by its rule counts
/// with its least.
pub fn run_time(plan: &Plan, runs: usize) -> Duration {
    let (count, all_s) = plan.designed().fold((0.0, 0.0), |(count, all_s), cell| {
        (count + 1.0, all_s + planned_s(&cell.spec))
    });
    let mean_s: f64 = if count > 0.0 { all_s / count } else { 0.0 };
    Duration::from_secs((mean_s * runs as f64).round() as u64)
}

/// Seconds of one planned run.
pub fn planned_s(spec: &RunSpec) -> f64 {
    let load = &spec.load;
    load.warmup.least().as_secs_f64() + load.measure.as_secs_f64() + AROUND_A_RUN_S
}

/// Seconds that runs took that were made.
pub fn spent_s<'a>(records: impl IntoIterator<Item = &'a RunRecord>) -> f64 {
    let one = |record: &RunRecord| record.approach.warmup_s + record.measured_s + AROUND_A_RUN_S;
    records.into_iter().map(one).sum()
}
