//! Popularity from looks at what a live pool holds.
//!
//! A page that is used with rate `r` lies in a pool whose pages stay for `T` with the probability
//! `1 - exp(-r T)` (Che's approximation), so the share of the looks at which it was there says `r T`. What
//! the pool misses per second says `T`. Nothing is known of pages that are always there, but that they are used
//! often, and little of those that were never seen.
//!
//! Few looks see equally popular pages unequally often, by chance. So what is asked is not each page's share but
//! which mixture of popularities makes the counts of all pages most likely.

use std::collections::HashMap;

use crate::{PageGroup, Popularity, PredictError};

/// Fewest looks: with fewer samples, rare and frequent pages look alike.
const LOOKS_MIN: u32 = 4;

/// Pages that were in the pool, look by look.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    /// Tablespace and page -> at how many looks.
    seen: HashMap<(u32, u32), u32, foldhash::fast::FixedState>,
    looks: u32,
}

impl Looks {
    /// A look at a pool that holds `pages`.
    pub fn look(&mut self, pages: impl IntoIterator<Item = (u32, u32)>) {
        for page in pages {
            *self.seen.entry(page).or_default() += 1;
        }
        self.looks += 1;
    }

    /// Pages that were seen at all.
    pub fn distinct(&self) -> usize {
        self.seen.len()
    }

    /// Pages at each look, on average.
    pub fn resident(&self) -> f64 {
        let sum: f64 = self.seen.values().map(|times| f64::from(*times)).sum();
        sum / f64::from(self.looks.max(1))
    }

    /// Returns the rates at which pages of data of `pages` pages are asked for, per second, by a server that misses
    /// `misses_per_s`.
    ///
    /// # Errors
    ///
    /// Fewer than four looks, or a server that misses nothing.
    pub fn popularity(&self, pages: f64, misses_per_s: f64) -> Result<Popularity, PredictError> {
        let value = |what, value, why| PredictError::Value { what, value, why };
        if self.looks < LOOKS_MIN {
            let looks = f64::from(self.looks);
            return Err(value("looks", looks, "it takes four at least"));
        }
        if misses_per_s <= 0.0 {
            let why = "a pool that misses nothing says nothing of other sizes";
            return Err(value("misses per second", misses_per_s, why));
        }
        let mut counts = vec![0.0; self.looks as usize + 1];
        for times in self.seen.values() {
            counts[*times as usize] += 1.0;
        }
        counts[0] = (pages - self.distinct() as f64).max(0.0);
        let mixture = most_likely_mixture(&counts);
        let missed = |(uses, pages): &(f64, f64)| pages * uses * (-uses).exp();
        let stay_s = mixture.iter().map(missed).sum::<f64>() / misses_per_s;
        Ok(Popularity::new(mixture.into_iter().map(|(uses, pages)| {
            PageGroup {
                pages,
                rate: uses / stay_s,
                write_rate: 0.0,
            }
        })))
    }
}

/// Uses within a stay, and how many pages have them: the mixture that makes it most likely that `counts[k]` pages
/// were there at `k` of the looks (Kiefer and Wolfowitz, 1956), by expectation and maximisation over a grid.
///
/// The grid ends where half a look in all tells pages from such that are never, or always, there.
fn most_likely_mixture(counts: &[f64]) -> Vec<(f64, f64)> {
    const GRID: usize = 120;
    const STEPS: usize = 400;
    let looks = (counts.len() - 1) as f64;
    let (least, most) = (0.5 / (looks + 1.0), (2.0 * (looks + 1.0)).ln());
    let grid = (0..GRID).map(|at| least * (most / least).powf(at as f64 / (GRID - 1) as f64));
    let grid: Vec<f64> = grid.collect();
    // By count and place of the grid; what is common to all places of a count cancels.
    let likelihoods = (0..counts.len()).map(|times| {
        let present = times as f64;
        let log = |uses: &f64| present * (-(-uses).exp_m1()).ln() - (looks - present) * uses;
        let logs: Vec<f64> = grid.iter().map(log).collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.iter()
            .map(|log| (log - largest).exp())
            .collect::<Vec<_>>()
    });
    let likelihoods: Vec<Vec<f64>> = likelihoods.collect();
    let all: f64 = counts.iter().sum();
    let mut pages = vec![all / GRID as f64; GRID];
    for _ in 0..STEPS {
        let mut next = vec![0.0; GRID];
        let seen = counts.iter().zip(&likelihoods);
        for (count, likelihoods) in seen.filter(|(count, _)| **count > 0.0) {
            let products = pages
                .iter()
                .zip(likelihoods)
                .map(|(pages, likely)| pages * likely);
            let sum: f64 = products.clone().sum();
            for (next, product) in next.iter_mut().zip(products) {
                *next += count * product / sum;
            }
        }
        pages = next;
    }
    grid.into_iter().zip(pages).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use weir_model::Distribution;

    use weir_workload::KeyStream;

    use super::*;
    use crate::lru;

    const PAGES: u32 = 6_000;
    const ROWS: u32 = 75;

    /// A list of least recent use that says what it holds.
    struct List {
        frames: usize,
        /// Page -> number of its last use.
        last: HashMap<u32, u64>,
        uses: VecDeque<(u32, u64)>,
        now: u64,
    }

    impl List {
        /// Accesses `page`; returns true if it was missed.
        fn access(&mut self, page: u32) -> bool {
            self.now += 1;
            self.uses.push_back((page, self.now));
            let missed = self.last.insert(page, self.now).is_none();
            while self.last.len() > self.frames {
                if let Some((page, at)) = self.uses.pop_front()
                    && self.last.get(&page) == Some(&at)
                {
                    self.last.remove(&page);
                }
            }
            missed
        }
    }

    /// Looks at a third of the data, a reference a second; what was missed of all references meanwhile.
    fn watched(distribution: Distribution, looks_in_all: u32) -> (Looks, f64) {
        let mut list = List {
            frames: PAGES as usize / 3,
            last: HashMap::new(),
            uses: VecDeque::new(),
            now: 0,
        };
        let keys = KeyStream::new(distribution, u64::from(PAGES * ROWS), 7).unwrap();
        let mut pages = keys.map(|key| (key - 1) / ROWS);
        for page in pages.by_ref().take(60_000) {
            list.access(page);
        }
        let (mut looks, mut missed) = (Looks::default(), 0_u32);
        for _ in 0..looks_in_all {
            for page in pages.by_ref().take(15_000) {
                missed += u32::from(list.access(page));
            }
            looks.look(list.last.keys().map(|page| (0, *page)));
        }
        (looks, f64::from(missed) / f64::from(looks_in_all * 15_000))
    }

    fn exact(distribution: Distribution) -> Popularity {
        let keys = KeyStream::new(distribution, u64::from(PAGES * ROWS), 99).unwrap();
        let mut counts = vec![0_u32; PAGES as usize];
        for key in keys.take(3_000_000) {
            counts[((key - 1) / ROWS) as usize] += 1;
        }
        Popularity::new(counts.iter().map(|count| PageGroup {
            pages: 1.0,
            rate: f64::from(*count) / 3e6,
            write_rate: 0.0,
        }))
    }

    #[test]
    fn looks_say_what_larger_and_smaller_pools_miss() {
        for distribution in [
            Distribution::Uniform,
            Distribution::Zipfian { exponent: 0.8 },
            Distribution::Pareto { h: 0.2 },
        ] {
            let (looks, misses_per_s) = watched(distribution, 20);
            let found = looks.popularity(f64::from(PAGES), misses_per_s).unwrap();
            let exact = exact(distribution);
            for share in [0.2, 0.33, 0.5, 0.7, 0.85] {
                let pages = share * f64::from(PAGES);
                let (found, exact) = (lru(&found, pages).misses, lru(&exact, pages).misses);
                assert!(
                    (found - exact).abs() < 0.05,
                    "{distribution:?}, {share}: {found}, {exact}"
                );
            }
        }
    }

    /// By each page's own share, 8 looks at a live server took chance for popularity: 0.33 of the misses instead of 0.58.
    #[test]
    fn few_looks_do_not_take_chance_for_popularity() {
        let (looks, misses_per_s) = watched(Distribution::Uniform, 6);
        let found = looks.popularity(f64::from(PAGES), misses_per_s).unwrap();
        for share in [0.2, 0.5, 0.7, 0.85] {
            let misses = lru(&found, share * f64::from(PAGES)).misses;
            assert!((misses - (1.0 - share)).abs() < 0.05, "{share}: {misses}");
        }
    }

    /// Places of the grid that nothing speaks for end at zero, and zero of zero is not a number.
    #[test]
    fn many_looks_at_two_kinds_of_pages_stay_numbers() {
        let mut looks = Looks::default();
        for look in 0..500_u32 {
            let often = (0..100).map(|page| (0, page));
            looks.look(often.chain([(1, look)]));
        }
        let found = looks.popularity(1_000.0, 10.0).unwrap();
        assert!((found.pages() - 1_000.0).abs() < 1e-6, "{}", found.pages());
        assert!(lru(&found, 500.0).misses.is_finite());
    }

    #[test]
    fn a_pool_that_misses_nothing_is_refused() {
        let mut looks = Looks::default();
        assert!(looks.popularity(10.0, 1.0).is_err());
        for _ in 0..LOOKS_MIN {
            looks.look([(1, 1), (1, 2)]);
        }
        assert!(looks.popularity(10.0, 0.0).is_err());
        assert!((looks.resident() - 2.0).abs() < 1e-9);
        assert!((looks.popularity(10.0, 1.0).unwrap().pages() - 10.0).abs() < 1e-9);
    }
}
