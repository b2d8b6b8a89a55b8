//! Pages of a tablespace that are in use: the extent descriptors.
//!
//! Page 0, and each page whose number is a multiple of the page's size, describes as many pages as a page
//! has bytes, itself the first of them. A page that is free is made anew, unread, when it is taken into use: what
//! stands in it does not matter (MySQL Internals, "InnoDB Page Structure"; `fsp0fsp.h` of both servers).

use crate::layout::{Format, Layout};
use crate::page::{Page, PageState};

/// Offset of the array of descriptors: after the headers of the page and of the space.
const ARRAY: usize = 38 + 112;
/// In a descriptor: its state, 0 for an extent that was never used; and two bits for each page, of which the
/// first says that it is free.
const STATE: usize = 20;
const BITMAP: usize = 24;

/// The descriptors of one descriptor page.
#[derive(Clone, Debug)]
pub(crate) struct Extents {
    /// The first page that is described.
    first: u32,
    /// Pages of an extent.
    pages: u32,
    descriptors: Vec<u8>,
}

impl Extents {
    /// Returns true if the page at `number` is a descriptor page.
    pub(crate) fn stand_in(number: u32, layout: Layout) -> bool {
        (number as usize).is_multiple_of(layout.page_size)
    }

    /// Those in `page`, which is at `number`; `None` if it is not whole, or of a compressed table, whose
    /// extents have another size.
    pub(crate) fn in_page(page: Page<'_>, number: u32, layout: Layout) -> Option<Self> {
        let is_readable = page.state(number) == PageState::Whole && layout.format != Format::Zip;
        is_readable.then(|| Self {
            first: number,
            pages: extent_pages(layout.page_size),
            descriptors: page.bytes()[ARRAY..].to_vec(),
        })
    }

    /// Returns true if nothing uses the page at `number`.
    pub(crate) fn is_free(&self, number: u32) -> bool {
        let within = number - self.first;
        let size = BITMAP + self.pages as usize / 4;
        let Some(descriptor) = self
            .descriptors
            .chunks_exact(size)
            .nth((within / self.pages) as usize)
        else {
            return false;
        };
        let was_used = descriptor[STATE..BITMAP] != [0; 4];
        let bit = (within % self.pages * 2) as usize;
        !was_used || descriptor[BITMAP + bit / 8] >> (bit % 8) & 1 == 1
    }
}

/// 1 MiB, but 64 pages where these are large (manual, "File Space Management").
fn extent_pages(page_size: usize) -> u32 {
    ((1 << 20) / page_size).max(64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_pages_are_told_from_used_ones() {
        // Two extents: of the first the pages 0 to 44 are used; the second was never.
        let mut descriptors = vec![0; 80];
        descriptors[STATE + 3] = 2;
        descriptors[BITMAP..BITMAP + 16].fill(0xff);
        descriptors[BITMAP..BITMAP + 11].fill(0xaa);
        descriptors[BITMAP + 11] = 0xbe;
        let extents = Extents {
            first: 16_384,
            pages: 64,
            descriptors,
        };
        let free = |within: u32| extents.is_free(16_384 + within);
        assert!(!free(0) && !free(44) && free(45) && free(63) && free(64) && free(127));
        assert!(!free(128), "nothing is known of it");
    }

    #[test]
    fn an_extent_is_a_mebibyte_of_small_pages() {
        assert_eq!(
            [4096, 8192, 16_384, 65_536].map(extent_pages),
            [256, 128, 64, 64]
        );
    }
}
