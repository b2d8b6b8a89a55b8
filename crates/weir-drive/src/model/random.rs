//! Reproducible random numbers: the same drive makes the same waits and the same history.
//!
//! `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014): one addition and a mix per number.

/// A seeded generator.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    /// A number that is uniform over all of `u64`.
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number that is uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        // 53 bits are what a double's mantissa holds.
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number that is uniform in `0..end`; `end` is far below 2^64, so the bias is nil.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    /// The first numbers of seed 1234567, from the algorithm's published reference program.
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::seeded(1_234_567);
        assert_eq!(random.next(), 6_457_827_717_110_365_317);
        assert_eq!(random.next(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_are_uniform() {
        let mut random = Random::seeded(1);
        let mean = (0..100_000).map(|_| random.unit()).sum::<f64>() / 1e5;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        let sixes = (0..100_000).filter(|_| random.below(6) == 5).count();
        assert!((16_000..17_400).contains(&sixes), "{sixes}");
    }
}
