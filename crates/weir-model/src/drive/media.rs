//! Media behind a drive's interface: flash, spinning disks, a provider's limits.

use serde::{Deserialize, Serialize};

use super::{Check, DriveProfile};

/// Flash with a translation layer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Flash {
    /// Spare / user capacity: 0.07 for 7 %.
    pub over_provisioning: f64,
    /// Data on the drive when it is mounted, before compression, as a share of the capacity, aged
    /// by random overwrites until garbage collection has settled. 0: as new.
    #[serde(default = "one")]
    pub fill: f64,
    /// Stored / written bytes of those data, on a drive that compresses.
    #[serde(default = "one")]
    pub fill_compressed_fraction: f64,
}

/// Spinning disks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Disks {
    /// Number of disks.
    pub count: u32,
    /// Each write goes to two of them (RAID 1, RAID 10).
    #[serde(default)]
    pub mirrored: bool,
    /// Mean seek over the whole disk, microseconds.
    pub seek_us: f64,
    /// Seek to the next track, microseconds. Longer seeks grow with the root of their distance. Left out, each
    /// seek takes the mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek_min_us: Option<f64>,
    /// Waiting requests of one disk that are sorted by their place; 1: none.
    #[serde(default = "unsorted", skip_serializing_if = "is_unsorted")]
    pub sorted: u32,
    /// One turn, microseconds: 60,000,000 / revolutions per minute.
    pub rotation_us: f64,
}

/// Limits of a cloud volume, for reads and writes together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Throttle {
    /// Operations per second.
    pub iops: ThrottleRate,
    /// 10^6 bytes per second.
    pub mb_per_s: ThrottleRate,
}

/// A rate that grows with the capacity, `min(base + per_gib x GiB, max)`, and what it saves up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ThrottleRate {
    /// Per second, at any size.
    pub base: f64,
    /// More per second, for each GiB of capacity.
    #[serde(default)]
    pub per_gib: f64,
    /// Never more than this per second; `base` if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Burst credit of an idle volume (operations or 10^6 bytes), which it spends as fast as its
    /// `read` and `write` figures allow. Full at the start.
    #[serde(default)]
    pub burst_credit: f64,
}

impl ThrottleRate {
    /// The rate of a volume of `capacity_bytes`, per second.
    pub fn per_second(&self, capacity_bytes: u64) -> f64 {
        let gib = capacity_bytes as f64 / f64::from(1 << 30);
        (self.base + self.per_gib * gib).min(self.max.unwrap_or(f64::INFINITY))
    }
}

fn one() -> f64 {
    1.0
}

fn unsorted() -> u32 {
    1
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn is_unsorted(sorted: &u32) -> bool {
    *sorted == 1
}

impl Flash {
    pub(super) fn checks(&self, amplification_random: f64) -> [Check; 4] {
        let fraction = self.fill_compressed_fraction;
        [
            (
                "flash.over_provisioning",
                self.over_provisioning,
                self.over_provisioning >= 0.01,
                "must be at least 0.01, or garbage collection never ends",
            ),
            (
                "flash.fill",
                self.fill,
                self.fill >= 0.0 && self.fill * fraction <= 1.0,
                "must be at least 0, and at most 1 after compression",
            ),
            (
                "flash.fill_compressed_fraction",
                fraction,
                fraction > 0.0 && fraction <= 1.0,
                "must be a share above 0, up to 1",
            ),
            (
                "write.amplification_random",
                amplification_random,
                amplification_random <= 1.0,
                "must be left out, since it follows from flash.over_provisioning",
            ),
        ]
    }
}

impl Disks {
    pub(super) fn checks(&self) -> [Check; 5] {
        let even = !self.mirrored || self.count.is_multiple_of(2);
        let seek_min_us = self.seek_min_us.unwrap_or(self.seek_us);
        [
            (
                "disks.seek_min_us",
                seek_min_us,
                seek_min_us > 0.0 && seek_min_us <= self.seek_us,
                "must be a number above 0, and at most disks.seek_us",
            ),
            (
                "disks.sorted",
                f64::from(self.sorted),
                self.sorted > 0,
                "must be at least 1",
            ),
            (
                "disks.count",
                f64::from(self.count),
                self.count > 0 && even,
                "must be above 0, and even if mirrored",
            ),
            (
                "disks.seek_us",
                self.seek_us,
                self.seek_us > 0.0,
                "must be a number above 0",
            ),
            (
                "disks.rotation_us",
                self.rotation_us,
                self.rotation_us > 0.0,
                "must be a number above 0",
            ),
        ]
    }
}

impl DriveProfile {
    /// The same drive with data on only `span_bytes` of its disks: seeks are shorter. Without disks, or with a
    /// seek that does not depend on its distance, it is the same.
    #[must_use]
    pub fn short_stroked(&self, span_bytes: u64) -> Self {
        let mut profile = self.clone();
        let Some(disks) = profile.disks.as_mut() else {
            return profile;
        };
        let share = (span_bytes as f64 / self.capacity.0 as f64).min(1.0);
        let least_us = disks.seek_min_us.unwrap_or(disks.seek_us);
        let turn_us = disks.rotation_us / 2.0;
        let before_us = disks.seek_us + turn_us;
        disks.seek_us = least_us + (disks.seek_us - least_us) * share.sqrt();
        let shorter = (disks.seek_us + turn_us) / before_us;
        profile.read.latency_us *= shorter;
        profile.read.iops_max /= shorter;
        profile
    }
}

impl ThrottleRate {
    pub(super) fn checks(&self, [base, per_gib]: [&'static str; 2]) -> [Check; 2] {
        [
            (base, self.base, self.base > 0.0, "must be a number above 0"),
            (
                per_gib,
                self.per_gib,
                self.per_gib >= 0.0 && self.burst_credit >= 0.0,
                "it and the burst credit must not be negative",
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_grows_with_the_capacity_up_to_its_limit() {
        let rate = ThrottleRate {
            base: 1800.0,
            per_gib: 50.0,
            max: Some(50_000.0),
            burst_credit: 0.0,
        };
        for (gib, wanted) in [(0, 1800.0), (20, 2800.0), (964, 50_000.0), (5000, 50_000.0)] {
            assert!((rate.per_second(gib << 30) - wanted).abs() < 1e-9);
        }
    }
}
