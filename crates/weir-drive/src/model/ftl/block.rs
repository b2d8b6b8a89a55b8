//! An erase block: pages are appended to it, die in it, and are erased together.

/// Parts of a page: what compression is counted in.
pub(super) const PARTS_PER_PAGE: u32 = 256;

/// One erase block.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// Logical page and stored parts, in the order of writing; dead ones stay until the erasure.
    pub(super) pages: Vec<(u32, u16)>,
    used_parts: u32,
    live_parts: u32,
    last_written_at: u64,
}

impl Block {
    /// Returns true if another page of `parts` fits into a block of `capacity_parts`.
    pub(super) fn has_room(&self, parts: u16, capacity_parts: u32) -> bool {
        self.used_parts + u32::from(parts) <= capacity_parts
    }

    /// Appends a live page at the time `now`, in pages written, and returns its index.
    pub(super) fn append(&mut self, page: u32, parts: u16, now: u64) -> u32 {
        self.last_written_at = now;
        self.used_parts += u32::from(parts);
        self.live_parts += u32::from(parts);
        self.pages.push((page, parts));
        (self.pages.len() - 1) as u32
    }

    /// The page at `index` is no longer needed; returns its parts.
    pub(super) fn kill(&mut self, index: u32) -> u16 {
        let parts = self.pages[index as usize].1;
        self.live_parts -= u32::from(parts);
        parts
    }

    /// Parts that a collection of this block has to move.
    pub(super) fn live_parts(&self) -> u32 {
        self.live_parts
    }

    /// Returns the time at which the last page came, in pages written to the drive.
    pub(super) fn last_written_at(&self) -> u64 {
        self.last_written_at
    }

    /// Empties the block for new pages.
    pub(super) fn erase(&mut self) {
        self.pages.clear();
        self.used_parts = 0;
        self.live_parts = 0;
    }
}
