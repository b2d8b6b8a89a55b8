//! A drive: what its profile says of it, and what an emulated one has counted.

mod media;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::media::{Disks, Flash, Throttle, ThrottleRate};
use crate::{Bytes, FileKind, parse_toml};

/// A profile that cannot be used.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// Not TOML, or a key that a profile does not have.
    #[error("drive profile `{name}`: {message}")]
    Syntax {
        /// The profile's name.
        name: String,
        /// Where and what, in one line.
        message: String,
    },
    /// A figure that no drive can have.
    #[error("drive profile `{name}`: `{key}` = {value} ({why})")]
    Value {
        /// The profile's name.
        name: String,
        /// The key of the figure.
        key: &'static str,
        /// What it holds.
        value: f64,
        /// What it must be.
        why: &'static str,
    },
}

/// A drive's data sheet, read from `drives/NAME.toml`. All figures are at full size.
///
/// The number of parallel units follows from Little's law: `iops_max` x `latency_us`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveProfile {
    /// The file's name without its ending; filled in by [`DriveProfile::parse`].
    #[serde(default)]
    pub name: String,
    /// Maker, model and size.
    pub title: String,
    /// Capacity of the flash (or platters) that a user can fill with incompressible data.
    pub capacity: Bytes,
    /// Reads.
    pub read: ReadTiming,
    /// Writes.
    pub write: WriteTiming,
    /// Flushes (fsync, FUA).
    pub flush: FlushTiming,
    /// Inline compression.
    #[serde(default)]
    pub compression: Compression,
    /// A flash translation layer, from which the amplification of writes follows. Without it,
    /// random writes have `write.amplification_random`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
    /// Spinning disks behind the write buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disks: Option<Disks>,
    /// What the provider of a cloud volume allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// What a power cut leaves whole.
    #[serde(default)]
    pub atomicity: Atomicity,
    /// Where each figure comes from: key -> source, and whether it was seen or recalled.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// Read timing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadTiming {
    /// Latency of a 4 KiB read at queue depth 1, microseconds.
    pub latency_us: f64,
    /// Random 4 KiB reads per second at full queue depth.
    pub iops_max: f64,
    /// Sequential bandwidth, 10^6 bytes per second.
    pub bandwidth_mb_per_s: f64,
    /// Percentiles of the latency at queue depth 1: pairs of percent and microseconds, ascending.
    /// Their mean stays `latency_us`. Without any, each read takes exactly that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentiles_us: Vec<(f64, f64)>,
}

/// Write timing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteTiming {
    /// Latency of a 4 KiB write at queue depth 1, acknowledged by the write buffer, microseconds.
    pub latency_us: f64,
    /// Writes per second that the controller can take, whatever their size.
    pub iops_max: f64,
    /// Random writes per second that the media can take, whatever their size, where something else
    /// than garbage collection limits them (an early controller). Without it: no such limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_max_random: Option<f64>,
    /// Sequential bandwidth of the media, 10^6 bytes per second.
    pub bandwidth_mb_per_s: f64,
    /// Bytes that the write buffer takes before writes wait for the media.
    pub buffer: Bytes,
    /// Media bytes per host byte of random writes in steady state at full fill: garbage
    /// collection. Sequential writes have 1. Left out where `flash` says more.
    #[serde(default = "no_amplification")]
    pub amplification_random: f64,
    /// What the write buffer is in a power cut.
    pub cache: WriteCache,
}

fn no_amplification() -> f64 {
    1.0
}

/// What a write buffer is in a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteCache {
    /// Capacitors or a battery: what was acknowledged survives.
    PowerProtected,
    /// Lost unless it was flushed.
    Volatile,
}

/// Flush timing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlushTiming {
    /// Latency of a flush with an idle buffer, microseconds.
    pub latency_us: f64,
}

/// Inline compression of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Stores what it is given.
    #[default]
    None,
    /// zlib, level 1, of each 4 KiB on its own.
    Zlib4k,
}

/// What a power cut leaves whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Atomicity {
    /// The largest write that is never torn, when it is aligned to its own size.
    pub unit: Bytes,
}

impl Default for Atomicity {
    /// One sector, which every drive promises.
    fn default() -> Self {
        Self { unit: Bytes(512) }
    }
}

impl DriveProfile {
    /// Reads the TOML text of the profile called `name` and checks its figures.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        let mut profile: Self = parse_toml(text).map_err(|message| ProfileError::Syntax {
            name: name.to_owned(),
            message,
        })?;
        name.clone_into(&mut profile.name);
        profile.check()?;
        Ok(profile)
    }

    fn check(&self) -> Result<(), ProfileError> {
        let positive = "must be a number above 0";
        let checks = [
            ("read.latency_us", self.read.latency_us, 0.0, positive),
            ("read.iops_max", self.read.iops_max, 0.0, positive),
            (
                "read.bandwidth_mb_per_s",
                self.read.bandwidth_mb_per_s,
                0.0,
                positive,
            ),
            ("write.latency_us", self.write.latency_us, 0.0, positive),
            ("write.iops_max", self.write.iops_max, 0.0, positive),
            (
                "write.bandwidth_mb_per_s",
                self.write.bandwidth_mb_per_s,
                0.0,
                positive,
            ),
            (
                "write.amplification_random",
                self.write.amplification_random,
                1.0 - f64::EPSILON,
                "must be at least 1",
            ),
            ("flush.latency_us", self.flush.latency_us, 0.0, positive),
            ("capacity", self.capacity.0 as f64, 0.0, positive),
            (
                "atomicity.unit",
                self.atomicity.unit.0 as f64,
                511.0,
                "must be at least 512 bytes",
            ),
        ];
        let above = |(key, value, above, why): (&'static str, f64, f64, &'static str)| {
            (key, value, value > above, why)
        };
        let checks = checks.into_iter().map(above).chain(self.media_checks());
        for (key, value, possible, why) in checks {
            if !value.is_finite() || !possible {
                return Err(ProfileError::Value {
                    name: self.name.clone(),
                    key,
                    value,
                    why,
                });
            }
        }
        Ok(())
    }
}

/// What an emulated drive has counted since it was mounted. Counters only grow: take differences.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
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
    /// Median of (actual - modelled) completion, microseconds: the emulation's own error.
    pub lateness_us_p50: f64,
    /// 99th percentile of the same.
    pub lateness_us_p99: f64,
    /// Share of operations that completed more than 10 us and 5 % late, 0 to 1.
    pub late_share: f64,
}

impl DriveStatistics {
    /// What was counted between `before` and this, both of the same mount.
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
        Self {
            uptime_s: self.uptime_s - before.uptime_s,
            by_kind,
            read_busy_s: self.read_busy_s - before.read_busy_s,
            write_busy_s: self.write_busy_s - before.write_busy_s,
            media_written_bytes: self
                .media_written_bytes
                .saturating_sub(before.media_written_bytes),
            ..self.clone()
        }
    }
}

/// Traffic of one kind of file.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct FileKindStatistics {
    /// Read operations.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of the reads' modelled latencies, seconds.
    pub read_latency_s: f64,
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
    fn since(&self, before: &Self) -> Self {
        Self {
            reads: self.reads.saturating_sub(before.reads),
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            read_latency_s: self.read_latency_s - before.read_latency_s,
            writes: self.writes.saturating_sub(before.writes),
            write_bytes: self.write_bytes.saturating_sub(before.write_bytes),
            write_latency_s: self.write_latency_s - before.write_latency_s,
            flushes: self.flushes.saturating_sub(before.flushes),
            flush_latency_s: self.flush_latency_s - before.flush_latency_s,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINIMAL: &str = r#"
        title = "T"
        capacity = "1G"
        [read]
        latency_us = 90
        iops_max = 20_000
        bandwidth_mb_per_s = 500
        [write]
        latency_us = 20
        iops_max = 20_000
        bandwidth_mb_per_s = 400
        buffer = "1M"
        amplification_random = 2
        cache = "power-protected"
        [flush]
        latency_us = 20
    "#;

    #[test]
    fn a_minimal_profile_has_defaults_for_the_rest() {
        let profile = DriveProfile::parse("t", MINIMAL).unwrap();
        assert_eq!(profile.name, "t");
        assert_eq!(profile.compression, Compression::None);
        assert_eq!(profile.atomicity.unit, Bytes(512));
    }

    #[test]
    fn a_wrong_key_is_named_with_its_line() {
        let text = MINIMAL.replace("latency_us = 90", "latencyy_us = 90");
        let error = DriveProfile::parse("t", &text).unwrap_err().to_string();
        assert!(
            error.contains("line 5") && error.contains("latencyy_us"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }

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

    #[test]
    fn the_repositorys_profiles_are_the_same_after_being_written_and_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../drives");
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            let profile = DriveProfile::parse("t", &text).unwrap();
            let written = toml::to_string_pretty(&profile).unwrap();
            assert_eq!(DriveProfile::parse("t", &written).unwrap(), profile);
        }
    }

    #[test]
    fn impossible_figures_are_refused() {
        let text = MINIMAL.replace("amplification_random = 2", "amplification_random = 0.5");
        let error = DriveProfile::parse("t", &text).unwrap_err().to_string();
        assert!(error.contains("write.amplification_random"), "{error}");
    }
}
