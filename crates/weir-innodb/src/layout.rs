//! Page size and checksum format of a tablespace, from the flags in its first page.
//!
//! `FSP_SPACE_FLAGS` has two encodings: the one of MySQL (and of `MariaDB` files in its older
//! format), and `MariaDB`'s `full_crc32` (default since 10.5), which announces itself by bit 4. In the
//! older encoding bit 4 is the highest bit of the compressed page size, which never needs it.

/// Offset of `FSP_SPACE_FLAGS` in page 0: after the 38 bytes of the page header, in the space
/// header at offset 16.
const FLAGS_OFFSET: usize = 38 + 16;
/// Page size of a tablespace whose flags do not say: InnoDB's original.
const ORIGINAL_PAGE_SIZE: usize = 16 * 1024;
const FULL_CRC32_MARKER: u32 = 1 << 4;

/// Format by which the pages of a tablespace are written and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Checksum in header and trailer: `crc32`, `innodb` or `none`, page by page.
    Classic,
    /// `ROW_FORMAT=COMPRESSED`: one checksum in the header, no trailer.
    Zip,
    /// `MariaDB`'s `full_crc32`: one checksum, at the page's very end.
    FullCrc32,
}

/// Page size and format of one tablespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of one page in the file: the compressed size where pages are compressed.
    pub page_size: usize,
    /// Format of a page's checksum.
    pub format: Format,
    /// Pages are encrypted: their checksums cover what only the server can read.
    pub encrypted: bool,
}

impl Layout {
    /// The smallest prefix of page 0 that holds the flags.
    pub const PREFIX: usize = FLAGS_OFFSET + 4;

    /// The layout that the first bytes of page 0 describe.
    ///
    /// # Errors
    /// The flags themselves, when they name no page size.
    ///
    /// # Panics
    /// When `first_page` is shorter than [`Layout::PREFIX`].
    pub fn parse(first_page: &[u8]) -> Result<Layout, u32> {
        let bytes = first_page[FLAGS_OFFSET..Self::PREFIX]
            .try_into()
            .expect("invariant: four bytes");
        let flags = u32::from_be_bytes(bytes);
        let layout = if flags & FULL_CRC32_MARKER == 0 {
            classic(flags)
        } else {
            full_crc32(flags)
        };
        layout.ok_or(flags)
    }
}

/// Bits 1-4: compressed page size; 6-9: page size; 13: encrypted (MySQL). Sizes are powers of two:
/// `512 << value`, 0 for "not so".
fn classic(flags: u32) -> Option<Layout> {
    let size_of = |shift: u32| match (flags >> shift) & 0xf {
        0 => Some(None),
        exponent @ 1..=7 => Some(Some(512_usize << exponent)),
        _ => None,
    };
    let zip = size_of(1)?;
    let page_size = size_of(6)?.unwrap_or(ORIGINAL_PAGE_SIZE);
    Some(Layout {
        page_size: zip.unwrap_or(page_size),
        format: zip.map_or(Format::Classic, |_| Format::Zip),
        encrypted: flags & (1 << 13) != 0,
    })
}

/// Bits 0-3: page size as `512 << value`. Encryption is not in the flags: it is the page's key
/// version (see [`crate::Page`]).
fn full_crc32(flags: u32) -> Option<Layout> {
    let exponent = flags & 0xf;
    (3..=7).contains(&exponent).then(|| Layout {
        page_size: 512 << exponent,
        format: Format::FullCrc32,
        encrypted: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(flags: u32) -> Result<Layout, u32> {
        let mut page = [0; Layout::PREFIX];
        page[FLAGS_OFFSET..].copy_from_slice(&flags.to_be_bytes());
        Layout::parse(&page)
    }

    #[test]
    fn sizes_and_formats() {
        let size_and_format = |flags| layout(flags).map(|found| (found.page_size, found.format));
        assert_eq!(size_and_format(0), Ok((16384, Format::Classic)));
        assert_eq!(size_and_format(0x15), Ok((16384, Format::FullCrc32)));
        assert_eq!(size_and_format(0x13), Ok((4096, Format::FullCrc32)));
        // DYNAMIC rows: bits 0 and 5; 4 KiB pages: 3 << 6.
        assert_eq!(size_and_format(0x21 | 3 << 6), Ok((4096, Format::Classic)));
        // KEY_BLOCK_SIZE=8: 4 << 1.
        assert_eq!(size_and_format(0x21 | 4 << 1), Ok((8192, Format::Zip)));
        assert!(layout(1 << 13).is_ok_and(|found| found.encrypted));
    }

    #[test]
    fn senseless_flags_are_returned() {
        assert_eq!(layout(0x12), Err(0x12));
        assert_eq!(layout(0xf << 6), Err(0xf << 6));
    }
}
