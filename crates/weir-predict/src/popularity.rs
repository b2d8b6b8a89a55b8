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

use weir_model::Bytes;

use crate::PAGE_BYTES;

/// The most of a small pool that is taken to be free.
const FREE_MAX: f64 = 0.2;

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
    /// and where not all fit the page cleaner keeps some free, half of `innodb_lru_scan_depth` (pages) on average.
    pub fn frames(&self, bytes: Bytes, lru_scan_depth: f64) -> f64 {
        let all = bytes.0 as f64 / PAGE_BYTES;
        let left = all - self.upper_pages();
        if left >= self.pages() {
            return left;
        }
        left - (lru_scan_depth / 2.0).min(FREE_MAX * all)
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
