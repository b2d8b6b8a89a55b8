//! A run as OpenMetrics 1.0 text: counters of the measurement, gauges of the latest interval.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use weir_load::{Counts, Interval, LoadOutcome};

/// Values of the latest interval.
#[derive(Default)]
struct Latest {
    transactions_per_s: f64,
    queries_per_s: f64,
    latency_s_p50: f64,
    latency_s_p95: f64,
    latency_s_p99: f64,
    latency_s_max: f64,
    concurrency: u64,
    queue_length: u64,
}

/// A gauge with its value now.
struct Gauge {
    name: &'static str,
    unit: &'static str,
    help: &'static str,
    value: fn(&LoadMetrics) -> f64,
}

const GAUGES: [Gauge; 10] = [
    Gauge {
        name: "transactions_per_second",
        unit: "",
        help: "Transactions in the latest interval.",
        value: |metrics| metrics.latest.transactions_per_s,
    },
    Gauge {
        name: "queries_per_second",
        unit: "",
        help: "Statements in the latest interval.",
        value: |metrics| metrics.latest.queries_per_s,
    },
    Gauge {
        name: "latency_p50_seconds",
        unit: "seconds",
        help: "Median latency of transactions in the latest interval.",
        value: |metrics| metrics.latest.latency_s_p50,
    },
    Gauge {
        name: "latency_p95_seconds",
        unit: "seconds",
        help: "95th percentile of the latency in the latest interval.",
        value: |metrics| metrics.latest.latency_s_p95,
    },
    Gauge {
        name: "latency_p99_seconds",
        unit: "seconds",
        help: "99th percentile of the latency in the latest interval.",
        value: |metrics| metrics.latest.latency_s_p99,
    },
    Gauge {
        name: "latency_max_seconds",
        unit: "seconds",
        help: "Largest latency in the latest interval.",
        value: |metrics| metrics.latest.latency_s_max,
    },
    Gauge {
        name: "threads",
        unit: "",
        help: "Connections that load the server.",
        value: |metrics| f64::from(metrics.threads),
    },
    Gauge {
        name: "concurrency",
        unit: "",
        help: "Transactions under way at the end of the latest interval.",
        value: |metrics| metrics.latest.concurrency as f64,
    },
    Gauge {
        name: "queue_length",
        unit: "",
        help: "Transactions that were due and waited for a connection.",
        value: |metrics| metrics.latest.queue_length as f64,
    },
    Gauge {
        name: "measured_seconds",
        unit: "seconds",
        help: "Time since the measurement began.",
        value: |metrics| metrics.measured_s,
    },
];

/// Metrics of a run.
pub(super) struct LoadMetrics {
    /// `workload="oltp_read_write"`.
    label: String,
    threads: u32,
    counts: Counts,
    pub(super) errors: BTreeMap<u16, u64>,
    measured_s: f64,
    latest: Latest,
}

impl LoadMetrics {
    pub(super) fn new(workload: &str, threads: u32) -> Self {
        Self {
            label: format!("workload=\"{}\"", weir_serve::escaped(workload)),
            threads,
            counts: Counts::default(),
            errors: BTreeMap::new(),
            measured_s: 0.0,
            latest: Latest::default(),
        }
    }

    /// Takes an interval. Those of the warm-up set gauges only, as the report counts the measurement alone.
    pub(super) fn interval(&mut self, interval: &Interval) {
        let record = &interval.record;
        let per_s = |count: u64| count as f64 / record.length_s.max(f64::MIN_POSITIVE);
        self.latest = Latest {
            transactions_per_s: per_s(record.transactions),
            queries_per_s: per_s(record.queries),
            latency_s_p50: record.latency_us_p50 / 1e6,
            latency_s_p95: record.latency_us_p95 / 1e6,
            latency_s_p99: record.latency_us_p99 / 1e6,
            latency_s_max: record.latency_us_max / 1e6,
            concurrency: interval.concurrency,
            queue_length: interval.queue_length,
        };
        if record.time_s <= 0.0 {
            return;
        }
        self.measured_s = record.time_s;
        self.counts.transactions += record.transactions;
        self.counts.reads += record.reads;
        self.counts.writes += record.writes;
        self.counts.others += record.queries - record.reads - record.writes;
        self.counts.reconnects += interval.reconnects;
        for error in &interval.errors {
            *self.errors.entry(error.code).or_default() += error.count;
        }
    }

    /// Takes the totals of the report, which no counter is above.
    pub(super) fn complete(&mut self, outcome: &LoadOutcome) {
        self.counts = outcome.counts;
        self.measured_s = outcome.measured_s;
        let errors = outcome.errors.iter();
        self.errors = errors.map(|error| (error.code, error.count)).collect();
    }

    pub(super) fn exposition(&self) -> String {
        let mut out = String::new();
        let counts = &self.counts;
        let kinds = [
            ("read", counts.reads),
            ("write", counts.writes),
            ("other", counts.others),
        ];
        let kinds = kinds.map(|(kind, count)| (format!(",kind=\"{kind}\""), count));
        let errors = self.errors.iter();
        let errors = errors.map(|(code, count)| (format!(",code=\"{code}\""), *count));
        let one = |count| [(String::new(), count)];
        self.counter(
            &mut out,
            ("transactions", "Transactions of the measurement."),
            one(counts.transactions),
        );
        self.counter(
            &mut out,
            ("queries", "Statements of the measurement, by kind."),
            kinds,
        );
        self.counter(
            &mut out,
            (
                "errors",
                "Tolerated errors of the measurement, by the server's code.",
            ),
            errors,
        );
        self.counter(
            &mut out,
            ("reconnects", "Connections that were made again."),
            one(counts.reconnects),
        );
        for gauge in &GAUGES {
            head(&mut out, gauge.name, "gauge", gauge.unit, gauge.help);
            let value = (gauge.value)(self);
            // Writing to a String cannot fail.
            let _ = writeln!(out, "weir_load_{}{{{}}} {value}", gauge.name, self.label);
        }
        out.push_str("# EOF\n");
        out
    }

    fn counter(
        &self,
        out: &mut String,
        (name, help): (&str, &str),
        counts: impl IntoIterator<Item = (String, u64)>,
    ) {
        head(out, name, "counter", "", help);
        for (more, count) in counts {
            // Writing to a String cannot fail.
            let _ = writeln!(
                out,
                "weir_load_{name}_total{{{}{more}}} {count}",
                self.label
            );
        }
    }
}

fn head(out: &mut String, name: &str, kind: &str, unit: &str, help: &str) {
    // Writing to a String cannot fail.
    let _ = writeln!(out, "# TYPE weir_load_{name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(out, "# UNIT weir_load_{name} {unit}");
    }
    let _ = writeln!(out, "# HELP weir_load_{name} {help}");
}
