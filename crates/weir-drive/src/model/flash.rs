//! Files on the flash translation layer.
//!
//! The layer's pages are as large as it takes for a fixed number of them to cover the drive, since
//! amplification does not depend on their size. A host's write is usually smaller than such a page,
//! so the layer sees a sample: each time the host has written a page's worth of bytes, the page
//! that it is writing to is written. Random writes stay random that way and sequential ones visit
//! each page once.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use weir_model::{DriveProfile, Flash, Op};

use super::ftl::Ftl;

/// Pages that stand for the whole drive: enough for the collector to agree with theory within 3 %,
/// few enough to bring a drive into steady state in a second without compiler optimisation.
const PAGES: u64 = 131_072;
/// The smallest page, which is the unit of mapping of real drives.
const PAGE_BYTES_MIN: u64 = 4096;

/// A drive's flash, and where its files are on it.
#[derive(Debug)]
pub(super) struct MappedFlash {
    ftl: Ftl,
    page_bytes: u64,
    /// Logical pages that the drive exposes.
    logical_pages: u32,
    /// (file, offset / page) -> logical page.
    pages: HashMap<(u64, u64), u32, FixedState>,
    discarded: Vec<u32>,
    next_page: u32,
    /// Bytes that the host has written and the layer has not; negative if it is ahead.
    owed_bytes: i64,
}

impl MappedFlash {
    pub(super) fn new(flash: &Flash, profile: &DriveProfile, capacity_bytes: u64) -> Self {
        let logical_per_physical = profile.logical_capacity().0 as f64 / profile.capacity.0 as f64;
        let page_bytes = (capacity_bytes / PAGES).max(PAGE_BYTES_MIN);
        let pages = (capacity_bytes / page_bytes).max(1) as u32;
        let mut ftl = Ftl::new(pages, flash.over_provisioning);
        let filled = f64::from(pages) * flash.fill;
        ftl.precondition(filled as u32, flash.fill_compressed_fraction);
        Self {
            ftl,
            page_bytes,
            logical_pages: (f64::from(pages) * logical_per_physical) as u32,
            pages: HashMap::default(),
            discarded: Vec::new(),
            next_page: 0,
            owed_bytes: 0,
        }
    }

    /// Accounts for a write that stores `fraction` of its bytes; returns the media bytes per stored
    /// byte that it costs.
    pub(super) fn write(&mut self, op: &Op, fraction: f64) -> f64 {
        let end = op.offset + op.bytes;
        let mut start = op.offset;
        while start < end {
            let part = start / self.page_bytes;
            let part_end = end.min((part + 1) * self.page_bytes);
            self.owed_bytes += (part_end - start).cast_signed();
            let page = self.page_of(op.file, part);
            let page_bytes = self.page_bytes.cast_signed();
            // The first write of a page occupies it at once, so that the fill level is right.
            if self.owed_bytes >= page_bytes || !self.ftl.is_written(page) {
                self.owed_bytes -= page_bytes;
                self.ftl.write(page, fraction);
            }
            start = part_end;
        }
        self.ftl.amplification()
    }

    /// Share of the flash that holds data, 0 to 1.
    pub(super) fn filled(&self) -> f64 {
        self.ftl.live_share()
    }

    /// TRIM: frees the pages that lie wholly inside the range.
    pub(super) fn discard(&mut self, op: &Op) {
        let first = op.offset.div_ceil(self.page_bytes);
        let end = op.offset.saturating_add(op.bytes) / self.page_bytes;
        if end - first.min(end) > self.pages.len() as u64 {
            // A whole file whose length is not known, or nearly: looking at all pages is shorter.
            let (ftl, discarded) = (&mut self.ftl, &mut self.discarded);
            self.pages.retain(|&(file, part), &mut page| {
                let gone = file == op.file && (first..end).contains(&part);
                if gone {
                    ftl.discard(page);
                    discarded.push(page);
                }
                !gone
            });
            return;
        }
        for part in first..end {
            if let Some(page) = self.pages.remove(&(op.file, part)) {
                self.ftl.discard(page);
                self.discarded.push(page);
            }
        }
    }

    /// The logical page of a part of a file. New parts take pages in order, discarded ones first:
    /// on a drive that was filled before, they take the place of what filled it.
    fn page_of(&mut self, file: u64, part: u64) -> u32 {
        if let Some(&page) = self.pages.get(&(file, part)) {
            return page;
        }
        if self.pages.len() > 2 * self.logical_pages as usize {
            // Files that are gone: the drive is not told of deletions, as without `discard`.
            self.pages.clear();
        }
        let page = self.discarded.pop().unwrap_or_else(|| {
            let page = self.next_page;
            self.next_page = (page + 1) % self.logical_pages;
            page
        });
        self.pages.insert((file, part), page);
        page
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{FileKind, OpKind};

    use super::*;

    const CAPACITY: u64 = 64 << 20;

    fn flash(fill: f64) -> MappedFlash {
        let flash = Flash {
            over_provisioning: 0.07,
            fill,
            fill_compressed_fraction: 1.0,
        };
        let profile = crate::profiles::embedded("consumer-tlc").unwrap();
        MappedFlash::new(&flash, &profile, CAPACITY)
    }

    fn op(kind: OpKind, offset: u64, bytes: u64) -> Op {
        Op {
            kind,
            file: 1,
            file_kind: FileKind::Data,
            offset,
            bytes,
            compressed_fraction: 1.0,
        }
    }

    /// Amplification after the drive's capacity was written in random 16 KiB pages.
    fn overwrite(flash: &mut MappedFlash) -> f64 {
        let pages = CAPACITY / 16_384;
        let mut random = crate::model::random::Random::seeded(3);
        let mut factor = 1.0;
        for _ in 0..pages {
            let offset = random.below(pages) * 16_384;
            factor = flash.write(&op(OpKind::Write, offset, 16_384), 1.0);
        }
        factor
    }

    #[test]
    fn a_fresh_drive_is_filled_at_no_cost_and_overwritten_at_one() {
        let mut flash = flash(0.0);
        for offset in (0..CAPACITY).step_by(16_384) {
            let factor = flash.write(&op(OpKind::Write, offset, 16_384), 1.0);
            assert!((factor - 1.0).abs() < 1e-9);
        }
        assert!(overwrite(&mut flash) > 4.0);
    }

    #[test]
    fn a_drive_in_steady_state_costs_from_the_first_write_on() {
        let factor = flash(1.0).write(&op(OpKind::Write, 0, 4096), 1.0);
        assert!(factor > 6.0, "{factor}");
    }

    #[test]
    fn a_discarded_file_makes_the_drive_fresh_again() {
        let mut flash = flash(1.0);
        for offset in (0..CAPACITY).step_by(1 << 20) {
            flash.write(&op(OpKind::Write, offset, 1 << 20), 1.0);
        }
        // A file that is gone, of whatever length.
        flash.discard(&op(OpKind::Discard, 0, u64::MAX));
        for offset in (0..CAPACITY / 2).step_by(4096) {
            flash.write(&op(OpKind::Write, offset, 4096), 1.0);
        }
        let factor = flash.write(&op(OpKind::Write, 0, 4096), 1.0);
        assert!(factor < 1.1, "{factor}");
    }
}
