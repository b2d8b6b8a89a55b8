//! A drive: what its profile says of it, and what an emulated one has counted.

mod atomicity;
mod block_cost;
mod cache;
mod checks;
mod faults;
mod latencies;
mod media;
mod nand;
mod published;
mod settings;
mod statistics;
mod timing;
mod validation;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use thiserror::Error;

pub use self::atomicity::{Atomicity, Pieces};
pub use self::block_cost::{BlockCost, COMPRESSED_BLOCK_BYTES};
pub use self::cache::{CacheFill, CachedWrites, FrontCache, FrontDrive};
use self::checks::Check;
pub use self::faults::{FaultError, FaultStatistics, Faults, Operations};
pub use self::latencies::Latencies;
pub use self::media::{Disks, Flash, Throttle, ThrottleRate};
pub use self::nand::{Endurance, Nand, SlcCache};
pub use self::published::{Grade, PublishedFigure, PublishedOperation, PublishedPoint};
pub use self::statistics::{
    CacheStatistics, DriveStatistics, FileKindLatencies, FileKindStatistics, SpaceState,
};
pub use self::timing::{FlushTiming, ReadTiming, WriteCache, WriteTiming};
pub use self::validation::{VALIDATED_WITHIN, Validation, validation_line};
use crate::{Bytes, parse_toml};

/// A profile that cannot be used.
#[derive(Debug, Error)]
pub enum ProfileError {
    /// Not TOML, or a key that a profile does not have.
    #[error("drive profile `{name}`: {message}")]
    Syntax {
        /// The profile's name.
        name: String,
        /// Place and problem, in one line.
        message: String,
    },
    /// A figure that no drive can have.
    #[error("drive profile `{name}`: `{key}` = {value} ({why})")]
    Value {
        /// The profile's name.
        name: String,
        /// The key of the figure.
        key: &'static str,
        /// Value in the profile.
        value: f64,
        /// Permitted values.
        why: &'static str,
    },
}

/// A drive's data sheet, read from `drives/NAME.toml`. All figures are at full size.
///
/// The number of parallel units follows from Little's law: `iops_max` x `latency_us`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Bytes of a compressed block beyond its data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_cost: Option<BlockCost>,
    /// Method by which the emulation finds out how far data compress.
    #[serde(default)]
    pub compressed_sizes: CompressedSizes,
    /// More capacity than there is flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<Provisioning>,
    /// A flash translation layer, from which the amplification of writes follows. Without it,
    /// random writes have `write.amplification_random`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flash: Option<Flash>,
    /// Dies that cannot read while they program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nand: Option<Nand>,
    /// Single-bit blocks as a write cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc: Option<SlcCache>,
    /// Guaranteed writes of the flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<Endurance>,
    /// Spinning disks behind the write buffer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disks: Option<Disks>,
    /// Limits by the provider of a cloud volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle: Option<Throttle>,
    /// A fast drive in front of this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<FrontCache>,
    /// Units that a power cut leaves whole.
    #[serde(default)]
    pub atomicity: Atomicity,
    /// Evidence for the figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// 95 % intervals of figures that were measured: key -> lower and upper end.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<String, (f64, f64)>,
    /// Measurements that others published of such a drive.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedPoint>,
    /// Source of each figure: key -> source, and whether it was seen or recalled.
    #[serde(default)]
    pub sources: BTreeMap<String, String>,
}

/// Inline compression of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// Stores what it is given.
    #[default]
    None,
    /// zlib, level 1, of each 4 KiB on its own.
    Zlib4k,
}

/// Methods by which the emulation finds out how far written data compress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CompressedSizes {
    /// By compressing a sample of the blocks.
    #[default]
    Sampled,
    /// By compressing every block, which costs the host more than a core on a busy server.
    Exact,
}

/// A drive that compresses shows its host more than it can hold of data that do not compress.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Provisioning {
    /// Capacity that the host sees. `capacity` is the flash behind it.
    pub logical_capacity: Bytes,
    /// The drive warns when more than this share of its flash is used, 0 to 1.
    pub warning_above: f64,
    /// It warns urgently above this share.
    pub critical_above: f64,
}

impl DriveProfile {
    /// Reads the TOML text of the profile called `name` and checks its figures.
    ///
    /// # Errors
    /// If the text is no TOML, or a figure is out of its range.
    pub fn parse(name: &str, text: &str) -> Result<Self, ProfileError> {
        let mut profile: Self = parse_toml(text).map_err(|message| ProfileError::Syntax {
            name: name.to_owned(),
            message,
        })?;
        name.clone_into(&mut profile.name);
        profile.check()?;
        Ok(profile)
    }

    /// Returns true if flushes are slow enough to delay other writers of the file.
    pub fn flushes_slowly(&self) -> bool {
        const SLOW_US: f64 = 200.0;
        self.flush.latency_us >= SLOW_US
    }

    /// Capacity that the host sees: the flash, or more than it on a drive that compresses.
    pub fn logical_capacity(&self) -> Bytes {
        self.provisioning
            .map_or(self.capacity, |provisioning| provisioning.logical_capacity)
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
