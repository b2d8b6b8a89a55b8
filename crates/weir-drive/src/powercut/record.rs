//! Content of a sector: it says which write it is of, so that a page of two writes is seen at any size.
//!
//! | bytes | content, numbers little-endian |
//! |---|---|
//! | 0 | `WEIRPCUT` |
//! | 8 | id of the run |
//! | 24 | number of the write in its lane, from 1 |
//! | 32 | number of the lane (2), of the sector in its page (2), of the page (4) |
//! | 40 | for each lane the newest write that had been flushed before this one was sent (8 each) |
//! | 208 | noise that follows from the write, which no device can compress or share |
//! | 508 | CRC-32C of all before it |

use super::lane::LANES;
use super::run_id::RunId;

/// The smallest thing that a device writes whole, bytes.
pub(crate) const SECTOR_BYTES: usize = 512;

const MAGIC: &[u8; 8] = b"WEIRPCUT";
const FLUSHED: usize = 40;
const NOISE: usize = FLUSHED + 8 * LANES;
const CHECKSUM: usize = SECTOR_BYTES - 4;

/// Newest flushed write of each lane; 0: none.
pub(crate) type NewestFlushes = [u64; LANES];

/// A write of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) run: RunId,
    /// Number of the lane.
    pub(crate) lane: u16,
    /// Number of the page in its file.
    pub(crate) page: u32,
    pub(crate) sequence: u64,
    pub(crate) flushed: NewestFlushes,
}

/// Content of a sector after a cut.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one at a time, on the stack")]
pub(crate) enum SectorContent {
    /// Zeroes: nothing was ever written there.
    Empty,
    /// Sector number `u16` of a write.
    Record(Record, u16),
    /// Bytes that no writer has written.
    Garbage,
}

impl Record {
    /// Fills `page` with this write.
    pub(crate) fn encode(&self, page: &mut [u8]) {
        for (number, sector) in page.chunks_exact_mut(SECTOR_BYTES).enumerate() {
            self.encode_sector(number as u16, sector);
        }
    }

    fn encode_sector(&self, number: u16, sector: &mut [u8]) {
        sector[..8].copy_from_slice(MAGIC);
        sector[8..24].copy_from_slice(&self.run.0.to_le_bytes());
        sector[24..32].copy_from_slice(&self.sequence.to_le_bytes());
        sector[32..34].copy_from_slice(&self.lane.to_le_bytes());
        sector[34..36].copy_from_slice(&number.to_le_bytes());
        sector[36..FLUSHED].copy_from_slice(&self.page.to_le_bytes());
        for (place, flushed) in sector[FLUSHED..NOISE].chunks_exact_mut(8).zip(self.flushed) {
            place.copy_from_slice(&flushed.to_le_bytes());
        }
        let mut noise = self.sequence ^ u64::from(self.lane) << 48 ^ u64::from(number) << 32 | 1;
        for byte in &mut sector[NOISE..CHECKSUM] {
            // Marsaglia's xorshift64: no two neighbours alike is all that is needed.
            noise ^= noise << 13;
            noise ^= noise >> 7;
            noise ^= noise << 17;
            *byte = noise as u8;
        }
        let checksum = crc32c::crc32c(&sector[..CHECKSUM]);
        sector[CHECKSUM..].copy_from_slice(&checksum.to_le_bytes());
    }
}

impl SectorContent {
    /// Reads a sector of [`SECTOR_BYTES`].
    pub(crate) fn parse(sector: &[u8]) -> Self {
        if sector.iter().all(|byte| *byte == 0) {
            return Self::Empty;
        }
        let is_record = sector.starts_with(MAGIC)
            && crc32c::crc32c(&sector[..CHECKSUM]) == u32_at(sector, CHECKSUM);
        if !is_record {
            return Self::Garbage;
        }
        let wide = u128::from(u64_at(sector, 16)) << 64 | u128::from(u64_at(sector, 8));
        let numbers = u32_at(sector, 32);
        let record = Record {
            run: RunId(wide),
            lane: numbers as u16,
            page: u32_at(sector, 36),
            sequence: u64_at(sector, 24),
            flushed: std::array::from_fn(|lane| u64_at(sector, FLUSHED + 8 * lane)),
        };
        Self::Record(record, (numbers >> 16) as u16)
    }
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let bytes = bytes[at..at + 8].try_into();
    u64::from_le_bytes(bytes.expect("invariant: eight bytes"))
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let bytes = bytes[at..at + 4].try_into();
    u32::from_le_bytes(bytes.expect("invariant: four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            run: RunId(0x0123_4567_89ab_cdef_0011_2233_4455_6677),
            lane: 20,
            page: 7,
            sequence: 1 << 40,
            flushed: std::array::from_fn(|lane| lane as u64 * 1_000_003),
        }
    }

    #[test]
    fn each_sector_says_which_write_it_is_of() {
        let mut page = [0; 4096];
        record().encode(&mut page);
        for (number, sector) in page.chunks_exact(SECTOR_BYTES).enumerate() {
            let expected = SectorContent::Record(record(), number as u16);
            assert_eq!(SectorContent::parse(sector), expected);
        }
        assert_eq!(
            SectorContent::parse(&[0; SECTOR_BYTES]),
            SectorContent::Empty
        );
    }

    #[test]
    fn a_flipped_bit_anywhere_is_garbage() {
        let mut page = [0; 4096];
        record().encode(&mut page);
        let sector = &mut page[..SECTOR_BYTES];
        for bit in 0..SECTOR_BYTES * 8 {
            sector[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(
                SectorContent::parse(sector),
                SectorContent::Garbage,
                "{bit}"
            );
            sector[bit / 8] ^= 1 << (bit % 8);
        }
    }
}
