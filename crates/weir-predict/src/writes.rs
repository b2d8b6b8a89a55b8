//! Pages that have to be written, and when.
//!
//! A changed page is written when it leaves the pool, when the server wants to ([`Flushing`]), or when the
//! redo log is about to overwrite its oldest change, whichever comes first; all changes in between cost one
//! write. With `T` from the first change to the write, a page that is changed at a rate `m` is written
//! `1 / (T + 1 / m)` times. A huge pool and log write every page that is changed at all, once a cycle; a tiny
//! pool writes once per eviction of a changed page.

use crate::flushing::Flushing;
use crate::residency::find_root_within;
use crate::{PAGE_BYTES, Popularity, Residency};

/// Share of the redo log at whose age everything else waits for changed pages to be written: both servers leave
/// a margin of the log unused.
const LOG_SHARE: f64 = 0.75;
/// Numbers of pages that differ by less, as a share of their sum, agree.
const AGREED: f64 = 1e-4;
/// The shortest time from a change to the write that is looked at, transactions.
const CYCLE_MIN: f64 = 1e-3;

/// The redo log, the doublewrite buffer and the page cleaner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteSettings {
    /// Capacity of the redo log, bytes.
    pub redo_capacity_bytes: f64,
    /// Redo of a transaction, bytes.
    pub redo_bytes: f64,
    /// Each page is written to the doublewrite buffer first.
    pub doublewrite: bool,
    /// Commits wait until their redo is on the drive.
    pub durable_commits: bool,
    /// Time at which changed pages are written.
    pub flushing: Flushing,
}

/// Writes of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Writes {
    /// Pages, to their places.
    pub pages: f64,
    /// Bytes that go in sequence: doublewrite, and redo that no commit waits for.
    pub sequential_bytes: f64,
    /// Writes of the log that are waited for.
    pub log_writes: f64,
    /// Share of the pages that the page cleaner writes in its batches; the others are written, a few at a time,
    /// because their frames are needed.
    pub cleaned: f64,
}

/// Pace of transactions, and of the page cleaner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Transactions per second.
    pub transactions_per_s: f64,
    /// Share of the time in which the page cleaner writes.
    pub cleaner_busy: f64,
    /// Share of its longer requests after which one is dropped.
    pub dropped: f64,
}

/// The changed pages of a pool, ready to be asked at several throughputs.
#[derive(Debug)]
pub struct ChangedPages<'a> {
    settings: &'a WriteSettings,
    /// Frames of the pool.
    frames: f64,
    /// Pages that a transaction reads, for each of which one leaves.
    misses: f64,
    groups: Vec<DirtyPages>,
}

#[derive(Debug)]
struct DirtyPages {
    pages: f64,
    /// Mean time from a write to the next change, transactions.
    clean: f64,
    /// Mean time in which it would stay in the pool from then on, transactions.
    stay: f64,
}

impl WriteSettings {
    /// The pages of `popularity` in a pool of `frames`, which keeps them as `residency` says.
    pub fn changed_pages(
        &self,
        popularity: &Popularity,
        frames: f64,
        residency: Residency,
    ) -> ChangedPages<'_> {
        let changed = popularity.groups().iter();
        let changed = changed.filter(|group| group.write_rate > 0.0);
        ChangedPages {
            settings: self,
            frames,
            misses: residency.misses,
            groups: changed
                .map(|group| DirtyPages {
                    pages: group.pages,
                    clean: 1.0 / group.write_rate,
                    stay: until_unused(group.rate, residency.stay),
                })
                .collect(),
        }
    }

    /// Returns the writes with so many pages.
    pub(crate) fn of_pages(&self, pages: f64) -> Writes {
        let again = if self.doublewrite { PAGE_BYTES } else { 0.0 };
        let waited_for = self.durable_commits && self.redo_bytes > 0.0;
        let lazy_bytes = if waited_for { 0.0 } else { self.redo_bytes };
        Writes {
            pages,
            sequential_bytes: pages * again + lazy_bytes,
            log_writes: f64::from(u8::from(waited_for)),
            cleaned: 1.0,
        }
    }
}

impl ChangedPages<'_> {
    /// Returns the writes of a transaction when transactions and page cleaner go at the pace that those writes leave
    /// them.
    pub fn writes(&self, pace: impl Fn(Writes) -> Pace) -> Writes {
        self.writes_within(self.cycle(pace))
    }

    /// From a page's first change to its write, transactions: where the server wants to write as many
    /// pages as fall due, beside those that are evicted.
    fn cycle(&self, pace: impl Fn(Writes) -> Pace) -> f64 {
        let settings = self.settings;
        let redo = settings.redo_bytes / settings.redo_capacity_bytes;
        let longest = (LOG_SHARE / redo.max(1e-18)).max(CYCLE_MIN);
        find_root_within(AGREED, CYCLE_MIN, longest, |cycle| {
            let dirty = (self.dirty_within(cycle) / self.frames).min(1.0);
            let answer = settings.flushing.answer(dirty, cycle * redo);
            // Also where nothing is due: a cleaner that wants nothing waits for its mark.
            if answer <= 0.0 {
                return -1.0;
            }
            let writes = self.writes_within(cycle);
            let pace = pace(writes);
            let due = pace.transactions_per_s * writes.pages * writes.cleaned;
            let wanted = settings
                .flushing
                .answer_for(due, pace.cleaner_busy, pace.dropped);
            (answer - wanted) / (answer + wanted)
        })
    }

    /// Returns the writes of a transaction when each page is written so long after its first
    /// change.
    fn writes_within(&self, cycle: f64) -> Writes {
        let pages = |group: &DirtyPages| 1.0 / (cycle.min(group.stay) + group.clean);
        let writes = self.settings.of_pages(self.sum(pages));
        let evicted = self.misses * self.dirty_within(cycle) / self.frames;
        Writes {
            cleaned: (1.0 - evicted / writes.pages).max(0.0),
            ..writes
        }
    }

    /// Changed pages then.
    fn dirty_within(&self, cycle: f64) -> f64 {
        self.sum(|group| {
            let kept = cycle.min(group.stay);
            kept / (kept + group.clean)
        })
    }

    fn sum(&self, of: impl Fn(&DirtyPages) -> f64) -> f64 {
        let groups = self.groups.iter();
        groups.map(|group| group.pages * of(group)).sum()
    }
}

/// Mean time until a page that is used at `rate` has not been used for `stay`.
fn until_unused(rate: f64, stay: f64) -> f64 {
    if stay.is_finite() {
        (rate * stay).exp_m1() / rate
    } else {
        f64::INFINITY
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageGroup;

    /// A server that never writes before it has to.
    const LAZY: Flushing = Flushing {
        dirty_low_water: 0.0,
        dirty_max: 1.0,
        log_low_water: 1.0,
        ..Flushing::MYSQL
    };
    const SETTINGS: WriteSettings = WriteSettings {
        redo_capacity_bytes: 1e9,
        redo_bytes: 5_000.0,
        doublewrite: true,
        durable_commits: true,
        flushing: LAZY,
    };

    /// 10,000 pages, of which a transaction asks for four and changes two.
    fn pages() -> Popularity {
        Popularity::new([PageGroup {
            pages: 10_000.0,
            rate: 4.0 / 10_000.0,
            write_rate: 2.0 / 10_000.0,
        }])
    }

    fn writes(settings: &WriteSettings, frames: f64, stay: f64, per_s: f64) -> Writes {
        let pages = pages();
        let residency = Residency {
            misses: 0.0,
            miss_ratio: 0.0,
            stay,
        };
        let changed = settings.changed_pages(&pages, frames, residency);
        changed.writes(|_| Pace {
            transactions_per_s: per_s,
            cleaner_busy: 0.0,
            dropped: 0.0,
        })
    }

    #[test]
    fn a_small_pool_writes_at_every_eviction_and_a_large_log_seldom() {
        // Hardly a page is changed twice while it stays.
        let small = writes(&SETTINGS, 400.0, 100.0, 100.0);
        assert!((small.pages - 2.0).abs() < 0.05, "{small:?}");
        assert!((small.sequential_bytes - small.pages * 16_384.0).abs() < 1e-6);
        assert!((small.log_writes - 1.0).abs() < 1e-9);
        // 150,000 transactions a cycle, and 5,000 until a written page is changed again.
        let large = writes(&SETTINGS, 20_000.0, f64::INFINITY, 100.0);
        assert!(
            (large.pages - 10_000.0 / 155_000.0).abs() < 1e-3,
            "{large:?}"
        );
    }

    #[test]
    fn a_server_that_writes_early_keeps_its_low_water_mark() {
        let settings = WriteSettings {
            flushing: Flushing::MYSQL,
            redo_bytes: 1.0,
            ..SETTINGS
        };
        // 2,000 of 20,000 frames are changed: 2,000 / 1,250 transactions x 1.6 pages.
        let found = writes(&settings, 20_000.0, f64::INFINITY, 100.0);
        assert!((found.pages - 1.6).abs() < 1e-3, "{found:?}");
        // More than 1,099 pages a second take more changed pages than that.
        let faster = writes(&settings, 20_000.0, f64::INFINITY, 2_000.0);
        let dirty = 2.0 - faster.pages;
        let wanted = 10_000.0 * dirty / 2.0 * 10_000.0 / 20_000.0 / 0.91;
        assert!(
            (wanted / (2_000.0 * faster.pages) - 1.0).abs() < 1e-3,
            "{faster:?}"
        );
        // A log of which a tenth is soon used up asks for it earlier.
        let small_log = WriteSettings {
            redo_bytes: 5_000.0,
            redo_capacity_bytes: 5e6,
            ..settings
        };
        let early = writes(&small_log, 20_000.0, f64::INFINITY, 100.0);
        assert!(early.pages > 1.9, "{early:?}");
    }
}
