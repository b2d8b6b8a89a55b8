//! Adoption of files that lie in a drive's directory when it is mounted, such as restored data:
//! they take flash too, and arms have to reach them.

use std::fs::File;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use weir_model::BlockCost;

use crate::compression::BlockCompressor;
use crate::engine::Engine;
use crate::store::walk;

/// Blocks of a file that stand for all of it.
const SAMPLES: u64 = 64;
const BLOCK_BYTES: u64 = 4096;

/// Counts the files below `backing` as data of a drive that compresses, or whose arms seek.
pub(crate) fn adopt(backing: &Path, engine: &Engine, cost: BlockCost) -> std::io::Result<()> {
    if !engine.asks_what_lies_on_it() {
        return Ok(());
    }
    let compresses = engine.compresses();
    let mut compressor = BlockCompressor::new(cost);
    walk::each_file(backing, |path, metadata| {
        // What cannot be read is stored as it is.
        let fraction = if compresses {
            sampled_fraction(path, metadata.len(), &mut compressor).unwrap_or(1.0)
        } else {
            1.0
        };
        let bytes = walk::allocated_bytes(metadata);
        engine.adopt(metadata.ino(), bytes, fraction);
    })
}

/// Mean over blocks at the same distance from each other.
fn sampled_fraction(
    path: &Path,
    bytes: u64,
    compressor: &mut BlockCompressor,
) -> std::io::Result<f64> {
    let file = File::open(path)?;
    let blocks = (bytes / BLOCK_BYTES).max(1);
    let samples = blocks.min(SAMPLES);
    let mut block = [0; BLOCK_BYTES as usize];
    let mut sum = 0.0;
    for sample in 0..samples {
        let read = file.read_at(&mut block, sample * blocks / samples * BLOCK_BYTES)?;
        sum += compressor.fraction(&block[..read]);
    }
    Ok(sum / samples as f64)
}
