//! Merges the frames of all reporters into intervals and a whole.
//!
//! An interval closes when every reporter has sent its frame of it, or when one of them is
//! [`LATENESS`] intervals ahead: a reporter that is silent holds no other up. A frame that comes after its
//! interval was closed counts in the totals and in no interval, and that is told.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_model::IntervalRecord;

use super::open_loop::OpenLoopSum;
use super::short_series::ShortSeries;
use super::totals::Sums;
use super::{
    Interval, KindNames, Latencies, LoadOutcome, Outage, Totals, fairness, kinds, quantile_us,
    serialize_us,
};
use crate::meter::{
    self, ConnectionCounters, Counts, Errors, IntervalFrame, KindLatencies, Phase, ReporterEnd,
    Timeline, add_histogram, join_outages, new_histogram,
};

/// Number of intervals that the first reporter may be ahead of the last before the last is not waited for any more.
const LATENESS: u64 = 2;

/// Period that has come to its end.
#[derive(Debug)]
pub(crate) enum ClosedPeriod {
    /// An interval.
    Interval(Box<Interval>),
    /// A stretch between two checkpoints.
    Checkpoint(Box<Totals>),
}

/// Merges frames.
#[derive(Debug)]
pub(crate) struct Merger<'a> {
    timeline: Timeline<'a>,
    names: Arc<KindNames>,
    reporters: Vec<Reporter>,
    /// Intervals of which frames have come, by their number.
    open: BTreeMap<u64, IntervalSum>,
    /// The first that is not closed.
    next: u64,
    /// Part of an interval that was closed at a checkpoint within it.
    begun: Option<IntervalSum>,
    whole: Sums,
    /// Since the last checkpoint; only if there are checkpoints.
    stretch: Option<Sums>,
    kinds: KindLatencies,
    counts_whole_run: Counts,
    errors: Errors,
    outages: Vec<meter::Outage>,
    short: ShortSeries,
    measured_ns: u64,
    open_loop: Option<OpenLoopSum>,
    /// Transactions that were due before the measurement.
    due_before: u64,
    late_frames: u64,
}

/// State of one reporter.
#[derive(Debug, Default)]
struct Reporter {
    /// Number of its next frame.
    next: u64,
    /// CPU time within the measurement, nanoseconds.
    cpu_ns: u64,
    /// Time for which it has measured, nanoseconds.
    measured_ns: u64,
    /// Counters of its connections at the last checkpoint.
    connections_before: Vec<ConnectionCounters>,
    end: Option<ReporterEnd>,
}

impl Reporter {
    fn has_reported(&self, index: u64) -> bool {
        self.next > index || self.end.is_some()
    }

    /// Returns the counts of its connections since the last checkpoint, of which this is the next.
    fn since(&mut self, connections: &[ConnectionCounters]) -> Vec<ConnectionCounters> {
        let before = std::mem::replace(&mut self.connections_before, connections.to_vec());
        let of = |index: usize| before.get(index).copied().unwrap_or_default();
        let pairs = connections.iter().enumerate();
        pairs.map(|(index, now)| now.since(of(index))).collect()
    }
}

/// One interval of all reporters.
#[derive(Debug)]
struct IntervalSum {
    phase: Phase,
    from_ns: u64,
    to_ns: u64,
    counts: Counts,
    errors: Errors,
    latency_ns: Latencies,
    latency_ns_sum: u64,
    kinds: KindLatencies,
    concurrency: u64,
    open_loop: Option<OpenLoopSum>,
    /// At a checkpoint, by reporter.
    connections: Vec<(u32, Vec<ConnectionCounters>)>,
}

impl IntervalSum {
    fn new(frame: &IntervalFrame) -> Self {
        Self {
            phase: frame.phase,
            from_ns: frame.from_ns,
            to_ns: frame.to_ns,
            counts: Counts::default(),
            errors: Errors::default(),
            latency_ns: Latencies(new_histogram()),
            latency_ns_sum: 0,
            kinds: KindLatencies::default(),
            concurrency: 0,
            open_loop: None,
            connections: Vec::new(),
        }
    }

    fn add(&mut self, frame: &IntervalFrame) {
        self.to_ns = self.to_ns.max(frame.to_ns);
        self.counts.add(&frame.counts);
        self.errors.add(&frame.errors);
        add_histogram(&mut self.latency_ns.0, &frame.latency_ns);
        self.latency_ns_sum += frame.latency_ns_sum;
        self.kinds.add(&frame.kinds);
        self.concurrency += frame.concurrency;
        if let Some(tally) = &frame.open_loop {
            let sum = self.open_loop.get_or_insert_with(OpenLoopSum::new);
            sum.add(tally);
        }
        if let Some(connections) = &frame.connections {
            self.connections.push((frame.reporter, connections.clone()));
        }
    }

    /// Puts a part of the same interval before this one. Values that hold for the end only are this one's.
    fn prepend(&mut self, begun: &Self) {
        self.from_ns = begun.from_ns;
        self.counts.add(&begun.counts);
        self.errors.add(&begun.errors);
        add_histogram(&mut self.latency_ns.0, &begun.latency_ns.0);
        self.latency_ns_sum += begun.latency_ns_sum;
        self.kinds.add(&begun.kinds);
        if let (Some(sum), Some(part)) = (&mut self.open_loop, &begun.open_loop) {
            sum.prepend(part);
        }
    }
}

impl<'a> Merger<'a> {
    /// A merger of so many reporters.
    pub(crate) fn new(timeline: Timeline<'a>, names: KindNames, reporters: usize) -> Self {
        let stretch = (!timeline.checkpoints.is_empty()).then(|| Sums::new(0.0));
        let mut all = Vec::new();
        all.resize_with(reporters, Reporter::default);
        Self {
            timeline,
            names: Arc::new(names),
            reporters: all,
            open: BTreeMap::new(),
            next: 0,
            begun: None,
            whole: Sums::new(0.0),
            stretch,
            kinds: KindLatencies::default(),
            counts_whole_run: Counts::default(),
            errors: Errors::default(),
            outages: Vec::new(),
            short: ShortSeries::default(),
            measured_ns: 0,
            open_loop: None,
            due_before: 0,
            late_frames: 0,
        }
    }

    /// Takes a frame; what that closes, in its order.
    pub(crate) fn take(&mut self, frame: &IntervalFrame) -> Vec<ClosedPeriod> {
        self.note(frame);
        if frame.phase != Phase::Drain {
            if frame.index < self.next {
                self.add_late(frame);
            } else {
                let sum = self.open.entry(frame.index);
                sum.or_insert_with(|| IntervalSum::new(frame)).add(frame);
            }
        }
        let mut closed = Vec::new();
        while self.may_close(self.next) {
            closed.extend(self.close());
        }
        closed
    }

    /// Notes the counts of a frame that count whenever it comes.
    fn note(&mut self, frame: &IntervalFrame) {
        self.counts_whole_run.add(&frame.counts);
        let measured_ns = frame.to_ns.saturating_sub(self.timeline.measure_ns);
        if let Some(reporter) = self.reporters.get_mut(frame.reporter as usize) {
            reporter.next = reporter.next.max(frame.index + 1);
            if let Some(end) = &frame.end {
                reporter.end = Some(end.clone());
            }
            if frame.phase == Phase::Measure {
                reporter.cpu_ns += frame.cpu_ns;
                reporter.measured_ns = reporter.measured_ns.max(measured_ns);
            }
        }
        if frame.phase == Phase::Measure {
            self.errors.add(&frame.errors);
            self.outages.extend(&frame.outages);
            self.short.add(frame);
            self.measured_ns = self.measured_ns.max(measured_ns);
        }
    }

    /// Returns true if no reporter is waited for any more.
    fn may_close(&self, index: u64) -> bool {
        let ahead = self.reporters.iter().map(|reporter| reporter.next).max();
        let mut reporters = self.reporters.iter();
        ahead.is_some_and(|ahead| {
            ahead > index + LATENESS
                || ahead > index && reporters.all(|reporter| reporter.has_reported(index))
        })
    }

    /// Closes the next interval.
    fn close(&mut self) -> Vec<ClosedPeriod> {
        let missing = self.reporters.iter();
        let missing = missing.filter(|r| !r.has_reported(self.next)).count() as u32;
        let sum = self.open.remove(&self.next);
        self.next += 1;
        let Some(mut sum) = sum else {
            return Vec::new();
        };
        if sum.phase == Phase::Measure {
            self.add_measured(&sum);
        }
        let connections = std::mem::take(&mut sum.connections);
        let to_ns = sum.to_ns;
        let until_ns = to_ns.saturating_sub(self.timeline.measure_ns);
        self.short.close_until(until_ns);
        if let Some(begun) = self.begun.take() {
            sum.prepend(&begun);
        }
        let mut closed = Vec::new();
        if self.timeline.is_within_interval(to_ns) {
            self.begun = Some(sum);
        } else {
            let interval = self.interval(sum, missing);
            closed.push(ClosedPeriod::Interval(Box::new(interval)));
        }
        if self.timeline.is_checkpoint(to_ns) {
            let totals = self.end_stretch(to_ns, &connections);
            closed.extend(totals.map(|totals| ClosedPeriod::Checkpoint(Box::new(totals))));
        }
        closed
    }

    fn add_measured(&mut self, sum: &IntervalSum) {
        self.whole
            .add(&sum.counts, &sum.latency_ns.0, sum.latency_ns_sum);
        if let Some(stretch) = &mut self.stretch {
            stretch.add(&sum.counts, &sum.latency_ns.0, sum.latency_ns_sum);
        }
        self.kinds.add(&sum.kinds);
        if let Some(part) = &sum.open_loop {
            let whole = self.open_loop.get_or_insert_with(OpenLoopSum::new);
            whole.append(part);
        }
    }

    /// Adds a frame whose interval was closed without it.
    fn add_late(&mut self, frame: &IntervalFrame) {
        self.late_frames += 1;
        if frame.phase == Phase::Measure {
            let mut sum = IntervalSum::new(frame);
            sum.add(frame);
            // Positions in the schedule are those of the intervals that were closed since.
            if let Some(part) = &mut sum.open_loop {
                part.forget_positions();
            }
            self.add_measured(&sum);
        }
    }

    /// The totals since the last checkpoint, and the end of their stretch.
    fn end_stretch(
        &mut self,
        to_ns: u64,
        connections: &[(u32, Vec<ConnectionCounters>)],
    ) -> Option<Totals> {
        let mut since = Vec::new();
        for (number, now) in connections {
            if let Some(reporter) = self.reporters.get_mut(*number as usize) {
                since.extend(reporter.since(now));
            }
        }
        let elapsed_s = to_ns.saturating_sub(self.timeline.measure_ns) as f64 / 1e9;
        let sums = self.stretch.replace(Sums::new(elapsed_s))?;
        Some(sums.into_totals(elapsed_s, fairness(since.iter().copied())))
    }

    fn interval(&mut self, sum: IntervalSum, missing_reporters: u32) -> Interval {
        let (due, queue_length) = sum
            .open_loop
            .as_ref()
            .map_or((0, 0), OpenLoopSum::positions);
        if sum.phase == Phase::Warmup {
            self.due_before = due;
        }
        let from_ns = self.timeline.measure_ns as f64;
        let time_s = (sum.to_ns as f64 - from_ns) / 1e9;
        let latency_us = |quantile| quantile_us(&sum.latency_ns.0, quantile);
        let record = IntervalRecord {
            // A warm-up that was cut short ends before the measurement would have begun.
            time_s: if sum.phase == Phase::Warmup {
                time_s.min(0.0)
            } else {
                time_s
            },
            length_s: (sum.to_ns - sum.from_ns) as f64 / 1e9,
            transactions: sum.counts.transactions,
            queries: sum.counts.queries,
            reads: sum.counts.reads,
            writes: sum.counts.writes,
            errors: sum.counts.errors,
            latency_us_p50: latency_us(0.5),
            latency_us_p95: latency_us(0.95),
            latency_us_p99: latency_us(0.99),
            latency_us_max: latency_us(1.0),
        };
        Interval {
            record,
            reconnects: sum.counts.reconnects,
            concurrency: sum.concurrency,
            queue_length,
            errors: sum.errors.into_sorted(),
            missing_reporters,
            open_loop: sum.open_loop,
            latency_ns: sum.latency_ns,
            kinds: sum.kinds,
            names: Arc::clone(&self.names),
        }
    }

    /// Closes the rest, when no more frames will come.
    pub(crate) fn close_all(&mut self) -> Vec<ClosedPeriod> {
        let mut closed = Vec::new();
        while !self.open.is_empty() {
            closed.extend(self.close());
        }
        if let Some(begun) = self.begun.take() {
            let interval = self.interval(begun, 0);
            closed.push(ClosedPeriod::Interval(Box::new(interval)));
        }
        closed
    }

    /// The whole measurement, once all is closed. Fields that only the caller knows are left empty.
    pub(crate) fn finish(mut self) -> LoadOutcome {
        let measured_s = self.measured_ns as f64 / 1e9;
        let ends: Vec<_> = self.reporters.iter().map(|r| r.end.clone()).collect();
        let ended = || ends.iter().flatten();
        let measured_ns_least = self.reporters.iter().map(|r| r.measured_ns).min();
        let measured_ns_least = measured_ns_least.unwrap_or(0);
        let connections = ended().flat_map(|end| end.connections.iter().copied());
        let fairness_of_whole = fairness(connections);
        let mut since = Vec::new();
        for (reporter, end) in self.reporters.iter_mut().zip(&ends) {
            since.extend(end.iter().flat_map(|end| reporter.since(&end.connections)));
        }
        let stretch = self.stretch.filter(|stretch| stretch.from_s > 0.0);
        let whole = self.whole.into_totals(measured_s, fairness_of_whole);
        let measure_ns = self.timeline.measure_ns as f64;
        let outages = join_outages(self.outages)
            .iter()
            .map(|outage| Outage {
                from_s: (outage.from_ns as f64 - measure_ns) / 1e9,
                length_s: (outage.to_ns - outage.from_ns) as f64 / 1e9,
            })
            .collect();
        let due_before = self.due_before;
        let cpu_s = self.reporters.iter().map(|r| r.cpu_ns as f64 / 1e9);
        LoadOutcome {
            counts: whole.counts,
            counts_whole_run: self.counts_whole_run,
            errors: self.errors.into_sorted(),
            measured_s,
            latency: whole.latency,
            latency_s_sum: whole.latency_s_sum,
            histogram: serialize_us(&whole.latency_ns.0),
            kinds: kinds::summaries(&self.names, &self.kinds),
            client_cpu_s: cpu_s.collect(),
            reactors: ended().map(|end| end.reactor).collect(),
            batch_scheduling: ended().all(|end| end.batch_scheduling),
            unfinished: ended().map(|end| end.unfinished).sum(),
            late_frames: self.late_frames,
            idle_connections: 0,
            connections: ended().map(|end| end.connections.len() as u64).sum(),
            standstill_s: ended().map(|end| end.standstill_ns).max().unwrap_or(0) as f64 / 1e9,
            measured_s_least: measured_ns_least as f64 / 1e9,
            completion: None,
            measured_from: None,
            fairness: whole.fairness,
            outages,
            short_intervals: self.short.finish(self.measured_ns),
            open_loop: self.open_loop.map(|sum| sum.finish(due_before)),
            since_checkpoint: stretch
                .map(|stretch| stretch.into_totals(measured_s, fairness(since.iter().copied()))),
            latency_ns: whole.latency_ns,
        }
    }
}
