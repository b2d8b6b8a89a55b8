//! A list of least recent use: Che's approximation.
//!
//! A page stays for the same time `T` after each use, whichever page it is; `T` is such that the
//! pool is full (Che, Tung and Wang 2002; Fricker, Robert and Roberts 2012, arXiv 1202.3974, say
//! why it is accurate).

use super::{Residency, find_root};
use crate::Popularity;

/// The residency of `pages` pages of a pool.
pub fn lru(popularity: &Popularity, pages: f64) -> Residency {
    if pages >= popularity.pages() {
        return Residency::ALL_FIT;
    }
    let stay = stay_of(popularity, pages);
    let misses = popularity.sum(|group| group.rate * (-group.rate * stay).exp());
    Residency::new(popularity, misses, stay)
}

/// By how much a transaction's misses change with one more page: what a wrong pool size costs.
pub fn lru_slope(popularity: &Popularity, pages: f64) -> f64 {
    if pages >= popularity.pages() {
        return 0.0;
    }
    let stay = stay_of(popularity, pages);
    let leaving =
        |power: i32| popularity.sum(|group| group.rate.powi(power) * (-group.rate * stay).exp());
    -leaving(2) / leaving(1)
}

/// Returns the time for which an unused page stays in a list that misses so many pages of a
/// transaction.
pub(super) fn stay_that_misses(popularity: &Popularity, misses: f64) -> f64 {
    let slowest = popularity.groups().iter().map(|group| group.rate);
    let slowest = slowest.fold(f64::INFINITY, f64::min);
    find_root(1e-3 / popularity.references(), 1e3 / slowest, |stay| {
        1.0 - popularity.sum(|group| group.rate * (-group.rate * stay).exp()) / misses
    })
}

/// Transactions in which the pool sees `pages` different pages.
pub(super) fn stay_of(popularity: &Popularity, pages: f64) -> f64 {
    let references = popularity.references();
    // Every reference to a new page at the least, and the slowest page's own time at the most.
    let slowest = popularity.groups().iter().map(|group| group.rate);
    let slowest = slowest.fold(f64::INFINITY, f64::min);
    find_root(0.5 * pages / references, 1e3 / slowest, |stay| {
        (popularity.distinct(stay) - pages) / pages
    })
}
