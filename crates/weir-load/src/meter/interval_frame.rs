//! Counts of one reporter in one interval: the only thing that is known of it, and complete.
//!
//! A reporter is a reactor of this process today. A frame can be written down and read again, so that
//! a reporter on another host is merged no differently.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::{Counts, Errors, KindLatencies, Outage, Phase, ShortTallies, new_histogram};
use crate::reactor_kind::ReactorKind;

/// One connection's part in the measurement, so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ConnectionCounters {
    /// Transactions completed.
    pub(crate) transactions: u64,
    /// Sum of their latencies, nanoseconds.
    pub(crate) busy_ns: u64,
}

impl ConnectionCounters {
    /// Returns the counts since `before`, of the same connection.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            transactions: self.transactions.saturating_sub(before.transactions),
            busy_ns: self.busy_ns.saturating_sub(before.busy_ns),
        }
    }
}

/// Counts that only an open loop has.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct OpenLoopTally {
    /// Time from the last attempt to the reply, nanoseconds.
    #[serde(with = "super::histogram_v2")]
    pub(crate) service_ns: Histogram<u64>,
    /// Time from when a transaction was due to when it was begun, nanoseconds.
    #[serde(with = "super::histogram_v2")]
    pub(crate) lag_ns: Histogram<u64>,
    /// Transactions that found no free connection when they were due.
    pub(crate) waited: u64,
    /// Transactions that had become due by the end of the interval, since the run began.
    pub(crate) due: u64,
    /// Of these, those that waited at the end of the interval.
    pub(crate) queue_length: u64,
}

/// Ending of a reporter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReporterEnd {
    /// Counters of its connections, of the whole measurement.
    pub(crate) connections: Vec<ConnectionCounters>,
    /// Connections whose last transaction did not complete in time.
    pub(crate) unfinished: u64,
    /// True if the kernel let it run under `SCHED_BATCH`.
    pub(crate) batch_scheduling: bool,
    /// Kind of reactor that it ran on.
    pub(crate) reactor: ReactorKind,
    /// The longest time for which it stood still within the load, nanoseconds.
    pub(crate) standstill_ns: u64,
}

/// One reporter's numbers of one interval.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct IntervalFrame {
    /// Number of the reporter, from 0.
    pub(crate) reporter: u32,
    /// Number among this reporter's frames, from 0 and without gaps. Frames of one number are of one interval.
    pub(crate) index: u64,
    pub(crate) phase: Phase,
    /// Nanoseconds since the run began.
    pub(crate) from_ns: u64,
    pub(crate) to_ns: u64,
    pub(crate) counts: Counts,
    /// Latency of transactions.
    #[serde(with = "super::histogram_v2")]
    pub(crate) latency_ns: Histogram<u64>,
    /// Exact sum of the same.
    pub(crate) latency_ns_sum: u64,
    /// Latencies by kind.
    pub(crate) kinds: KindLatencies,
    /// Transactions under way at its end.
    pub(crate) concurrency: u64,
    pub(crate) open_loop: Option<OpenLoopTally>,
    pub(crate) errors: Errors,
    /// Those that ended in it.
    pub(crate) outages: Vec<Outage>,
    /// Tenths of a second, where these are counted.
    #[serde(default)]
    pub(crate) short: ShortTallies,
    /// CPU time that the reporter took in it.
    pub(crate) cpu_ns: u64,
    /// At a checkpoint, its connections' counters so far.
    pub(crate) connections: Option<Vec<ConnectionCounters>>,
    /// With the last frame.
    pub(crate) end: Option<ReporterEnd>,
}

impl IntervalFrame {
    /// An empty frame; `is_open`: of an open loop.
    pub(crate) fn new(is_open: bool) -> Self {
        Self {
            reporter: 0,
            index: 0,
            phase: Phase::Warmup,
            from_ns: 0,
            to_ns: 0,
            counts: Counts::default(),
            latency_ns: new_histogram(),
            latency_ns_sum: 0,
            kinds: KindLatencies::default(),
            concurrency: 0,
            errors: Errors::default(),
            outages: Vec::new(),
            short: ShortTallies::default(),
            cpu_ns: 0,
            connections: None,
            end: None,
            open_loop: is_open.then(|| OpenLoopTally {
                service_ns: new_histogram(),
                lag_ns: new_histogram(),
                waited: 0,
                due: 0,
                queue_length: 0,
            }),
        }
    }

    /// Forgets what was counted, but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.counts = Counts::default();
        self.latency_ns.reset();
        self.latency_ns_sum = 0;
        self.kinds.clear();
        self.errors.clear();
        self.outages.clear();
        self.short.clear();
        self.connections = None;
        self.end = None;
        if let Some(tally) = &mut self.open_loop {
            tally.service_ns.reset();
            tally.lag_ns.reset();
            tally.waited = 0;
        }
    }
}
