//! The leaves of an index in groups of leaves that are asked for alike.
//!
//! The leaves are cut in halves until the halves are used equally often or are single leaves: a few
//! thousand pieces for an index of any size. These are put together by their use, so that a
//! solver meets some hundreds of groups.

use weir_model::Distribution;
use weir_workload::share_up_to;

/// Pieces to begin with, so that no narrow window is missed.
const PIECES: usize = 1024;
/// Halves that differ by less than this are one piece.
const ALIKE: f64 = 0.02;
/// Pieces with less than this share of the keys are not cut: no result shows them, and rounding would
/// cut them without end.
const SHARE_MIN: f64 = 1e-9;
/// Groups per factor of e between the uses of two leaves.
const GROUPS_PER_E: f64 = 24.0;

/// Leaves, and the share of the keys that each of them gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LeafGroup {
    pub(crate) leaves: f64,
    pub(crate) share: f64,
}

/// The groups of an index of `leaves` leaves in the order of the keys.
pub(crate) fn leaf_groups(distribution: Distribution, leaves: u64, rows: f64) -> Vec<LeafGroup> {
    leaf_groups_of(&|key| share_up_to(distribution, key, rows), leaves, rows)
}

/// The same of keys of which `share_up_to` is the share up to a row.
pub(super) fn leaf_groups_of(
    share_up_to: &dyn Fn(f64) -> f64,
    leaves: u64,
    rows: f64,
) -> Vec<LeafGroup> {
    let rows_per_leaf = rows / leaves as f64;
    let share = |from: u64, to: u64| {
        let up_to = |leaf| share_up_to(leaf as f64 * rows_per_leaf);
        up_to(to) - up_to(from)
    };
    let first = leaves.min(PIECES as u64);
    let border = |piece: u64| (u128::from(piece) * u128::from(leaves) / u128::from(first)) as u64;
    let mut stack: Vec<_> = (0..first)
        .map(|piece| (border(piece), border(piece + 1)))
        .map(|(from, to)| (from, to, share(from, to)))
        .collect();
    let mut pieces = Vec::new();
    while let Some((from, to, mass)) = stack.pop() {
        let middle = from.midpoint(to);
        let low = share(from, middle);
        let high = mass - low;
        // Leaves in each half may differ by one.
        let per_leaf = [
            low / (middle - from).max(1) as f64,
            high / (to - middle) as f64,
        ];
        let larger = per_leaf[0].max(per_leaf[1]);
        if to - from == 1 || mass < SHARE_MIN || (per_leaf[0] - per_leaf[1]).abs() <= ALIKE * larger
        {
            pieces.push(LeafGroup {
                leaves: (to - from) as f64,
                share: mass / (to - from) as f64,
            });
        } else {
            stack.extend([(from, middle, low), (middle, to, high)]);
        }
    }
    merged(pieces)
}

/// Pieces whose leaves are used alike, as one; their keys are kept.
pub(super) fn merged(mut pieces: Vec<LeafGroup>) -> Vec<LeafGroup> {
    pieces.retain(|piece| piece.share > 0.0);
    pieces.sort_by(|a, b| b.share.total_cmp(&a.share));
    let class = |piece: &LeafGroup| (piece.share.ln() * GROUPS_PER_E).round();
    let mut groups = Vec::new();
    for same in pieces.chunk_by(|a, b| (class(a) - class(b)).abs() < 0.5) {
        let leaves: f64 = same.iter().map(|piece| piece.leaves).sum();
        let keys: f64 = same.iter().map(|piece| piece.leaves * piece.share).sum();
        groups.push(LeafGroup {
            leaves,
            share: keys / leaves,
        });
    }
    groups
}

/// The groups of an index whose order has nothing to do with the keys' one, such as that of a
/// column with random values: each of the rows that are asked for most stands in a leaf of its own,
/// and the others are spread evenly.
pub(crate) fn scattered_groups(
    distribution: Distribution,
    leaves: u64,
    rows: f64,
) -> Vec<LeafGroup> {
    scattered_groups_of(&|key| share_up_to(distribution, key, rows), leaves, rows)
}

/// The same of keys of which `share_up_to` is the share up to a row.
pub(super) fn scattered_groups_of(
    share_up_to: &dyn Fn(f64) -> f64,
    leaves: u64,
    rows: f64,
) -> Vec<LeafGroup> {
    let by_row = leaf_groups_of(share_up_to, rows as u64, rows);
    let mut left = leaves as f64;
    let mut hot = Vec::new();
    let mut rest = 0.0;
    for row in by_row {
        let alone = row.leaves.min(left);
        left -= alone;
        rest += (row.leaves - alone) * row.share;
        if alone > 0.0 {
            hot.push(LeafGroup {
                leaves: alone,
                share: row.share,
            });
        }
    }
    for group in &mut hot {
        group.share += rest / leaves as f64;
    }
    merged(hot)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_of(groups: &[LeafGroup]) -> f64 {
        groups.iter().map(|group| group.leaves * group.share).sum()
    }

    #[test]
    fn all_keys_and_leaves_are_kept_in_few_groups_at_any_size() {
        for distribution in [
            Distribution::Uniform,
            Distribution::default(),
            Distribution::Pareto { h: 0.2 },
            Distribution::Zipfian { exponent: 0.8 },
        ] {
            for leaves in [1, 7, 4_000, 300_000_000] {
                let groups = leaf_groups(distribution, leaves, leaves as f64 * 73.0);
                assert!((keys_of(&groups) - 1.0).abs() < 1e-9, "{distribution:?}");
                assert!(groups.len() < 700, "{distribution:?}: {}", groups.len());
                let found: f64 = groups.iter().map(|group| group.leaves).sum();
                assert!(found <= leaves as f64 && found > 0.4 * leaves as f64);
            }
        }
    }

    #[test]
    fn uniform_keys_make_one_group() {
        assert_eq!(
            leaf_groups(Distribution::Uniform, 5_000, 375_000.0).len(),
            1
        );
    }

    #[test]
    fn a_scattered_order_spreads_the_hot_rows() {
        let zipf = Distribution::Zipfian { exponent: 0.8 };
        let ordered = leaf_groups(zipf, 300, 300_000.0);
        let scattered = scattered_groups(zipf, 300, 300_000.0);
        assert!((keys_of(&scattered) - 1.0).abs() < 1e-9);
        let hottest = |groups: &[LeafGroup]| groups[0].share;
        assert!(hottest(&scattered) < hottest(&ordered) / 5.0);
    }
}
