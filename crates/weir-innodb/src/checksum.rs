//! The checksums that a page can carry.

/// Bytes of the page header before the checksummed part.
const CHECKSUM_FIELD: usize = 4;
/// `FIL_PAGE_FILE_FLUSH_LSN` and the space number: written after the checksum was made, so left out.
const LATE_FIELDS: std::ops::Range<usize> = 26..38;
/// Checksum and low half of the LSN once more, at the end of the page.
pub(crate) const TRAILER: usize = 8;
/// Checksum that `innodb_checksum_algorithm=none` writes.
const NONE: u32 = 0xDEAD_BEEF;

fn be32(bytes: &[u8], offset: usize) -> u32 {
    let field = bytes[offset..offset + 4].try_into();
    u32::from_be_bytes(field.expect("invariant: four bytes"))
}

/// Returns true if a page of the classic format carries a checksum that fits: `crc32`, `innodb` or `none`.
///
/// Header and trailer must use the same algorithm: a page torn between two of them is no whole page.
pub(crate) fn classic_fits(page: &[u8]) -> bool {
    let stored = (be32(page, 0), be32(page, page.len() - TRAILER));
    if stored == (NONE, NONE) {
        return true;
    }
    let crc = crc32(page);
    stored == (crc, crc) || stored == innodb(page)
}

fn crc32(page: &[u8]) -> u32 {
    let body = &page[LATE_FIELDS.end..page.len() - TRAILER];
    crc32c::crc32c(&page[CHECKSUM_FIELD..LATE_FIELDS.start]) ^ crc32c::crc32c(body)
}

/// The checksums of header and trailer by InnoDB's original algorithm.
fn innodb(page: &[u8]) -> (u32, u32) {
    let body = &page[LATE_FIELDS.end..page.len() - TRAILER];
    let head = fold(&page[CHECKSUM_FIELD..LATE_FIELDS.start]);
    let header = head.wrapping_add(fold(body));
    (header, fold(&page[..LATE_FIELDS.start]))
}

/// A byte-wise fold; the upper half of the servers' 64-bit arithmetic never reaches the lower.
fn fold(bytes: &[u8]) -> u32 {
    const MASK: u32 = 1_463_735_687;
    const MASK_SHIFTED: u32 = 1_653_893_711;
    bytes.iter().fold(0, |sum: u32, &byte| {
        let byte = u32::from(byte);
        let mixed = ((sum ^ byte ^ MASK_SHIFTED) << 8).wrapping_add(sum);
        (mixed ^ MASK).wrapping_add(byte)
    })
}

/// Returns true if a page of `ROW_FORMAT=COMPRESSED` carries a fitting `crc32` or `none`.
pub(crate) fn zip_fits(page: &[u8]) -> bool {
    let stored = be32(page, 0);
    let sum = crc32c::crc32c(&page[CHECKSUM_FIELD..16])
        ^ crc32c::crc32c(&page[24..26])
        ^ crc32c::crc32c(&page[34..]);
    stored == sum || stored == NONE
}

/// Returns true if a `full_crc32` page of `length` bytes of payload ends in the checksum of all
/// before.
pub(crate) fn full_crc32_fits(page: &[u8], length: usize) -> bool {
    let body = length - 4;
    crc32c::crc32c(&page[..body]) == be32(page, body)
}
