//! Totals of a part of a measurement: from one checkpoint to the next, or all of it.

use hdrhistogram::Histogram;
use weir_model::LatencySummary;

use super::{Fairness, Latencies, quantile_us, summary};
use crate::meter::{Counts, add_histogram, new_histogram};

/// Totals of a part of a measurement.
#[derive(Debug, Clone)]
pub struct Totals {
    /// Counts of completions.
    pub counts: Counts,
    /// Time from the beginning of the measurement to the end of this part, seconds.
    pub elapsed_s: f64,
    /// Length of this part, seconds.
    pub length_s: f64,
    /// Latency of transactions.
    pub latency: LatencySummary,
    /// Sum of the transactions' latencies, seconds.
    pub latency_s_sum: f64,
    /// Evenness of service among connections.
    pub fairness: Fairness,
    pub(super) latency_ns: Latencies,
}

impl Totals {
    /// A percentile (0 to 100) of the transactions' latency, microseconds; 0 with none.
    pub fn latency_us(&self, percentile: f64) -> f64 {
        quantile_us(&self.latency_ns.0, percentile / 100.0)
    }

    /// Latencies and how often each occurred, microseconds, ascending.
    pub fn latencies_us(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let latency_ns = &self.latency_ns.0;
        latency_ns.iter_recorded().map(|value| {
            let ns = latency_ns.median_equivalent(value.value_iterated_to());
            (ns as f64 / 1e3, value.count_at_value())
        })
    }
}

/// Totals that are being summed.
#[derive(Debug)]
pub(super) struct Sums {
    /// Begin of this part, seconds since the beginning of the measurement.
    pub(super) from_s: f64,
    counts: Counts,
    latency_ns: Histogram<u64>,
    latency_ns_sum: u64,
}

impl Sums {
    pub(super) fn new(from_s: f64) -> Self {
        Self {
            from_s,
            counts: Counts::default(),
            latency_ns: new_histogram(),
            latency_ns_sum: 0,
        }
    }

    pub(super) fn add(
        &mut self,
        counts: &Counts,
        latency_ns: &Histogram<u64>,
        latency_ns_sum: u64,
    ) {
        self.counts.add(counts);
        add_histogram(&mut self.latency_ns, latency_ns);
        self.latency_ns_sum += latency_ns_sum;
    }

    /// Returns the totals at `elapsed_s` after the beginning of the measurement.
    pub(super) fn into_totals(self, elapsed_s: f64, fairness: Fairness) -> Totals {
        Totals {
            counts: self.counts,
            elapsed_s,
            length_s: elapsed_s - self.from_s,
            latency: summary(&self.latency_ns, self.latency_ns_sum),
            latency_s_sum: self.latency_ns_sum as f64 / 1e9,
            fairness,
            latency_ns: Latencies(self.latency_ns),
        }
    }
}
