//! Popularity from looks at what a live pool holds.
//!
//! A page that is used with rate `r` lies in a pool whose pages stay for `T` with the probability
//! `1 - exp(-r T)` (Che's approximation), so the share of the looks at which it was there says `r T`. What
//! the pool misses per second says `T`. Nothing is known of pages that are always there, but that they are used
//! often, and little of those that were never seen.

use std::collections::HashMap;

use crate::{PageGroup, Popularity, PredictError};

/// Fewer looks tell a page that is used now and then from one that is used often too badly.
const LOOKS_MIN: u32 = 4;

/// Which pages were in the pool, look by look.
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

    /// How often the pages of data of `pages` pages are asked for, per second, by a server that misses
    /// `misses_per_s`.
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
        let mut counts = vec![0_u32; self.looks as usize + 1];
        for times in self.seen.values() {
            counts[*times as usize] += 1;
        }
        let unseen = (pages - self.distinct() as f64).max(0.0);
        // Uses within a stay, of pages that were there at so many looks; half a look more and less keeps them
        // from 0 and infinity.
        let uses = |times: usize| {
            let share = (times as f64 + 0.5) / (f64::from(self.looks) + 1.0);
            (-(1.0 - share).ln(), 1.0 - share)
        };
        let number = |times: usize| match times {
            0 => unseen,
            _ => f64::from(counts[times]),
        };
        let missed = |times: usize| {
            let (uses, absent) = uses(times);
            number(times) * uses * absent
        };
        let stay_s = (0..counts.len()).map(missed).sum::<f64>() / misses_per_s;
        Ok(Popularity::new((0..counts.len()).map(|times| PageGroup {
            pages: number(times),
            rate: uses(times).0 / stay_s,
            write_rate: 0.0,
        })))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use weir_load::{Distribution, KeyStream};

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
        /// Whether `page` was missed.
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
    fn watched(distribution: Distribution) -> (Looks, f64) {
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
        for _ in 0..20 {
            for page in pages.by_ref().take(15_000) {
                missed += u32::from(list.access(page));
            }
            looks.look(list.last.keys().map(|page| (0, *page)));
        }
        (looks, f64::from(missed) / 300_000.0)
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
            let (looks, misses_per_s) = watched(distribution);
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
