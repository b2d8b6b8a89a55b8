//! The ratios that two real drives reach, as their maker publishes them.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::BlockCompressor;
use super::block::BLOCK_BYTES;
use crate::profiles;

/// Percent under fio's `buffer_compress_percentage`, and the ratios of the CSD 2000 and the CSD 3000
/// (README of the vendor's public repository of fio scripts).
const RATIOS: [(usize, f64, f64); 12] = [
    (10, 1.0, 1.0),
    (20, 1.17, 1.19),
    (30, 1.31, 1.35),
    (40, 1.50, 1.57),
    (50, 1.77, 1.82),
    (57, 2.00, 2.15),
    (60, 2.15, 2.29),
    (70, 2.70, 2.99),
    (80, 3.76, 4.25),
    (90, 5.85, 7.72),
    (95, 9.5, 8.0),
    (100, 28.44, 8.0),
];

/// Returns the data that fio writes at that setting: of each 512 bytes, that share is zero and the
/// rest is noise. `make bench-drive` has fio itself write it.
fn data(percent: usize) -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(percent as u64);
    let mut data = vec![0; 64 * BLOCK_BYTES];
    for chunk in data.chunks_mut(512) {
        let noise = 512 * (100 - percent) / 100;
        random.fill_bytes(&mut chunk[..noise]);
    }
    data
}

#[test]
fn both_scaleflux_drives_compress_as_published() {
    let compressor = |name: &str| {
        let profile = profiles::embedded(name).unwrap();
        BlockCompressor::new(profile.block_cost.unwrap())
    };
    let (mut older, mut newer) = (
        compressor("scaleflux-csd2000"),
        compressor("scaleflux-csd3000"),
    );
    let mut off = Vec::new();
    for (percent, of_older, of_newer) in RATIOS {
        let data = data(percent);
        for (drive, published) in [(&mut older, of_older), (&mut newer, of_newer)] {
            let found = 1.0 / drive.fraction(&data);
            if (found / published - 1.0).abs() > 0.03 {
                off.push(format!("{percent} %: {found:.2}, not {published}"));
            }
        }
    }
    assert!(off.is_empty(), "{off:#?}");
}
