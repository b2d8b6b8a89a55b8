//! Blocks compressed for real.
//!
//! "zlib, level 1" is what zlib's own level 1 makes of a block. Faster libraries mean something else
//! by that number: on InnoDB pages, `zlib-rs` at level 1 stores 38 to 53 % more, `miniz_oxide` up to
//! 3 % more or less, and `miniz_oxide` at level 2 within 1.2 % of zlib
//! (docs/decisions/0006-drive-model-and-compression.md). It is called without `flate2`, whose library depends on what else is in the build.

use miniz_oxide::deflate::core::{
    CompressorOxide, TDEFLFlush, TDEFLStatus, compress, create_comp_flags_from_zip_params,
};
use weir_model::{BlockCost, COMPRESSED_BLOCK_BYTES};

/// Unit that the drive compresses on its own, bytes.
pub(super) const BLOCK_BYTES: usize = COMPRESSED_BLOCK_BYTES;

/// A block of which nothing was written.
static EMPTY: [u8; BLOCK_BYTES] = [0; BLOCK_BYTES];
/// The level that stores what zlib's level 1 does.
const LEVEL: i32 = 2;
/// With zlib's header and checksum.
const WINDOW_BITS: i32 = 15;
const DEFAULT_STRATEGY: i32 = 0;

/// zlib at level 1, with memory that is used again for each block.
pub struct BlockCompressor {
    zlib: Box<CompressorOxide>,
    output: Box<[u8; BLOCK_BYTES]>,
    cost: BlockCost,
}

impl std::fmt::Debug for BlockCompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlockCompressor").finish_non_exhaustive()
    }
}

impl Default for BlockCompressor {
    fn default() -> Self {
        Self::new(BlockCost::default())
    }
}

impl BlockCompressor {
    /// For a drive that stores its blocks at `cost`.
    pub fn new(cost: BlockCost) -> Self {
        let flags = create_comp_flags_from_zip_params(LEVEL, WINDOW_BITS, DEFAULT_STRATEGY);
        Self {
            zlib: Box::new(CompressorOxide::new(flags)),
            output: Box::new([0; BLOCK_BYTES]),
            cost,
        }
    }

    /// Stored bytes / bytes of `data`, in (0, 1]: each block of 4 KiB on its own.
    pub fn fraction(&mut self, data: &[u8]) -> f64 {
        if data.is_empty() {
            return 1.0;
        }
        let blocks = data.chunks(BLOCK_BYTES);
        let stored: f64 = blocks
            .map(|block| self.block_fraction(block) * block.len() as f64)
            .sum();
        stored / data.len() as f64
    }

    fn block_fraction(&mut self, block: &[u8]) -> f64 {
        if is_empty(block) {
            return self.cost.empty_fraction();
        }
        self.zlib.reset();
        // What does not get smaller does not fit, and is stored as it is.
        let output = &mut self.output[..block.len()];
        match compress(&mut self.zlib, block, output, TDEFLFlush::Finish) {
            (TDEFLStatus::Done, _, stored) => {
                self.cost.fraction(stored as f64 / block.len() as f64)
            }
            _ => 1.0,
        }
    }
}

/// Returns true if there is nothing in a block; a look at its first byte nearly always says no.
pub(super) fn is_empty(block: &[u8]) -> bool {
    // memcmp(3), which is many times as fast as a loop over bytes.
    *block == EMPTY[..block.len()]
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn digits_shrink_by_half_and_noise_not_at_all() {
        let mut compressor = BlockCompressor::default();
        let found = compressor.fraction(&super::super::sampler::digits(BLOCK_BYTES));
        assert!((0.4..0.6).contains(&found), "{found}");
        let mut noise = vec![0; BLOCK_BYTES];
        Xoshiro256PlusPlus::seed_from_u64(2).fill_bytes(&mut noise);
        assert!((compressor.fraction(&noise) - 1.0).abs() < f64::EPSILON);
        let zeroes = compressor.fraction(&[0; BLOCK_BYTES]);
        assert!((zeroes - BlockCost::default().empty_fraction()).abs() < f64::EPSILON);
        // Each block on its own: half of it noise, half of it nothing.
        noise.resize(2 * BLOCK_BYTES, 0);
        let mixed = compressor.fraction(&noise);
        assert!(
            (mixed - f64::midpoint(1.0, BlockCost::default().empty_fraction())).abs() < 1e-9,
            "{mixed}"
        );
        // The second time as the first.
        assert!((compressor.fraction(&noise) - mixed).abs() < f64::EPSILON);
    }
}
