//! A page of a B-tree: its header, its records in their order, and the node pointers of one above the leaves.
//!
//! Source: MySQL Internals, "InnoDB Page Structure"; `page0types.h` and `rem0rec.h` of both servers.

use crate::key::{Fields, Key, KeyFormat};
use crate::page::{Page, PageState};

/// `FIL_PAGE_INDEX`; and, in `MariaDB`, the root of a table whose columns were changed at once.
const KINDS: [u16; 2] = [17855, 18];
/// `FIL_PAGE_NEXT`.
const NEXT: usize = 12;
/// `FIL_NULL`: no page.
const NO_PAGE: u32 = u32::MAX;
/// The page header begins after the file header.
const HEAP_RECORDS: usize = 38 + 4;
const RECORDS: usize = 38 + 16;
const LEVEL: usize = 38 + 26;
const INDEX_ID: usize = 38 + 28;
/// The highest bit of [`HEAP_RECORDS`]: rows of a compact format.
const COMPACT: u16 = 1 << 15;
/// Origin of the record before all others in a compact page, and of the one after them.
const INFIMUM: usize = 99;
const SUPREMUM: usize = 112;
/// Bytes of a compact record's header, before its origin.
const RECORD_HEADER: usize = 5;
/// In the first of these bytes: the leftmost record of a level, which is below all keys.
const MINIMUM: u8 = 0x10;
/// Bytes of the child's number, after the key.
const CHILD: usize = 4;

/// A page of an index.
#[derive(Clone, Copy, Debug)]
pub struct IndexPage<'a> {
    page: Page<'a>,
}

/// A record of a page above the leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodePointer {
    /// The smallest key below it; empty for the leftmost of a level.
    pub low: Key,
    /// The page that it points to.
    pub child: u32,
}

impl<'a> IndexPage<'a> {
    /// The page at `number` of its file, if it is whole and of an index with rows of a compact format.
    pub fn new(page: Page<'a>, number: u32) -> Option<Self> {
        let found = Self { page };
        let is_index = page.is_readable()
            && KINDS.contains(&page.kind())
            && page.state(number) == PageState::Whole;
        (is_index && found.be16(HEAP_RECORDS) & COMPACT != 0).then_some(found)
    }

    /// The index that it belongs to.
    pub fn index_id(&self) -> u64 {
        u64::from(self.page.be32(INDEX_ID)) << 32 | u64::from(self.page.be32(INDEX_ID + 4))
    }

    /// Levels below it; 0: a leaf.
    pub fn level(&self) -> u16 {
        self.be16(LEVEL)
    }

    /// Records that it says it has.
    pub fn records(&self) -> u16 {
        self.be16(RECORDS)
    }

    /// The page to its right on the same level.
    pub fn next(&self) -> Option<u32> {
        Some(self.page.be32(NEXT)).filter(|next| *next != NO_PAGE)
    }

    /// Offsets of its records in the order of their keys; `None` if their list leads nowhere.
    pub fn record_list(&self) -> Option<Vec<usize>> {
        let size = self.page.bytes().len();
        let mut offsets = Vec::with_capacity(usize::from(self.records()));
        let mut at = self.following(INFIMUM);
        while at != SUPREMUM {
            // A list that is a circle has more records than it says.
            if at <= SUPREMUM || at >= size || offsets.len() >= usize::from(self.records()) {
                return None;
            }
            offsets.push(at);
            at = self.following(at);
        }
        (offsets.len() == usize::from(self.records())).then_some(offsets)
    }

    /// The pages below this one with their smallest keys; `None` if its records are not of `format`.
    pub fn node_pointers(&self, format: &KeyFormat) -> Option<Vec<NodePointer>> {
        let pointers = self.record_list()?.into_iter();
        let pointers = pointers.map(|origin| self.node_pointer(origin, format));
        let pointers = pointers.collect::<Option<Vec<_>>>()?;
        let is_sorted = !format.is_ordered || pointers.is_sorted_by(|one, next| one.low < next.low);
        is_sorted.then_some(pointers)
    }

    fn node_pointer(&self, origin: usize, format: &KeyFormat) -> Option<NodePointer> {
        let bytes = self.page.bytes();
        let fields = Fields::before(bytes, origin, RECORD_HEADER, format.nullable);
        let (key, end) = fields.key(origin, format)?;
        let child = bytes.get(end..end + CHILD)?.try_into().ok()?;
        let is_minimum = bytes[origin - RECORD_HEADER] & MINIMUM != 0;
        Some(NodePointer {
            low: if is_minimum { Key::new() } else { key },
            child: u32::from_be_bytes(child),
        })
    }

    /// The record after the one at `origin`: the distance wraps around within the page.
    fn following(&self, origin: usize) -> usize {
        let distance = usize::from(self.be16(origin - 2));
        // A page of 64 KiB has distances of all 16 bits.
        let size = self.page.bytes().len().min(1 << 16);
        (origin + distance) & (size - 1)
    }

    fn be16(&self, offset: usize) -> u16 {
        let bytes = self.page.bytes();
        u16::from_be_bytes([bytes[offset], bytes[offset + 1]])
    }
}
