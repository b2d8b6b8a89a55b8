//! Order in which a lane overwrites its pages: known to writer and check alike, so nothing has to be announced.

use std::collections::BTreeMap;

/// Odd, so that multiples of it meet each page of a power of two once before any a second time.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Order of a lane of `pages` pages. Its writes are numbered from 1; the first `pages` of them fill the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WriteOrder {
    pages: u64,
}

impl WriteOrder {
    /// An order of `pages`, a power of two.
    pub(crate) fn new(pages: u32) -> Self {
        debug_assert!(pages.is_power_of_two());
        Self {
            pages: pages.into(),
        }
    }

    pub(crate) fn pages(self) -> u64 {
        self.pages
    }

    /// Returns the page that write number `sequence` overwrites.
    pub(crate) fn page(self, sequence: u64) -> u64 {
        sequence.wrapping_mul(STEP) & (self.pages - 1)
    }

    /// Returns the newest write of each page among those up to `sequence`.
    pub(crate) fn newest(self, sequence: u64) -> BTreeMap<u64, u64> {
        let first = sequence.saturating_sub(self.pages) + 1;
        (first..=sequence)
            .map(|sequence| (self.page(sequence), sequence))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_meets_each_page_once() {
        let order = WriteOrder::new(64);
        for sequence in [64, 65, 1_000] {
            let newest = order.newest(sequence);
            assert_eq!(newest.len(), 64);
            assert!(newest.values().all(|found| sequence - found < 64));
        }
        assert_eq!(order.newest(3).len(), 3);
        assert!(order.newest(0).is_empty());
    }
}
