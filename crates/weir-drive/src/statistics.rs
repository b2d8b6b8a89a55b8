//! Counters of the drive, at a cost of a few nanoseconds an operation: atomic increments only.
//!
//! A reader of the statistics may see the counters of one operation in two halves, which
//! differences over a second do not notice.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use weir_model::{
    DriveStatistics, FileKind, FileKindLatencies, FileKindStatistics, Latencies, Nanoseconds,
    OpKind,
};

/// Completions are late, or early, when they miss the model by more than this, nanoseconds ...
const MISS_NS: u64 = 10_000;
/// ... and by more than this share of the modelled latency.
const MISS_SHARE: f64 = 0.05;

/// All counters of a drive.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    by_kind: [KindCounters; FileKind::ALL.len()],
    in_flight: AtomicU32,
    lateness: LatencyCounters,
    lateness_ns: AtomicU64,
    late: AtomicU64,
    early: AtomicU64,
}

#[derive(Debug, Default)]
struct KindCounters {
    reads: OperationCounters,
    writes: OperationCounters,
    flushes: OperationCounters,
}

#[derive(Debug, Default)]
struct OperationCounters {
    count: AtomicU64,
    bytes: AtomicU64,
    modelled_ns: AtomicU64,
    latencies: LatencyCounters,
}

#[derive(Debug)]
struct LatencyCounters(Box<[AtomicU64]>);

impl Default for LatencyCounters {
    fn default() -> Self {
        Self((0..Latencies::BUCKETS).map(|_| AtomicU64::new(0)).collect())
    }
}

impl LatencyCounters {
    fn count(&self, latency: Nanoseconds) {
        self.0[Latencies::bucket(latency)].fetch_add(1, Ordering::Relaxed);
    }

    fn counted(&self) -> Latencies {
        Latencies::from_counts(self.0.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    fn reset(&self) {
        for count in &self.0 {
            count.store(0, Ordering::Relaxed);
        }
    }
}

impl Counters {
    /// An operation was accepted that the model completes after `latency`.
    pub(crate) fn accepted(&self, kind: FileKind, what: OpKind, bytes: u64, latency: Nanoseconds) {
        let Some(counters) = self.operation(kind, what) else {
            return;
        };
        counters.count.fetch_add(1, Ordering::Relaxed);
        counters.bytes.fetch_add(bytes, Ordering::Relaxed);
        counters.modelled_ns.fetch_add(latency, Ordering::Relaxed);
    }

    fn operation(&self, kind: FileKind, what: OpKind) -> Option<&OperationCounters> {
        let kind = &self.by_kind[kind.index()];
        match what {
            OpKind::Read => Some(&kind.reads),
            OpKind::Write => Some(&kind.writes),
            OpKind::Flush => Some(&kind.flushes),
            OpKind::Discard => None,
        }
    }

    /// A reply began to wait for its time.
    pub(crate) fn held(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// A reply stopped waiting for its time.
    pub(crate) fn released(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns true if no reply is waiting for its time.
    pub(crate) fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0
    }

    /// A reply went out whose operation took `latency_ns`.
    pub(crate) fn answered(&self, kind: FileKind, what: OpKind, latency_ns: u64) {
        if let Some(counters) = self.operation(kind, what) {
            counters.latencies.count(latency_ns);
        }
    }

    /// A reply went out `late_ns` after its time; with that its operation took `latency_ns`.
    pub(crate) fn completed(&self, kind: FileKind, what: OpKind, late_ns: u64, latency_ns: u64) {
        self.answered(kind, what, latency_ns);
        self.lateness.count(late_ns);
        self.lateness_ns.fetch_add(late_ns, Ordering::Relaxed);
        let modelled_ns = latency_ns.saturating_sub(late_ns);
        if misses(late_ns, modelled_ns) {
            self.late.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A reply proved to have come `early_ns` before the model's time.
    pub(crate) fn early(&self, early_ns: u64, modelled_ns: u64) {
        if misses(early_ns, modelled_ns) {
            self.early.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Starts the record of lateness afresh, after the calibration.
    pub(crate) fn forget_lateness(&self) {
        self.lateness.reset();
        self.lateness_ns.store(0, Ordering::Relaxed);
        self.late.store(0, Ordering::Relaxed);
        self.early.store(0, Ordering::Relaxed);
    }

    /// The counters' part of the drive's statistics; the model's and the store's are missing.
    pub(crate) fn statistics(&self) -> DriveStatistics {
        let lateness = self.lateness.counted();
        let quantile = |q| lateness.quantile_us(q).unwrap_or(0.0);
        let share = |counted: &AtomicU64| {
            counted.load(Ordering::Relaxed) as f64 / lateness.count().max(1) as f64
        };
        let of_kind = |kind: FileKind| (kind, &self.by_kind[kind.index()]);
        let kinds = || FileKind::ALL.into_iter().map(of_kind);
        DriveStatistics {
            by_kind: kinds().map(|(kind, of)| (kind, of.traffic())).collect(),
            latencies: kinds()
                .map(|(kind, of)| (kind, of.latencies()))
                .collect::<BTreeMap<_, _>>(),
            queue_depth: self.in_flight.load(Ordering::Relaxed),
            lateness_us_p50: quantile(0.5),
            lateness_us_p99: quantile(0.99),
            lateness_s: self.lateness_ns.load(Ordering::Relaxed) as f64 / 1e9,
            late_share: share(&self.late),
            early_share: share(&self.early),
            ..DriveStatistics::default()
        }
    }
}

fn misses(by_ns: u64, modelled_ns: u64) -> bool {
    by_ns > MISS_NS && by_ns as f64 > MISS_SHARE * modelled_ns as f64
}

impl KindCounters {
    fn traffic(&self) -> FileKindStatistics {
        FileKindStatistics {
            reads: self.reads.count.load(Ordering::Relaxed),
            read_bytes: self.reads.bytes.load(Ordering::Relaxed),
            read_latency_s: self.reads.modelled_s(),
            writes: self.writes.count.load(Ordering::Relaxed),
            write_bytes: self.writes.bytes.load(Ordering::Relaxed),
            write_latency_s: self.writes.modelled_s(),
            flushes: self.flushes.count.load(Ordering::Relaxed),
            flush_latency_s: self.flushes.modelled_s(),
            ..FileKindStatistics::default()
        }
    }

    fn latencies(&self) -> FileKindLatencies {
        FileKindLatencies {
            reads: self.reads.latencies.counted(),
            writes: self.writes.latencies.counted(),
            flushes: self.flushes.latencies.counted(),
        }
    }
}

impl OperationCounters {
    fn modelled_s(&self) -> f64 {
        self.modelled_ns.load(Ordering::Relaxed) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_under_their_kind() {
        let counters = Counters::default();
        counters.accepted(FileKind::Redo, OpKind::Write, 512, 18_000);
        counters.accepted(FileKind::Redo, OpKind::Flush, 0, 8_000);
        counters.accepted(FileKind::Data, OpKind::Read, 16_384, 77_000);
        counters.completed(FileKind::Data, OpKind::Read, 3_000, 80_000);
        let statistics = counters.statistics();
        let redo = statistics.by_kind[&FileKind::Redo];
        assert_eq!((redo.writes, redo.write_bytes, redo.flushes), (1, 512, 1));
        assert!((redo.write_latency_s - 18e-6).abs() < 1e-12);
        assert_eq!(statistics.by_kind[&FileKind::Data].reads, 1);
        assert_eq!(
            statistics.by_kind[&FileKind::Binlog],
            FileKindStatistics::default()
        );
        let read = statistics.latencies[&FileKind::Data].reads.quantile_us(0.5);
        assert!((read.unwrap() - 80.0).abs() < 1.5);
    }

    #[test]
    fn only_what_misses_both_bounds_is_late_or_early() {
        let counters = Counters::default();
        let complete = |late, modelled| {
            counters.completed(FileKind::Data, OpKind::Read, late, modelled + late);
        };
        complete(9_000, 20_000);
        complete(15_000, 1_000_000);
        complete(15_000, 100_000);
        complete(0, 100_000);
        counters.early(15_000, 100_000);
        counters.early(9_000, 20_000);
        counters.early(15_000, 1_000_000);
        let found = counters.statistics();
        assert!((found.lateness_s - 39e-6).abs() < 1e-12);
        assert!((found.late_share - 0.25).abs() < 1e-12);
        assert!((found.early_share - 0.25).abs() < 1e-12);
    }
}
