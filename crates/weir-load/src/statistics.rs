//! From tallies to what a run reports.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2Serializer};
use serde::Serialize;
use weir_model::{IntervalRecord, KindLatency, LatencySummary};

mod kinds;
mod open_loop;
mod totals;

use crate::driver::Share;
use crate::reactor::ReactorKind;
pub(crate) use kinds::KindNames;
pub use open_loop::OpenLoop;
use open_loop::PaceSum;
use totals::Sums;
pub use totals::Totals;

use crate::meter::{
    self, Counts, ErrorCount, Errors, Kind, KindLatencies, Phase, Tally, Timeline, add_histogram,
    join_outages, new_histogram,
};

/// Latencies in nanoseconds; printed as how many they are, not as tens of thousands of counters.
#[derive(Clone)]
struct Latencies(Histogram<u64>);

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
    latency_ns: Latencies,
    kinds: KindLatencies,
    names: Arc<KindNames>,
    pace: Option<PaceSum>,
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
        match &self.pace {
            Some(pace) => quantile_us(&pace.service_ns.0, percentile / 100.0),
            None => self.latency_us(percentile),
        }
    }

    /// A percentile of the time from when a transaction was due to its first request,
    /// microseconds; 0 in a closed loop.
    pub fn lag_us(&self, percentile: f64) -> f64 {
        let lag = |pace: &PaceSum| quantile_us(&pace.lag_ns.0, percentile / 100.0);
        self.pace.as_ref().map_or(0.0, lag)
    }
}

/// What a run measured.
#[derive(Debug, Clone, Serialize)]
pub struct LoadOutcome {
    /// What was completed within the measurement.
    pub counts: Counts,
    /// What was completed from first to last, warm-up and the end's stragglers included.
    pub counts_whole_run: Counts,
    /// The errors among them by code, the most frequent first.
    pub errors: Vec<ErrorCount>,
    /// When the measurement began, whenever its intervals were told.
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
    /// What each reactor ran on.
    pub reactors: Vec<ReactorKind>,
    /// Whether the kernel let all reactors run under `SCHED_BATCH`.
    pub batch_scheduling: bool,
    /// Connections whose last transaction did not complete within 3 s of the end.
    pub unfinished: u64,
    /// Idle connections that were still there at the end.
    pub idle_connections: u64,
    /// The caller stopped it.
    pub stopped_early: bool,
    /// How evenly the connections were served.
    pub fairness: Fairness,
    /// Times within the measurement during which connections were lost.
    pub outages: Vec<Outage>,
    /// How the schedule was kept, if there was one; `latency` then counts from when transactions
    /// were due.
    pub open_loop: Option<OpenLoop>,
    /// What was completed since the last checkpoint, if there was one.
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

    /// CPU time of the reactors for each query, microseconds.
    pub fn client_cpu_us_per_query(&self) -> f64 {
        let cpu_s: f64 = self.client_cpu_s.iter().sum();
        cpu_s * 1e6 / self.counts.queries.max(1) as f64
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

/// A time from the first connection lost to the last one back, or to the end of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outage {
    /// Seconds since the measurement began; below 0 within the warm-up.
    pub from_s: f64,
    /// Its length, seconds.
    pub length_s: f64,
}

/// How evenly connections were served within the measurement.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
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

/// Fairness over all connections.
pub(crate) fn fairness(shares: impl Iterator<Item = Share> + Clone) -> Fairness {
    let transactions = shares.clone().map(|share| share.transactions as f64);
    let busy_s = shares.map(|share| share.busy_ns as f64 / 1e9);
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

/// Merges tallies into intervals and a whole.
#[derive(Debug)]
pub(crate) struct Merger<'a> {
    timeline: Timeline<'a>,
    interval: Option<IntervalSum>,
    whole: Sums,
    /// Since the last checkpoint; only if there are checkpoints.
    stretch: Option<Sums>,
    kinds: KindLatencies,
    names: Arc<KindNames>,
    counts_whole_run: Counts,
    errors: Errors,
    outages: Vec<meter::Outage>,
    measured_ns: u64,
    pace: Option<PaceSum>,
    /// Transactions that were due before the measurement.
    due_before: u64,
}

#[derive(Debug)]
struct IntervalSum {
    phase: Phase,
    from_ns: u64,
    to_ns: u64,
    counts: Counts,
    latency_ns: Histogram<u64>,
    kinds: KindLatencies,
    concurrency: u64,
    pace: Option<PaceSum>,
}

impl IntervalSum {
    /// Forgets what holds for the end of an interval only: this was a checkpoint within it.
    fn pause(&mut self) {
        self.concurrency = 0;
        if let Some(pace) = &mut self.pace {
            (pace.due, pace.queue_length) = (0, 0);
        }
    }
}

impl<'a> Merger<'a> {
    pub(crate) fn new(timeline: Timeline<'a>, names: KindNames) -> Self {
        let stretch = (!timeline.checkpoints.is_empty()).then(|| Sums::new(0.0));
        Self {
            timeline,
            interval: None,
            whole: Sums::new(0.0),
            stretch,
            kinds: KindLatencies::default(),
            names: Arc::new(names),
            counts_whole_run: Counts::default(),
            errors: Errors::default(),
            outages: Vec::new(),
            measured_ns: 0,
            pace: None,
            due_before: 0,
        }
    }

    /// Adds one reactor's tally of the interval that is being merged.
    pub(crate) fn add(&mut self, tally: &Tally) {
        self.counts_whole_run.add(&tally.counts);
        if tally.phase == Phase::Drain {
            return;
        }
        if tally.phase == Phase::Measure {
            self.whole.add(tally);
            if let Some(stretch) = &mut self.stretch {
                stretch.add(tally);
            }
            self.errors.add(&tally.errors);
            self.outages.extend(&tally.outages);
            self.kinds.add(&tally.kinds);
            if let Some(pace) = &tally.pace {
                self.pace.get_or_insert_with(PaceSum::new).add(pace);
            }
            let measured_ns = tally.to_ns.saturating_sub(self.timeline.measure_ns);
            self.measured_ns = self.measured_ns.max(measured_ns);
        }
        let interval = self.interval.get_or_insert_with(|| IntervalSum {
            phase: tally.phase,
            from_ns: tally.from_ns,
            to_ns: tally.to_ns,
            counts: Counts::default(),
            latency_ns: new_histogram(),
            kinds: KindLatencies::default(),
            concurrency: 0,
            pace: None,
        });
        interval.concurrency += tally.concurrency;
        if let Some(pace) = &tally.pace {
            interval.pace.get_or_insert_with(PaceSum::new).add(pace);
        }
        interval.to_ns = interval.to_ns.max(tally.to_ns);
        interval.counts.add(&tally.counts);
        add_histogram(&mut interval.latency_ns, &tally.latency);
        interval.kinds.add(&tally.kinds);
    }

    /// Whether what was merged ends at a checkpoint.
    pub(crate) fn is_at_checkpoint(&self) -> bool {
        let sum = self.interval.as_ref();
        sum.is_some_and(|sum| self.timeline.is_checkpoint(sum.to_ns))
    }

    /// The totals since the last checkpoint, and the end of their stretch.
    pub(crate) fn end_stretch(&mut self, fairness: Fairness) -> Option<Totals> {
        let elapsed_s = self.measured_ns as f64 / 1e9;
        let sums = self.stretch.replace(Sums::new(elapsed_s))?;
        Some(sums.into_totals(elapsed_s, fairness))
    }

    /// The interval that was merged, if one has ended.
    pub(crate) fn end_interval(&mut self) -> Option<Interval> {
        let mut sum = self.interval.take()?;
        if self.timeline.is_within_interval(sum.to_ns) {
            sum.pause();
            self.interval = Some(sum);
            return None;
        }
        let (due, queue_length) = sum
            .pace
            .as_ref()
            .map_or((0, 0), |pace| (pace.due, pace.queue_length));
        if sum.phase == Phase::Warmup {
            self.due_before = due;
        } else if let Some(pace) = &mut self.pace {
            // Positions in the schedule, not sums over intervals.
            (pace.due, pace.queue_length) = (due, queue_length);
        }
        let from_ns = self.timeline.measure_ns as f64;
        let time_s = (sum.to_ns as f64 - from_ns) / 1e9;
        let latency_us = |quantile| quantile_us(&sum.latency_ns, quantile);
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
        Some(Interval {
            record,
            reconnects: sum.counts.reconnects,
            concurrency: sum.concurrency,
            queue_length,
            pace: sum.pace,
            latency_ns: Latencies(sum.latency_ns),
            kinds: sum.kinds,
            names: Arc::clone(&self.names),
        })
    }

    /// The whole measurement. What only the reactors know is left empty.
    pub(crate) fn finish(self) -> LoadOutcome {
        let measured_s = self.measured_ns as f64 / 1e9;
        let stretch = self.stretch.filter(|stretch| stretch.from_s > 0.0);
        let whole = self.whole.into_totals(measured_s, Fairness::default());
        let measure_ns = self.timeline.measure_ns as f64;
        let outages = join_outages(self.outages)
            .iter()
            .map(|outage| Outage {
                from_s: (outage.from_ns as f64 - measure_ns) / 1e9,
                length_s: (outage.to_ns - outage.from_ns) as f64 / 1e9,
            })
            .collect();
        let open_loop = self.pace.map(|pace| pace.finish(self.due_before));
        LoadOutcome {
            counts: whole.counts,
            counts_whole_run: self.counts_whole_run,
            errors: self.errors.into_sorted(),
            measured_s,
            latency: whole.latency,
            latency_s_sum: whole.latency_s_sum,
            histogram: serialize_us(&whole.latency_ns.0),
            kinds: kinds::summaries(&self.names, &self.kinds),
            client_cpu_s: Vec::new(),
            reactors: Vec::new(),
            batch_scheduling: false,
            unfinished: 0,
            idle_connections: 0,
            stopped_early: false,
            measured_from: None,
            fairness: whole.fairness,
            outages,
            open_loop,
            since_checkpoint: stretch
                .map(|stretch| stretch.into_totals(measured_s, Fairness::default())),
            latency_ns: whole.latency_ns,
        }
    }
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
fn serialize_us(latency_ns: &Histogram<u64>) -> Vec<u8> {
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
