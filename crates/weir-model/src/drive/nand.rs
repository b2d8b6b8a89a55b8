//! Timing of NAND flash: dies that cannot read while they program, single-bit blocks as a cache,
//! and cells that wear out.

use serde::{Deserialize, Serialize};

use super::Check;
use crate::Bytes;

/// Dies of NAND. A die that programs or erases answers no read meanwhile. The tails of flash beside writes
/// come from that. Media without a `nand` section (3D `XPoint`) have no such wait.
///
/// There are as many dies as the bandwidth of the media takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Nand {
    /// Time to program, microseconds.
    pub program_us: f64,
    /// Bytes of one program: a page of each plane.
    pub program_bytes: Bytes,
    /// Time to erase a block, microseconds.
    pub erase_us: f64,
    /// Programs that fill a block: between two erasures of a die.
    pub programs_per_block: u32,
    /// A die interrupts a program for a read, which then waits at most this long. Without it, the
    /// read waits until the program is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_suspend_us: Option<f64>,
    /// The same of an erasure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erase_suspend_us: Option<f64>,
}

/// Blocks that are written with one bit a cell at first, and folded into dense ones later.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SlcCache {
    /// Bytes that it takes on an empty drive.
    pub capacity: Bytes,
    /// The same on a full one: the rest is made of free blocks.
    pub capacity_when_full: Bytes,
    /// Sequential bandwidth into it, 10^6 bytes per second. `write.bandwidth_mb_per_s` is that of
    /// the dense blocks, once it is full.
    pub bandwidth_mb_per_s: f64,
    /// Rate at which an idle drive empties it, 10^6 bytes per second.
    pub fold_mb_per_s: f64,
}

/// Maker's guarantee of the flash: bytes that a host may write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Endurance {
    /// Full capacities a day ...
    pub drive_writes_per_day: f64,
    /// ... for so many years.
    pub years: f64,
}

impl Endurance {
    /// Bytes that a host may write to a drive of `capacity_bytes` over its guaranteed life.
    pub fn host_bytes(&self, capacity_bytes: u64) -> f64 {
        self.drive_writes_per_day * self.years * 365.25 * capacity_bytes as f64
    }
}

impl Nand {
    pub(super) fn checks(&self) -> [Check; 4] {
        let positive = "must be a number above 0";
        let suspend_us = [self.program_suspend_us, self.erase_suspend_us];
        let suspend_us = suspend_us.map(|us| us.unwrap_or(0.0));
        [
            (
                "nand.program_us",
                self.program_us,
                self.program_us > 0.0,
                positive,
            ),
            (
                "nand.program_bytes",
                self.program_bytes.0 as f64,
                self.program_bytes.0 >= 4096 && self.programs_per_block > 0,
                "must be at least 4096, and nand.programs_per_block at least 1",
            ),
            (
                "nand.erase_us",
                self.erase_us,
                self.erase_us > 0.0,
                positive,
            ),
            (
                "nand.program_suspend_us",
                suspend_us[0],
                suspend_us.iter().all(|&us| us >= 0.0),
                "it and nand.erase_suspend_us must not be negative",
            ),
        ]
    }
}

impl SlcCache {
    pub(super) fn checks(&self) -> [Check; 3] {
        let positive = "must be a number above 0";
        let least = self.capacity_when_full.0;
        [
            (
                "slc.capacity_when_full",
                least as f64,
                least <= self.capacity.0,
                "must be at most slc.capacity",
            ),
            (
                "slc.bandwidth_mb_per_s",
                self.bandwidth_mb_per_s,
                self.bandwidth_mb_per_s > 0.0,
                positive,
            ),
            (
                "slc.fold_mb_per_s",
                self.fold_mb_per_s,
                self.fold_mb_per_s > 0.0,
                positive,
            ),
        ]
    }
}

impl Endurance {
    pub(super) fn checks(&self) -> [Check; 1] {
        [(
            "endurance.drive_writes_per_day",
            self.drive_writes_per_day,
            self.drive_writes_per_day > 0.0 && self.years > 0.0,
            "must be above 0, like endurance.years",
        )]
    }
}
