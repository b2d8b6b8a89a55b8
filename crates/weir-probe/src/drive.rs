//! Counters of an emulated drive, from the process that holds the drive: all that `weir drive stat` shows.

use std::collections::BTreeMap;

use weir_model::{
    CacheStatistics, DriveStatistics, FileKind, FileKindLatencies, FileKindStatistics, Latencies,
    Metric, metrics,
};

use crate::{Probe, ProbeError, Readings};

type Source = Box<dyn FnMut() -> Option<DriveStatistics> + Send>;

/// Reads what an emulated drive has counted.
pub struct DriveProbe {
    source: Source,
    /// Latencies at the sample before: percentiles are of what came since.
    before: BTreeMap<FileKind, FileKindLatencies>,
}

impl DriveProbe {
    /// A drive whose statistics `source` gives; `None` when it no longer can.
    pub fn new(source: impl FnMut() -> Option<DriveStatistics> + Send + 'static) -> Self {
        Self {
            source: Box::new(source),
            before: BTreeMap::new(),
        }
    }
}

impl std::fmt::Debug for DriveProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DriveProbe").finish_non_exhaustive()
    }
}

impl Probe for DriveProbe {
    fn name(&self) -> &'static str {
        "drive"
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        let statistics = (self.source)().ok_or(ProbeError::Drive)?;
        add_whole(&statistics, readings);
        if let Some(cache) = &statistics.cache {
            add_cache(cache, readings);
        }
        for (kind, traffic) in &statistics.by_kind {
            add_traffic(*kind, traffic, readings);
        }
        for (kind, latencies) in &statistics.latencies {
            add_percentiles(*kind, latencies, self.before.get(kind), readings);
        }
        self.before = statistics.latencies;
        Ok(())
    }
}

/// Reads what the drive of a replica has counted in sum, under the replica's name.
pub struct ReplicaDriveProbe {
    replica: String,
    source: Source,
}

impl ReplicaDriveProbe {
    /// The drive of the replica called `replica`, whose statistics `source` gives; `None` when it no longer can.
    pub fn new(
        replica: impl Into<String>,
        source: impl FnMut() -> Option<DriveStatistics> + Send + 'static,
    ) -> Self {
        Self {
            replica: replica.into(),
            source: Box::new(source),
        }
    }
}

impl std::fmt::Debug for ReplicaDriveProbe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReplicaDriveProbe").finish_non_exhaustive()
    }
}

impl Probe for ReplicaDriveProbe {
    fn name(&self) -> &'static str {
        "replica's drive"
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        let statistics = (self.source)().ok_or(ProbeError::Drive)?;
        let all = sum(&statistics);
        for (metric, value) in [
            (metrics::REPLICA_DRIVE_READS, all.reads),
            (metrics::REPLICA_DRIVE_READ_BYTES, all.read_bytes),
            (metrics::REPLICA_DRIVE_WRITES, all.writes),
            (metrics::REPLICA_DRIVE_WRITE_BYTES, all.write_bytes),
        ] {
            readings.add_of(metric, &self.replica, value as f64);
        }
        Ok(())
    }
}

/// The traffic of all kinds of files.
fn sum(statistics: &DriveStatistics) -> FileKindStatistics {
    let all = statistics.by_kind.values();
    all.fold(FileKindStatistics::default(), |sum, kind| sum.plus(kind))
}

fn add_whole(statistics: &DriveStatistics, readings: &mut Readings) {
    let all = sum(statistics);
    for (metric, value) in [
        (metrics::DRIVE_READS, all.reads as f64),
        (metrics::DRIVE_WRITES, all.writes as f64),
        (metrics::DRIVE_FLUSHES, all.flushes as f64),
        (metrics::DRIVE_READ_BYTES, all.read_bytes as f64),
        (metrics::DRIVE_WRITE_BYTES, all.write_bytes as f64),
        (
            metrics::DRIVE_HOST_BYTES,
            statistics.host_written_bytes as f64,
        ),
        (
            metrics::DRIVE_MEDIA_BYTES,
            statistics.media_written_bytes as f64,
        ),
        (metrics::DRIVE_READ_BUSY, statistics.read_busy_s),
        (metrics::DRIVE_WRITE_BUSY, statistics.write_busy_s),
        (
            metrics::DRIVE_QUEUE_DEPTH,
            f64::from(statistics.queue_depth),
        ),
        (
            metrics::DRIVE_COMPRESSED_SHARE,
            statistics.compressed_fraction,
        ),
        (metrics::DRIVE_USED, statistics.used_bytes as f64),
        (metrics::DRIVE_LATENESS_P50, statistics.lateness_us_p50),
        (metrics::DRIVE_LATENESS_P99, statistics.lateness_us_p99),
        (metrics::DRIVE_LATE_SHARE, statistics.late_share),
        (metrics::DRIVE_CORRECTION, statistics.correction_us),
    ] {
        readings.add(metric, value);
    }
    // Only a drive that compresses has flash apart from its capacity.
    if statistics.physical_capacity_bytes > 0 {
        let (used, capacity) = (
            statistics.physical_used_bytes,
            statistics.physical_capacity_bytes,
        );
        readings.add(metrics::DRIVE_PHYSICAL_USED, used as f64);
        readings.add(metrics::DRIVE_PHYSICAL_CAPACITY, capacity as f64);
    }
    if let Some(used) = statistics.endurance_used {
        readings.add(metrics::DRIVE_ENDURANCE_USED, used);
    }
    if let Some(faults) = &statistics.faults {
        readings.add(metrics::DRIVE_FAULT_ERRORS, faults.errors as f64);
        readings.add(metrics::DRIVE_FAULT_SPIKES, faults.spikes as f64);
    }
}

fn add_cache(cache: &CacheStatistics, readings: &mut Readings) {
    readings.add(metrics::DRIVE_CACHE_HITS, cache.read_hits as f64);
    readings.add(metrics::DRIVE_CACHE_MISSES, cache.read_misses as f64);
    readings.add(metrics::DRIVE_CACHE_DIRTY, cache.dirty_share);
    readings.add(metrics::DRIVE_CACHE_FILLED, cache.filled_share);
    readings.add(metrics::DRIVE_DESTAGED_BYTES, cache.destaged_bytes as f64);
}

fn add_traffic(kind: FileKind, traffic: &FileKindStatistics, readings: &mut Readings) {
    for (metric, value) in [
        (metrics::DRIVE_FILE_READS, traffic.reads as f64),
        (metrics::DRIVE_FILE_READ_BYTES, traffic.read_bytes as f64),
        (metrics::DRIVE_FILE_READ_TIME, traffic.read_latency_s),
        (metrics::DRIVE_FILE_CACHE_HITS, traffic.cache_hits as f64),
        (metrics::DRIVE_FILE_WRITES, traffic.writes as f64),
        (metrics::DRIVE_FILE_WRITE_BYTES, traffic.write_bytes as f64),
        (metrics::DRIVE_FILE_WRITE_TIME, traffic.write_latency_s),
        (metrics::DRIVE_FILE_FLUSHES, traffic.flushes as f64),
        (metrics::DRIVE_FILE_FLUSH_TIME, traffic.flush_latency_s),
    ] {
        readings.add_of(metric, kind.name(), value);
    }
}

/// Median and 99th percentile of the operations since `before`; where there was none, none.
fn add_percentiles(
    kind: FileKind,
    now: &FileKindLatencies,
    before: Option<&FileKindLatencies>,
    readings: &mut Readings,
) {
    type Of = fn(&FileKindLatencies) -> &Latencies;
    let operations: [(Of, Metric, Metric); 3] = [
        (
            |latencies| &latencies.reads,
            metrics::DRIVE_FILE_READ_P50,
            metrics::DRIVE_FILE_READ_P99,
        ),
        (
            |latencies| &latencies.writes,
            metrics::DRIVE_FILE_WRITE_P50,
            metrics::DRIVE_FILE_WRITE_P99,
        ),
        (
            |latencies| &latencies.flushes,
            metrics::DRIVE_FILE_FLUSH_P50,
            metrics::DRIVE_FILE_FLUSH_P99,
        ),
    ];
    for (of, median, tail) in operations {
        let new = match before {
            Some(before) => of(now).since(of(before)),
            None => of(now).clone(),
        };
        for (metric, quantile) in [(median, 0.5), (tail, 0.99)] {
            if let Some(latency_us) = new.quantile_us(quantile) {
                readings.add_of(metric, kind.name(), latency_us);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_is_told_by_kind_of_file_and_in_sum() {
        let traffic = |reads, write_bytes| FileKindStatistics {
            reads,
            write_bytes,
            ..FileKindStatistics::default()
        };
        let statistics = DriveStatistics {
            by_kind: [
                (FileKind::Redo, traffic(1, 512)),
                (FileKind::Data, traffic(41, 16384)),
            ]
            .into(),
            queue_depth: 3,
            ..DriveStatistics::default()
        };
        let mut probe = DriveProbe::new(move || Some(statistics.clone()));
        let mut readings = Readings::default();
        probe.sample(&mut readings).unwrap();
        assert_eq!(readings.value(metrics::DRIVE_READS), Some(42.0));
        assert_eq!(readings.value(metrics::DRIVE_WRITE_BYTES), Some(16896.0));
        assert_eq!(readings.value(metrics::DRIVE_QUEUE_DEPTH), Some(3.0));
        let redo = readings.value_of(metrics::DRIVE_FILE_WRITE_BYTES, "redo");
        assert_eq!(redo, Some(512.0));
        // A drive that neither compresses nor caches has no such levels.
        assert_eq!(readings.value(metrics::DRIVE_PHYSICAL_USED), None);
        assert_eq!(readings.value(metrics::DRIVE_CACHE_FILLED), None);
    }

    #[test]
    fn percentiles_are_of_the_time_since_the_sample_before() {
        let reads = |latencies_ns: &[u64]| {
            let mut counts = vec![0; Latencies::BUCKETS];
            for latency in latencies_ns {
                counts[Latencies::bucket(*latency)] += 1;
            }
            let reads = Latencies::from_counts(counts);
            let latencies = FileKindLatencies {
                reads,
                ..FileKindLatencies::default()
            };
            DriveStatistics {
                latencies: [(FileKind::Data, latencies)].into(),
                ..DriveStatistics::default()
            }
        };
        let mut states = [
            reads(&[900_000; 9]),
            reads(&[[900_000; 9].as_slice(), &[80_000; 3]].concat()),
            reads(&[[900_000; 9].as_slice(), &[80_000; 3]].concat()),
        ]
        .into_iter();
        let mut probe = DriveProbe::new(move || states.next());
        let mut median_us = || {
            let mut readings = Readings::default();
            probe.sample(&mut readings).unwrap();
            readings.value_of(metrics::DRIVE_FILE_READ_P50, "data")
        };
        assert!((median_us().unwrap() - 900.0).abs() < 16.0);
        assert!((median_us().unwrap() - 80.0).abs() < 1.5);
        assert_eq!(median_us(), None, "no reads, no median");
    }

    #[test]
    fn a_drive_that_is_gone_is_a_gap() {
        let mut probe = DriveProbe::new(|| None);
        let sampled = probe.sample(&mut Readings::default());
        assert!(matches!(sampled, Err(ProbeError::Drive)));
    }
}
