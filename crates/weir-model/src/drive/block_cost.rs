//! Bytes that a drive that compresses stores of a block, beyond the output of the method.

use serde::{Deserialize, Serialize};

use super::Check;

/// Bytes that a compressing drive stores for one block of 4 KiB.
///
/// Left out, a block takes what zlib makes of it, and 64 bytes at least.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BlockCost {
    /// Bytes beside the compressed data of any block: header, map entry, padding.
    #[serde(default)]
    pub base_bytes: f64,
    /// More of them, as a share of the compressed data: padding, or a weaker method than zlib.
    #[serde(default)]
    pub share: f64,
    /// Both together take no more than this, bytes.
    #[serde(default = "half_a_block")]
    pub bytes_max: f64,
    /// Fewest bytes that a block takes, also an empty one.
    #[serde(default = "a_64th")]
    pub stored_bytes_min: f64,
    /// A block that would not shrink by this share is stored as it is, 0 to 1.
    #[serde(default)]
    pub saving_min: f64,
}

/// Unit of compression, bytes.
pub const COMPRESSED_BLOCK_BYTES: usize = 4096;

fn half_a_block() -> f64 {
    2048.0
}

fn a_64th() -> f64 {
    64.0
}

impl Default for BlockCost {
    fn default() -> Self {
        Self {
            base_bytes: 0.0,
            share: 0.0,
            bytes_max: half_a_block(),
            stored_bytes_min: a_64th(),
            saving_min: 0.0,
        }
    }
}

impl BlockCost {
    /// Stored / written bytes of a block that the method makes `compressed_share` of.
    pub fn fraction(&self, compressed_share: f64) -> f64 {
        let block = COMPRESSED_BLOCK_BYTES as f64;
        let compressed = compressed_share * block;
        let cost = (self.base_bytes + self.share * compressed).min(self.bytes_max);
        let stored = (compressed + cost).max(self.stored_bytes_min) / block;
        if stored > 1.0 - self.saving_min {
            1.0
        } else {
            stored
        }
    }

    /// Stored / written bytes of a block of which nothing was written.
    pub fn empty_fraction(&self) -> f64 {
        self.stored_bytes_min / COMPRESSED_BLOCK_BYTES as f64
    }

    pub(super) fn checks(&self) -> [Check; 5] {
        let block = COMPRESSED_BLOCK_BYTES as f64;
        let within = |bytes: f64| (0.0..block).contains(&bytes);
        let why = "must be at least 0, and less than a block of 4,096 bytes";
        let (base, most, least) = (self.base_bytes, self.bytes_max, self.stored_bytes_min);
        [
            ("block_cost.base_bytes", base, within(base), why),
            (
                "block_cost.share",
                self.share,
                self.share >= 0.0,
                "must be at least 0",
            ),
            ("block_cost.bytes_max", most, within(most), why),
            (
                "block_cost.stored_bytes_min",
                least,
                within(least) && least > 0.0,
                "must be above 0, and less than a block of 4,096 bytes",
            ),
            (
                "block_cost.saving_min",
                self.saving_min,
                (0.0..1.0).contains(&self.saving_min),
                "must be a share, at least 0 and below 1",
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_costs_more_than_its_data_and_never_less_than_the_least() {
        let cost = BlockCost {
            base_bytes: 144.0,
            share: 0.12,
            bytes_max: 200.0,
            stored_bytes_min: 144.0,
            saving_min: 0.1,
        };
        let near =
            |found: f64, bytes: f64| assert!((found * 4096.0 - bytes).abs() < 1e-6, "{found}");
        near(cost.fraction(0.5), 2248.0);
        near(cost.fraction(100.0 / 4096.0), 256.0);
        near(cost.empty_fraction(), 144.0);
        // Nine tenths are too much: stored as it is.
        near(cost.fraction(0.87), 4096.0);
        near(BlockCost::default().fraction(0.99), 0.99 * 4096.0);
        near(BlockCost::default().fraction(0.001), 64.0);
    }
}
