//! InnoDB's buffer pool, page by page: its list, by its rules.
//!
//! A page enters at the border of the sublists, behind the first old page. At a use it moves to the
//! head if it is old and its first use is at least `innodb_old_blocks_time` ago, or if it is young
//! and has sunk by more than a quarter of the young sublist. Until the first eviction nothing moves.
//! The border stays within 20 pages of 37 % of the list, and lists of fewer than 512 pages have
//! none. (`MySQL`'s buf0lru.cc and buf0buf.ic: `buf_LRU_add_block`, `buf_LRU_old_adjust_len`,
//! `buf_page_peek_if_too_old`, `buf_page_peek_if_young`; manual, "Making the Buffer Pool Scan
//! Resistant".) With `innodb_old_blocks_time` = 0 a page moves at its first use: a list of least
//! recent use.
//!
//! Two things decide what a pool does that turns over within `innodb_old_blocks_time`. Where a page cleaner evicts
//! many pages at once (`MariaDB`), the border runs to the head and back over the pages that are read next, which makes
//! them young without a use. And the use for which a page was read comes when it has been read: by then others
//! have entered, and a page that the border has passed moves to the head by it, since no record says how far
//! it has sunk.
//!
//! Memory: 20 bytes for each page of the data set.

mod list;

use std::collections::VecDeque;

use self::list::{Links, List};
use crate::residency::OLD_SHARE;

/// Shortest list with an old sublist (`BUF_LRU_OLD_MIN_LEN`: 8 MiB of pages).
const OLD_MIN: usize = 512;
/// By how many pages the border may be off (`BUF_LRU_OLD_TOLERANCE`).
const TOLERANCE: usize = 20;
/// Share of the young sublist that a page sinks before a use moves it again.
const SUNK_SHARE: f64 = 0.25;

/// Settings of a pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolSettings {
    /// Frames, for pages and free.
    pub frames: usize,
    /// Pages are evicted when no more than so many frames are free.
    pub free_least: usize,
    /// They are evicted until more than so many are free: the page cleaner's, at once.
    pub free_most: usize,
    /// Pages that are being read at the same time: so many enter before the first of them is used.
    pub reads_in_flight: usize,
    /// `innodb_old_blocks_pct` / 100.
    pub old_share: f64,
    /// `innodb_old_blocks_time`, milliseconds.
    pub old_blocks_time_ms: u32,
    /// By how many pages the border of the sublists may be off, and the shortest list that has
    /// one: InnoDB's own, but for a scaled sample.
    pub tolerance: usize,
    /// See `tolerance`.
    pub old_min: usize,
}

impl PoolSettings {
    /// InnoDB's defaults, with none of so many frames free and one connection.
    pub fn new(frames: usize) -> Self {
        Self {
            frames,
            free_least: 0,
            free_most: 0,
            reads_in_flight: 0,
            old_share: OLD_SHARE,
            old_blocks_time_ms: 1000,
            tolerance: TOLERANCE,
            old_min: OLD_MIN,
        }
    }

    /// The same pool for a sample of `share` of the pages.
    #[must_use]
    pub fn scaled(&self, share: f64) -> Self {
        let scaled = |pages: usize| (pages as f64 * share).round() as usize;
        Self {
            frames: scaled(self.frames).max(1),
            free_least: scaled(self.free_least),
            free_most: scaled(self.free_most),
            reads_in_flight: scaled(self.reads_in_flight),
            tolerance: scaled(self.tolerance),
            old_min: scaled(self.old_min),
            ..*self
        }
    }
}

/// Result of a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// The page was there.
    Hit,
    /// It had to be read.
    Miss {
        /// A changed page had to be written first, to make room.
        writes: bool,
    },
}

/// Counters of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolCounts {
    /// References.
    pub references: u64,
    /// Of these, misses.
    pub misses: u64,
    /// Pages moved out of the old sublist.
    pub made_young: u64,
    /// Uses of old pages that came too early for that, among them those for which they were read.
    pub not_made_young: u64,
    /// Changed pages that were evicted.
    pub dirty_evictions: u64,
}

/// A pool on its way through a string of references.
#[derive(Debug)]
pub struct Pool {
    settings: PoolSettings,
    list: List,
    /// Pages evicted so far: InnoDB's `freed_page_clock`.
    evicted: u32,
    /// Pages that are being read, the first to come first.
    reading: VecDeque<u32>,
    counts: PoolCounts,
}

impl Pool {
    /// An empty pool for pages `0..pages`.
    pub fn new(settings: PoolSettings, pages: u32) -> Self {
        Self {
            settings,
            list: List::new(pages),
            evicted: 0,
            reading: VecDeque::with_capacity(settings.reads_in_flight + 1),
            counts: PoolCounts::default(),
        }
    }

    /// Returns the counts since [`Pool::new`] or [`Pool::forget_counts`].
    pub fn counts(&self) -> PoolCounts {
        self.counts
    }

    /// Counts from here on: what was before was warm-up.
    pub fn forget_counts(&mut self) {
        self.counts = PoolCounts::default();
    }

    /// A reference to `page` at `now_ms`, to change it if `writes`.
    pub fn access(&mut self, page: u32, now_ms: u32, writes: bool) -> Access {
        self.counts.references += 1;
        let links = self.list.page(page);
        if links.is_resident() {
            self.use_page(page, now_ms);
            self.list.page_mut(page).set_dirty(writes);
            return Access::Hit;
        }
        self.counts.misses += 1;
        let writes_first = self.make_room();
        self.list.page_mut(page).first_used_ms = now_ms;
        self.enter(page);
        self.list.page_mut(page).set_dirty(writes);
        self.reading.push_back(page);
        if self.reading.len() > self.settings.reads_in_flight {
            self.read_comes(now_ms);
        }
        Access::Miss {
            writes: writes_first,
        }
    }

    /// Frees frames if too few are free; whether a changed page had to be written for it.
    fn make_room(&mut self) -> bool {
        let with = |free: usize| self.settings.frames.saturating_sub(free).max(1);
        let (full, room) = (
            with(self.settings.free_least),
            with(self.settings.free_most),
        );
        let mut wrote = false;
        if self.list.len() >= full {
            while self.list.len() >= room {
                wrote |= self.evict();
            }
        }
        wrote
    }

    /// The first of the pages that are being read is there, and used.
    fn read_comes(&mut self, now_ms: u32) {
        if let Some(page) = self.reading.pop_front()
            && self.list.page(page).is_resident()
        {
            self.use_page(page, now_ms);
        }
    }

    fn evict(&mut self) -> bool {
        let Some(victim) = self.list.pop_tail() else {
            return false;
        };
        self.evicted = self.evicted.wrapping_add(1);
        self.adjust();
        let dirty = self.list.page_mut(victim).take_dirty();
        self.counts.dirty_evictions += u64::from(dirty);
        dirty
    }

    fn enter(&mut self, page: u32) {
        if self.list.has_border() {
            // Only a move to the head is noted (`buf_page_t::freed_page_clock`).
            self.list.page_mut(page).clock = 0;
            self.list.insert_behind_border(page);
        } else {
            self.list.page_mut(page).clock = self.evicted;
            self.list.push_head(page);
        }
        self.adjust();
    }

    fn use_page(&mut self, page: u32, now_ms: u32) {
        if self.evicted == 0 {
            return;
        }
        let links = *self.list.page(page);
        if links.is_old() {
            if now_ms.wrapping_sub(links.first_used_ms) < self.settings.old_blocks_time_ms {
                self.counts.not_made_young += 1;
                return;
            }
            self.counts.made_young += 1;
        } else if !self.has_sunk(&links) {
            return;
        }
        self.list.unlink(page);
        self.list.push_head(page);
        let clock = self.evicted;
        self.list.page_mut(page).clock = clock;
        self.adjust();
    }

    fn has_sunk(&self, links: &Links) -> bool {
        let young = self.settings.frames as f64 * (1.0 - self.settings.old_share);
        f64::from(self.evicted.wrapping_sub(links.clock)) >= SUNK_SHARE * young
    }

    /// Moves the border to within the tolerance of its place.
    fn adjust(&mut self) {
        let length = self.list.len();
        if length < self.settings.old_min {
            self.list.drop_border();
            return;
        }
        let wanted = (length as f64 * self.settings.old_share) as usize;
        let tolerance = self.settings.tolerance;
        if !self.list.has_border() {
            self.list.make_border(wanted.max(1));
        }
        while self.list.old_len() + tolerance < wanted {
            self.list.border_to_head();
        }
        while self.list.old_len() > wanted + tolerance && self.list.old_len() > 1 {
            self.list.border_to_tail();
        }
    }
}

#[cfg(test)]
mod tests;
