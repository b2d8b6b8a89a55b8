//! How often each page is asked for, in groups of pages that are asked for alike.
//!
//! From the workload's key distributions alone: a leaf of an index gets the share of the keys that
//! fall on its rows. The upper levels of the indexes, one page to some thousand leaves, are always
//! in the pool and no part of this; nor are the server's own pages.

mod groups;
mod keys;
mod workload;

#[cfg(test)]
pub(crate) use self::groups::leaf_groups;
pub use self::workload::{LeafCapacity, TableSet, UndoLogs, popularity_of};

use std::collections::BTreeMap;
use std::num::ParseFloatError;

use weir_model::{Bytes, Flavor, LRU_SCAN_DEPTH};

use crate::PAGE_BYTES;

/// The most of a small pool that is taken to be free.
const FREE_MAX: f64 = 0.2;
/// Share of `MariaDB`'s pool that holds pages: of each 8 MiB the first five pages describe the others (10.11.12 and
/// later, MDEV-29445; `Innodb_buffer_pool_pages_total` says so).
const MARIADB_FRAMES: f64 = 507.0 / 512.0;

/// How a server uses its pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolUse {
    /// Of which kind it is.
    pub flavor: Flavor,
    /// `innodb_lru_scan_depth`, pages.
    pub lru_scan_depth: f64,
}

impl PoolUse {
    /// Of a server with these variables, or that kind's default; an error if a variable is no number.
    pub fn of(
        flavor: Flavor,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, ParseFloatError> {
        let depth = variables.get(LRU_SCAN_DEPTH);
        let default = flavor.lru_scan_depth() as f64;
        Ok(Self {
            flavor,
            lru_scan_depth: depth.map_or(Ok(default), |pages| pages.parse())?,
        })
    }

    /// Pages of a pool with so many frames.
    pub fn pages_of(self, frames: f64) -> f64 {
        frames / self.frames_of_a_page()
    }

    fn frames_of_a_page(self) -> f64 {
        match self.flavor {
            Flavor::Mysql => 1.0,
            Flavor::Mariadb => MARIADB_FRAMES,
        }
    }

    /// Frames that have to be free for nothing to be evicted: `MariaDB` evicts below half of the depth
    /// (`buf_pool_t::need_LRU_eviction`), MySQL when it wants one and has none.
    fn free_at_least(self) -> f64 {
        match self.flavor {
            Flavor::Mysql => 0.0,
            Flavor::Mariadb => self.lru_scan_depth / 2.0,
        }
    }

    /// Frames that are free on average where pages are evicted: MySQL's cleaner looks once a second, `MariaDB`'s
    /// refills up to the depth.
    fn free_mean(self) -> f64 {
        match self.flavor {
            Flavor::Mysql => self.lru_scan_depth / 2.0,
            Flavor::Mariadb => self.lru_scan_depth * 0.75,
        }
    }
}

/// Pages that are asked for equally often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageGroup {
    /// How many.
    pub pages: f64,
    /// How often each is asked for, per transaction.
    pub rate: f64,
    /// How often each is changed, per transaction.
    pub write_rate: f64,
}

/// How often the pages of a data set are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Popularity {
    groups: Vec<PageGroup>,
}

impl Popularity {
    /// Of these groups; those without pages or that nobody asks for are left out.
    pub fn new(groups: impl IntoIterator<Item = PageGroup>) -> Self {
        let asked = |group: &PageGroup| group.pages > 0.0 && group.rate > 0.0;
        Self {
            groups: groups.into_iter().filter(asked).collect(),
        }
    }

    /// The groups.
    pub fn groups(&self) -> &[PageGroup] {
        &self.groups
    }

    /// Pages in all.
    pub fn pages(&self) -> f64 {
        self.sum(|_| 1.0)
    }

    /// Page references of a transaction.
    pub fn references(&self) -> f64 {
        self.sum(|group| group.rate)
    }

    /// Pages changed by a transaction, counted as often as they are.
    pub fn changes(&self) -> f64 {
        self.sum(|group| group.write_rate)
    }

    /// Frames that a pool of `bytes` has for these pages: the upper levels of the indexes take theirs first,
    /// and where not all fit the page cleaner keeps some free.
    pub fn frames(&self, bytes: Bytes, pool: PoolUse) -> f64 {
        let all = bytes.0 as f64 / PAGE_BYTES * pool.frames_of_a_page();
        let left = all - self.upper_pages();
        if left - pool.free_at_least() >= self.pages() {
            return left;
        }
        left - pool.free_mean().min(FREE_MAX * all)
    }

    /// Pages of the indexes' upper levels.
    pub fn upper_pages(&self) -> f64 {
        1.0 + self.pages() / 1000.0
    }

    /// The sum of something of each page.
    pub(crate) fn sum(&self, of: impl Fn(&PageGroup) -> f64) -> f64 {
        self.groups
            .iter()
            .map(|group| group.pages * of(group))
            .sum()
    }

    /// Different pages among those that `transactions` ask for.
    pub fn distinct(&self, transactions: f64) -> f64 {
        self.sum(|group| -(-group.rate * transactions).exp_m1())
    }

    /// The same on `factor` times as much data, used alike.
    #[must_use]
    pub fn grown(&self, factor: f64) -> Self {
        Self::new(self.groups.iter().map(|group| PageGroup {
            pages: group.pages * factor,
            rate: group.rate / factor,
            write_rate: group.write_rate / factor,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pools of 172 MiB of data, as live servers counted them: `MariaDB` 10.11.19 had 11,154 frames in 176 MiB, of which
    /// 875 to 1,436 were free, and read 1.7 pages a transaction; MySQL 9.7.4 read none.
    #[test]
    fn mariadb_keeps_frames_free_before_the_pool_is_full() {
        let pages = Popularity::new([PageGroup {
            pages: 11_008.0,
            rate: 1.0,
            write_rate: 0.0,
        }]);
        let pool = |flavor: Flavor| PoolUse {
            flavor,
            lru_scan_depth: flavor.lru_scan_depth() as f64,
        };
        let frames = |flavor, mebibytes: u64| pages.frames(Bytes(mebibytes << 20), pool(flavor));
        assert!(frames(Flavor::Mysql, 176) > pages.pages());
        let found = frames(Flavor::Mariadb, 176);
        assert!(
            found > 11_154.0 - 1_436.0 && found < 11_154.0 - 875.0,
            "{found}"
        );
        let all = frames(Flavor::Mariadb, 256);
        assert!(all > 16_200.0 && all < 16_224.0, "{all}");
        assert!((pool(Flavor::Mariadb).pages_of(4_056.0) - 4_096.0).abs() < 1e-9);
    }
}
