//! Steady state without waiting for it.
//!
//! SNIA's performance test specification fills a drive twice and then writes at random until the
//! rate settles. Here only the mapping is written: no time passes, and no byte is stored.

use super::Ftl;
use crate::model::random::Random;

/// The same history for each drive of the same size.
const SEED: u64 = 0x5731_5eed;
/// Random overwrites of the whole data: the amplification of a drive with 7 % of spare space has
/// settled within 1 % after three.
const OVERWRITES: u64 = 3;

impl Ftl {
    /// Writes logical pages `0..pages` once in order, then at random until the drive has settled.
    /// Each page takes `compressed_fraction` of its size.
    pub(in crate::model) fn precondition(&mut self, pages: u32, compressed_fraction: f64) {
        self.fill(pages, compressed_fraction);
        let mut random = Random::seeded(SEED);
        for _ in 0..OVERWRITES * u64::from(pages) {
            let page = random.below(u64::from(pages)) as u32;
            self.write(page, compressed_fraction);
        }
    }

    /// Writes logical pages `0..pages` once in order: a drive that was filled, but not aged.
    pub(in crate::model) fn fill(&mut self, pages: u32, compressed_fraction: f64) {
        for page in 0..pages {
            self.write(page, compressed_fraction);
        }
    }
}
