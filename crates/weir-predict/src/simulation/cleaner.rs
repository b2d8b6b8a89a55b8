//! The page cleaner: a batch at a time, copies first.

/// Batches that are due at which transactions wait.
const BATCHES_DUE_MAX: u64 = 2;

#[derive(Debug)]
pub(super) struct Cleaner {
    batch_pages: u64,
    /// Changed pages that it is to write.
    due: u64,
    /// Pages of its batch that are not written yet; 0: it rests.
    under_way: u64,
    batches: u64,
}

impl Cleaner {
    pub(super) fn new(batch_pages: u64) -> Self {
        Self {
            batch_pages: batch_pages.max(1),
            due: 0,
            under_way: 0,
            batches: 0,
        }
    }

    /// Another page is to be written.
    pub(super) fn add(&mut self) {
        self.due += 1;
    }

    /// So many pages are due that transactions wait.
    pub(super) fn is_behind(&self) -> bool {
        self.due >= BATCHES_DUE_MAX * self.batch_pages
    }

    /// Begins a batch if it rests and has one; how many pages it is, and where in the doublewrite buffer their copies
    /// go, counted in batches.
    pub(super) fn begin(&mut self) -> Option<(u64, u64)> {
        if self.under_way > 0 || self.due < self.batch_pages {
            return None;
        }
        self.due -= self.batch_pages;
        self.under_way = self.batch_pages;
        self.batches += 1;
        Some((self.batch_pages, self.batches % 2))
    }

    /// The copies are written: as many pages follow.
    pub(super) fn pages(&self) -> u64 {
        self.under_way
    }

    /// One of them is.
    pub(super) fn written(&mut self) {
        self.under_way -= 1;
    }
}
