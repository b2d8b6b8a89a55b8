//! A flash translation layer: logical pages on erase blocks, and the collector that frees them.
//!
//! Page-mapped. When no free block is left, the block with the best ratio of benefit to cost is
//! emptied and erased: the space it frees, times how long ago it was written, by the data to move
//! (Rosenblum and Ousterhout, "The design and implementation of a log-structured file system",
//! 1992, section 3.5). Under uniform random writes this is the greedy choice, the least live data.
//! Under skew, greed alone takes hot and cold blocks at the same share of live data, so that cold
//! ones keep the spare space which the hot ones need: at 15 % over-provisioning and 90 % of the
//! writes on 10 % of the data it has an amplification of 4.4, where benefit by cost has 2.7.
//!
//! What the host writes and what the collector moves go to blocks of their own, so that data which
//! survived a collection, and is colder than the rest, stays together (the double write frontier
//! of Van Houdt, "On the necessity of hot and cold data identification to reduce the write
//! amplification in flash-based SSDs", 2014).
//!
//! Under uniform random writes the amplification depends on physical / live pages alone (Xiang and
//! Kurkoski, arXiv 1110.4245), so that a few ten thousand pages stand for a drive of any size.
//!
//! A page takes as many parts of a block as its compressed size: byte-granular mapping, as drives
//! that compress have it.

mod block;
mod precondition;

#[cfg(test)]
mod tests;

use self::block::{Block, PARTS_PER_PAGE};

/// Pages of an erase block. With fewer the collector finds emptier blocks than the closed form,
/// which is the limit of large blocks, says.
pub(super) const PAGES_PER_BLOCK: u32 = 256;
/// Blocks beyond the over-provisioning, which the collector cannot use when it chooses: one that is
/// always free for it, and the empty half of the one that it writes.
const BLOCKS_IN_RESERVE: f64 = 1.5;
/// Weight of the past in the amplification after one more collected block.
const MEMORY: f64 = 0.95;

/// Position of a logical page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    block: u32,
    index: u32,
}

/// A page-mapped drive.
#[derive(Debug)]
pub(super) struct Ftl {
    blocks: Vec<Block>,
    /// Logical page -> where it is, if it was written and not discarded.
    places: Vec<Option<Place>>,
    /// Parts that hold data, and how many a user may fill.
    live_parts: u64,
    user_parts: u64,
    free: Vec<u32>,
    for_host: u32,
    for_collector: u32,
    /// Parts moved and parts freed by the last collections, fading out.
    moved_parts: f64,
    freed_parts: f64,
    /// Pages written so far: the age of blocks is counted in them.
    pages_written: u64,
}

impl Ftl {
    /// A fresh drive of `pages` of incompressible data and `over_provisioning` (spare / user
    /// capacity) beyond them.
    pub(super) fn new(pages: u32, over_provisioning: f64) -> Self {
        let physical_pages = f64::from(pages) * (1.0 + over_provisioning);
        let blocks = physical_pages / f64::from(PAGES_PER_BLOCK) + BLOCKS_IN_RESERVE;
        let blocks = blocks.round() as u32;
        Self {
            blocks: vec![Block::default(); blocks as usize],
            places: vec![None; pages as usize],
            live_parts: 0,
            user_parts: u64::from(pages) * u64::from(PARTS_PER_PAGE),
            free: (2..blocks).rev().collect(),
            for_host: 0,
            for_collector: 1,
            moved_parts: 0.0,
            freed_parts: 0.0,
            pages_written: 0,
        }
    }

    /// Writes a logical page that takes `compressed_fraction` of its size. False if the live data
    /// fill the drive, so that no collection can make room: the page then is not stored.
    pub(super) fn write(&mut self, page: u32, compressed_fraction: f64) -> bool {
        let parts = (compressed_fraction * f64::from(PARTS_PER_PAGE)).ceil();
        let parts = parts.clamp(1.0, f64::from(PARTS_PER_PAGE)) as u16;
        self.discard(page);
        if !self.host_block_takes(parts) {
            if !self.make_free_blocks() {
                return false;
            }
            self.for_host = self.take_free();
        }
        let place = self.append(self.for_host, page, parts);
        if page as usize >= self.places.len() {
            // A compressing drive has more logical than physical pages.
            self.places.resize(page as usize + 1, None);
        }
        self.places[page as usize] = Some(place);
        self.live_parts += u64::from(parts);
        true
    }

    /// Data / user capacity.
    pub(super) fn live_share(&self) -> f64 {
        self.live_parts as f64 / self.user_parts as f64
    }

    /// TRIM: the page's content is no longer needed.
    pub(super) fn discard(&mut self, page: u32) {
        let place = self.places.get_mut(page as usize).and_then(Option::take);
        if let Some(place) = place {
            let parts = self.blocks[place.block as usize].kill(place.index);
            self.live_parts -= u64::from(parts);
        }
    }

    /// Returns true if the page holds data.
    pub(super) fn is_written(&self, page: u32) -> bool {
        self.places.get(page as usize).is_some_and(Option::is_some)
    }

    /// Media bytes per stored byte of the host, over the last collections; 1 on a fresh drive.
    pub(super) fn amplification(&self) -> f64 {
        if self.freed_parts > 0.0 {
            1.0 + self.moved_parts / self.freed_parts
        } else {
            1.0
        }
    }

    fn host_block_takes(&self, parts: u16) -> bool {
        self.blocks[self.for_host as usize].has_room(parts, block_parts())
    }

    fn append(&mut self, block: u32, page: u32, parts: u16) -> Place {
        self.pages_written += 1;
        let index = self.blocks[block as usize].append(page, parts, self.pages_written);
        Place { block, index }
    }

    fn take_free(&mut self) -> u32 {
        self.free
            .pop()
            .expect("invariant: a block is free after make_free_blocks and during a collection")
    }

    /// Collects until one block is free for the host and one for the collector.
    fn make_free_blocks(&mut self) -> bool {
        while self.free.len() < 2 {
            match self.best_victim() {
                Some(victim) => self.collect(victim),
                None => return false,
            }
        }
        true
    }

    /// The written block with the best ratio of benefit to cost; `None` if none frees a page.
    fn best_victim(&self) -> Option<u32> {
        let ratio = |block: &Block| {
            let live = f64::from(block.live_parts());
            let age = (self.pages_written - block.last_written_at()) as f64;
            // One part more, so that an empty block is finite, and one page of age.
            (f64::from(block_parts()) - live) * (age + 1.0) / (live + 1.0)
        };
        let frees_a_page = |block: &Block| {
            !block.pages.is_empty() && block.live_parts() + PARTS_PER_PAGE <= block_parts()
        };
        let being_written = [self.for_host, self.for_collector];
        (0_u32..)
            .zip(&self.blocks)
            .filter(|(number, block)| !being_written.contains(number) && frees_a_page(block))
            .map(|(number, block)| (number, ratio(block)))
            .max_by(|(_, one), (_, other)| one.total_cmp(other))
            .map(|(number, _)| number)
    }

    fn collect(&mut self, victim: u32) {
        let moved = self.blocks[victim as usize].live_parts();
        let pages = std::mem::take(&mut self.blocks[victim as usize].pages);
        for (index, &(page, parts)) in (0_u32..).zip(&pages) {
            let here = Some(Place {
                block: victim,
                index,
            });
            if self.places[page as usize] == here {
                self.places[page as usize] = Some(self.relocate(page, parts));
            }
        }
        let block = &mut self.blocks[victim as usize];
        // Given back for its memory: a block is filled as often as it is erased.
        block.pages = pages;
        block.erase();
        self.free.push(victim);
        self.moved_parts = self.moved_parts * MEMORY + f64::from(moved);
        self.freed_parts = self.freed_parts * MEMORY + f64::from(block_parts() - moved);
    }

    fn relocate(&mut self, page: u32, parts: u16) -> Place {
        if !self.blocks[self.for_collector as usize].has_room(parts, block_parts()) {
            self.for_collector = self.take_free();
        }
        self.append(self.for_collector, page, parts)
    }
}

fn block_parts() -> u32 {
    PAGES_PER_BLOCK * PARTS_PER_PAGE
}
