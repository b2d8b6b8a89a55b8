//! Lanes: each way of writing with each page size, in a file of its own.

use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use weir_model::Bytes;

/// Sizes of pages that are written, bytes.
pub(crate) const PAGE_SIZES: [u64; 3] = [4096, 8192, 16_384];
/// Number of lanes.
pub(crate) const LANES: usize = WAYS.len() * PAGE_SIZES.len();

/// Combinations of `O_DIRECT` and an acknowledgment. Completion alone acknowledges nothing of the page cache.
const WAYS: [(bool, Durability); 7] = [
    (true, Durability::Fsync),
    (true, Durability::Fdatasync),
    (true, Durability::Dsync),
    (true, Durability::Completion),
    (false, Durability::Fsync),
    (false, Durability::Fdatasync),
    (false, Durability::Dsync),
];

/// Event that acknowledges a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// fsync(2) after some writes.
    Fsync,
    /// fdatasync(2) after some writes.
    Fdatasync,
    /// The write itself, of a file opened with `O_DSYNC` (FUA, or a flush by the kernel).
    Dsync,
    /// The write itself, without any flush. Only a cache with power-loss protection keeps it.
    Completion,
}

impl Durability {
    /// Returns true if a flush, or a write with `O_DSYNC`, promises that the write survives.
    pub fn is_promised(self) -> bool {
        self != Self::Completion
    }
}

/// One way of writing with one page size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lane {
    /// The writes go past the page cache (`O_DIRECT`).
    pub direct: bool,
    /// Event that acknowledges them.
    pub durability: Durability,
    /// Size of each write, which is aligned to it.
    pub page: Bytes,
}

impl Lane {
    /// All lanes, in the order of their numbers.
    pub(crate) fn all() -> [Self; LANES] {
        std::array::from_fn(|number| {
            let (direct, durability) = WAYS[number / PAGE_SIZES.len()];
            let page = Bytes(PAGE_SIZES[number % PAGE_SIZES.len()]);
            Self {
                direct,
                durability,
                page,
            }
        })
    }

    /// Name of the way of writing: `O_DIRECT, fdatasync`.
    pub fn way(&self) -> String {
        let durability = match self.durability {
            Durability::Fsync => "fsync",
            Durability::Fdatasync => "fdatasync",
            Durability::Dsync => "O_DSYNC",
            Durability::Completion => "no flush",
        };
        let cache = if self.direct {
            "O_DIRECT"
        } else {
            "page cache"
        };
        format!("{cache}, {durability}")
    }

    pub(crate) fn file_name(&self) -> String {
        let way = self.way().to_lowercase();
        format!(
            "{}-{}",
            way.replace(", ", "-").replace([' ', '_'], "-"),
            self.page
        )
    }

    /// Flags of open(2) for its writes.
    pub(crate) fn open_flags(&self) -> OFlags {
        let mut flags = OFlags::empty();
        flags.set(OFlags::DIRECT, self.direct);
        flags.set(OFlags::DSYNC, self.durability == Durability::Dsync);
        flags
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn each_lane_has_a_file_of_its_own() {
        let names: BTreeSet<_> = Lane::all().iter().map(Lane::file_name).collect();
        assert_eq!(names.len(), 21);
        assert!(names.contains("o-direct-no-flush-16K"), "{names:?}");
        assert!(names.contains("page-cache-o-dsync-4K"), "{names:?}");
    }
}
