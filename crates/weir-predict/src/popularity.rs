//! Rate at which each page is asked for, in groups of pages that are asked for alike.
//!
//! From the workload's key distributions alone: a leaf of an index gets the share of the keys that
//! fall on its rows. What order entry and workload files ask for is not validated by runs. The upper levels of the
//! indexes, one page to some thousand leaves, are always in the pool and no part of this; nor are the server's own pages.

mod groups;
mod order_entry;
mod statements;
mod workload;

#[cfg(test)]
pub(crate) use self::groups::leaf_groups;
pub use self::order_entry::order_entry_popularity;
pub use self::statements::file_popularity;
pub use self::workload::{LeafCapacity, TableSet, UndoLogs, popularity_of};

/// Pages that are asked for equally often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PageGroup {
    /// Number of pages.
    pub pages: f64,
    /// Rate at which each is asked for, per transaction.
    pub rate: f64,
    /// Rate at which each is changed, per transaction.
    pub write_rate: f64,
}

/// Rates at which the pages of a data set are asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Popularity {
    groups: Vec<PageGroup>,
    unused_pages: f64,
    upper_pages: f64,
}

/// Leaves below a page of the upper levels, where nothing better is known.
const FAN_OUT: f64 = 1000.0;

impl Popularity {
    /// Of these groups, in one index; those that no statement asks for are only counted.
    pub fn new(groups: impl IntoIterator<Item = PageGroup>) -> Self {
        let (groups, unused): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .filter(|group| group.pages > 0.0)
            .partition(|group| group.rate > 0.0);
        let pages: f64 = groups.iter().map(|group: &PageGroup| group.pages).sum();
        Self {
            groups,
            upper_pages: 1.0 + pages / FAN_OUT,
            unused_pages: unused.iter().map(|group| group.pages).sum(),
        }
    }

    /// The groups.
    pub fn groups(&self) -> &[PageGroup] {
        &self.groups
    }

    /// Pages of the data that no statement asks for.
    pub fn unused_pages(&self) -> f64 {
        self.unused_pages
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

    /// The same with so many pages in the upper levels of its indexes.
    #[must_use]
    pub(crate) fn with_upper_pages(self, upper_pages: f64) -> Self {
        Self {
            upper_pages,
            ..self
        }
    }

    /// Pages of the indexes' upper levels.
    pub fn upper_pages(&self) -> f64 {
        self.upper_pages
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
        let grown = |group: &PageGroup| PageGroup {
            pages: group.pages * factor,
            rate: group.rate / factor,
            write_rate: group.write_rate / factor,
        };
        Self {
            groups: self.groups.iter().map(grown).collect(),
            unused_pages: self.unused_pages * factor,
            upper_pages: self.upper_pages * factor,
        }
    }
}
