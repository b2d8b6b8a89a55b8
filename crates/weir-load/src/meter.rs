//! What a reactor counts, second by second, without allocation or locks on the way.
//!
//! Each reactor owns one [`Tally`]. When an interval ends, the full tally goes to the coordinator
//! and an empty one takes its place; the coordinator merges, clears and returns it. Intervals end
//! at fixed times on one clock that all reactors share, and a transaction belongs to the interval
//! in which its reply was read.

mod arrivals;
mod clock;
mod errors;
mod kinds;
mod outages;
mod timeline;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

use crate::driver::Share;
use crate::stamp::Stamp;
use weir_mysql::ServerError;

pub(crate) use arrivals::{Arrivals, Curve};
pub(crate) use clock::Clock;
pub use errors::ErrorCount;
pub(crate) use errors::Errors;
pub(crate) use kinds::{Kind, KindLatencies};
pub(crate) use outages::{Outage, join as join_outages};
pub(crate) use timeline::{Phase, Timeline};

/// Longest latency that is told from longer ones: an hour.
const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

/// An empty histogram of nanoseconds with three significant digits.
pub(crate) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3)
        .expect("invariant: the bounds of the histogram are constants that it accepts")
}

/// Adds `part` to `sum`.
pub(crate) fn add_histogram(sum: &mut Histogram<u64>, part: &Histogram<u64>) {
    sum.add(part)
        .expect("invariant: all histograms of a run have the same bounds");
}

/// Numbers of things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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

/// What a statement turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryKind {
    /// It returned rows.
    Read,
    /// It changed rows.
    Write,
    /// Neither.
    Other,
}

/// When a transaction was due and was last tried; nanoseconds on the meter's clock.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Course {
    /// When its schedule wanted it; in a closed loop, when it was last tried.
    pub(crate) due_ns: u64,
    /// When the first request of its last try was sent.
    pub(crate) tried_ns: u64,
}

/// What only an open loop has.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Time from the last try to the reply, nanoseconds.
    pub(crate) service: Histogram<u64>,
    /// Time from when a transaction was due to when it was begun, nanoseconds.
    pub(crate) lag: Histogram<u64>,
    /// Transactions that found no free connection when they were due.
    pub(crate) waited: u64,
    /// Transactions that had become due by the end of the interval, since the run began.
    pub(crate) due: u64,
    /// Of these, those that waited at the end of the interval.
    pub(crate) queue_length: u64,
}

/// One reactor's numbers of one interval.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) phase: Phase,
    /// Nanoseconds since the run began.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) counts: Counts,
    /// Latency of transactions, nanoseconds.
    pub(crate) latency: Histogram<u64>,
    /// Exact sum of the same.
    pub(crate) latency_ns_sum: u64,
    /// Latencies by kind, nanoseconds.
    pub(crate) kinds: KindLatencies,
    /// Transactions under way at its end.
    pub(crate) concurrency: u64,
    pub(crate) pace: Option<Pace>,
    pub(crate) errors: Errors,
    /// Those that ended in it.
    pub(crate) outages: Vec<Outage>,
}

impl Tally {
    /// An empty tally; `is_open`: of an open loop.
    pub(crate) fn new(is_open: bool) -> Self {
        Self {
            phase: Phase::Warmup,
            from_ns: 0,
            to_ns: 0,
            counts: Counts::default(),
            latency: new_histogram(),
            latency_ns_sum: 0,
            kinds: KindLatencies::default(),
            concurrency: 0,
            errors: Errors::default(),
            outages: Vec::new(),
            pace: is_open.then(|| Pace {
                service: new_histogram(),
                lag: new_histogram(),
                waited: 0,
                due: 0,
                queue_length: 0,
            }),
        }
    }

    pub(crate) fn clear(&mut self) {
        self.counts = Counts::default();
        self.latency.reset();
        self.latency_ns_sum = 0;
        self.kinds.clear();
        self.errors.clear();
        self.outages.clear();
        if let Some(pace) = &mut self.pace {
            pace.service.reset();
            pace.lag.reset();
            pace.waited = 0;
        }
    }
}

/// A reactor's end of the exchange of tallies.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) full: Sender<Box<Tally>>,
    pub(crate) empty: Receiver<Box<Tally>>,
    /// At each checkpoint, each connection's part so far.
    pub(crate) shares: Sender<Vec<Share>>,
}

/// A reactor's clock and counters.
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    timeline: Timeline<'a>,
    clock: Clock,
    now_ns: u64,
    /// When the reply that is being counted came.
    heard_ns: u64,
    boundary_ns: u64,
    phase: Phase,
    tally: Box<Tally>,
    lane: Lane,
    /// Transactions that may still be begun, shared by all reactors.
    budget: Option<&'a AtomicU64>,
    /// The schedule of an open loop.
    arrivals: Option<Arrivals>,
    /// Transactions under way.
    concurrency: u64,
    /// Connections that are lost, and since when at least one is.
    lost: u64,
    lost_since_ns: u64,
    /// Checkpoints whose shares have not been delivered.
    checkpoints: u32,
    cpu_start_ns: u64,
    cpu_ns: u64,
}

impl<'a> Meter<'a> {
    /// A meter of the calling thread, whose CPU time it tells too.
    pub(crate) fn new(
        timeline: Timeline<'a>,
        clock: Clock,
        lane: Lane,
        budget: Option<&'a AtomicU64>,
        arrivals: Option<Arrivals>,
    ) -> Self {
        Self {
            timeline,
            clock,
            now_ns: 0,
            heard_ns: 0,
            boundary_ns: timeline.boundary_after(0),
            phase: timeline.phase_at(0),
            tally: Box::new(Tally::new(arrivals.is_some())),
            lane,
            budget,
            arrivals,
            concurrency: 0,
            lost: 0,
            lost_since_ns: 0,
            checkpoints: 0,
            cpu_start_ns: thread_cpu_ns(),
            cpu_ns: 0,
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

    /// Reads the clock for a reply that came to this machine then, or now if nobody knows; when
    /// that was, nanoseconds since the run began. Its latencies end there: what it then waited for
    /// this thread is not the server's.
    pub(crate) fn hear(&mut self, came: Option<Stamp>) -> u64 {
        let age_ns = came.map_or(0, Stamp::age_ns);
        self.heard_ns = self.now().saturating_sub(age_ns);
        self.heard_ns
    }

    /// As [`Self::hear`], for a reply whose time was known before it came.
    pub(crate) fn hear_at(&mut self, at_ns: u64) {
        self.heard_ns = self.now().min(at_ns);
    }

    /// When the last reply came.
    pub(crate) fn heard(&self) -> u64 {
        self.heard_ns
    }

    /// The clock as it was last read.
    pub(crate) fn last_now(&self) -> u64 {
        self.now_ns
    }

    /// When the current interval ends; `u64::MAX` after the measurement.
    pub(crate) fn boundary_ns(&self) -> u64 {
        self.boundary_ns
    }

    /// Whether transactions are due at times of their own, not when a connection is free.
    pub(crate) fn has_schedule(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Which part of the run this is.
    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether another transaction may begin; one that is tried again has its permission already.
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
    pub(crate) fn begin(&mut self, due_ns: u64, waited: bool) -> Course {
        self.concurrency += 1;
        if let Some(pace) = &mut self.tally.pace {
            pace.lag
                .saturating_record(self.now_ns.saturating_sub(due_ns));
            pace.waited += u64::from(waited);
        }
        Course {
            due_ns,
            tried_ns: self.now_ns,
        }
    }

    /// The course of a transaction that is tried again. In a closed loop that is a new one.
    pub(crate) fn retry(&self, course: Course) -> Course {
        Course {
            due_ns: if self.arrivals.is_some() {
                course.due_ns
            } else {
                self.now_ns
            },
            tried_ns: self.now_ns,
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
        self.tally.counts.reconnects += 1;
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
        self.tally.outages.push(Outage {
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
        let counts = &mut self.tally.counts;
        counts.queries += 1;
        match kind {
            QueryKind::Read => counts.reads += 1,
            QueryKind::Write => counts.writes += 1,
            QueryKind::Other => counts.others += 1,
        }
    }

    /// Notes the latency of something that has just been completed.
    pub(crate) fn completed(&mut self, kind: Kind, since_ns: u64) {
        let latency_ns = self.heard_ns.saturating_sub(since_ns);
        self.tally.kinds.record(kind, latency_ns);
    }

    /// Counts transactions that were completed by one reply and have one latency together.
    pub(crate) fn transactions(&mut self, count: u64, course: Course) {
        let latency_ns = self.heard_ns.saturating_sub(course.due_ns);
        self.concurrency -= 1;
        if let Some(pace) = &mut self.tally.pace {
            pace.service
                .saturating_record(self.heard_ns.saturating_sub(course.tried_ns));
        }
        self.tally.counts.transactions += count;
        self.tally.latency.saturating_record(latency_ns);
        self.tally.latency_ns_sum += latency_ns;
    }

    /// Counts a try that failed with a tolerated error.
    pub(crate) fn failed_try(&mut self, error: ServerError) {
        self.tally.counts.errors += 1;
        self.tally.errors.count(error, self.now_ns);
    }

    /// Delivers the connections' `shares` if a checkpoint has passed since the last call.
    pub(crate) fn deliver<I: Iterator<Item = Share>>(&mut self, shares: impl Fn() -> I) {
        for _ in 0..std::mem::take(&mut self.checkpoints) {
            // Without a coordinator nobody wants them any more.
            let _ = self.lane.shares.send(shares().collect());
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

    /// Ends the run; the thread's CPU time within the measurement, nanoseconds.
    pub(crate) fn finish(mut self) -> u64 {
        self.cut();
        self.end_interval(self.now_ns);
        self.cpu_ns
    }

    fn end_interval(&mut self, at_ns: u64) {
        self.tally.phase = self.phase;
        self.tally.to_ns = at_ns;
        if self.lost > 0 && self.phase == Phase::Measure && at_ns >= self.timeline.end_ns {
            // Some connection was not back at the end of the measurement.
            self.end_outage(at_ns);
        }
        self.tally.concurrency = self.concurrency;
        if let (Some(pace), Some(arrivals)) = (&mut self.tally.pace, &mut self.arrivals) {
            (pace.due, pace.queue_length) = arrivals.until(at_ns);
        }
        // The coordinator is rarely late; when it is, a new tally is made rather than waited for.
        let mut next = self
            .lane
            .empty
            .try_recv()
            .unwrap_or_else(|_| Box::new(Tally::new(self.arrivals.is_some())));
        next.from_ns = at_ns;
        let full = std::mem::replace(&mut self.tally, next);
        // Without a coordinator nobody wants the numbers any more.
        let _ = self.lane.full.send(full);
        self.checkpoints += u32::from(self.timeline.is_checkpoint(at_ns));
        self.boundary_ns = self.timeline.boundary_after(at_ns);
        self.enter(self.timeline.phase_at(at_ns));
    }

    fn enter(&mut self, phase: Phase) {
        if phase == self.phase {
            return;
        }
        match (self.phase, phase) {
            (Phase::Warmup, Phase::Measure) => self.cpu_start_ns = thread_cpu_ns(),
            (Phase::Measure, Phase::Drain) => {
                self.cpu_ns = thread_cpu_ns().saturating_sub(self.cpu_start_ns);
            }
            _ => {}
        }
        self.phase = phase;
    }
}

/// CPU time of the calling thread, nanoseconds.
fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests;
