//! Units that a power cut leaves whole, and pieces into which it may tear a write.
//!
//! Three figures as `NVMe` has them (base specification, "Atomic Operations": AWUPF, NABSPF and the
//! logical block) and AWS after them (NTWPU, NTWPB, NTWPG): a single number cannot say why a page
//! that is written across a boundary tears on a drive whose unit is a page.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Check;
use crate::Bytes;

/// Units that a power cut leaves whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Atomicity {
    /// The largest write that is never torn, if it crosses no `boundary`.
    pub unit: Bytes,
    /// The smallest thing that the drive writes, which is always whole: a logical block.
    #[serde(default = "sector")]
    pub granularity: Bytes,
    /// A write that crosses a multiple of this is cut there. Left out, it is the unit: writes have
    /// to be aligned to their own size. 0: no boundaries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Bytes>,
    /// Tell servers that ask (the ioctl of Fusion-io drives). MySQL then turns its doublewrite
    /// buffer off by itself, so it is only told on request.
    #[serde(default)]
    pub advertise: bool,
}

fn sector() -> Bytes {
    Bytes(512)
}

impl Default for Atomicity {
    /// One sector, which every drive promises.
    fn default() -> Self {
        Self {
            unit: sector(),
            granularity: sector(),
            boundary: None,
            advertise: false,
        }
    }
}

impl Atomicity {
    /// The pieces of a write of `bytes` at `offset`, in order. A power cut leaves each piece as it was before
    /// or as it is after the write, never in between. Each piece may come out differently.
    ///
    /// The write is cut at the boundaries, as Linux cuts it (`atomic_write_hw_boundary`). A part
    /// whose blocks fit into the unit is one piece; a larger one may tear at each block.
    pub fn pieces(&self, offset: u64, bytes: u64) -> Pieces {
        let at_least_one = |bytes: Bytes| bytes.0.max(1);
        Pieces {
            rest: offset..offset.saturating_add(bytes),
            part_end: offset,
            unit: self.unit.0,
            granularity: at_least_one(self.granularity),
            boundary: match self.boundary.unwrap_or(self.unit).0 {
                0 => u64::MAX,
                boundary => boundary,
            },
            in_blocks: false,
        }
    }

    /// Returns true if a page of `bytes` that lies at a multiple of its size is never torn.
    pub fn keeps_whole(&self, bytes: u64) -> bool {
        let boundary = self.boundary.unwrap_or(self.unit).0;
        bytes <= self.unit.0 && boundary.is_multiple_of(bytes.max(1))
    }

    pub(super) fn checks(&self) -> [Check; 3] {
        let (unit, granularity) = (self.unit.0, self.granularity.0);
        let boundary = self.boundary.unwrap_or(self.unit).0;
        [
            (
                "atomicity.granularity",
                granularity as f64,
                granularity >= 512 && granularity.is_power_of_two(),
                "must be a power of two of at least 512 bytes",
            ),
            (
                "atomicity.unit",
                unit as f64,
                unit >= granularity && unit.is_multiple_of(granularity.max(1)),
                "must be a multiple of atomicity.granularity, which is at least 512 bytes",
            ),
            (
                "atomicity.boundary",
                boundary as f64,
                boundary.is_multiple_of(granularity.max(1)),
                "must be a multiple of atomicity.granularity, or 0",
            ),
        ]
    }
}

/// The pieces of one write; see [`Atomicity::pieces`].
#[derive(Debug, Clone)]
pub struct Pieces {
    rest: Range<u64>,
    /// End of the part between two boundaries that `rest` begins in.
    part_end: u64,
    unit: u64,
    granularity: u64,
    boundary: u64,
    /// The part is larger than the unit.
    in_blocks: bool,
}

impl Iterator for Pieces {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        if self.rest.is_empty() {
            return None;
        }
        let start = self.rest.start;
        if start >= self.part_end {
            let next_boundary = (start / self.boundary + 1).saturating_mul(self.boundary);
            self.part_end = self.rest.end.min(next_boundary);
            // The drive writes whole blocks: the ends of a part count as they are rounded.
            let blocks_end = self.part_end.next_multiple_of(self.granularity);
            self.in_blocks = blocks_end - start / self.granularity * self.granularity > self.unit;
        }
        let end = if self.in_blocks {
            let next_block = (start / self.granularity + 1) * self.granularity;
            next_block.min(self.part_end)
        } else {
            self.part_end
        };
        self.rest.start = end;
        Some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atomicity(unit: u64, boundary: Option<u64>) -> Atomicity {
        Atomicity {
            unit: Bytes(unit),
            boundary: boundary.map(Bytes),
            ..Atomicity::default()
        }
    }

    fn lengths(atomicity: Atomicity, offset: u64, bytes: u64) -> Vec<u64> {
        let pieces = atomicity.pieces(offset, bytes);
        pieces.map(|piece| piece.end - piece.start).collect()
    }

    #[test]
    fn a_plain_drive_tears_at_each_sector() {
        assert_eq!(lengths(Atomicity::default(), 0, 2048), [512; 4]);
        // Its first sector is written only in part.
        assert_eq!(lengths(Atomicity::default(), 500, 1100), [12, 512, 512, 64]);
    }

    #[test]
    fn an_aligned_page_is_one_piece_and_a_larger_write_one_piece_a_page() {
        let drive = atomicity(16_384, None);
        assert_eq!(lengths(drive, 32_768, 16_384), [16_384]);
        assert_eq!(lengths(drive, 0, 65_536), [16_384; 4]);
        assert_eq!(lengths(drive, 8192, 16_384), [8192, 8192]);
        assert_eq!(lengths(drive, 100, 50), [50]);
    }

    #[test]
    fn without_boundaries_alignment_does_not_matter_and_size_does() {
        let drive = atomicity(16_384, Some(0));
        assert_eq!(lengths(drive, 8192, 16_384), [16_384]);
        assert_eq!(lengths(drive, 0, 32_768), [512; 64]);
        // Sixteen KiB that begin inside a block are 33 blocks.
        assert_eq!(lengths(drive, 100, 16_384).len(), 33);
    }

    #[test]
    fn a_boundary_below_the_unit_cuts() {
        let drive = atomicity(65_536, Some(4096));
        assert_eq!(lengths(drive, 0, 16_384), [4096; 4]);
        assert!(drive.keeps_whole(4096) && !drive.keeps_whole(16_384));
    }

    #[test]
    fn a_page_that_a_boundary_crosses_is_not_kept_whole() {
        assert!(atomicity(16_384, None).keeps_whole(16_384));
        assert!(atomicity(65_536, Some(131_072)).keeps_whole(16_384));
        assert!(!atomicity(16_384, Some(24_576)).keeps_whole(16_384));
        assert!(!Atomicity::default().keeps_whole(4096));
    }

    #[test]
    fn the_pieces_cover_the_write_without_gap_or_overlap() {
        for unit in [512, 4096, 16_384, 131_072] {
            for boundary in [None, Some(0), Some(4096), Some(262_144)] {
                for (offset, bytes) in [(0, 1), (511, 2), (4096, 40_000), (130_000, 300_000)] {
                    let mut at = offset;
                    for piece in atomicity(unit, boundary).pieces(offset, bytes) {
                        assert!(piece.start == at && piece.end > at);
                        at = piece.end;
                    }
                    assert_eq!(at, offset + bytes);
                }
            }
        }
    }
}
