//! InnoDB's buffer pool, page by page: its list, by its rules.
//!
//! A page enters at the border of the sublists, behind the first old page. At a use it moves to the
//! head if it is old and its first use is at least `innodb_old_blocks_time` ago, or if it is young
//! and has sunk by more than a quarter of the young sublist. Until the first eviction nothing moves.
//! The border stays within 20 pages of 37 % of the list, and lists of fewer than 512 pages have
//! none. (`MySQL`'s buf0lru.cc and buf0buf.ic: `buf_LRU_old_adjust_len`,
//! `buf_page_peek_if_too_old`, `buf_page_peek_if_young`; manual, "Making the Buffer Pool Scan
//! Resistant".) With `innodb_old_blocks_time` = 0 a page moves at its first use: a list of least
//! recent use.
//!
//! Memory: 20 bytes for each page of the data set.

mod list;

use self::list::{Links, List};
use crate::residency::OLD_SHARE;

/// Shortest list with an old sublist (`BUF_LRU_OLD_MIN_LEN`: 8 MiB of pages).
const OLD_MIN: usize = 512;
/// By how many pages the border may be off (`BUF_LRU_OLD_TOLERANCE`).
const TOLERANCE: usize = 20;
/// Share of the young sublist that a page sinks before a use moves it again.
const SUNK_SHARE: f64 = 0.25;

/// What a pool is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolSettings {
    /// Frames that hold pages.
    pub frames: usize,
    /// Frames that the page cleaner keeps free (`innodb_lru_scan_depth` for each instance).
    pub frames_free: usize,
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
    /// InnoDB's defaults, for so many pages that are held.
    pub fn new(frames: usize) -> Self {
        Self {
            frames,
            frames_free: 0,
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
            frames_free: scaled(self.frames_free),
            tolerance: scaled(self.tolerance),
            old_min: scaled(self.old_min),
            ..*self
        }
    }
}

/// What a reference came to.
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

/// What a pool has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolCounts {
    /// References.
    pub references: u64,
    /// Of these, misses.
    pub misses: u64,
    /// Pages moved out of the old sublist.
    pub made_young: u64,
    /// Uses of old pages that came too early for that.
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
    counts: PoolCounts,
}

impl Pool {
    /// An empty pool for pages `0..pages`.
    pub fn new(settings: PoolSettings, pages: u32) -> Self {
        Self {
            settings,
            list: List::new(pages),
            evicted: 0,
            counts: PoolCounts::default(),
        }
    }

    /// What was counted since [`Pool::new`] or [`Pool::forget_counts`].
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
        let room = self
            .settings
            .frames
            .saturating_sub(self.settings.frames_free)
            .max(1);
        let wrote = self.list.len() >= room && self.evict();
        self.enter(page, now_ms);
        self.list.page_mut(page).set_dirty(writes);
        Access::Miss { writes: wrote }
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

    fn enter(&mut self, page: u32, now_ms: u32) {
        let clock = self.evicted;
        let links = self.list.page_mut(page);
        links.first_used_ms = now_ms;
        links.clock = clock;
        if !self.list.has_border() {
            self.list.push_head(page);
        } else if self.settings.old_blocks_time_ms == 0 && self.evicted > 0 {
            // The use for which it was read is its first, and promotes it.
            self.list.push_head(page);
        } else {
            self.list.insert_behind_border(page);
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
        let young = self.list.len() as f64 * (1.0 - self.settings.old_share);
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
