//! A run of given numbers, for what shows results and needs no server for that.

use std::time::Duration;

use super::{ClosedPeriod, Interval, KindNames, LoadOutcome, Merger};
use crate::meter::{Counts, IntervalFrame, Phase, Timeline};

/// Returns the outcome of a closed loop of one interval that completed `counts` with these
/// latencies of transactions, nanoseconds.
pub fn outcome_of(
    counts: Counts,
    latencies_ns: &[u64],
    length: Duration,
) -> (Interval, LoadOutcome) {
    let length_ns = u64::try_from(length.as_nanos()).unwrap_or(u64::MAX);
    let timeline = Timeline {
        measure_ns: 0,
        end_ns: length_ns,
        interval_ns: length_ns,
        checkpoints: &[],
    };
    let mut merger = Merger::new(timeline, KindNames::default(), 1);
    let mut frame = IntervalFrame::new(false);
    frame.phase = Phase::Measure;
    frame.to_ns = length_ns;
    frame.counts = counts;
    for latency_ns in latencies_ns {
        frame.latency_ns.saturating_record(*latency_ns);
        frame.latency_ns_sum += latency_ns;
    }
    let interval = merger
        .take(&frame)
        .into_iter()
        .find_map(|closed| match closed {
            ClosedPeriod::Interval(interval) => Some(*interval),
            ClosedPeriod::Checkpoint(_) => None,
        });
    let interval = interval.expect("invariant: the frame of the only reporter closes its interval");
    (interval, merger.finish())
}
