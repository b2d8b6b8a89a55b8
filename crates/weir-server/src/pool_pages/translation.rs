//! A list of pages of one server as a list of another: the pages with the same numbers, or those with the same keys.

use std::collections::{BTreeSet, HashMap, HashSet};

use weir_mysql::NameCase;

use crate::pool_pages::catalog::Catalog;
use crate::pool_pages::dump::PageId;
use crate::pool_pages::trees::{SpaceTrees, Trees};
use crate::pool_pages::{PoolError, PoolServer};

/// Pages at the head of a file that describe it, and are no part of an index.
const HEAD_PAGES: u32 = 4;

/// Pages for another server's pool.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Translation {
    /// The pages, by the numbers of the other server, in the order of the list.
    pub pages: Vec<PageId>,
    /// Counts of the pages of the list.
    pub counts: Counts,
}

/// Counts of a list's pages by result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pages of tables that both have.
    pub shared: u64,
    /// Of these, pages that have at least one page on the other server.
    pub placed: u64,
    /// Of these, pages that were placed by their rank, since their keys do not compare as bytes.
    pub by_rank: u64,
    /// Pages of the system, of undo logs, and of tables that the other does not have.
    pub others: u64,
}

impl Counts {
    /// Pages of shared tables without a known page on the other server. They hold values outside of their
    /// rows or indexes of other kinds, have numbers beyond the file, or are newer than the file.
    pub fn unplaced(&self) -> u64 {
        self.shared - self.placed
    }

    /// Share of the pages of shared tables that are placed.
    pub fn coverage(&self) -> f64 {
        if self.shared == 0 {
            return 0.0;
        }
        self.placed as f64 / self.shared as f64
    }
}

/// The tablespaces of `from` and those of `to` with the same table.
fn spaces(from: &Catalog, to: &Catalog) -> HashMap<u32, (u32, String)> {
    let shared = from.spaces.iter().filter_map(|(table, space)| {
        let there = to.spaces.get(table)?;
        Some((*space, (*there, table.clone())))
    });
    shared.collect()
}

/// Refuses tables with pages in `pages` that are one table by the names of one server, and two by those of the other.
pub(crate) fn check_names(
    pages: &[PageId],
    (from, here): (&PoolServer, &Catalog),
    (to, there): (&PoolServer, &Catalog),
) -> Result<(), PoolError> {
    if here.case == there.case {
        return Ok(());
    }
    let resident: HashSet<u32> = pages.iter().map(|page| page.space).collect();
    let is_unmatched = |(table, space): &(&String, &u32)| {
        resident.contains(space) && !there.spaces.contains_key(*table)
    };
    for (table, _) in here.spaces.iter().filter(is_unmatched) {
        let mut others = there.spaces.keys();
        if let Some(other) = others.find(|other| NameCase::Folded.is_same(other, table)) {
            return Err(PoolError::NamesDiffer {
                from: from.name().to_owned(),
                to: to.name().to_owned(),
                table: table.clone(),
                other: other.clone(),
            });
        }
    }
    Ok(())
}

/// Names of the tables that have pages in `pages` and that both have.
pub(crate) fn shared_tables(pages: &[PageId], from: &Catalog, to: &Catalog) -> BTreeSet<String> {
    let spaces = spaces(from, to);
    let resident: HashSet<u32> = pages.iter().map(|page| page.space).collect();
    let tables = resident.iter().filter_map(|space| spaces.get(space));
    tables.map(|(_, table)| table.clone()).collect()
}

/// The pages with the same numbers in the tablespaces of the same tables; numbers beyond the other's file are left out.
pub fn same(pages: &[PageId], from: &Catalog, to: &Catalog, there: &Trees) -> Translation {
    each(pages, from, to, |page, table, space| {
        let file = there.of_table(table);
        let is_there = file.is_none_or(|file| page < file.pages);
        let found = is_there.then_some(PageId { space, page });
        (found.into_iter().collect(), false)
    })
}

/// The pages of the other server that have the keys of these.
pub fn translate(
    pages: &[PageId],
    (from, here): (&Catalog, &Trees),
    (to, there): (&Catalog, &Trees),
) -> Translation {
    each(pages, from, to, |page, table, space| {
        let trees = here.of_table(table).zip(there.of_table(table));
        let Some((here, there)) = trees else {
            return (Vec::new(), false);
        };
        let (found, by_rank) = counterparts(page, here, there);
        let found = found.into_iter().map(|page| PageId { space, page });
        (found.collect(), by_rank)
    })
}

/// Pages of `there` that have the keys of `page` of `here`, and whether that was found by rank.
pub(crate) fn counterparts(page: u32, here: &SpaceTrees, there: &SpaceTrees) -> (Vec<u32>, bool) {
    match here.find(page) {
        Some((index, level)) => {
            let own = here.tree(index).and_then(|tree| tree.levels.get(level));
            let other = there.tree(index).and_then(|tree| tree.levels.get(level));
            let Some((own, other)) = own.zip(other) else {
                return (Vec::new(), false);
            };
            let found = own.counterparts(page, other).unwrap_or_default();
            (found, !own.is_ordered())
        }
        None if is_head(page, here.page_size) && page < there.pages => (vec![page], false),
        None => (Vec::new(), false),
    }
}

/// Pages that stand at the same place in every file: its head, and two at each multiple of the pages that they describe.
fn is_head(page: u32, page_size: usize) -> bool {
    page < HEAD_PAGES || page as usize % page_size < 2
}

fn each(
    pages: &[PageId],
    from: &Catalog,
    to: &Catalog,
    place: impl Fn(u32, &str, u32) -> (Vec<PageId>, bool),
) -> Translation {
    let spaces = spaces(from, to);
    let mut translation = Translation::default();
    let mut seen = HashSet::new();
    let counts = &mut translation.counts;
    for page in pages {
        let Some((space, table)) = spaces.get(&page.space) else {
            counts.others += 1;
            continue;
        };
        counts.shared += 1;
        let (found, by_rank) = place(page.page, table, *space);
        counts.placed += u64::from(!found.is_empty());
        counts.by_rank += u64::from(!found.is_empty() && by_rank);
        let new = found.into_iter().filter(|page| seen.insert(*page));
        translation.pages.extend(new);
    }
    translation
}
