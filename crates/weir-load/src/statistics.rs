//! From frames to what a run reports.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use serde::{Deserialize, Serialize};
use weir_model::{IntervalRecord, KindLatency, LatencySummary, ShortInterval};

pub use weir_model::Outage;

mod kinds;
mod merger;
mod open_loop;
mod sample;
mod short_series;
mod totals;

use crate::completion::{Completion, LoadEnd};
use crate::reactor_kind::ReactorKind;
pub(crate) use kinds::KindNames;
pub(crate) use merger::{ClosedPeriod, Merger};
pub use open_loop::OpenLoop;
use open_loop::OpenLoopSum;
pub use sample::outcome_of;
pub use totals::Totals;

use crate::meter::{ConnectionCounters, Counts, ErrorCount, Kind, KindLatencies, new_histogram};

/// Latencies in nanoseconds; printed as how many they are, not as tens of thousands of counters.
#[derive(Clone)]
struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        Self(new_histogram())
    }
}

impl fmt::Debug for Latencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Latencies({})", self.0.len())
    }
}

/// One interval of a run, all reactors together.
#[derive(Debug, Clone)]
pub struct Interval {
    /// Throughput and latency.
    pub record: IntervalRecord,
    /// Connections that were made again.
    pub reconnects: u64,
    /// Transactions under way at its end.
    pub concurrency: u64,
    /// Transactions that were due at its end and waited for a connection; 0 in a closed loop.
    pub queue_length: u64,
    /// Tolerated errors by code, the most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Reporters that had not reported when it was closed; what they counted is in the totals only.
    pub missing_reporters: u32,
    latency_ns: Latencies,
    kinds: KindLatencies,
    names: Arc<KindNames>,
    open_loop: Option<OpenLoopSum>,
}

impl Interval {
    /// A percentile (0 to 100) of the transactions' latency, microseconds; 0 with none.
    pub fn latency_us(&self, percentile: f64) -> f64 {
        quantile_us(&self.latency_ns.0, percentile / 100.0)
    }

    /// Latencies of all transactions, nanoseconds.
    pub(crate) fn histogram_ns(&self) -> &Histogram<u64> {
        &self.latency_ns.0
    }

    /// Latencies of the kinds that occurred, nanoseconds.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = (Kind, &str, &Histogram<u64>)> {
        self.names.occurred(&self.kinds)
    }

    /// A percentile of the time from a transaction's first request to its last reply,
    /// microseconds.
    pub fn service_us(&self, percentile: f64) -> f64 {
        match &self.open_loop {
            Some(sum) => quantile_us(&sum.service_ns.0, percentile / 100.0),
            None => self.latency_us(percentile),
        }
    }

    /// A percentile of the time from when a transaction was due to its first request,
    /// microseconds; 0 in a closed loop.
    pub fn lag_us(&self, percentile: f64) -> f64 {
        let lag = |sum: &OpenLoopSum| quantile_us(&sum.lag_ns.0, percentile / 100.0);
        self.open_loop.as_ref().map_or(0.0, lag)
    }
}

/// Measurements of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoadOutcome {
    /// Counts within the measurement.
    pub counts: Counts,
    /// Counts from first to last, warm-up and the end's stragglers included.
    pub counts_whole_run: Counts,
    /// The errors among them by code, the most frequent first.
    pub errors: Vec<ErrorCount>,
    /// Begin of the measurement, also if its intervals came later.
    #[serde(skip)]
    pub measured_from: Option<Instant>,
    /// Length of the measurement, seconds.
    pub measured_s: f64,
    /// Latency of transactions.
    pub latency: LatencySummary,
    /// Sum of the transactions' latencies, seconds.
    pub latency_s_sum: f64,
    /// The latencies: HdrHistogram V2, microseconds, three significant digits.
    #[serde(skip)]
    pub histogram: Vec<u8>,
    /// Latency by kind of transaction and by statement: those that occurred.
    pub kinds: Vec<KindLatency>,
    /// CPU time of each reactor thread within the measurement, seconds.
    pub client_cpu_s: Vec<f64>,
    /// Kind of each reactor.
    pub reactors: Vec<ReactorKind>,
    /// True if the kernel let all reactors run under `SCHED_BATCH`.
    pub batch_scheduling: bool,
    /// Connections whose last transaction did not complete within 3 s of the end.
    pub unfinished: u64,
    /// Reports of intervals that came when these were closed: they are in the totals only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late_frames: u64,
    /// Idle connections that were still there at the end.
    pub idle_connections: u64,
    /// Connections that loaded the server.
    pub connections: u64,
    /// The longest time for which a reactor stood still within the load, seconds.
    pub standstill_s: f64,
    /// Length of the measurement of the reactor that ended first, seconds.
    #[serde(skip)]
    pub(crate) measured_s_least: f64,
    /// Quantities as asked for and as done; `None` until the load is over.
    pub completion: Option<Completion>,
    /// Evenness of service among connections.
    pub fairness: Fairness,
    /// Times within the measurement during which connections were lost.
    pub outages: Vec<Outage>,
    /// Tenths of a second of the measurement, if the plan asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_intervals: Vec<ShortInterval>,
    /// Adherence to the schedule, if there was one; `latency` then counts from when transactions
    /// were due.
    pub open_loop: Option<OpenLoop>,
    /// Totals since the last checkpoint, if there was one.
    #[serde(skip)]
    pub since_checkpoint: Option<Totals>,
    #[serde(skip)]
    latency_ns: Latencies,
}

impl LoadOutcome {
    /// A percentile (0 to 100) of the transactions' latency, microseconds; 0 with none.
    pub fn latency_us(&self, percentile: f64) -> f64 {
        quantile_us(&self.latency_ns.0, percentile / 100.0)
    }

    /// Share of the measurement for which the busiest reactor used its core, 0 to 1.
    pub fn client_utilization(&self) -> f64 {
        if self.measured_s > 0.0 {
            self.client_cpu_s.iter().copied().fold(0.0, f64::max) / self.measured_s
        } else {
            0.0
        }
    }

    /// Returns the reason that the load ended.
    pub fn end(&self) -> Option<LoadEnd> {
        self.completion.as_ref().map(|completion| completion.end)
    }

    /// CPU time of the reactors for each query, microseconds.
    pub fn client_cpu_us_per_query(&self) -> f64 {
        let cpu_s: f64 = self.client_cpu_s.iter().sum();
        cpu_s * 1e6 / self.counts.queries.max(1) as f64
    }

    /// A sentence about intervals that were closed before all was known of them; nothing if none was.
    pub fn lateness_note(&self) -> Option<String> {
        (self.late_frames > 0).then(|| {
            format!(
                "{} reports of an interval came after it was closed: they are in the totals, but not in the \
                 lines of the intervals; the load engine was not given its cores in time",
                self.late_frames
            )
        })
    }

    /// The totals of the whole measurement.
    pub fn totals(&self) -> Totals {
        Totals {
            counts: self.counts,
            elapsed_s: self.measured_s,
            length_s: self.measured_s,
            latency: self.latency,
            latency_s_sum: self.latency_s_sum,
            fairness: self.fairness,
            latency_ns: self.latency_ns.clone(),
        }
    }
}

/// Evenness of service among connections within the measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Transactions per connection, mean.
    pub transactions_mean: f64,
    /// The same, standard deviation.
    pub transactions_deviation: f64,
    /// Time within transactions per connection, mean, seconds.
    pub busy_s_mean: f64,
    /// The same, standard deviation.
    pub busy_s_deviation: f64,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Fairness over all connections.
fn fairness(connections: impl Iterator<Item = ConnectionCounters> + Clone) -> Fairness {
    let transactions = connections
        .clone()
        .map(|counters| counters.transactions as f64);
    let busy_s = connections.map(|counters| counters.busy_ns as f64 / 1e9);
    let (transactions_mean, transactions_deviation) = mean_and_deviation(transactions);
    let (busy_s_mean, busy_s_deviation) = mean_and_deviation(busy_s);
    Fairness {
        transactions_mean,
        transactions_deviation,
        busy_s_mean,
        busy_s_deviation,
    }
}

/// Mean and population standard deviation.
fn mean_and_deviation(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    let mean = values.clone().sum::<f64>() / count;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// A quantile in microseconds; 0 without values.
fn quantile_us(latency_ns: &Histogram<u64>, quantile: f64) -> f64 {
    if latency_ns.is_empty() {
        return 0.0;
    }
    // The value stands for the top of its bucket, which may lie above all that was recorded.
    latency_ns.value_at_quantile(quantile).min(latency_ns.max()) as f64 / 1e3
}

pub(crate) fn summary(latency_ns: &Histogram<u64>, latency_ns_sum: u64) -> LatencySummary {
    if latency_ns.is_empty() {
        return LatencySummary::default();
    }
    LatencySummary {
        us_min: latency_ns.min() as f64 / 1e3,
        us_mean: latency_ns_sum as f64 / latency_ns.len() as f64 / 1e3,
        us_p50: quantile_us(latency_ns, 0.5),
        us_p95: quantile_us(latency_ns, 0.95),
        us_p99: quantile_us(latency_ns, 0.99),
        us_p999: quantile_us(latency_ns, 0.999),
        us_max: quantile_us(latency_ns, 1.0),
    }
}

/// The histogram in microseconds, as `HdrHistogram` V2.
pub(crate) fn serialize_us(latency_ns: &Histogram<u64>) -> Vec<u8> {
    let mut latency_us = new_histogram();
    for value in latency_ns.iter_recorded() {
        let ns = latency_ns.median_equivalent(value.value_iterated_to());
        let us = (ns + 500) / 1_000;
        latency_us.saturating_record_n(us, value.count_at_value());
    }
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&latency_us, &mut bytes)
        .expect("invariant: a histogram of three digits serialises into memory");
    bytes
}

#[cfg(test)]
mod tests;
