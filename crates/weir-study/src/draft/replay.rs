//! The load of a cell that sends a capture: what the capture says already, and what would have no effect on it.

use std::collections::BTreeSet;
use std::time;

use weir_capture::CaptureSummary;
use weir_model::{Duration, LOAD_OPTIONS, LoadSpec, REPLAY_OPTIONS, ReplaySpec, Warmup};

use super::DraftError;

/// Options of the load that work with a replay.
const OF_REPLAYS: [&str; 3] = ["compression", "tls", "idle_connections"];

/// Fills in what a capture says: its sessions, and how long it takes. Of a cell that is finished nothing is missing.
pub(super) fn finish(
    load: &mut LoadSpec,
    missing: &mut BTreeSet<&'static str>,
    capture: Option<&CaptureSummary>,
) -> Result<(), DraftError> {
    let Some(replay) = &load.replay else {
        return Ok(());
    };
    if replay.path.as_os_str().is_empty() {
        let mut options = REPLAY_OPTIONS.iter();
        let given = options.find(|option| option.written(replay).is_some());
        let Some(given) = given else {
            load.replay = None;
            return Ok(());
        };
        return Err(DraftError::WithoutCapture { option: given.name });
    }
    let mut options = LOAD_OPTIONS.iter();
    let ignored =
        options.find(|option| !OF_REPLAYS.contains(&option.name) && option.written(load).is_some());
    if let Some(option) = ignored {
        return Err(DraftError::NotOfReplays {
            option: option.name,
        });
    }
    let Some(capture) = capture else {
        return Ok(());
    };
    if !missing.remove("threads") {
        return Err(DraftError::NotOfReplays { option: "threads" });
    }
    let length = length(replay, capture);
    load.connections = capture.sessions_at_a_time.max(1);
    if missing.remove("warmup") {
        load.warmup = time::Duration::ZERO.into();
    }
    let Warmup::Fixed { length: warmup } = load.warmup else {
        return Err(DraftError::SteadyReplay);
    };
    let rest = length.0.saturating_sub(warmup.0);
    if rest.is_zero() {
        return Err(DraftError::ShortCapture { length });
    }
    if missing.remove("measure") || load.measure.0 > rest {
        load.measure = Duration(rest);
    }
    Ok(())
}

/// Returns the time of the part of the capture from the point at which it is sent on.
fn length(replay: &ReplaySpec, capture: &CaptureSummary) -> Duration {
    let length = time::Duration::from_micros(capture.length_us).saturating_sub(replay.from.0);
    let scaled = length.div_f64(replay.speed);
    // A whole number is written and read as the same.
    Duration(time::Duration::from_millis(scaled.as_millis() as u64))
}
