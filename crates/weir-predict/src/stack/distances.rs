//! Distances in the stack of a list of least recent use.

use super::sums::Sums;

/// Never used.
const NEVER: u32 = u32::MAX;
/// Places for each page before the places are given out anew: the work of that is spread over as
/// many references.
const PLACES_PER_PAGE: usize = 4;

/// Counts how many different pages lie between two uses of a page.
///
/// Each page is marked at its last use; the marks after that are the pages in between. Memory: 28
/// bytes for each page of the data set, whatever the length of the string.
#[derive(Debug)]
pub struct StackDistances {
    /// Time of each page's last use.
    last: Vec<u32>,
    marks: Sums,
    places: usize,
    next: usize,
    used: u32,
    /// References with so many other pages in between.
    counts: Vec<u64>,
    first_uses: u64,
}

impl StackDistances {
    /// For strings of references to pages `0..pages`.
    pub fn new(pages: u32) -> Self {
        let places = PLACES_PER_PAGE * pages.max(1) as usize;
        Self {
            last: vec![NEVER; pages as usize],
            marks: Sums::new(places),
            places,
            next: 0,
            used: 0,
            counts: vec![0; pages as usize],
            first_uses: 0,
        }
    }

    /// A reference to `page`.
    pub fn access(&mut self, page: u32) {
        if self.next == self.places {
            self.renumber();
        }
        let last = self.last[page as usize];
        if last == NEVER {
            self.first_uses += 1;
            self.used += 1;
        } else {
            let between = self.used - self.marks.before(last as usize + 1);
            self.counts[between as usize] += 1;
            self.marks.clear(last as usize);
        }
        self.marks.set(self.next);
        self.last[page as usize] = self.next as u32;
        self.next += 1;
    }

    /// Counts from here on, with the stack as it is: what was before was warm-up.
    pub fn forget_counts(&mut self) {
        self.counts.fill(0);
        self.first_uses = 0;
    }

    /// The curve of what was counted.
    pub fn curve(&self) -> MissCurve {
        let references = self.counts.iter().sum::<u64>() + self.first_uses;
        MissCurve::new(&self.counts, references as f64, 1.0)
    }

    /// References counted with so many pages in between, and those to pages never used before.
    pub(super) fn counts(&self) -> (&[u64], u64) {
        (&self.counts, self.first_uses)
    }

    /// Gives the pages places from 0 on, in the order of their last uses.
    fn renumber(&mut self) {
        let mut by_use: Vec<u32> = (0..self.last.len() as u32)
            .filter(|page| self.last[*page as usize] != NEVER)
            .collect();
        by_use.sort_unstable_by_key(|page| self.last[*page as usize]);
        self.marks = Sums::new(self.places);
        for (place, page) in by_use.iter().enumerate() {
            self.last[*page as usize] = place as u32;
            self.marks.set(place);
        }
        self.next = by_use.len();
    }
}

/// Misses of every size of pool.
#[derive(Debug, Clone, PartialEq)]
pub struct MissCurve {
    /// References that hit in a pool of so many (sampled) pages.
    hits: Vec<f64>,
    references: f64,
    /// Sampled pages for one page.
    share: f64,
}

impl MissCurve {
    pub(super) fn new(counts: &[u64], references: f64, share: f64) -> Self {
        let mut sum = 0.0;
        let mut hits = vec![0.0];
        hits.extend(counts.iter().map(|count| {
            sum += *count as f64;
            sum
        }));
        Self {
            hits,
            references,
            share,
        }
    }

    /// The share of references that miss in a pool of `pages` pages.
    pub fn miss_ratio(&self, pages: f64) -> f64 {
        let at = (pages * self.share).max(0.0);
        let below = (at as usize).min(self.hits.len() - 1);
        let above = (below + 1).min(self.hits.len() - 1);
        let hits = self.hits[below] + (self.hits[above] - self.hits[below]) * at.fract();
        (1.0 - hits / self.references).clamp(0.0, 1.0)
    }

    pub(super) fn add_hits(&mut self, hits: f64) {
        for sum in &mut self.hits[1..] {
            *sum += hits;
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_model::Distribution;
    use weir_workload::KeyStream;

    use super::*;
    use crate::{Access, Pool, PoolSettings};

    /// A pool whose pages move at every use, and that has no old sublist, is a list of least
    /// recent use only up to the quarter that a young page sinks first; so the test has its own.
    fn lru_misses(pages: &[u32], size: usize) -> usize {
        let mut list: Vec<u32> = Vec::new();
        let mut misses = 0;
        for page in pages {
            if let Some(place) = list.iter().position(|other| other == page) {
                list.remove(place);
            } else {
                misses += 1;
                list.truncate(size - 1);
            }
            list.insert(0, *page);
        }
        misses
    }

    #[test]
    fn the_curve_is_the_list_at_every_size() {
        let zipf = Distribution::Zipfian { exponent: 0.8 };
        let pages: Vec<u32> = KeyStream::new(zipf, 300, 5)
            .unwrap()
            .take(6_000)
            .map(|key| key - 1)
            .collect();
        let mut distances = StackDistances::new(300);
        for page in &pages {
            distances.access(*page);
        }
        let curve = distances.curve();
        for size in [1, 2, 17, 100, 250, 300] {
            let misses = lru_misses(&pages, size);
            let found = curve.miss_ratio(size as f64) * pages.len() as f64;
            assert!(
                (found - misses as f64).abs() < 1e-6,
                "{size}: {found}, {misses}"
            );
        }
    }

    #[test]
    fn innodbs_list_is_near_to_it_when_pages_are_promoted_at_once() {
        let zipf = Distribution::Zipfian { exponent: 0.8 };
        let mut distances = StackDistances::new(4_000);
        let settings = PoolSettings {
            old_blocks_time_ms: 0,
            ..PoolSettings::new(1_333)
        };
        let mut pool = Pool::new(settings, 4_000);
        let mut misses = 0;
        for key in KeyStream::new(zipf, 300_000, 9).unwrap().take(200_000) {
            let page = (key - 1) / 75;
            distances.access(page);
            misses += u32::from(pool.access(page, 0, false) != Access::Hit);
        }
        let found = f64::from(misses) / 200_000.0;
        let curve = distances.curve().miss_ratio(1_333.0);
        assert!((found - curve).abs() < 0.003, "{found}, {curve}");
    }
}
