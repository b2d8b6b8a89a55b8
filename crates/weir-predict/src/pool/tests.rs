//! The pool against a slow and obvious one, against the closed models, and against a plain list.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use weir_model::Distribution;
use weir_workload::KeyStream;

use super::*;
use crate::popularity::leaf_groups;
use crate::residency::{Residency, frozen, lru, midpoint};
use crate::{PageGroup, Popularity};

const PAGES: u32 = 4_000;
const ROWS_PER_PAGE: u32 = 75;
const ZIPF: Distribution = Distribution::Zipfian { exponent: 0.8 };
const PARETO: Distribution = Distribution::Pareto { h: 0.2 };

/// The list as a vector from head to tail, its rules as sentences.
struct Obvious {
    settings: PoolSettings,
    list: Vec<(u32, bool)>,
    border: Option<usize>,
    first_used: Vec<u32>,
    clock: Vec<u32>,
    evicted: u32,
    reading: Vec<u32>,
    made_young: u64,
}

impl Obvious {
    fn new(settings: PoolSettings) -> Self {
        Self {
            settings,
            list: Vec::new(),
            border: None,
            first_used: vec![0; PAGES as usize],
            clock: vec![0; PAGES as usize],
            evicted: 0,
            reading: Vec::new(),
            made_young: 0,
        }
    }

    fn access(&mut self, page: u32, now: u32) -> bool {
        if self.place(page).is_some() {
            self.use_page(page, now);
            return true;
        }
        if self.settings.frames - self.list.len() <= self.settings.free_least {
            while self.settings.frames - self.list.len() <= self.settings.free_most {
                self.list.pop();
                self.evicted += 1;
                self.adjust();
            }
        }
        self.first_used[page as usize] = now;
        if let Some(border) = self.border {
            self.clock[page as usize] = 0;
            self.list.insert(border + 1, (page, false));
        } else {
            self.clock[page as usize] = self.evicted;
            self.list.insert(0, (page, false));
        }
        self.adjust();
        self.reading.push(page);
        if self.reading.len() > self.settings.reads_in_flight {
            let read = self.reading.remove(0);
            self.use_page(read, now);
        }
        false
    }

    fn place(&self, page: u32) -> Option<usize> {
        self.list.iter().position(|(other, _)| *other == page)
    }

    fn use_page(&mut self, page: u32, now: u32) {
        let Some(place) = self.place(page).filter(|_| self.evicted > 0) else {
            return;
        };
        let quarter = self.settings.frames as f64 * (1.0 - self.settings.old_share) * SUNK_SHARE;
        let is_old = self.border.is_some_and(|border| place >= border);
        let moves = if is_old {
            now - self.first_used[page as usize] >= self.settings.old_blocks_time_ms
        } else {
            f64::from(self.evicted - self.clock[page as usize]) >= quarter
        };
        if moves {
            self.made_young += u64::from(is_old);
            let entry = self.list.remove(place);
            self.list.insert(0, entry);
            self.border = self.border.map(|border| border + usize::from(is_old));
            self.clock[page as usize] = self.evicted;
            self.adjust();
        }
    }

    fn adjust(&mut self) {
        let length = self.list.len();
        if length < self.settings.old_min {
            self.border = None;
            return;
        }
        let wanted = (length as f64 * self.settings.old_share) as usize;
        let old = length - self.border.unwrap_or(length - wanted);
        let old = old.clamp(wanted - TOLERANCE.min(wanted), wanted + TOLERANCE);
        self.border = Some(length - old);
    }
}

#[test]
fn the_pool_does_what_an_obvious_one_does() {
    let cases = [
        (1000, 0, 0, 0),
        (0, 0, 0, 0),
        (40, 10, 10, 3),
        (1000, 60, 120, 7),
    ];
    for (seed, (old_blocks_time_ms, free_least, free_most, reads_in_flight)) in (1..).zip(cases) {
        let settings = PoolSettings {
            free_least,
            free_most,
            reads_in_flight,
            old_blocks_time_ms,
            ..PoolSettings::new(700)
        };
        let mut pool = Pool::new(settings, PAGES);
        let mut obvious = Obvious::new(settings);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for reference in 0..30_000_u32 {
            // Three of four references to a quarter of the pages.
            let bits = random.next_u64();
            let range = if bits.trailing_zeros() >= 2 {
                PAGES
            } else {
                PAGES / 4
            };
            let page = (bits >> 32) as u32 % range;
            let hit = pool.access(page, reference / 8, false) == Access::Hit;
            assert_eq!(
                hit,
                obvious.access(page, reference / 8),
                "seed {seed}, reference {reference}"
            );
        }
        assert_eq!(pool.counts().made_young, obvious.made_young, "seed {seed}");
    }
}

fn references(distribution: Distribution, seed: u64) -> impl Iterator<Item = u32> {
    let rows = u64::from(PAGES * ROWS_PER_PAGE);
    let keys = KeyStream::new(distribution, rows, seed).unwrap();
    keys.map(|key| (key - 1) / ROWS_PER_PAGE)
}

fn popularity(distribution: Distribution) -> Popularity {
    let rows = f64::from(PAGES * ROWS_PER_PAGE);
    let groups = leaf_groups(distribution, u64::from(PAGES), rows).into_iter();
    Popularity::new(groups.map(|group| PageGroup {
        pages: group.leaves,
        rate: group.share,
        write_rate: 0.0,
    }))
}

/// The miss ratio of a pool of `share` of the pages, at so many references a millisecond.
fn simulated(
    distribution: Distribution,
    share: f64,
    references_per_ms: u32,
    settings: impl Fn(PoolSettings) -> PoolSettings,
) -> f64 {
    const REFERENCES: u32 = 400_000;
    let settings = settings(PoolSettings::new((f64::from(PAGES) * share) as usize));
    let mut pool = Pool::new(settings, PAGES);
    for (number, page) in (0..REFERENCES).zip(references(distribution, 11)) {
        if number == REFERENCES / 4 {
            pool.forget_counts();
        }
        pool.access(page, number / references_per_ms, false);
    }
    let counts = pool.counts();
    counts.misses as f64 / counts.references as f64
}

fn near(found: f64, model: Residency, tolerance: f64) {
    assert!(
        (found - model.miss_ratio).abs() <= tolerance,
        "simulated {found}, model {}",
        model.miss_ratio
    );
}

#[test]
fn the_closed_models_say_what_the_pool_does() {
    for distribution in [ZIPF, PARETO, Distribution::default()] {
        let pages = popularity(distribution);
        for share in [0.33, 0.7] {
            let frames = f64::from(PAGES) * share;
            // One reference every millisecond with a wait of 1 ms: promoted at the second use.
            let promoted = simulated(distribution, share, 1, |settings| PoolSettings {
                old_blocks_time_ms: 1,
                ..settings
            });
            near(promoted, midpoint(&pages, frames, 0.0), 0.003);
            let at_once = simulated(distribution, share, 1, |settings| PoolSettings {
                old_blocks_time_ms: 0,
                ..settings
            });
            near(at_once, lru(&pages, frames), 0.003);
        }
    }
}

/// The whole string passes within a second.
#[test]
fn a_pool_that_turns_over_too_fast_promotes_nothing() {
    for (distribution, share) in [(ZIPF, 0.33), (ZIPF, 0.7), (PARETO, 0.33), (PARETO, 0.7)] {
        let found = simulated(distribution, share, 1000, |settings| settings);
        let model = frozen(&popularity(distribution), f64::from(PAGES) * share);
        near(found, model, 0.02);
        let promoted = midpoint(&popularity(distribution), f64::from(PAGES) * share, 0.0);
        assert!(found > 1.2 * promoted.miss_ratio, "{found}");
    }
}

/// As in `MariaDB` with eight connections: the next pages that are read become young, used or not.
#[test]
fn a_pool_that_evicts_in_batches_is_a_list_of_least_recent_use() {
    for (distribution, share) in [(ZIPF, 0.5), (PARETO, 0.5), (ZIPF, 0.8), (PARETO, 0.8)] {
        let frames = f64::from(PAGES) * share;
        let found = simulated(distribution, share, 1000, |settings| PoolSettings {
            free_least: 300,
            free_most: 600,
            reads_in_flight: 7,
            ..settings
        });
        let pages = popularity(distribution);
        near(found, lru(&pages, frames - 450.0), 0.012);
        assert!(found < 0.97 * frozen(&pages, frames - 450.0).miss_ratio);
    }
}

#[test]
fn an_all_fits_pool_moves_nothing() {
    let mut pool = Pool::new(PoolSettings::new(PAGES as usize), PAGES);
    for (number, page) in (0..100_000).zip(references(ZIPF, 3)) {
        pool.access(page, number, false);
    }
    assert_eq!(
        (pool.counts().made_young, pool.counts().not_made_young),
        (0, 0)
    );
}

#[test]
fn a_changed_page_is_written_when_it_leaves() {
    let settings = PoolSettings {
        free_least: 1,
        free_most: 1,
        ..PoolSettings::new(3)
    };
    let mut pool = Pool::new(settings, 10);
    assert_eq!(pool.access(0, 0, true), Access::Miss { writes: false });
    pool.access(1, 0, false);
    assert_eq!(pool.access(2, 0, false), Access::Miss { writes: true });
    assert_eq!(pool.access(3, 0, false), Access::Miss { writes: false });
    assert_eq!(pool.counts().dirty_evictions, 1);
}
