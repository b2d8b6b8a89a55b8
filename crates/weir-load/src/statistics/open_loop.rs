//! Adherence to the schedule of an open loop.

use serde::{Deserialize, Serialize};
use weir_model::LatencySummary;

use super::{Latencies, LoadOutcome, summary};
use crate::meter::{OpenLoopTally, add_histogram, new_histogram};

/// Share of the due transactions that may wait at the end before it is worth a word.
const QUEUE_SHARE_MAX: f64 = 0.01;
/// A reactor that uses this share of its core has no time to keep a schedule.
const BUSY_SHARE: f64 = 0.9;
/// Lag of the load generator itself that is worth a word, microseconds.
const OWN_LAG_US_MAX: f64 = 1_000.0;

/// Adherence to the schedule of an open loop within the measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenLoop {
    /// Transactions that became due.
    pub due: u64,
    /// Of all that had become due, those that still waited for a connection at the end; they are
    /// in no latency.
    pub queue_length: u64,
    /// Transactions that waited for a connection, because all were busy when they were due.
    pub waited: u64,
    /// Time from the last try's first request to the last reply.
    pub service: LatencySummary,
    /// Time from when a transaction was due to its first request.
    pub lag: LatencySummary,
}

/// Tallies of several reporters or intervals.
#[derive(Debug, Clone)]
pub(super) struct OpenLoopSum {
    pub(super) service_ns: Latencies,
    pub(super) lag_ns: Latencies,
    waited: u64,
    due: u64,
    queue_length: u64,
}

impl OpenLoopSum {
    pub(super) fn new() -> Self {
        Self {
            service_ns: Latencies(new_histogram()),
            lag_ns: Latencies(new_histogram()),
            waited: 0,
            due: 0,
            queue_length: 0,
        }
    }

    /// Adds another reporter's tally of the same interval.
    pub(super) fn add(&mut self, tally: &OpenLoopTally) {
        add_histogram(&mut self.service_ns.0, &tally.service_ns);
        add_histogram(&mut self.lag_ns.0, &tally.lag_ns);
        self.waited += tally.waited;
        self.due += tally.due;
        self.queue_length += tally.queue_length;
    }

    /// Adds an earlier interval.
    pub(super) fn prepend(&mut self, before: &Self) {
        add_histogram(&mut self.service_ns.0, &before.service_ns.0);
        add_histogram(&mut self.lag_ns.0, &before.lag_ns.0);
        self.waited += before.waited;
    }

    /// Adds a later interval. Positions in the schedule are those of the last, not sums.
    pub(super) fn append(&mut self, after: &Self) {
        self.prepend(after);
        if after.due > 0 {
            (self.due, self.queue_length) = (after.due, after.queue_length);
        }
    }

    /// Transactions that had become due, and those of them that waited.
    pub(super) fn positions(&self) -> (u64, u64) {
        (self.due, self.queue_length)
    }

    /// Keeps what was counted and forgets where in the schedule that was.
    pub(super) fn forget_positions(&mut self) {
        (self.due, self.queue_length) = (0, 0);
    }

    pub(super) fn finish(self, due_before: u64) -> OpenLoop {
        let of = |latencies: &Latencies| {
            let histogram = &latencies.0;
            let sum_ns = histogram.mean() * histogram.len() as f64;
            summary(histogram, sum_ns as u64)
        };
        OpenLoop {
            due: self.due.saturating_sub(due_before),
            queue_length: self.queue_length,
            waited: self.waited,
            service: of(&self.service_ns),
            lag: of(&self.lag_ns),
        }
    }
}

impl LoadOutcome {
    /// A sentence about a load generator that was itself the limit of a closed loop; nothing if it
    /// was not.
    pub fn client_note(&self) -> Option<String> {
        let utilization = self.client_utilization();
        (self.open_loop.is_none() && utilization >= BUSY_SHARE).then(|| {
            format!(
                "client-limited: a reactor was busy for {:.0} % of the time, so that the server could \
                 have done more; use more --reactors",
                utilization * 100.0
            )
        })
    }

    /// A sentence about a schedule that was not kept, and what to do; nothing if it was, or in a
    /// closed loop.
    pub fn schedule_note(&self) -> Option<String> {
        let open_loop = self.open_loop.as_ref()?;
        let utilization = self.client_utilization();
        let is_busy = utilization >= BUSY_SHARE;
        let queue_max = (open_loop.due as f64 * QUEUE_SHARE_MAX).max(1.0);
        if open_loop.queue_length as f64 > queue_max {
            let why = if is_busy {
                format!(
                    "the load generator itself was busy for {:.0} % of the time; use more --reactors",
                    utilization * 100.0
                )
            } else {
                "all connections were busy; use more --threads, unless the server is at its limit"
                    .to_owned()
            };
            return Some(format!(
                "the schedule was not kept: of {} transactions that were due, {} were done and {} \
                 still waited at the end, in no latency above; {why}",
                open_loop.due, self.counts.transactions, open_loop.queue_length
            ));
        }
        // Lag of transactions that did not wait for a connection is the engine's own.
        let is_own = open_loop.waited * 100 < self.counts.transactions;
        if is_own && open_loop.lag.us_p99 > OWN_LAG_US_MAX {
            return Some(format!(
                "1 % of the transactions began {:.1} ms late or more although a connection was \
                 free: the load generator was not given its core in time",
                open_loop.lag.us_p99 / 1e3
            ));
        }
        None
    }
}
