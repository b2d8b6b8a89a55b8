//! The simulation of a prediction's transactions: what means cannot say.

use crate::{Prediction, Scenario, SimulationResult, simulate};
use weir_drive::Model;
use weir_model::DriveProfile;

use crate::from_result::calibrated_model::{CalibratedModel, stored_share};

/// Transactions of a simulation: enough for a 99th percentile; fewer if each reads many pages.
const TRANSACTIONS: [u64; 2] = [2_000, 20_000];
/// Page reads and statements of a simulation that needs no more transactions: some tenths of a second.
const EVENTS: f64 = 500_000.0;
/// Pages of the file that is read and written.
const DATA_PAGES: u64 = 8_192;

/// Transactions that read and write what `prediction` says, on a drive of `profile`.
pub(crate) fn simulate_latency(
    calibrated: &CalibratedModel,
    profile: &DriveProfile,
    prediction: &Prediction,
) -> SimulationResult {
    let demands = &calibrated.system.demands;
    let writes = &calibrated.system.writes;
    let scenario = Scenario {
        connections: prediction.connections,
        cores: demands.cores,
        cpu_s: demands.cpu_s + prediction.reads * demands.cpu_s_per_miss,
        emulation_s: demands.emulation_s,
        wait_s: demands.wait_s,
        statements: calibrated.calibration.statements,
        reads: prediction.reads,
        page_writes: prediction.page_writes,
        cleaned: prediction.cleaned,
        batch_pages: writes.flushing.batch_pages as u64,
        doublewrite: writes.doublewrite,
        redo_bytes: writes.redo_bytes,
        durable_commits: writes.durable_commits,
        data_pages: DATA_PAGES,
        compressed_fraction: stored_share(profile, calibrated.compressed_fraction),
        transactions: (EVENTS / (prediction.reads + calibrated.calibration.statements))
            .clamp(TRANSACTIONS[0] as f64, TRANSACTIONS[1] as f64) as u64,
        seed: 1,
    };
    // All of its capacity: garbage collection stays as the profile has it.
    let mut drive = Model::with_capacity(profile, calibrated.scale, profile.capacity.0);
    simulate(&scenario, &mut drive)
}
