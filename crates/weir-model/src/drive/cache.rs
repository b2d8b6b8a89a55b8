//! A fast drive in front of a slow one: flash caches, and what clouds call IO acceleration.

use serde::{Deserialize, Serialize};

use super::{Check, DriveProfile, ProfileError};
use crate::Bytes;

/// The fast drive in front of the one that the rest of the profile describes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FrontCache {
    /// The fast drive.
    pub drive: FrontDrive,
    /// Used capacity of the cache.
    pub capacity: Bytes,
    /// Unit that is cached, bytes.
    #[serde(default = "page")]
    pub page: Bytes,
    /// Handling of writes.
    pub writes: CachedWrites,
    /// Condition for a page that was read from the slow drive to enter the cache.
    #[serde(default)]
    pub fill: CacheFill,
    /// Write-back: above this share of dirty pages, writes go to the slow drive as well.
    #[serde(default = "dirty_share_max")]
    pub dirty_share_max: f64,
    /// Write-back: above this share, dirty pages are written to the slow drive in the background.
    #[serde(default)]
    pub destage_above: f64,
    /// Write-back: dirty pages that are written to the slow drive at a time.
    #[serde(default = "destage_depth")]
    pub destage_depth: u32,
}

fn page() -> Bytes {
    Bytes(16 * 1024)
}

fn dirty_share_max() -> f64 {
    0.8
}

fn destage_depth() -> u32 {
    4
}

/// The fast drive: a profile's name, or the profile itself once it was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum FrontDrive {
    /// A profile that has not been looked up yet.
    Named(String),
    /// The profile.
    Found(Box<DriveProfile>),
}

/// Handling of writes to a drive with a cache in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CachedWrites {
    /// Acknowledged when the cache has them; the slow drive gets them later.
    Back,
    /// Acknowledged when both have them.
    Through,
    /// Written to the slow drive; what the cache had of them is dropped.
    Around,
}

/// Condition for a page that was read from the slow drive to enter the cache.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CacheFill {
    /// At once.
    #[default]
    Read,
    /// After the host, which keeps this many bytes itself, is likely to have dropped it. It extends
    /// the host's own cache and holds nothing twice.
    Eviction {
        /// The host's own cache.
        host_cache: Bytes,
    },
}

impl DriveProfile {
    /// The name of the fast drive in front, if it has not been looked up yet.
    pub fn unknown_front(&self) -> Option<&str> {
        match &self.cache.as_ref()?.drive {
            FrontDrive::Named(name) => Some(name),
            FrontDrive::Found(_) => None,
        }
    }

    /// This profile with the fast drive in front found.
    ///
    /// # Errors
    /// If the two do not fit together.
    pub fn with_front(mut self, front: Self) -> Result<Self, ProfileError> {
        if let Some(cache) = &mut self.cache {
            cache.drive = FrontDrive::Found(Box::new(front));
        }
        self.check()?;
        Ok(self)
    }
}

impl FrontCache {
    /// The fast drive's profile; `None` while only its name is known.
    pub fn profile(&self) -> Option<&DriveProfile> {
        match &self.drive {
            FrontDrive::Found(profile) => Some(profile),
            FrontDrive::Named(_) => None,
        }
    }

    pub(super) fn checks(&self) -> [Check; 4] {
        let (capacity, page) = (self.capacity.0, self.page.0);
        [
            (
                "cache.page",
                page as f64,
                page >= 4096 && page.is_power_of_two(),
                "must be a power of two of at least 4096 bytes",
            ),
            (
                "cache.capacity",
                capacity as f64,
                capacity >= page && self.fits_its_drive(),
                "must be at least one page, and fit on cache.drive, which has no cache itself",
            ),
            (
                "cache.dirty_share_max",
                self.dirty_share_max,
                (0.0..=1.0).contains(&self.dirty_share_max),
                "must be a share, 0 to 1",
            ),
            (
                "cache.destage_above",
                self.destage_above,
                self.destage_above >= 0.0
                    && self.destage_above <= self.dirty_share_max
                    && self.destage_depth > 0,
                "must be at most cache.dirty_share_max, and cache.destage_depth at least 1",
            ),
        ]
    }

    fn fits_its_drive(&self) -> bool {
        self.profile()
            .is_none_or(|drive| self.capacity <= drive.capacity && drive.cache.is_none())
    }
}
