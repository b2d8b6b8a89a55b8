//! Use of a pool's frames by a server: the number that it keeps free, and its eviction.
//!
//! Read in the sources that are named, and held against counters and page lists of `MySQL` 9.7.4 and `MariaDB` 10.11.19
//! (docs/decisions/0009-predicting-misses.md).

use std::collections::BTreeMap;
use std::num::ParseFloatError;

use weir_model::{Bytes, Flavor, LRU_SCAN_DEPTH, PoolStart};

use crate::residency::{OLD_SHARE, Residency, frozen, lru};
use crate::{PAGE_BYTES, Popularity};

/// The most of a small `MySQL` pool that is taken to be free.
const FREE_MAX: f64 = 0.2;
/// Pages that the page cleaner leaves (`BUF_LRU_MIN_LEN`).
const KEPT_LEAST: f64 = 256.0;
/// Share of `MariaDB`'s pool that holds pages: of each 8 MiB the first five pages describe the others (10.11.12 and
/// later, MDEV-29445; `Innodb_buffer_pool_pages_total` says so).
const MARIADB_FRAMES: f64 = 507.0 / 512.0;
/// Share of the indexes' upper pages that leave with such a batch of `MariaDB`'s; found from five pools of 32 MiB, which have 15
/// to 30 of them and miss 0.003 to 0.019 more than without it.
const UPPER_EVICTED: f64 = 0.45;
/// Pages of its own that are in `MySQL`'s pool when it has started, before any of the data: undo, temporary and system
/// tablespaces, the dictionary (`Innodb_buffer_pool_pages_data`).
const MYSQL_OWN_PAGES: f64 = 1_060.0;

/// Use of a pool by its server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolUse {
    /// Of which kind it is.
    pub flavor: Flavor,
    /// `innodb_lru_scan_depth`, pages.
    pub lru_scan_depth: f64,
    /// Content of the pool when the load begins.
    pub start: PoolStart,
    /// True if its transactions change pages.
    pub changes_pages: bool,
}

/// Way in which frames become free where not all pages fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refill {
    /// One page is evicted for one that is read: `MySQL`, whose page cleaner sleeps while nothing is changed.
    OnDemand,
    /// `MySQL`'s page cleaner frees `innodb_lru_scan_depth` frames once a second.
    EachSecond,
    /// `MariaDB`'s frees up to that depth as soon as fewer than half of it are left
    /// (`buf_pool_t::need_LRU_eviction`).
    InBatches,
}

impl PoolUse {
    /// A cold `MySQL` as it comes, whose transactions change pages.
    pub const MYSQL: Self = Self {
        flavor: Flavor::Mysql,
        lru_scan_depth: Flavor::Mysql.lru_scan_depth() as f64,
        start: PoolStart::Cold,
        changes_pages: true,
    };

    /// The pool of a server that begins so, with these variables or the defaults of its kind, under a workload that
    /// does or does not change pages.
    ///
    /// # Errors
    ///
    /// A variable that is no number.
    pub fn new(
        flavor: Flavor,
        variables: &BTreeMap<String, String>,
        start: PoolStart,
        changes_pages: bool,
    ) -> Result<Self, ParseFloatError> {
        let depth = variables.get(LRU_SCAN_DEPTH);
        let default = flavor.lru_scan_depth() as f64;
        Ok(Self {
            flavor,
            lru_scan_depth: depth.map_or(Ok(default), |pages| pages.parse())?,
            start,
            changes_pages,
        })
    }

    /// Frames that a pool of `bytes` has for these pages: the upper levels of the indexes take theirs first,
    /// and where not all fit some are free.
    pub fn frames(self, bytes: Bytes, popularity: &Popularity) -> f64 {
        let all = bytes.0 as f64 / PAGE_BYTES * self.frames_of_a_page();
        let left = all - popularity.upper_pages();
        if left - self.free_at_least() >= popularity.pages() {
            return left;
        }
        left - self.free_mean(all)
    }

    /// Pages of a pool that has frames for so many of the data's, with the upper levels of their indexes.
    pub fn pages(self, frames: f64, popularity: &Popularity) -> f64 {
        (frames + popularity.upper_pages()) / self.frames_of_a_page()
    }

    /// Returns the content of `pages` pages of a pool when its old sublist turns over within `innodb_old_blocks_time`;
    /// `promoting`: when it does not.
    ///
    /// Only a server that evicts one page for another freezes then. Evicting many at once and reading others in
    /// their place moves the border of the sublists, which makes a part of the latter young and so mixes
    /// the sublists: in batches, as fast as pages are read, into one list of least recent use; once a
    /// second, so slowly that mostly pages stay that are used again, as if these were promoted.
    pub(crate) fn turning_over(
        self,
        popularity: &Popularity,
        pages: f64,
        promoting: Residency,
    ) -> Residency {
        match self.refill() {
            Refill::OnDemand => {
                let unused = self.unused(popularity, pages);
                frozen(popularity, (pages - unused).max(pages / 2.0))
            }
            Refill::EachSecond => promoting,
            Refill::InBatches => self.between_batches(popularity, pages),
        }
    }

    /// In how many transactions the old sublist of a pool with `pages` pages turns over.
    ///
    /// A frozen pool misses more and so turns over sooner: there are throughputs at which it stays frozen, and would not freeze.
    /// `MySQL`'s pool that begins cold takes its time to fill, and what was read in the meantime may be old enough to be
    /// promoted: the middle of both is taken. All others are taken to be frozen then.
    pub(crate) fn turnover(self, pages: f64, promoting: Residency, frozen: Residency) -> f64 {
        match (self.refill(), self.start) {
            (Refill::OnDemand, PoolStart::Cold) => {
                OLD_SHARE * pages / (promoting.misses * frozen.misses).sqrt()
            }
            _ => frozen.stay,
        }
    }

    /// A pool that is emptied by half the depth at once and filled page by page: the fewer it misses, the longer it
    /// takes to fill, so that the mean over its references is the logarithmic one of both ends.
    fn between_batches(self, popularity: &Popularity, pages: f64) -> Residency {
        let half = (self.lru_scan_depth / 4.0).min(pages / 2.0);
        let [emptied, filled] = [pages - half, pages + half].map(|pages| lru(popularity, pages));
        if filled.misses <= 0.0 {
            return lru(popularity, pages);
        }
        let mean = |from: f64, to: f64| (from - to) / (from / to).ln();
        let more = 1.0 + self.upper_pages_read(popularity, pages + half);
        Residency {
            misses: mean(emptied.misses, filled.misses) * more,
            miss_ratio: mean(emptied.miss_ratio, filled.miss_ratio) * more,
            stay: emptied.stay.midpoint(filled.stay),
        }
    }

    /// Pages of the indexes' upper levels that are read again for each page of the data that is read, where a batch is larger than the
    /// old sublist of a full pool, `filled` pages: it takes those upper pages along that came last.
    fn upper_pages_read(self, popularity: &Popularity, filled: f64) -> f64 {
        let batch = self.lru_scan_depth / 2.0;
        if OLD_SHARE * filled < batch {
            UPPER_EVICTED * popularity.upper_pages() / batch
        } else {
            0.0
        }
    }

    /// Pages that no statement asks for and that are in a frozen pool of `MySQL` for good: of those that were there first the
    /// part that is young.
    ///
    /// A page cleaner that is awake when the pool has filled evicts many of them; studies wait until it sleeps.
    fn unused(self, popularity: &Popularity, pages: f64) -> f64 {
        let loaded = match self.start {
            PoolStart::Cold => 0.0,
            PoolStart::Warm => {
                let unused = popularity.unused_pages();
                pages * unused / (popularity.pages() + unused)
            }
        };
        (1.0 - OLD_SHARE) * (MYSQL_OWN_PAGES + loaded)
    }

    fn refill(self) -> Refill {
        match (self.flavor, self.changes_pages) {
            (Flavor::Mysql, false) => Refill::OnDemand,
            (Flavor::Mysql, true) => Refill::EachSecond,
            (Flavor::Mariadb, _) => Refill::InBatches,
        }
    }

    fn frames_of_a_page(self) -> f64 {
        match self.flavor {
            Flavor::Mysql => 1.0,
            Flavor::Mariadb => MARIADB_FRAMES,
        }
    }

    /// Frames that have to be free for nothing to be evicted.
    fn free_at_least(self) -> f64 {
        match self.refill() {
            Refill::OnDemand | Refill::EachSecond => 0.0,
            Refill::InBatches => self.lru_scan_depth / 2.0,
        }
    }

    /// Frames of `all` that are free on average where pages are evicted.
    fn free_mean(self, all: f64) -> f64 {
        match self.refill() {
            Refill::OnDemand => 0.0,
            Refill::EachSecond => (self.lru_scan_depth / 2.0).min(FREE_MAX * all),
            Refill::InBatches => (self.lru_scan_depth * 0.75).min((all - KEPT_LEAST).max(0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageGroup;
    use crate::residency::midpoint;

    fn evenly(pages: f64) -> Popularity {
        Popularity::new([PageGroup {
            pages,
            rate: 1.0,
            write_rate: 0.0,
        }])
    }

    fn pool(flavor: Flavor, changes_pages: bool) -> PoolUse {
        PoolUse::new(flavor, &BTreeMap::new(), PoolStart::Cold, changes_pages).unwrap()
    }

    fn turning_over(pool: PoolUse, popularity: &Popularity, frames: f64) -> Residency {
        pool.turning_over(popularity, frames, midpoint(popularity, frames, 0.0))
    }

    /// Pools of 172 MiB of data, as live servers counted them: `MariaDB` 10.11.19 had 11,154 frames in 176 MiB, of which
    /// 875 to 1,436 were free, and read 1.7 pages a transaction; MySQL 9.7.4 read none.
    #[test]
    fn mariadb_keeps_frames_free_before_the_pool_is_full() {
        let pages = evenly(11_008.0);
        let frames =
            |flavor, mebibytes: u64| pool(flavor, false).frames(Bytes(mebibytes << 20), &pages);
        assert!(frames(Flavor::Mysql, 176) > pages.pages());
        let found = frames(Flavor::Mariadb, 176);
        assert!(
            found > 11_154.0 - 1_436.0 && found < 11_154.0 - 875.0,
            "{found}"
        );
        let all = frames(Flavor::Mariadb, 256);
        assert!(all > 16_200.0 && all < 16_224.0, "{all}");
        let pages_of_64m = pool(Flavor::Mariadb, false).pages(4_056.0 - 12.0, &pages);
        assert!((pages_of_64m - 4_096.0).abs() < 0.1, "{pages_of_64m}");
    }

    /// Misses of each query of one row, with uniform keys on 10,960 pages, as live servers counted them.
    #[test]
    fn small_pools_hold_what_live_servers_held() {
        let pages = evenly(10_960.0);
        let missed = |flavor, mebibytes: u64| {
            let pool = pool(flavor, false);
            let frames = pool.frames(Bytes(mebibytes << 20), &pages);
            // A query asks for 1 + 2 / 73 leaves.
            turning_over(pool, &pages, frames).miss_ratio * (1.0 + 2.0 / 73.0)
        };
        for (flavor, mebibytes, counted) in [
            (Flavor::Mysql, 32, 0.9052),
            (Flavor::Mysql, 64, 0.7081),
            (Flavor::Mysql, 160, 0.1286),
            (Flavor::Mariadb, 32, 0.9547),
            (Flavor::Mariadb, 64, 0.7558),
            (Flavor::Mariadb, 160, 0.1848),
        ] {
            let found = missed(flavor, mebibytes);
            assert!(
                (found - counted).abs() < 0.012,
                "{flavor:?} with {mebibytes}M: {found} for {counted}"
            );
        }
    }

    #[test]
    fn a_cleaner_at_work_keeps_frames_free_and_the_pool_from_freezing() {
        let pages = Popularity::new([(1_000.0, 0.0005), (9_000.0, 0.5 / 9_000.0)].map(
            |(pages, rate)| PageGroup {
                pages,
                rate,
                write_rate: 0.0,
            },
        ));
        let reads = pool(Flavor::Mysql, false);
        let writes = pool(Flavor::Mysql, true);
        let frames = |pool: PoolUse| pool.frames(Bytes(96 << 20), &pages);
        assert!((frames(reads) - frames(writes) - 512.0).abs() < 1e-9);
        let misses = |pool: PoolUse| turning_over(pool, &pages, 6_000.0).misses;
        assert!(misses(writes) < misses(reads));
    }
}
