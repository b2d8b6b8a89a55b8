//! The pool when nothing is promoted.
//!
//! When the old sublist turns over faster than `innodb_old_blocks_time`, no use of a page is late
//! enough to promote it. The young sublist stays as it was when the pool had filled: of the pages
//! that were read until then, 63 in 100, whichever they were, since the border of the sublists runs
//! through pages just read. The others pass through the old sublist first in, first out.

use super::{OLD_SHARE, Residency, find_root, lru::stay_of};
use crate::Popularity;

/// The residency of `pages` pages of a pool in which nothing is promoted.
pub fn frozen(popularity: &Popularity, pages: f64) -> Residency {
    if pages >= popularity.pages() {
        return Residency::ALL_FIT;
    }
    let filling = stay_of(popularity, pages);
    let is_young = |rate: f64| -(1.0 - OLD_SHARE) * (-rate * filling).exp_m1();
    let old = OLD_SHARE * pages;
    let in_queue = |stay: f64| {
        popularity.sum(|group| {
            let expected = group.rate * stay;
            (1.0 - is_young(group.rate)) * expected / (1.0 + expected)
        })
    };
    let stay = find_root(filling * 1e-6, filling * 1e6, |stay| {
        in_queue(stay) / old - 1.0
    });
    let misses = popularity.sum(|group| {
        let missed = (1.0 - is_young(group.rate)) / (1.0 + group.rate * stay);
        group.rate * missed
    });
    Residency::new(popularity, misses, stay)
}
