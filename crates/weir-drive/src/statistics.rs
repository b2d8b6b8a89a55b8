//! What the drive counts, at a cost of a few nanoseconds an operation.
//!
//! One thread serves the kernel's requests and is the only one that counts operations; a reader of
//! the statistics may see the counters of one operation in two halves, which differences over a
//! second do not notice.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hdrhistogram::Histogram;
use weir_model::{DriveStatistics, FileKind, FileKindStatistics, Nanoseconds, OpKind};

/// Completions are late when they miss the model by more than this, nanoseconds ...
const LATE_NS: u64 = 10_000;
/// ... and by more than this share of the modelled latency.
const LATE_SHARE: f64 = 0.05;
/// The largest lateness that the histogram tells apart: 100 s.
const LATENESS_NS_MAX: u64 = 100_000_000_000;

/// All counters of a drive.
#[derive(Debug)]
pub(crate) struct Counters {
    by_kind: [KindCounters; FileKind::ALL.len()],
    in_flight: AtomicU32,
    lateness: Mutex<Lateness>,
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
    latency_ns: AtomicU64,
}

/// Actual minus modelled completion.
#[derive(Debug)]
struct Lateness {
    nanoseconds: Histogram<u64>,
    late: u64,
}

impl Counters {
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LATENESS_NS_MAX, 2)
            .expect("invariant: the histogram's bounds are constants that it accepts");
        Self {
            by_kind: Default::default(),
            in_flight: AtomicU32::new(0),
            lateness: Mutex::new(Lateness {
                nanoseconds: histogram,
                late: 0,
            }),
        }
    }

    /// An operation was accepted that the model completes after `latency`.
    pub(crate) fn accepted(&self, kind: FileKind, what: OpKind, bytes: u64, latency: Nanoseconds) {
        let kind = &self.by_kind[kind.index()];
        let counters = match what {
            OpKind::Read => &kind.reads,
            OpKind::Write => &kind.writes,
            OpKind::Flush => &kind.flushes,
            OpKind::Discard => return,
        };
        counters.count.fetch_add(1, Ordering::Relaxed);
        counters.bytes.fetch_add(bytes, Ordering::Relaxed);
        counters.latency_ns.fetch_add(latency, Ordering::Relaxed);
    }

    /// A reply began to wait for its time.
    pub(crate) fn held(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
    }

    /// A reply stopped waiting for its time.
    pub(crate) fn released(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    /// A reply went out `late_ns` after the model's completion, `latency_ns` after its request.
    pub(crate) fn completed(&self, late_ns: u64, latency_ns: u64) {
        let mut lateness = self.lateness.lock().unwrap_or_else(PoisonError::into_inner);
        lateness.nanoseconds.saturating_record(late_ns);
        if late_ns > LATE_NS && late_ns as f64 > LATE_SHARE * latency_ns as f64 {
            lateness.late += 1;
        }
    }

    /// Starts the record of lateness afresh, after the calibration.
    pub(crate) fn forget_lateness(&self) {
        let mut lateness = self.lateness.lock().unwrap_or_else(PoisonError::into_inner);
        lateness.nanoseconds.reset();
        lateness.late = 0;
    }

    /// The counters' part of the drive's statistics; the model's and the store's are missing.
    pub(crate) fn statistics(&self) -> DriveStatistics {
        let lateness = self.lateness.lock().unwrap_or_else(PoisonError::into_inner);
        let quantile = |q| lateness.nanoseconds.value_at_quantile(q) as f64 / 1e3;
        let total = lateness.nanoseconds.len().max(1);
        DriveStatistics {
            by_kind: self.by_kind(),
            queue_depth: self.in_flight.load(Ordering::Relaxed),
            lateness_us_p50: quantile(0.5),
            lateness_us_p99: quantile(0.99),
            late_share: lateness.late as f64 / total as f64,
            ..DriveStatistics::default()
        }
    }

    fn by_kind(&self) -> BTreeMap<FileKind, FileKindStatistics> {
        let of_kind = |kind: FileKind| (kind, self.by_kind[kind.index()].statistics());
        FileKind::ALL.into_iter().map(of_kind).collect()
    }
}

impl KindCounters {
    fn statistics(&self) -> FileKindStatistics {
        FileKindStatistics {
            reads: self.reads.count.load(Ordering::Relaxed),
            read_bytes: self.reads.bytes.load(Ordering::Relaxed),
            read_latency_s: self.reads.latency_s(),
            // The model counts them.
            cache_hits: 0,
            writes: self.writes.count.load(Ordering::Relaxed),
            write_bytes: self.writes.bytes.load(Ordering::Relaxed),
            write_latency_s: self.writes.latency_s(),
            flushes: self.flushes.count.load(Ordering::Relaxed),
            flush_latency_s: self.flushes.latency_s(),
        }
    }
}

impl OperationCounters {
    fn latency_s(&self) -> f64 {
        self.latency_ns.load(Ordering::Relaxed) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_under_their_kind() {
        let counters = Counters::new();
        counters.accepted(FileKind::Redo, OpKind::Write, 512, 18_000);
        counters.accepted(FileKind::Redo, OpKind::Flush, 0, 8_000);
        counters.accepted(FileKind::Data, OpKind::Read, 16_384, 77_000);
        let by_kind = counters.statistics().by_kind;
        let redo = by_kind[&FileKind::Redo];
        assert_eq!((redo.writes, redo.write_bytes, redo.flushes), (1, 512, 1));
        assert!((redo.write_latency_s - 18e-6).abs() < 1e-12);
        assert_eq!(by_kind[&FileKind::Data].reads, 1);
        assert_eq!(by_kind[&FileKind::Binlog], FileKindStatistics::default());
    }

    #[test]
    fn only_what_misses_both_bounds_is_late() {
        let counters = Counters::new();
        counters.completed(9_000, 20_000);
        counters.completed(15_000, 1_000_000);
        counters.completed(15_000, 100_000);
        counters.completed(0, 100_000);
        assert!((counters.statistics().late_share - 0.25).abs() < 1e-12);
    }
}
