//! Random numbers of one connection: xoshiro256++, seeded from the run's seed and the
//! connection's number, so that each connection asks for the same keys whatever the others do.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng};

/// A generator of random numbers.
#[derive(Debug, Clone)]
pub struct Rng(Xoshiro256PlusPlus);

/// The generator of stream `stream` of a run with this seed.
pub fn seeded(seed: u64, stream: u64) -> Rng {
    // The odd constant is 2^64 divided by the golden ratio: neighbouring streams start far apart
    // even before SplitMix64 spreads them.
    let mixed = seed ^ stream.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    Rng(Xoshiro256PlusPlus::seed_from_u64(mixed))
}

impl Rng {
    /// Uniform over all 64-bit numbers.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `0..bound`, by multiplication (Lemire 2019); the bias, below `bound` / 2^64,
    /// is far under what any run can see.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform in `[0, 1)` with 53 bits.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// A position, in proportion to the weights of which `up_to` holds the running sums.
    pub(crate) fn choose_by_weight(&mut self, up_to: &[u64]) -> usize {
        let total = up_to.last().copied().unwrap_or(1);
        let point = self.below(total);
        up_to.partition_point(|sum| *sum <= point)
    }
}
