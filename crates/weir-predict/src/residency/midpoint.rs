//! InnoDB's list in two parts: pages enter in the middle and move to the head when they are used
//! again, at least `innodb_old_blocks_time` after their first use.
//!
//! A page goes round a cycle: out; old and fresh; young; old again, after it sank; and so on until
//! it leaves the old sublist unused. With times that are the same for all pages (as in Che's
//! approximation), its shares of the cycle follow from its rate; the two times follow from the
//! sizes of the sublists. The family of such models is that of Martina, Garetto and Leonardi (2014,
//! arXiv 1307.6702); this one was checked by simulation.

use super::lru::{stay_of, stay_that_misses};
use super::{OLD_SHARE, Residency, find_root};
use crate::Popularity;

/// The residency of `pages` pages when a page is promoted at a use at least `settle` transactions
/// after its first one. Freezes as `settle` comes near to how long pages stay in the old sublist.
pub fn midpoint(popularity: &Popularity, pages: f64, settle: f64) -> Residency {
    if pages >= popularity.pages() {
        return Residency::ALL_FIT;
    }
    let like_lru = stay_of(popularity, pages);
    let mut sunk = like_lru;
    let old_stay = find_root(
        like_lru * 1e-4 + settle,
        like_lru * 1e3 + settle,
        |old_stay| {
            let lists = |sunk: f64| Lists::new(popularity, sunk, old_stay, settle);
            let young = (1.0 - OLD_SHARE) * pages;
            sunk = find_root(like_lru * 1e-6, like_lru * 1e6, |sunk| {
                lists(sunk).young / young - 1.0
            });
            let lists = lists(sunk);
            (lists.old + lists.young) / pages - 1.0
        },
    );
    let misses = Lists::new(popularity, sunk, old_stay, settle).misses;
    Residency::new(popularity, misses, stay_that_misses(popularity, misses))
}

/// Pages in the sublists for given times, and what a transaction misses.
struct Lists {
    young: f64,
    old: f64,
    misses: f64,
}

impl Lists {
    /// `sunk`: how long an unused page takes from the head of the list to the old sublist;
    /// `old_stay`: through the old sublist; `settle`: how long after its first use a page can be
    /// promoted. All in transactions.
    fn new(popularity: &Popularity, sunk: f64, old_stay: f64, settle: f64) -> Self {
        let mut lists = Self {
            young: 0.0,
            old: 0.0,
            misses: 0.0,
        };
        for group in popularity.groups() {
            let rate = group.rate;
            let promoted = -(-rate * (old_stay - settle).max(0.0)).exp_m1();
            let kept_young = (-rate * sunk).exp();
            let kept_old = (-rate * old_stay).exp();
            // Times of the cycle multiplied by rate * e^(-rate (sunk + old_stay)), so that nothing
            // overflows for hot pages.
            let left = kept_young * kept_old;
            let fresh = (rate * settle.min(old_stay) + promoted) * left;
            let young = promoted * (1.0 - kept_young);
            let old_again = promoted * kept_young * (1.0 - kept_old);
            let cycle = left + fresh + young + old_again;
            lists.young += group.pages * young / cycle;
            lists.old += group.pages * (fresh + old_again) / cycle;
            lists.misses += group.pages * rate * left / cycle;
        }
        lists
    }
}
