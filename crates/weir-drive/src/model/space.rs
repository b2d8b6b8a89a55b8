//! Physical space of a drive that compresses: what each block takes, to the byte.
//!
//! Such a drive maps a block of 4 KiB to as many bytes of flash as it compresses to, so its flash
//! is used up by what is written, not by what is allocated, and also by writing again, with data
//! that compress less, where there was something before.

use std::collections::HashMap;

use foldhash::fast::FixedState;
use weir_model::{DriveProfile, Op, Provisioning, SpaceState};

/// Unit that is compressed on its own, bytes.
const BLOCK_BYTES: u64 = 4096;
/// Blocks whose sizes are kept together.
const CHUNK_BLOCKS: u64 = 256;

type Chunk = Box<[u16; CHUNK_BLOCKS as usize]>;

/// The flash of a drive that compresses, and what is used of it.
///
/// It takes two bytes of memory for each block that was written: 0.05 % of the data.
#[derive(Debug)]
pub(super) struct PhysicalSpace {
    capacity_bytes: u64,
    used_bytes: u64,
    provisioning: Provisioning,
    /// (file, offset / chunk) -> stored bytes of each block; 0: nothing.
    chunks: HashMap<(u64, u64), Chunk, FixedState>,
}

impl PhysicalSpace {
    /// `None` for a drive that has as much flash as it shows.
    pub(super) fn new(profile: &DriveProfile, capacity_bytes: u64) -> Option<Self> {
        profile.provisioning.map(|provisioning| Self {
            capacity_bytes,
            used_bytes: 0,
            provisioning,
            chunks: HashMap::default(),
        })
    }

    /// Accounts for a write.
    pub(super) fn write(&mut self, op: &Op) {
        let stored = (op.compressed_fraction * BLOCK_BYTES as f64).ceil() as u16;
        let stored = stored.clamp(1, BLOCK_BYTES as u16);
        let blocks = op.offset / BLOCK_BYTES..(op.offset + op.bytes).div_ceil(BLOCK_BYTES);
        self.store(op.file, blocks, stored);
    }

    /// Frees the blocks that lie wholly inside a discarded range.
    pub(super) fn discard(&mut self, op: &Op) {
        let end = op.offset.saturating_add(op.bytes);
        let blocks = op.offset.div_ceil(BLOCK_BYTES)..end / BLOCK_BYTES;
        if end == u64::MAX {
            // The whole rest of the file: its length is not known here.
            let first = blocks.start;
            let (chunks, used_bytes) = (&mut self.chunks, &mut self.used_bytes);
            chunks.retain(|&(file, chunk), sizes| {
                let before = file != op.file || (chunk + 1) * CHUNK_BLOCKS <= first;
                let kept = first.saturating_sub(chunk * CHUNK_BLOCKS);
                if !before {
                    for size in &mut sizes[kept as usize..] {
                        *used_bytes -= u64::from(std::mem::take(size));
                    }
                }
                before || kept > 0
            });
            return;
        }
        self.store(op.file, blocks, 0);
    }

    fn store(&mut self, file: u64, blocks: std::ops::Range<u64>, stored: u16) {
        let mut block = blocks.start;
        while block < blocks.end {
            let chunk = block / CHUNK_BLOCKS;
            let end = blocks.end.min((chunk + 1) * CHUNK_BLOCKS);
            let place = (file, chunk);
            let inside = (block % CHUNK_BLOCKS) as usize..(end - chunk * CHUNK_BLOCKS) as usize;
            block = end;
            if stored == 0 && !self.chunks.contains_key(&place) {
                continue;
            }
            let sizes = self.chunks.entry(place);
            let sizes = sizes.or_insert_with(|| Box::new([0; CHUNK_BLOCKS as usize]));
            for size in &mut sizes[inside] {
                self.used_bytes += u64::from(stored);
                self.used_bytes -= u64::from(std::mem::replace(size, stored));
            }
        }
    }

    pub(super) fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Returns true if so many more bytes, after compression, fit.
    pub(super) fn has_room(&self, bytes: u64) -> bool {
        self.used_bytes + bytes <= self.capacity_bytes
    }

    pub(super) fn state(&self) -> SpaceState {
        let share = self.used_bytes as f64 / self.capacity_bytes as f64;
        if !self.has_room(BLOCK_BYTES) {
            SpaceState::Full
        } else if share > self.provisioning.critical_above {
            SpaceState::Critical
        } else if share > self.provisioning.warning_above {
            SpaceState::Warning
        } else {
            SpaceState::Normal
        }
    }
}

#[cfg(test)]
mod tests {
    use weir_model::{Bytes, FileKind, OpKind};

    use super::*;

    const CAPACITY: u64 = 1 << 20;

    fn space() -> PhysicalSpace {
        let mut profile = crate::profiles::embedded("scaleflux-csd2000").unwrap();
        profile.provisioning = Some(Provisioning {
            logical_capacity: Bytes(2 * profile.capacity.0),
            warning_above: 0.8,
            critical_above: 0.9,
        });
        PhysicalSpace::new(&profile, CAPACITY).unwrap()
    }

    fn op(offset: u64, bytes: u64, fraction: f64) -> Op {
        Op {
            kind: OpKind::Write,
            file: 7,
            file_kind: FileKind::Data,
            offset,
            bytes,
            compressed_fraction: fraction,
        }
    }

    #[test]
    fn what_is_written_again_takes_what_it_takes_now() {
        let mut space = space();
        space.write(&op(0, 3 << 20, 0.25));
        assert_eq!(space.used_bytes(), 3 << 18);
        space.write(&op(0, 16_384, 1.0));
        assert_eq!(space.used_bytes(), (3 << 18) + 12_288);
        space.write(&op(100, 512, 0.5));
        assert_eq!(space.used_bytes(), (3 << 18) + 12_288 - 2048);
    }

    #[test]
    fn discarded_blocks_take_nothing() {
        let mut space = space();
        space.write(&op(0, 3 << 20, 0.25));
        space.discard(&op(100, 8192, 1.0));
        assert_eq!(space.used_bytes(), (3 << 18) - 1024);
        space.discard(&op((1 << 20) + 4096, u64::MAX, 1.0));
        assert_eq!(space.used_bytes(), (1 << 18) + 1024 - 1024);
        space.discard(&Op {
            file: 8,
            ..op(0, u64::MAX, 1.0)
        });
        assert_eq!(space.used_bytes(), 1 << 18);
        space.discard(&op(0, u64::MAX, 1.0));
        assert_eq!((space.used_bytes(), space.chunks.len()), (0, 0));
    }

    #[test]
    fn the_drive_warns_before_it_is_full() {
        let mut space = space();
        let states: Vec<_> = (0..40)
            .map(|number| {
                space.write(&op(number * 65_536, 65_536, 0.5));
                space.state()
            })
            .take_while(|&state| state != SpaceState::Full)
            .collect();
        assert!(states.is_sorted() && states.len() == 31, "{states:?}");
        assert!(states.contains(&SpaceState::Warning) && states.contains(&SpaceState::Critical));
        assert!(!space.has_room(1));
    }
}
