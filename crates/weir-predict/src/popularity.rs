//! How often each page is asked for, in groups of pages that are asked for alike.
//!
//! From the workload's key distributions alone: a leaf of an index gets the share of the keys that
//! fall on its rows. The upper levels of the indexes, one page to some thousand leaves, are always
//! in the pool and no part of this; nor are undo and the server's own pages.

mod groups;
mod keys;
mod workload;

#[cfg(test)]
pub(crate) use self::groups::leaf_groups;
pub use self::workload::{LeafCapacity, TableSet, popularity_of};

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
