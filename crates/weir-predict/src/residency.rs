//! Pages in the pool in steady state: misses as a function of the pool's size.
//!
//! References are taken to be independent, which those of the built-in workloads are. Three
//! answers to three states of InnoDB's list: [`lru`] (`innodb_old_blocks_time` = 0: a page moves to
//! the head at its first use), [`midpoint`] (a page has to be used again, later than that time),
//! and [`frozen`] (pages leave the old sublist sooner than that, so that none is ever promoted).

mod frozen;
mod lru;
mod midpoint;
mod root;

pub use self::frozen::frozen;
pub use self::lru::{lru, lru_slope};
pub use self::midpoint::midpoint;
pub(crate) use self::root::{find_root, find_root_within};
use crate::Popularity;

/// Share of the list that is its old sublist: `innodb_old_blocks_pct` = 37, its default.
pub const OLD_SHARE: f64 = 0.37;

/// Content of a pool of some size in steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Residency {
    /// Pages that a transaction has to read.
    pub misses: f64,
    /// The same as a share of its references.
    pub miss_ratio: f64,
    /// Time for which a page that is not asked for again stays, transactions. In a list of two parts with promotion
    /// that depends on the page's position; there it is the value of one list that misses as much.
    pub stay: f64,
}

impl Residency {
    /// Nothing is missed: all pages fit.
    const ALL_FIT: Self = Self {
        misses: 0.0,
        miss_ratio: 0.0,
        stay: f64::INFINITY,
    };

    fn new(popularity: &Popularity, misses: f64, stay: f64) -> Self {
        Self {
            misses,
            miss_ratio: misses / popularity.references(),
            stay,
        }
    }
}

#[cfg(test)]
mod tests;
