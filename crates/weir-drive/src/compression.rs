//! Compression of written data: each 4 KiB on its own by zlib at level 1, as drives with
//! transparent compression do in hardware.
//!
//! Compressing all of it costs the host more than a core on a busy server, so by default a sample
//! of the blocks stands for the rest.

mod block;
#[cfg(test)]
mod published;
mod sampler;

use std::sync::{Mutex, PoisonError};

use weir_model::{CompressedSizes, Compression, DriveProfile, FileKind, Nanoseconds};

pub use self::block::BlockCompressor;
pub use self::sampler::Sampler;

/// Source of the compressed size of written data.
#[derive(Debug)]
pub(crate) enum Compressor {
    Sampled(Sampler),
    Exact(Mutex<BlockCompressor>),
}

impl Compressor {
    /// `None` for a drive that does not compress.
    pub(crate) fn start(profile: &DriveProfile) -> std::io::Result<Option<Self>> {
        let cost = profile.block_cost.unwrap_or_default();
        Ok(match (profile.compression, profile.compressed_sizes) {
            (Compression::None, _) => None,
            (Compression::Zlib4k, CompressedSizes::Sampled) => {
                Some(Self::Sampled(Sampler::start(cost)?))
            }
            (Compression::Zlib4k, CompressedSizes::Exact) => {
                Some(Self::Exact(Mutex::new(BlockCompressor::new(cost))))
            }
        })
    }

    /// Stored bytes / written bytes of `data`, written to a file of `kind`.
    pub(crate) fn fraction(&self, kind: FileKind, data: &[u8], now: Nanoseconds) -> f64 {
        match self {
            Self::Sampled(sampler) => {
                sampler.observe(kind, data, now);
                sampler.fraction(kind, data)
            }
            Self::Exact(compressor) => compressor
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .fraction(data),
        }
    }
}
