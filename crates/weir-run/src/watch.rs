//! Watch of a load while it runs, and its results.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use weir_load::LoadOutcome;
use weir_model::{
    Approach, ConnectionLosses, DriveStatistics, EventRecord, Gap, IntervalRecord, LoadHost,
    PlannedRun, ReplayRecord, RunRecord, RunResult, Series, ServerHost, ShortInterval,
};

use crate::bottleneck::bottleneck;
use crate::usage::{OfferedLoad, utilization};

/// Watch of a load while it runs.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) intervals: Vec<IntervalRecord>,
    /// The drive's counters when the measurement began.
    pub(crate) drive_before: Option<DriveStatistics>,
}

impl Watch {
    pub(crate) fn observe(
        &mut self,
        interval: &IntervalRecord,
        drive: impl FnOnce() -> Option<DriveStatistics>,
    ) {
        // The last interval of the warm-up ends at 0; without a warm-up the first one must do.
        let is_warm_up = |last: &IntervalRecord| last.time_s < 0.0;
        if interval.time_s >= 0.0 && self.intervals.last().is_none_or(is_warm_up) {
            self.drive_before = drive();
        }
        self.intervals.push(*interval);
    }

    /// The drive's counters of the measurement, which has ended with these.
    pub(crate) fn drive_until(
        &mut self,
        after: Option<DriveStatistics>,
    ) -> Option<DriveStatistics> {
        let (before, after) = self.drive_before.take().zip(after)?;
        Some(after.since(&before))
    }

    /// Notes an interval of a load before the one that is measured; [`Watch::end_earlier`] moves
    /// it to its place in time.
    pub(crate) fn observe_earlier(&mut self, interval: &IntervalRecord) {
        self.intervals.push(*interval);
    }

    /// The earlier load is over, `gap_s` before the measurement.
    pub(crate) fn end_earlier(&mut self, gap_s: f64) {
        let end_s = self.intervals.last().map_or(0.0, |last| last.time_s);
        for interval in &mut self.intervals {
            interval.time_s -= end_s + gap_s;
        }
    }
}

/// Moves the times of samples and gaps from the start of the sampling to the start of the measurement.
pub(crate) fn relative_to_measurement(
    (mut series, mut gaps): (Vec<Series>, Vec<Gap>),
    sampling_began: Instant,
    measured_from: Instant,
) -> (Vec<Series>, Vec<Gap>) {
    let shift_s = measured_from
        .saturating_duration_since(sampling_began)
        .as_secs_f64();
    let times = series.iter_mut().flat_map(|series| &mut series.times_s);
    times.for_each(|time_s| *time_s -= shift_s);
    for gap in &mut gaps {
        gap.from_s -= shift_s;
        gap.to_s -= shift_s;
    }
    (series, gaps)
}

/// Time around the beginning and the end of an event for which tenths of a second are kept, seconds.
const AROUND_S: f64 = 10.0;

/// Gives each event the longest pause of the load while it lasted.
fn note_pauses(events: &mut [EventRecord], all: &[ShortInterval]) {
    for event in events {
        // The first interval that ends after the event still belongs to it.
        let until_s = event.ended_s + ShortInterval::LENGTH_S;
        let meanwhile = all
            .iter()
            .filter(|one| one.time_s > event.began_s && one.time_s <= until_s);
        event.detail.longest_pause_s = meanwhile.map(|one| one.pause_s).reduce(f64::max);
    }
}

/// The short intervals around the beginning or the end of an event.
fn around(events: &[EventRecord], mut all: Vec<ShortInterval>) -> Vec<ShortInterval> {
    let turns = events
        .iter()
        .flat_map(|event| [event.began_s, event.ended_s]);
    let turns: Vec<f64> = turns.collect();
    all.retain(|one| {
        turns
            .iter()
            .any(|turn_s| (one.time_s - turn_s).abs() <= AROUND_S)
    });
    all
}

/// A completed measurement.
pub(crate) struct Measurement {
    pub(crate) outcome: LoadOutcome,
    pub(crate) intervals: Vec<IntervalRecord>,
    pub(crate) series: Vec<Series>,
    pub(crate) gaps: Vec<Gap>,
    pub(crate) approach: Approach,
    pub(crate) drive: Option<DriveStatistics>,
    /// The block device below the data, where no drive is emulated.
    pub(crate) device: Option<String>,
    pub(crate) offered: OfferedLoad,
    pub(crate) events: Vec<EventRecord>,
    pub(crate) hosts: Vec<LoadHost>,
    pub(crate) server_host: Option<ServerHost>,
    pub(crate) replay: Option<ReplayRecord>,
}

/// The server of a run.
pub(crate) struct ServerRecord {
    /// Variables before the run.
    pub(crate) variables: BTreeMap<String, String>,
    /// Those with another value after it.
    pub(crate) variables_changed: BTreeMap<String, String>,
    /// Commands that were started for the run.
    pub(crate) commands: Vec<String>,
    pub(crate) log: String,
}

impl Measurement {
    pub(crate) fn into_result(
        self,
        planned: PlannedRun,
        started_at: String,
        server: ServerRecord,
    ) -> RunResult {
        let outcome = self.outcome;
        let mut events = self.events;
        note_pauses(&mut events, &outcome.short_intervals);
        let measured_s = outcome.measured_s;
        let (drive, device) = (self.drive.as_ref(), self.device.as_deref());
        let utilization = utilization(&self.series, drive, device, &self.offered);
        RunResult {
            record: RunRecord {
                cell: planned.cell,
                repetition: planned.repetition,
                started_at,
                measured_s,
                queries_per_s: self.offered.statements_per_s,
                transactions_per_s: self.offered.transactions_per_s,
                latency: outcome.latency,
                errors: outcome.counts.errors,
                unfinished: outcome.unfinished,
                bottleneck: bottleneck(&utilization, self.offered.has_own_times),
                utilization,
                approach: self.approach,
            },
            intervals: self.intervals,
            series: self.series,
            gaps: self.gaps,
            variables: Arc::new(server.variables),
            variables_changed: server.variables_changed,
            drive: self.drive.map(Arc::new),
            commands: server.commands,
            server_log: server.log,
            kinds: outcome.kinds,
            short_intervals: around(&events, outcome.short_intervals),
            losses: ConnectionLosses {
                reconnects: outcome.counts.reconnects,
                outages: outcome.outages,
            },
            events,
            hosts: self.hosts,
            server_host: self.server_host,
            profile: None,
            replay: self.replay,
            histogram: outcome.histogram,
        }
    }
}
