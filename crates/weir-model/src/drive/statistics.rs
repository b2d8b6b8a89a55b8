//! Counters of an emulated drive.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{FaultStatistics, Latencies};
use crate::FileKind;

/// Counters of an emulated drive since it was mounted. Counters only grow: take differences.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DriveStatistics {
    /// Seconds since the mount.
    pub uptime_s: f64,
    /// Traffic by kind of file.
    pub by_kind: BTreeMap<FileKind, FileKindStatistics>,
    /// Operations in flight now.
    pub queue_depth: u32,
    /// Seconds for which the read units were busy, averaged over the units.
    pub read_busy_s: f64,
    /// Seconds for which the media was busy with writes.
    pub write_busy_s: f64,
    /// Bytes that the media wrote, after compression and garbage collection.
    pub media_written_bytes: u64,
    /// Stored bytes / written bytes of the writes so far; 1 without compression.
    pub compressed_fraction: f64,
    /// Bytes that files occupy on the backing store.
    pub used_bytes: u64,
    /// Bytes that hosts can use of the flash, on a drive that compresses; else 0.
    #[serde(default)]
    pub physical_capacity_bytes: u64,
    /// Bytes of it that are used, after compression.
    #[serde(default)]
    pub physical_used_bytes: u64,
    /// Nearness of the drive to running out of space.
    #[serde(default)]
    pub space_state: SpaceState,
    /// Bytes that hosts asked to write since the mount.
    #[serde(default)]
    pub host_written_bytes: u64,
    /// Share of the guaranteed life that was used since the mount, 0 to 1 (1: all of it); `None` if
    /// the profile guarantees nothing. The guarantee counts bytes of a host that writes at random,
    /// so it is compared in bytes of flash: those written, by what such a host would cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance_used: Option<f64>,
    /// The cache in front, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheStatistics>,
    /// Times of operations by kind of file: from the drive's read of the request to its reply, and
    /// the way there and back.
    #[serde(default)]
    pub latencies: BTreeMap<FileKind, FileKindLatencies>,
    /// Faults, if any was set since the mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultStatistics>,
    /// Added time of the way to the drive and back since the mount, microseconds; replies leave
    /// that much earlier.
    #[serde(default)]
    pub correction_us: f64,
    /// Median of (actual - modelled) completion, microseconds: the emulation's own error.
    pub lateness_us_p50: f64,
    /// 99th percentile of the same.
    pub lateness_us_p99: f64,
    /// Sum of all (actual - modelled) completions, s.
    #[serde(default)]
    pub lateness_s: f64,
    /// Share of operations that completed more than 10 us and 5 % late, 0 to 1.
    pub late_share: f64,
    /// Share of operations that provably completed more than 10 us and 5 % early, 0 to 1: their
    /// caller came with its next request before that.
    #[serde(default)]
    pub early_share: f64,
    /// Bytes that the host has left for the drive's backing directory; below that of the drive, a write
    /// may fail with `ENOSPC` before the drive is full.
    #[serde(default)]
    pub backing_free_bytes: u64,
}

impl DriveStatistics {
    /// Largest share of operations late or early with which a drive is still that of its profile.
    pub const MISSED_SHARE_MAX: f64 = 0.01;

    /// Returns true if replies came when the profile says. The bound of the whole project stands
    /// here.
    pub fn is_on_time(&self) -> bool {
        self.late_share + self.early_share <= Self::MISSED_SHARE_MAX
    }

    /// Share of the time that operations may take of a drive that is hardly used.
    const UNUSED_SHARE_MAX: f64 = 0.01;

    /// Returns true if operations took so little of the time that their lateness decides nothing.
    pub fn is_unused(&self) -> bool {
        self.modelled_s() < Self::UNUSED_SHARE_MAX * self.uptime_s
    }

    /// Sum of what all operations took by the model, s.
    fn modelled_s(&self) -> f64 {
        let latency_s =
            |of: &FileKindStatistics| of.read_latency_s + of.write_latency_s + of.flush_latency_s;
        self.by_kind.values().map(latency_s).sum()
    }

    /// By what share the operations took longer than the profile says, on average.
    pub fn slower_share(&self) -> f64 {
        let modelled_s = self.modelled_s();
        if modelled_s > 0.0 {
            self.lateness_s / modelled_s
        } else {
            0.0
        }
    }

    /// Returns the counts between `before` and this, both of the same mount.
    ///
    /// Levels (queue depth, space, compressed fraction) and the lateness quantiles, which have no
    /// difference, stay as they are here.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut by_kind = self.by_kind.clone();
        for (kind, counted) in &mut by_kind {
            let earlier = before.by_kind.get(kind).copied().unwrap_or_default();
            *counted = counted.since(&earlier);
        }
        let mut latencies = self.latencies.clone();
        for (kind, counted) in &mut latencies {
            if let Some(earlier) = before.latencies.get(kind) {
                *counted = counted.since(earlier);
            }
        }
        Self {
            uptime_s: self.uptime_s - before.uptime_s,
            lateness_s: self.lateness_s - before.lateness_s,
            by_kind,
            latencies,
            read_busy_s: self.read_busy_s - before.read_busy_s,
            write_busy_s: self.write_busy_s - before.write_busy_s,
            host_written_bytes: self
                .host_written_bytes
                .saturating_sub(before.host_written_bytes),
            endurance_used: self
                .endurance_used
                .map(|used| used - before.endurance_used.unwrap_or(0.0)),
            cache: self
                .cache
                .map(|cache| cache.since(&before.cache.unwrap_or_default())),
            media_written_bytes: self
                .media_written_bytes
                .saturating_sub(before.media_written_bytes),
            ..self.clone()
        }
    }
}

/// Nearness of a drive that compresses to running out of flash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SpaceState {
    /// Below both of its thresholds.
    #[default]
    Normal,
    /// Above `provisioning.warning_above`.
    Warning,
    /// Above `provisioning.critical_above`.
    Critical,
    /// Writes that need more are refused with `ENOSPC`.
    Full,
}

/// Counters of a cache in front of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CacheStatistics {
    /// Reads that the cache answered.
    pub read_hits: u64,
    /// Reads that went to the slow drive.
    pub read_misses: u64,
    /// Dirty pages / pages that the cache can hold, now.
    pub dirty_share: f64,
    /// Pages in it / pages that it can hold, now.
    pub filled_share: f64,
    /// Bytes that were written to the slow drive in the background.
    pub destaged_bytes: u64,
}

impl CacheStatistics {
    /// Share of the reads that the cache answered; `None` before the first.
    pub fn hit_ratio(&self) -> Option<f64> {
        let reads = self.read_hits + self.read_misses;
        (reads > 0).then(|| self.read_hits as f64 / reads as f64)
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            read_hits: self.read_hits.saturating_sub(before.read_hits),
            read_misses: self.read_misses.saturating_sub(before.read_misses),
            destaged_bytes: self.destaged_bytes.saturating_sub(before.destaged_bytes),
            ..*self
        }
    }
}

/// Traffic of one kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileKindStatistics {
    /// Read operations.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of the reads' modelled latencies, seconds.
    pub read_latency_s: f64,
    /// Reads that a cache in front of the drive answered.
    #[serde(default)]
    pub cache_hits: u64,
    /// Write operations.
    pub writes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of the writes' modelled latencies, seconds.
    pub write_latency_s: f64,
    /// Flushes: fsync, fdatasync, and synchronous writes.
    pub flushes: u64,
    /// Sum of the flushes' modelled latencies, seconds.
    pub flush_latency_s: f64,
}

impl FileKindStatistics {
    /// The traffic of two kinds of files together.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            reads: self.reads + other.reads,
            read_bytes: self.read_bytes + other.read_bytes,
            read_latency_s: self.read_latency_s + other.read_latency_s,
            cache_hits: self.cache_hits + other.cache_hits,
            writes: self.writes + other.writes,
            write_bytes: self.write_bytes + other.write_bytes,
            write_latency_s: self.write_latency_s + other.write_latency_s,
            flushes: self.flushes + other.flushes,
            flush_latency_s: self.flush_latency_s + other.flush_latency_s,
        }
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            read_latency_s: self.read_latency_s - before.read_latency_s,
            cache_hits: self.cache_hits.saturating_sub(before.cache_hits),
            writes: self.writes.saturating_sub(before.writes),
            write_bytes: self.write_bytes.saturating_sub(before.write_bytes),
            write_latency_s: self.write_latency_s - before.write_latency_s,
            flushes: self.flushes.saturating_sub(before.flushes),
            flush_latency_s: self.flush_latency_s - before.flush_latency_s,
        }
    }
}

/// Times of operations on one kind of file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileKindLatencies {
    /// Reads.
    pub reads: Latencies,
    /// Writes, those with `O_SYNC` and `O_DSYNC` with their flush.
    pub writes: Latencies,
    /// fsync and fdatasync.
    pub flushes: Latencies,
}

impl FileKindLatencies {
    /// Takes in another kind's.
    pub fn merge(&mut self, other: &Self) {
        self.reads.merge(&other.reads);
        self.writes.merge(&other.writes);
        self.flushes.merge(&other.flushes);
    }

    fn since(&self, before: &Self) -> Self {
        Self {
            reads: self.reads.since(&before.reads),
            writes: self.writes.since(&before.writes),
            flushes: self.flushes.since(&before.flushes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_of_counters_and_leaves_levels() {
        let data = |reads| FileKindStatistics {
            reads,
            ..FileKindStatistics::default()
        };
        let redo = FileKindStatistics {
            writes: 7,
            ..FileKindStatistics::default()
        };
        let before = DriveStatistics {
            by_kind: [(FileKind::Data, data(10))].into(),
            queue_depth: 3,
            media_written_bytes: 100,
            ..DriveStatistics::default()
        };
        let after = DriveStatistics {
            by_kind: [(FileKind::Data, data(15)), (FileKind::Redo, redo)].into(),
            queue_depth: 1,
            media_written_bytes: 250,
            ..DriveStatistics::default()
        };
        let between = after.since(&before);
        assert_eq!(between.by_kind[&FileKind::Data].reads, 5);
        assert_eq!(between.by_kind[&FileKind::Redo].writes, 7);
        assert_eq!((between.queue_depth, between.media_written_bytes), (1, 150));
    }
}
