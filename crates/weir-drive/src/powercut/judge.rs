//! Judgement of a run's pages after a cut: pure, page by page.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use weir_model::Bytes;

use super::lane::{LANES, Lane};
use super::order::WriteOrder;
use super::record::{NewestFlushes, SECTOR_BYTES, SectorContent};
use super::run_id::RunId;

/// Findings on one lane after a cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaneFindings {
    /// The lane.
    pub lane: Lane,
    /// Acknowledged writes that the witness knows, those that filled the file included.
    pub acknowledged: u64,
    /// Acknowledged writes were made after the file was filled, so that the cut could meet one.
    pub was_written: bool,
    /// Pages that lack an acknowledged write, wholly or in part.
    pub lost: u64,
    /// Pages that lack a write, while a later write is there that was sent after the earlier one had been flushed.
    pub out_of_order: u64,
    /// Pages of two writes or more.
    pub torn: u64,
    /// Smallest piece that a torn page consists of.
    pub smallest_piece: Option<Bytes>,
    /// Pages with bytes that no writer has written, or that could not be read.
    pub damaged: u64,
}

/// State of one page after a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageState {
    /// Oldest and newest write that a sector is of; 0: it was never written, or is damaged.
    oldest: u64,
    newest: u64,
    /// Smallest run of neighbouring sectors of one write, bytes.
    piece: u64,
    is_damaged: bool,
}

/// Identity of the pages that a file must hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileIdentity {
    pub(super) run: RunId,
    pub(super) lane: u16,
    pub(super) order: WriteOrder,
}

impl PageState {
    /// A page that could not be read.
    pub(super) const UNREADABLE: Self = Self {
        oldest: 0,
        newest: 0,
        piece: 0,
        is_damaged: true,
    };

    /// Reads `page`, number `number` of its file. `flushed` takes the flushes that its writes are witness of.
    pub(super) fn read(
        page: &[u8],
        number: u64,
        expected: FileIdentity,
        flushed: &mut NewestFlushes,
    ) -> Self {
        let mut is_damaged = false;
        let mut sequences = Vec::with_capacity(page.len() / SECTOR_BYTES);
        for (index, sector) in page.chunks_exact(SECTOR_BYTES).enumerate() {
            sequences.push(match SectorContent::parse(sector) {
                SectorContent::Empty => 0,
                SectorContent::Record(record, sector)
                    if record.run == expected.run
                        && record.lane == expected.lane
                        && u64::from(record.page) == number
                        && usize::from(sector) == index
                        && expected.order.page(record.sequence) == number =>
                {
                    for (known, of_record) in flushed.iter_mut().zip(record.flushed) {
                        *known = of_record.max(*known);
                    }
                    record.sequence
                }
                SectorContent::Record(..) | SectorContent::Garbage => {
                    is_damaged = true;
                    0
                }
            });
        }
        let runs = sequences.chunk_by(|one, other| one == other);
        Self {
            oldest: sequences.iter().copied().min().unwrap_or(0),
            newest: sequences.iter().copied().max().unwrap_or(0),
            piece: runs.map(<[_]>::len).min().unwrap_or(0) as u64 * SECTOR_BYTES as u64,
            is_damaged,
        }
    }

    fn is_torn(&self) -> bool {
        !self.is_damaged && self.oldest != self.newest
    }
}

/// Pages of each lane that was read: number of the lane, its pages in order.
pub(super) type LanePages = BTreeMap<u16, Vec<PageState>>;

/// Judges the pages of a run. `acknowledged` is the knowledge of the witness, `flushed` that of the writes themselves.
pub(super) fn judge(
    pages: &LanePages,
    order: WriteOrder,
    acknowledged: &[u64; LANES],
    flushed: &NewestFlushes,
) -> Vec<LaneFindings> {
    let all = Lane::all();
    let lacking = |pages: &[PageState], upto: u64| {
        let newest = order.newest(upto).into_iter();
        let lacks = |(page, sequence): &(u64, u64)| {
            let found = pages.get(*page as usize);
            found.is_none_or(|found| found.oldest < *sequence)
        };
        newest.filter(lacks).count() as u64
    };
    let findings = |(number, pages): (&u16, &Vec<PageState>)| {
        let lane = usize::from(*number);
        let torn = || pages.iter().filter(|page| page.is_torn());
        LaneFindings {
            lane: all[lane],
            acknowledged: acknowledged[lane],
            was_written: acknowledged[lane] > order.pages(),
            lost: lacking(pages, acknowledged[lane]),
            out_of_order: lacking(pages, flushed[lane]),
            torn: torn().count() as u64,
            smallest_piece: torn().map(|page| Bytes(page.piece)).min(),
            damaged: pages.iter().filter(|page| page.is_damaged).count() as u64,
        }
    };
    pages.iter().map(findings).collect()
}

#[cfg(test)]
mod tests;
