//! One page: whole, never written, or damaged, and how.

use crate::checksum::{TRAILER, classic_fits, full_crc32_fits, zip_fits};
use crate::layout::{Format, Layout};

/// Offsets of the fields of the page header (`FIL_PAGE_*` in the servers' words).
const NUMBER: usize = 4;
const LSN: usize = 16;
const TYPE: usize = 24;
/// The version of the encryption key in a `full_crc32` page; 0 in a page that is not encrypted.
const KEY_VERSION: usize = 26;

/// Page types whose bytes are not what InnoDB checksummed: compressed or encrypted afterwards.
mod transformed {
    /// MySQL: compressed; encrypted; both; encrypted R-tree.
    pub(super) const MYSQL: std::ops::RangeInclusive<u16> = 14..=17;
    /// `MariaDB`, classic format: page-compressed, and page-compressed and encrypted.
    pub(super) const MARIADB: [u16; 2] = [34354, 37401];
    /// `MariaDB`, `full_crc32`: page-compressed; the low bits are the length in units of 256 bytes.
    pub(super) const FULL_CRC32_COMPRESSED: u16 = 1 << 15;
}

/// Damage of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Damage {
    /// Start and end carry different LSNs: parts of two writes.
    Torn,
    /// The LSNs agree and the checksum does not.
    Checksum,
    /// The page is whole but says that it is another one.
    Misplaced,
}

/// State of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageState {
    /// Page with a fitting checksum.
    Whole,
    /// All bytes are zero: allocated and never written.
    Zero,
    /// Encrypted or compressed after its checksum was made: only the server can judge it.
    Opaque,
    /// It must not be read.
    Damaged(Damage),
}

/// The bytes of one page with the layout of its tablespace.
#[derive(Clone, Copy, Debug)]
pub struct Page<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Page<'a> {
    /// The page in `bytes`.
    ///
    /// # Panics
    /// When `bytes` are not one page of `layout`.
    pub fn new(bytes: &'a [u8], layout: Layout) -> Page<'a> {
        assert_eq!(bytes.len(), layout.page_size, "one page");
        Page { bytes, layout }
    }

    /// All of it.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns true if its records can be read as they stand: not those of `ROW_FORMAT=COMPRESSED`.
    pub(crate) fn is_readable(&self) -> bool {
        self.layout.format != Format::Zip
    }

    /// The page number that the page itself carries.
    pub fn number(&self) -> u32 {
        self.be32(NUMBER)
    }

    /// The log sequence number of the last change in the page.
    pub fn lsn(&self) -> u64 {
        u64::from(self.be32(LSN)) << 32 | u64::from(self.be32(LSN + 4))
    }

    /// `FIL_PAGE_TYPE`.
    pub fn kind(&self) -> u16 {
        u16::from_be_bytes([self.bytes[TYPE], self.bytes[TYPE + 1]])
    }

    /// Returns the state of the page at position `number` of its file.
    pub fn state(&self, number: u32) -> PageState {
        // In chunks, which compare faster than bytes: most of a new tablespace is zeroes.
        if self
            .bytes
            .chunks(64)
            .all(|chunk| *chunk == [0; 64][..chunk.len()])
        {
            return PageState::Zero;
        }
        if self.is_opaque() {
            return PageState::Opaque;
        }
        if !self.checksum_fits() {
            return PageState::Damaged(self.damage());
        }
        if self.number() != number {
            return PageState::Damaged(Damage::Misplaced);
        }
        PageState::Whole
    }

    fn is_opaque(&self) -> bool {
        let kind = self.kind();
        match self.layout.format {
            // A `full_crc32` checksum is made last, over the encrypted or compressed bytes.
            Format::FullCrc32 => false,
            Format::Classic | Format::Zip => {
                self.layout.encrypted
                    || transformed::MYSQL.contains(&kind)
                    || transformed::MARIADB.contains(&kind)
            }
        }
    }

    fn checksum_fits(&self) -> bool {
        match self.layout.format {
            // The trailer's LSN is outside of the checksum.
            Format::Classic => classic_fits(self.bytes) && self.ends_agree(),
            Format::Zip => zip_fits(self.bytes),
            Format::FullCrc32 => full_crc32_fits(self.bytes, self.payload()),
        }
    }

    /// Bytes of a `full_crc32` page before the hole that page compression punched.
    fn payload(&self) -> usize {
        let kind = self.kind();
        if kind & transformed::FULL_CRC32_COMPRESSED == 0 {
            return self.layout.page_size;
        }
        let units = usize::from(kind & !transformed::FULL_CRC32_COMPRESSED);
        (units << 8).clamp(TRAILER, self.layout.page_size)
    }

    fn damage(&self) -> Damage {
        if self.ends_agree() {
            Damage::Checksum
        } else {
            Damage::Torn
        }
    }

    /// Returns true if the low half of the LSN at the page's end is that of its header, where there are both.
    fn ends_agree(&self) -> bool {
        let at_end = match self.layout.format {
            Format::Classic => self.layout.page_size - TRAILER + 4,
            // Encrypted pages have no second LSN that could be compared.
            Format::FullCrc32 if self.be32(KEY_VERSION) == 0 => self.payload() - TRAILER,
            Format::FullCrc32 | Format::Zip => return true,
        };
        self.be32(at_end) == self.lsn() as u32
    }

    pub(crate) fn be32(&self, offset: usize) -> u32 {
        let field = self.bytes[offset..offset + 4].try_into();
        u32::from_be_bytes(field.expect("invariant: four bytes"))
    }
}
