//! Long strings from a sample of their pages.
//!
//! A page belongs to the sample if a hash of its number is small, so that all references to it do
//! (Waldspurger and others, FAST 2015, "SHARDS"); for any policy the sample is then simulated with
//! a pool scaled like it (ATC 2017, "miniature simulation"). A hot page in the sample, or out of
//! it, bends the curve: the references that the sample has too few (or too many) of are counted as
//! hits at the smallest distance ("SHARDS-adj"). Without that, strings in the order of the keys are
//! off by 0.1 and more. Keep at least 400 pages in the sample.

use super::{MissCurve, StackDistances};
use crate::{Access, Pool, PoolSettings};

/// Pages that a sample should have.
const SAMPLED_PAGES_MIN: f64 = 400.0;
/// Seeds of the samples, for their mean and spread.
const SEEDS: [u64; 3] = [
    0x9E37_79B9_7F4A_7C15,
    0xD1B5_4A32_D192_ED03,
    0xAEF1_7502_108E_F2D9,
];

/// Pages of a sample.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    share: f64,
    seed: u64,
}

impl Sample {
    /// A sample of about `share` of the pages.
    pub fn new(share: f64, seed: u64) -> Self {
        Self { share, seed }
    }

    /// The share of `pages` pages that keeps enough of them, 1 for few pages.
    pub fn share_for(pages: u32, wanted: f64) -> f64 {
        wanted
            .max(SAMPLED_PAGES_MIN / f64::from(pages.max(1)))
            .min(1.0)
    }

    /// The share of the pages `0..pages` that do belong to it.
    fn held_share(&self, pages: u32) -> f64 {
        let held = (0..pages).filter(|page| self.holds(*page)).count();
        held.max(1) as f64 / f64::from(pages)
    }

    /// Returns true if `page` belongs to it.
    pub fn holds(&self, page: u32) -> bool {
        // The finisher of SplitMix64 (Steele, Lea and Flood 2014).
        let mut hash = u64::from(page).wrapping_add(1).wrapping_mul(self.seed);
        hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((hash ^ (hash >> 31)) >> 11) as f64 / (1_u64 << 53) as f64 <= self.share
    }
}

/// A miss ratio from several samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Mean of the samples.
    pub miss_ratio: f64,
    /// Largest difference between two of them.
    pub spread: f64,
}

impl Estimate {
    fn from_seeds(found: [f64; SEEDS.len()]) -> Self {
        let [low, high] = [f64::min, f64::max].map(|end| found.into_iter().fold(found[0], end));
        Self {
            miss_ratio: found.iter().sum::<f64>() / found.len() as f64,
            spread: high - low,
        }
    }
}

/// The curve of a list of least recent use, from samples of `share` of the pages `0..pages`: the
/// miss ratio of each of `sizes`.
pub fn sampled_curve(references: &[u32], pages: u32, share: f64, sizes: &[f64]) -> Vec<Estimate> {
    let curves = SEEDS.map(|seed| {
        let sample = Sample::new(share, seed);
        let share = sample.held_share(pages);
        let mut distances = StackDistances::new(pages);
        let sampled = references.iter().filter(|page| sample.holds(**page));
        sampled.for_each(|page| distances.access(*page));
        let (counts, first_uses) = distances.counts();
        let seen = counts.iter().sum::<u64>() + first_uses;
        let expected = references.len() as f64 * share;
        let mut curve = MissCurve::new(counts, expected, share);
        curve.add_hits(expected - seen as f64);
        curve
    });
    let at =
        |size: &f64| Estimate::from_seeds([0, 1, 2].map(|index| curves[index].miss_ratio(*size)));
    sizes.iter().map(at).collect()
}

/// Returns the misses of InnoDB's pool on `(page, time in milliseconds)`, from samples of `share`
/// of the pages. A first quarter warms it up.
pub fn sampled_pool(
    references: &[(u32, u32)],
    pages: u32,
    share: f64,
    settings: &PoolSettings,
) -> Estimate {
    let warm_up = references.len() / 4;
    Estimate::from_seeds(SEEDS.map(|seed| {
        let sample = Sample::new(share, seed);
        let share = sample.held_share(pages);
        let mut pool = Pool::new(settings.scaled(share), pages);
        let mut misses = 0_u64;
        for (number, (page, now_ms)) in references.iter().enumerate() {
            if sample.holds(*page) {
                let missed = pool.access(*page, *now_ms, false) != Access::Hit;
                misses += u64::from(missed && number >= warm_up);
            }
        }
        misses as f64 / ((references.len() - warm_up) as f64 * share)
    }))
}

#[cfg(test)]
mod tests {
    use weir_model::Distribution;
    use weir_workload::KeyStream;

    use super::*;

    const PAGES: u32 = 4_000;

    fn references(distribution: Distribution) -> Vec<(u32, u32)> {
        let keys = KeyStream::new(distribution, 300_000, 21).unwrap();
        let pages = keys.map(|key| (key - 1) / 75);
        pages.take(400_000).zip(0..).collect()
    }

    /// On the mean over the sizes: one size is off by what the sample happens to hold.
    #[test]
    fn a_tenth_of_the_pages_gives_the_curve() {
        const MORE_PAGES: u32 = 20_000;
        for distribution in [
            Distribution::Uniform,
            Distribution::Zipfian { exponent: 0.8 },
            Distribution::Pareto { h: 0.2 },
        ] {
            let keys = KeyStream::new(distribution, 1_500_000, 21).unwrap();
            let pages: Vec<u32> = keys.map(|key| (key - 1) / 75).take(400_000).collect();
            let mut all = StackDistances::new(MORE_PAGES);
            for page in &pages {
                all.access(*page);
            }
            let sizes: Vec<f64> = (1..10).map(|tenth| 2_000.0 * f64::from(tenth)).collect();
            let found = sampled_curve(&pages, MORE_PAGES, 0.1, &sizes);
            let error = found.iter().zip(&sizes).map(|(estimate, size)| {
                (estimate.miss_ratio - all.curve().miss_ratio(*size)).abs()
            });
            let mean = error.sum::<f64>() / sizes.len() as f64;
            assert!(mean <= 0.005, "{distribution:?}: {mean}, {found:?}");
        }
    }

    #[test]
    fn a_scaled_pool_misses_as_the_whole_one() {
        let references = references(Distribution::Zipfian { exponent: 0.8 });
        let settings = PoolSettings::new(1_333);
        let mut pool = Pool::new(settings, PAGES);
        for (number, (page, now_ms)) in references.iter().enumerate() {
            if number == references.len() / 4 {
                pool.forget_counts();
            }
            pool.access(*page, *now_ms, false);
        }
        let counts = pool.counts();
        let exact = counts.misses as f64 / counts.references as f64;
        let found = sampled_pool(&references, PAGES, 0.2, &settings);
        assert!(
            (found.miss_ratio - exact).abs() < 0.01,
            "{found:?}, {exact}"
        );
        assert!(found.spread < 0.05, "{found:?}");
    }

    #[test]
    fn a_sample_has_enough_pages() {
        assert!((Sample::share_for(4_000, 0.01) - 0.1).abs() < 1e-9);
        assert!((Sample::share_for(1_000_000, 0.05) - 0.05).abs() < 1e-9);
        assert!((Sample::share_for(100, 0.05) - 1.0).abs() < 1e-9);
    }
}
