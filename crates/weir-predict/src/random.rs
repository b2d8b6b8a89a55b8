//! Random numbers of the simulations.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use weir_model::Nanoseconds;

/// Random numbers.
#[derive(Debug)]
pub(crate) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Whether one of `these` is drawn from these and `others`.
    pub(crate) fn chooses(&mut self, these: u32, others: u32) -> bool {
        self.below(u64::from(these) + u64::from(others)) < u64::from(these)
    }

    /// Whether something happens that does in this share of the cases.
    pub(crate) fn happens(&mut self, share: f64) -> bool {
        self.unit() <= share
    }

    /// In (0, 1].
    pub(crate) fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn exponential_ns(&mut self, mean_s: f64) -> Nanoseconds {
        (-self.unit().ln() * mean_s * 1e9) as Nanoseconds
    }

    /// A number of independent events of this mean: steps of a Poisson process (Knuth, volume 2,
    /// 3.4.1).
    pub(crate) fn poisson(&mut self, mean: f64) -> u32 {
        let mut count = 0;
        let mut sum = -self.unit().ln();
        while sum < mean {
            count += 1;
            sum -= self.unit().ln();
        }
        count
    }
}
