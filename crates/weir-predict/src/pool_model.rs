//! A pool of one size at any throughput: in which state its list is, and what it misses.
//!
//! `innodb_old_blocks_time` is a time, residency is counted in transactions; so the state depends on
//! the throughput. A pool that fills at a rate at which its old sublist turns over sooner than that
//! time promotes hardly a page; what it holds then, the server's way of evicting decides ([`PoolUse`]). A slower one is taken to promote at the second use: what the time
//! does in between (it favours pages that are used often, and takes long to) is left out.

use crate::{PoolUse, Popularity, Residency, lru, midpoint};

/// A pool whose old sublist turns over within so many times `innodb_old_blocks_time` is near to
/// freezing.
const NEAR: f64 = 3.0;

/// The state of a pool's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListState {
    /// All pages fit.
    AllFit,
    /// Pages move to the head at their first use: `innodb_old_blocks_time` = 0.
    LeastRecentUse,
    /// Pages are promoted at a later use.
    Promoting,
    /// As before, and three times the throughput would freeze it.
    NearFreezing,
    /// Hardly a page is promoted.
    Frozen,
}

/// A pool of one size.
#[derive(Debug)]
pub struct PoolModel<'a> {
    popularity: &'a Popularity,
    pages: f64,
    old_blocks_time_s: f64,
    promoting: Residency,
    frozen: Residency,
    /// Transactions in which its old sublist turns over.
    turnover: f64,
}

impl<'a> PoolModel<'a> {
    /// A pool with frames for `pages` of the pages in question.
    pub fn new(
        popularity: &'a Popularity,
        pages: f64,
        pool_use: PoolUse,
        old_blocks_time_s: f64,
    ) -> Self {
        let pages = pages.max(1.0);
        let promoting = if old_blocks_time_s > 0.0 {
            midpoint(popularity, pages, 0.0)
        } else {
            lru(popularity, pages)
        };
        let frozen = pool_use.turning_over(popularity, pages, promoting);
        Self {
            popularity,
            pages,
            old_blocks_time_s,
            turnover: pool_use.turnover(pages, promoting, frozen),
            promoting,
            frozen,
        }
    }

    /// Returns its frames for the pages in question.
    pub fn pages(&self) -> f64 {
        self.pages
    }

    /// Returns its content while pages are promoted.
    pub fn promoting(&self) -> Residency {
        self.promoting
    }

    /// Returns its content when hardly a page is promoted.
    pub fn frozen(&self) -> Residency {
        self.frozen
    }

    /// Returns true if a frozen pool promotes pages again at so many transactions per second.
    pub(crate) fn thaws_at(&self, transactions_per_s: f64) -> bool {
        self.frozen.stay >= self.old_blocks_time_s * transactions_per_s
    }

    /// The state in which so many transactions per second put it.
    pub fn state_at(&self, transactions_per_s: f64) -> ListState {
        if self.pages >= self.popularity.pages() {
            return ListState::AllFit;
        }
        if self.old_blocks_time_s <= 0.0 {
            return ListState::LeastRecentUse;
        }
        let settle = self.old_blocks_time_s * transactions_per_s;
        if self.turnover < settle {
            ListState::Frozen
        } else if self.turnover < NEAR * settle {
            ListState::NearFreezing
        } else {
            ListState::Promoting
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageGroup;

    #[test]
    fn a_pool_freezes_with_the_throughput() {
        let pages = Popularity::new([(100.0, 0.005), (900.0, 0.5 / 900.0)].map(|(pages, rate)| {
            PageGroup {
                pages,
                rate,
                write_rate: 0.0,
            }
        }));
        let pool_use = PoolUse {
            changes_pages: false,
            ..PoolUse::MYSQL
        };
        let pool = PoolModel::new(&pages, 300.0, pool_use, 1.0);
        let state = |per_s| pool.state_at(per_s);
        assert_eq!(state(10.0), ListState::Promoting);
        assert_eq!(state(1e5), ListState::Frozen);
        assert!(pool.thaws_at(10.0) && !pool.thaws_at(1e5));
        assert!(pool.frozen().misses > 1.1 * pool.promoting().misses);
        let at_once = PoolModel::new(&pages, 300.0, pool_use, 0.0);
        assert_eq!(at_once.state_at(1e5), ListState::LeastRecentUse);
        let all = PoolModel::new(&pages, 1000.0, pool_use, 1.0);
        assert_eq!(all.state_at(1e5), ListState::AllFit);
    }
}
