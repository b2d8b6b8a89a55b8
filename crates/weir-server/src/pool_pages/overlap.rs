//! Share of a pool's pages that another server's pool holds, by table and index.

use std::collections::{BTreeMap, HashSet};

use weir_innodb::RangeMap;

use crate::pool_pages::dump::{Dump, PageId};
use crate::pool_pages::translation::{check_names, counterparts, shared_tables};
use crate::pool_pages::trees::Trees;
use crate::pool_pages::{PoolError, PoolServer};

/// Pages that two pools have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Overlap {
    /// By table and index.
    pub indexes: Vec<IndexOverlap>,
    /// Pages of the first pool that belong to no shared table or to no index.
    pub others: u64,
    /// Pages above the leaves whose files are older than the pool, on both servers.
    pub unknown: u32,
}

/// Pages of one index that two pools have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct IndexOverlap {
    /// The table, `schema/table`.
    pub table: String,
    /// The index.
    pub index: String,
    /// Leaf pages of the index in the first server's file.
    pub leaves: u64,
    /// Of these, leaf pages with the same number and the same smallest key on the second.
    pub corresponding: u64,
    /// Leaf pages in the first pool.
    pub resident: u64,
    /// Of these, leaf pages all of whose keys are in the second pool.
    pub warm: u64,
}

impl Overlap {
    /// Share of the first pool's leaf pages whose keys are in the second pool, too.
    pub fn warm_share(&self) -> f64 {
        share(
            self.sum(|index| index.warm),
            self.sum(|index| index.resident),
        )
    }

    /// Share of the leaf pages that have the same number and keys on both.
    pub fn corresponding_share(&self) -> f64 {
        let corresponding = self.sum(|index| index.corresponding);
        share(corresponding, self.sum(|index| index.leaves))
    }

    fn sum(&self, of: impl Fn(&IndexOverlap) -> u64) -> u64 {
        self.indexes.iter().map(of).sum()
    }
}

fn share(part: u64, all: u64) -> f64 {
    if all == 0 {
        0.0
    } else {
        part as f64 / all as f64
    }
}

/// Compares the pool of `to` with that of `from`.
///
/// # Errors
///
/// What the servers say, and files that cannot be read.
pub fn compare(from: &PoolServer, to: &PoolServer) -> Result<Overlap, PoolError> {
    let (own, other) = (from.resident_pages(100)?, to.resident_pages(100)?);
    let (here, there) = (from.catalog()?, to.catalog()?);
    check_names(&own.pages, (from, &here), (to, &there))?;
    let tables = shared_tables(&own.pages, &here, &there);
    let here = Trees::read(from, &here, &tables)?;
    let there = Trees::read(to, &there, &tables)?;
    Ok(overlap((&own, &here), (&other, &there)))
}

/// The overlap of two lists, by the trees of both sides.
pub(crate) fn overlap((own, here): (&Dump, &Trees), (other, there): (&Dump, &Trees)) -> Overlap {
    let resident: HashSet<PageId> = other.pages.iter().copied().collect();
    let mut found = Overlap {
        unknown: here.unknown() + there.unknown(),
        ..Overlap::default()
    };
    let mut indexes: BTreeMap<(&str, &str), IndexOverlap> = BTreeMap::new();
    for page in &own.pages {
        let trees = here.of_space(page.space);
        let trees = trees.and_then(|own| Some((own, there.of_table(&own.table)?)));
        let Some((own, other)) = trees else {
            found.others += 1;
            continue;
        };
        let Some((index, 0)) = own.find(page.page) else {
            found.others += 1;
            continue;
        };
        let entry = indexes.entry((own.table.as_str(), index)).or_default();
        entry.resident += 1;
        let (pages, _) = counterparts(page.page, own, other);
        let space = other.space;
        let is_warm = |page: &u32| resident.contains(&PageId { space, page: *page });
        entry.warm += u64::from(!pages.is_empty() && pages.iter().all(is_warm));
    }
    for ((table, index), mut entry) in indexes {
        if let Some(own) = leaves(here, table, index) {
            entry.leaves = own.nodes().len() as u64;
            let common = leaves(there, table, index).map_or(0, |other| own.in_common(other));
            entry.corresponding = common as u64;
        }
        table.clone_into(&mut entry.table);
        index.clone_into(&mut entry.index);
        found.indexes.push(entry);
    }
    found
}

/// The leaves of an index.
fn leaves<'a>(trees: &'a Trees, table: &str, index: &str) -> Option<&'a RangeMap> {
    trees.of_table(table)?.tree(index)?.levels.first()
}
