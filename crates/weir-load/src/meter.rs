//! Counts of a reactor, second by second, without allocation or locks on the way.
//!
//! Each reactor owns one [`IntervalFrame`]. When an interval ends, the full frame goes to the merger and
//! an empty one takes its place; the merger adds it up, clears and returns it. Intervals end at fixed
//! times on one clock that all reactors share, and a transaction belongs to the interval in which its
//! reply was read.

mod arrivals;
mod clock;
mod errors;
mod histogram_v2;
mod interval_frame;
mod kinds;
mod latency_histogram;
mod outages;
mod short_intervals;
mod timeline;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use crate::stamp::Stamp;
use weir_mysql::ServerError;

pub(crate) use arrivals::{Arrivals, Curve, RateChange};
pub(crate) use clock::Clock;
pub use errors::ErrorCount;
pub(crate) use errors::Errors;
pub(crate) use interval_frame::{ConnectionCounters, IntervalFrame, OpenLoopTally, ReporterEnd};
pub(crate) use kinds::{Kind, KindLatencies};
pub(crate) use latency_histogram::{add_histogram, new_histogram};
pub(crate) use outages::{Outage, join as join_outages};
pub(crate) use short_intervals::{SHORT_NS, SLOTS, ShortTallies, ShortTally};
pub(crate) use timeline::{Phase, Timeline};

/// Numbers of things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Transactions completed.
    pub transactions: u64,
    /// Statements completed; the sum of the three kinds.
    pub queries: u64,
    /// Statements that returned rows.
    pub reads: u64,
    /// Statements that changed rows.
    pub writes: u64,
    /// Other statements: begin, commit, rollback, and those that found nothing to change.
    pub others: u64,
    /// Tries that failed with a tolerated error.
    pub errors: u64,
    /// Connections that were made again.
    pub reconnects: u64,
}

impl Counts {
    /// Adds another interval's or reactor's counts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.transactions += other.transactions;
        self.queries += other.queries;
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
        self.errors += other.errors;
        self.reconnects += other.reconnects;
    }
}

/// Result of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// It returned rows.
    Read,
    /// It changed rows.
    Write,
    /// Neither.
    Other,
}

/// Times at which a transaction was due and was last tried; nanoseconds on the meter's clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TransactionTiming {
    /// Time at which its schedule wanted it; in a closed loop, when it was last tried.
    pub(crate) intended_start_ns: u64,
    /// Time at which the first request of its last attempt was sent.
    pub(crate) last_attempt_ns: u64,
}

/// A reactor's way to the merger: full frames go there, empty ones come back.
#[derive(Debug)]
pub(crate) struct FrameSender {
    /// Number among the reporters.
    pub(crate) reporter: u32,
    pub(crate) full: Sender<Box<IntervalFrame>>,
    pub(crate) empty: Receiver<Box<IntervalFrame>>,
}

/// A reactor's clock and counters.
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    timeline: Timeline<'a>,
    clock: Clock,
    now_ns: u64,
    /// Time at which the reply that is being counted came.
    reply_received_ns: u64,
    boundary_ns: u64,
    phase: Phase,
    frame: Box<IntervalFrame>,
    sender: FrameSender,
    /// Frames that wait for the connections' counters, and those behind them.
    #[allow(clippy::vec_box, reason = "they travel in their boxes")]
    held: Vec<Box<IntervalFrame>>,
    /// Transactions that may still be begun, shared by all reactors.
    budget: Option<&'a AtomicU64>,
    /// The schedule of an open loop.
    arrivals: Option<Arrivals>,
    /// Transactions under way.
    concurrency: u64,
    /// Connections that are lost, and since when at least one is.
    lost: u64,
    lost_since_ns: u64,
    /// True if tenths of a second are counted, too.
    counts_short: bool,
    /// Clock of the CPU time that is measured, if any.
    cpu: Option<ClockId>,
    /// CPU time at the begin of the interval.
    cpu_start_ns: u64,
}

impl<'a> Meter<'a> {
    /// A meter of the calling thread, whose CPU time it tells too.
    pub(crate) fn new(
        timeline: Timeline<'a>,
        clock: Clock,
        sender: FrameSender,
        budget: Option<&'a AtomicU64>,
        arrivals: Option<Arrivals>,
    ) -> Self {
        Self {
            timeline,
            clock,
            now_ns: 0,
            reply_received_ns: 0,
            boundary_ns: timeline.boundary_after(0),
            phase: timeline.phase_at(0),
            frame: Box::new(IntervalFrame {
                reporter: sender.reporter,
                ..IntervalFrame::new(arrivals.is_some())
            }),
            sender,
            held: Vec::new(),
            budget,
            arrivals,
            concurrency: 0,
            lost: 0,
            lost_since_ns: 0,
            counts_short: false,
            cpu: Some(ClockId::ThreadCPUTime),
            cpu_start_ns: cpu_ns(Some(ClockId::ThreadCPUTime)),
        }
    }

    /// The same meter, which counts tenths of a second as well if `counts_short`.
    pub(crate) fn with_short_intervals(self, counts_short: bool) -> Self {
        Self {
            counts_short,
            ..self
        }
    }

    /// The same meter for whichever thread has it; the first of several tells the CPU time of the process.
    pub(crate) fn of_process(self, is_first: bool) -> Self {
        let cpu = is_first.then_some(ClockId::ProcessCPUTime);
        Self {
            cpu,
            cpu_start_ns: cpu_ns(cpu),
            ..self
        }
    }

    /// Reads the clock: nanoseconds since the run began. Ends intervals whose time has come.
    pub(crate) fn now(&mut self) -> u64 {
        self.now_ns = self.clock.now_ns();
        while self.now_ns >= self.boundary_ns {
            self.end_interval(self.boundary_ns);
        }
        self.now_ns
    }

    /// Reads the clock for a reply that came to this machine then, or now if there is no stamp; when
    /// that was, nanoseconds since the run began. Its latencies end there: what it then waited for
    /// this thread is not the server's.
    pub(crate) fn reply_received(&mut self, came: Option<Stamp>) -> u64 {
        let age_ns = came.map_or(0, Stamp::age_ns);
        self.reply_received_ns = self.now().saturating_sub(age_ns);
        self.reply_received_ns
    }

    /// As [`Self::reply_received`], for a reply whose time was known before it came.
    pub(crate) fn reply_received_at(&mut self, at_ns: u64) {
        self.reply_received_ns = self.now().min(at_ns);
    }

    /// Returns the time at which the last reply came.
    pub(crate) fn reply_received_ns(&self) -> u64 {
        self.reply_received_ns
    }

    /// The clock as it was last read.
    pub(crate) fn last_now(&self) -> u64 {
        self.now_ns
    }

    /// Returns the end of the current interval; `u64::MAX` after the measurement.
    pub(crate) fn boundary_ns(&self) -> u64 {
        self.boundary_ns
    }

    /// Returns true if transactions are due at times of their own, not when a connection is free.
    pub(crate) fn has_schedule(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Returns the phase of the run.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns true if another transaction may begin; one that is tried again has its permission
    /// already.
    pub(crate) fn may_begin(&self, is_retry: bool) -> bool {
        if self.phase == Phase::Drain {
            return false;
        }
        match self.budget {
            Some(budget) if !is_retry => budget
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                    left.checked_sub(1)
                })
                .is_ok(),
            _ => true,
        }
    }

    /// The next transaction for a connection that is free: when it is due, which in a closed loop
    /// is now. Nothing if there are to be no more.
    pub(crate) fn claim(&mut self) -> Option<u64> {
        if !self.may_begin(false) {
            return None;
        }
        Some(self.arrivals.as_mut().map_or(self.now_ns, Arrivals::take))
    }

    /// Counts a transaction that begins, due as told by [`Self::claim`].
    pub(crate) fn begin(&mut self, due_ns: u64, waited: bool) -> TransactionTiming {
        self.concurrency += 1;
        if let Some(tally) = &mut self.frame.open_loop {
            tally
                .lag_ns
                .saturating_record(self.now_ns.saturating_sub(due_ns));
            tally.waited += u64::from(waited);
        }
        TransactionTiming {
            intended_start_ns: due_ns,
            last_attempt_ns: self.now_ns,
        }
    }

    /// The timing of a transaction that is tried again. In a closed loop that is a new one, unless it
    /// keeps its start.
    pub(crate) fn retry(&self, timing: TransactionTiming, keeps_start: bool) -> TransactionTiming {
        TransactionTiming {
            intended_start_ns: if keeps_start || self.arrivals.is_some() {
                timing.intended_start_ns
            } else {
                self.now_ns
            },
            last_attempt_ns: self.now_ns,
        }
    }

    /// Counts a connection that was lost.
    pub(crate) fn lose(&mut self) {
        if self.lost == 0 {
            self.lost_since_ns = self.now_ns;
        }
        self.lost += 1;
    }

    /// Counts a connection that was made again without having been lost.
    pub(crate) fn renewed(&mut self) {
        self.frame.counts.reconnects += 1;
    }

    /// Counts a connection that is back.
    pub(crate) fn regain(&mut self) {
        self.renewed();
        self.lost -= 1;
        if self.lost == 0 {
            self.end_outage(self.now_ns);
        }
    }

    fn end_outage(&mut self, to_ns: u64) {
        self.frame.outages.push(Outage {
            from_ns: self.lost_since_ns,
            to_ns,
        });
    }

    /// Counts a transaction that was given up.
    pub(crate) fn give_up(&mut self) {
        self.concurrency -= 1;
    }

    /// Permits further transactions beyond the one that [`Self::may_begin`] allowed, `most` at
    /// most; how many.
    pub(crate) fn permit_more(&self, most: u64) -> u64 {
        let Some(budget) = self.budget else {
            return most;
        };
        let before = budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
            Some(left.saturating_sub(most))
        });
        before.unwrap_or(0).min(most)
    }

    /// Gives permissions back that were not used.
    pub(crate) fn return_permits(&self, unused: u64) {
        if let Some(budget) = self.budget.filter(|_| unused > 0) {
            budget.fetch_add(unused, Ordering::Relaxed);
        }
    }

    /// Counts a completed statement.
    pub(crate) fn query(&mut self, kind: QueryKind) {
        let counts = &mut self.frame.counts;
        counts.queries += 1;
        match kind {
            QueryKind::Read => counts.reads += 1,
            QueryKind::Write => counts.writes += 1,
            QueryKind::Other => counts.others += 1,
        }
        if let Some(at_ns) = self.short_at_ns() {
            self.frame.short.statement(at_ns);
        }
    }

    /// Notes the latency of something that has just been completed.
    pub(crate) fn completed(&mut self, kind: Kind, since_ns: u64) {
        let latency_ns = self.reply_received_ns.saturating_sub(since_ns);
        self.frame.kinds.record(kind, latency_ns);
    }

    /// Counts transactions that were completed by one reply and have one latency together.
    pub(crate) fn transactions(&mut self, count: u64, timing: TransactionTiming) {
        let latency_ns = self
            .reply_received_ns
            .saturating_sub(timing.intended_start_ns);
        self.concurrency -= 1;
        if let Some(tally) = &mut self.frame.open_loop {
            tally.service_ns.saturating_record(
                self.reply_received_ns
                    .saturating_sub(timing.last_attempt_ns),
            );
        }
        self.frame.counts.transactions += count;
        self.frame.latency_ns.saturating_record(latency_ns);
        self.frame.latency_ns_sum += latency_ns;
        if let Some(at_ns) = self.short_at_ns() {
            self.frame.short.transactions(at_ns, count, latency_ns);
        }
    }

    /// Returns the time at which the last reply came, since the beginning of the measurement, if tenths of a second
    /// are counted.
    fn short_at_ns(&self) -> Option<u64> {
        if !self.counts_short || self.phase != Phase::Measure {
            return None;
        }
        self.reply_received_ns.checked_sub(self.timeline.measure_ns)
    }

    /// Adds what was counted elsewhere.
    pub(crate) fn add(&mut self, counts: &Counts) {
        self.frame.counts.add(counts);
    }

    /// Counts a transaction that has no latency.
    pub(crate) fn count_transaction(&mut self) {
        self.frame.counts.transactions += 1;
    }

    /// Counts a try that failed with a tolerated error.
    pub(crate) fn failed_try(&mut self, error: &ServerError) {
        self.frame.counts.errors += 1;
        self.frame.errors.count(error, self.now_ns);
    }

    /// Sends the frames that wait for the `connections`' counters.
    pub(crate) fn deliver<I: Iterator<Item = ConnectionCounters>>(
        &mut self,
        connections: impl Fn() -> I,
    ) {
        for mut frame in self.held.drain(..) {
            if self.timeline.is_checkpoint(frame.to_ns) {
                frame.connections = Some(connections().collect());
            }
            // Without a merger the numbers are not wanted any more.
            let _ = self.sender.full.send(frame);
        }
    }

    /// Ends the measurement now, if it has not ended.
    pub(crate) fn cut(&mut self) {
        if self.phase != Phase::Drain {
            self.now();
        }
        if self.phase != Phase::Drain {
            self.timeline.measure_ns = self.timeline.measure_ns.min(self.now_ns);
            self.timeline.end_ns = self.now_ns;
            self.end_interval(self.now_ns);
        }
    }

    /// Ends the run, and says how.
    pub(crate) fn finish(mut self, end: ReporterEnd) {
        self.cut();
        self.deliver(|| end.connections.iter().copied());
        self.frame.end = Some(end);
        self.end_interval(self.now_ns);
    }

    fn end_interval(&mut self, at_ns: u64) {
        let frame = &mut self.frame;
        frame.phase = self.phase;
        frame.to_ns = at_ns;
        frame.concurrency = self.concurrency;
        let cpu_ns = cpu_ns(self.cpu);
        frame.cpu_ns = cpu_ns.saturating_sub(self.cpu_start_ns);
        self.cpu_start_ns = cpu_ns;
        if let (Some(tally), Some(arrivals)) = (&mut frame.open_loop, &mut self.arrivals) {
            (tally.due, tally.queue_length) = arrivals.until(at_ns);
        }
        if self.lost > 0 && self.phase == Phase::Measure && at_ns >= self.timeline.end_ns {
            // Some connection was not back at the end of the measurement.
            self.end_outage(at_ns);
        }
        // The merger is rarely late; when it is, a new frame is made rather than waited for.
        let mut next = self
            .sender
            .empty
            .try_recv()
            .unwrap_or_else(|_| Box::new(IntervalFrame::new(self.arrivals.is_some())));
        next.reporter = self.sender.reporter;
        next.index = self.frame.index + 1;
        next.from_ns = at_ns;
        let full = std::mem::replace(&mut self.frame, next);
        if self.timeline.is_checkpoint(at_ns) || !self.held.is_empty() {
            self.held.push(full);
        } else {
            // Without a merger the numbers are not wanted any more.
            let _ = self.sender.full.send(full);
        }
        self.boundary_ns = self.timeline.boundary_after(at_ns);
        self.phase = self.timeline.phase_at(at_ns);
    }
}

/// CPU time by this clock, nanoseconds.
fn cpu_ns(clock: Option<ClockId>) -> u64 {
    clock.map_or(0, |clock| {
        let time = clock_gettime(clock);
        time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
    })
}

#[cfg(test)]
mod tests;
