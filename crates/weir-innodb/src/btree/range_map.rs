//! The pages of one level of a tree, by the ranges of keys that they have.

use std::collections::HashMap;

use crate::index_page::NodePointer;
use crate::key::Key;

/// The pages of one level, in the order of their keys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RangeMap {
    nodes: Vec<RangeNode>,
    /// The position of each page.
    positions: HashMap<u32, usize>,
    is_ordered: bool,
}

/// A page and the smallest key that it may have; the next one's is the first that it has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeNode {
    /// The key; empty for the leftmost.
    pub low: Key,
    /// The page.
    pub page: u32,
}

impl RangeMap {
    pub(super) fn new(pointers: Vec<NodePointer>, is_ordered: bool) -> Self {
        let nodes = pointers.into_iter().map(|NodePointer { low, child }| {
            let page = child;
            RangeNode { low, page }
        });
        let nodes: Vec<_> = nodes.collect();
        let positions = nodes
            .iter()
            .enumerate()
            .map(|(position, node)| (node.page, position))
            .collect();
        Self {
            nodes,
            positions,
            is_ordered,
        }
    }

    /// The pages, in the order of their keys.
    pub fn nodes(&self) -> &[RangeNode] {
        &self.nodes
    }

    /// Returns true if the bytes of its keys compare as the server compares their values.
    pub fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Returns true if `page` is one of them.
    pub fn has(&self, page: u32) -> bool {
        self.positions.contains_key(&page)
    }

    /// The pages of `other`, the same level of the same index elsewhere, that have keys of `page`. They are found
    /// by the ranges of their keys, or by rank where keys do not compare as bytes. `None`: this level has no such
    /// page.
    pub fn counterparts(&self, page: u32, other: &RangeMap) -> Option<Vec<u32>> {
        let position = *self.positions.get(&page)?;
        let range = if self.is_ordered && other.is_ordered {
            other.overlapping(
                &self.nodes[position].low,
                self.nodes.get(position + 1).map(|next| &next.low),
            )
        } else {
            self.same_rank(position, other)
        };
        let pages = other.nodes[range].iter().map(|node| node.page);
        Some(pages.collect())
    }

    /// Positions of the pages that have keys from `low` to `high`, without it.
    fn overlapping(&self, low: &Key, high: Option<&Key>) -> std::ops::Range<usize> {
        let first = self.nodes.partition_point(|node| node.low <= *low);
        let end = high.map_or(self.nodes.len(), |high| {
            self.nodes.partition_point(|node| node.low < *high)
        });
        let first = first.saturating_sub(1);
        first..end.max(first)
    }

    /// Positions of the pages that have the same share of all pages before them.
    fn same_rank(&self, position: usize, other: &RangeMap) -> std::ops::Range<usize> {
        let (own, others) = (self.nodes.len(), other.nodes.len());
        let first = position * others / own;
        let end = ((position + 1) * others).div_ceil(own);
        first..end.min(others)
    }

    /// Returns the number of pages that have the same smallest key and the same number in `other`. Where keys do not
    /// compare as bytes they still are equal if their values are.
    pub fn in_common(&self, other: &RangeMap) -> usize {
        let is_same = |node: &&RangeNode| {
            let position = other.positions.get(&node.page);
            position.is_some_and(|position| other.nodes[*position].low == node.low)
        };
        self.nodes.iter().filter(is_same).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(nodes: &[(&[u8], u32)], is_ordered: bool) -> RangeMap {
        let pointer = |(low, child): &(&[u8], u32)| NodePointer {
            low: low.to_vec(),
            child: *child,
        };
        RangeMap::new(nodes.iter().map(pointer).collect(), is_ordered)
    }

    #[test]
    fn a_range_has_its_counterparts_in_a_tree_that_was_split_elsewhere() {
        let one = map(&[(b"", 4), (b"g", 5), (b"p", 6)], true);
        let other = map(&[(b"", 9), (b"d", 8), (b"g", 7), (b"z", 6)], true);
        let of = |page| one.counterparts(page, &other);
        assert_eq!(of(4), Some(vec![9, 8]));
        assert_eq!(of(5), Some(vec![7]));
        assert_eq!(of(6), Some(vec![7, 6]));
        assert_eq!(of(7), None);
        assert_eq!(one.in_common(&one), 3);
        assert_eq!(one.in_common(&other), 0);
        assert_eq!(one.counterparts(4, &map(&[], true)), Some(vec![]));
    }

    #[test]
    fn keys_that_do_not_compare_go_by_rank() {
        let one = map(&[(b"", 4), (b"q", 5)], false);
        let other = map(&[(b"", 1), (b"b", 2), (b"a", 3), (b"c", 4)], false);
        assert_eq!(one.counterparts(4, &other), Some(vec![1, 2]));
        assert_eq!(one.counterparts(5, &other), Some(vec![3, 4]));
        assert_eq!(other.counterparts(3, &one), Some(vec![5]));
        assert_eq!(one.counterparts(5, &map(&[], false)), Some(vec![]));
    }
}
