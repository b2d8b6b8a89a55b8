//! Pages that a transaction of a built-in workload asks for.
//!
//! A statement by primary key asks for a leaf of the clustered index and, of `r` rows to a leaf, for `2 / r` others
//! (see [`BESIDE_LEAF`]); a range of `w` rows for `(w - 1) / r` more. An update of the indexed column and a delete ask for the
//! leaf of the secondary index where the row's old value stands, whose order has nothing to do with
//! the primary key's; an insert puts its new value at a place that is uniform among the entries.
//! Secondary indexes are taken to be changed in place, as without change buffering, the default of `MariaDB` 10.5 and later;
//! what `MySQL` 9.7, whose default it is, puts off by it is left out.

use weir_model::{Distribution, Flavor, Mix, WorkloadName};

use super::groups::{LeafGroup, leaf_groups, scattered_groups};
use super::{PageGroup, Popularity};
use crate::PredictError;

/// Entries that a leaf page of each index holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeafCapacity {
    /// Rows in a leaf of the clustered index.
    pub rows: f64,
    /// Entries in a leaf of the index on the integer column.
    pub integer_entries: f64,
    /// Entries in a leaf of the index on a line of text.
    pub text_entries: f64,
}

/// The tables of a load: all alike, each statement on one of them at random.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TableSet {
    /// Number of tables.
    pub tables: u32,
    /// Rows of each.
    pub rows: u64,
    /// Fill of their leaves.
    pub leaf: LeafCapacity,
    /// Different lines in the text columns.
    pub lines: u64,
    /// Place in which the server keeps the rows that a transaction replaces.
    pub undo: UndoLogs,
}

/// Rollback segments, which transactions that change something take in turns. Their pages are changed again
/// and again; that purge frees some and transactions take others in their place is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UndoLogs {
    /// Number of segments.
    pub segments: f64,
    /// Pages of its segment that a transaction changes.
    pub pages: f64,
}

impl UndoLogs {
    /// `innodb_rollback_segments` = 128 in each of two tablespaces; the segment's header, a page for inserts
    /// and one for updates (`trx_assign_rseg_durable` and `trx_undo_assign_undo`, `MySQL` 8.0).
    const MYSQL: Self = Self {
        segments: 256.0,
        pages: 3.0,
    };
    /// 128 segments, and one log for both (`trx_undo_assign_low`, `MariaDB` 10.3 and later).
    const MARIADB: Self = Self {
        segments: 128.0,
        pages: 2.0,
    };

    /// Those of a server.
    pub(super) fn for_flavor(flavor: Flavor) -> Self {
        match flavor {
            Flavor::Mysql => Self::MYSQL,
            Flavor::Mariadb => Self::MARIADB,
        }
    }

    pub(super) fn group(&self) -> PageGroup {
        PageGroup {
            pages: self.segments * self.pages,
            rate: 1.0 / self.segments,
            write_rate: 1.0 / self.segments,
        }
    }
}

impl TableSet {
    /// Leaves that a search by a row's key asks for.
    fn lookup(&self) -> f64 {
        1.0 + BESIDE_LEAF / self.leaf.rows
    }

    /// Tables as `weir load prepare` makes them for `workload` on such a server.
    pub fn prepared(workload: WorkloadName, tables: u32, rows: u64, flavor: Flavor) -> Self {
        let leaf = if workload.has_text() {
            LeafCapacity::TEXT
        } else {
            LeafCapacity::SBTEST
        };
        Self {
            tables,
            rows,
            leaf,
            lines: 20_000,
            undo: UndoLogs::for_flavor(flavor),
        }
    }
}

/// Other leaves that are asked for when a row is looked for by its key, times the rows of a leaf: a row that is the first of
/// its leaf is looked for on the one before as well. Counted, not read: both servers count 3.028 page requests a
/// query for trees of three levels with 73 rows to a leaf, and misses in proportion.
pub(super) const BESIDE_LEAF: f64 = 2.0;

impl LeafCapacity {
    /// sysbench's table as loaded, from `innodb_index_stats` of `MySQL` 9.7: 900,000 rows in 12,330
    /// leaves, and their integers in 749.
    pub const SBTEST: Self = Self {
        rows: 73.0,
        integer_entries: 1200.0,
        text_entries: 213.5,
    };
    /// Leaves of the clustered index below a page above them: a number and where the leaf is, 13 bytes and 5 of a
    /// record's own. An entry of another index is as long above its leaves as in them.
    const BELOW_UPPER: f64 = 1000.0;
    /// The same table with two lines of text: 110,000 rows in 2,495 leaves, and their first lines in 515.
    pub const TEXT: Self = Self {
        rows: 44.1,
        ..Self::SBTEST
    };
}

/// The popularity of the pages that `workload` asks for.
///
/// # Errors
///
/// A workload or a distribution whose pages are not known.
pub fn popularity_of(
    workload: WorkloadName,
    mix: &Mix,
    distribution: Distribution,
    tables: &TableSet,
) -> Result<Popularity, PredictError> {
    let uses = Uses::for_workload(workload, mix, tables)?;
    let rows = tables.rows as f64;
    let leaves = |entries: f64| (rows / entries).ceil().max(1.0) as u64;
    let (clustered, integer) = (
        leaves(tables.leaf.rows),
        leaves(tables.leaf.integer_entries),
    );
    let all_alike = |leaves: u64| {
        vec![LeafGroup {
            leaves: leaves as f64,
            share: 1.0 / leaves as f64,
        }]
    };
    let text = if workload.has_text() {
        all_alike(leaves(tables.leaf.text_entries))
    } else {
        Vec::new()
    };
    let parts = [
        (
            leaf_groups(distribution, clustered, rows),
            uses.clustered_by_key,
        ),
        (all_alike(clustered), uses.clustered_anywhere),
        (
            scattered_groups(distribution, integer, rows),
            uses.integer_by_row,
        ),
        (all_alike(integer), uses.integer_anywhere),
        (text, uses.text_anywhere),
    ];
    let number = f64::from(tables.tables);
    let upper = |indexes: &[usize], fan_out: f64| upper_pages(&parts, indexes, fan_out);
    let upper_pages = upper(&[0, 1], LeafCapacity::BELOW_UPPER)
        + upper(&[2, 3], tables.leaf.integer_entries)
        + upper(&[4], tables.leaf.text_entries);
    let mut groups = overlaid(&parts, number);
    if groups.iter().any(|group| group.write_rate > 0.0) {
        groups.push(tables.undo.group());
    }
    Ok(Popularity::new(groups).with_upper_pages(number * upper_pages))
}

/// Pages above the leaves of an index that these of `parts` ask for: a root and, for each `fan_out` leaves, a page; none
/// if they don't.
fn upper_pages(parts: &[(Vec<LeafGroup>, Use); 5], which: &[usize], fan_out: f64) -> f64 {
    let asking = || which.iter().map(|part| &parts[*part]);
    if asking().all(|(_, wanted)| wanted.references <= 0.0) {
        return 0.0;
    }
    let leaves = asking().map(|(groups, _)| groups.iter().map(|group| group.leaves).sum::<f64>());
    1.0 + leaves.fold(0.0, f64::max) / fan_out
}

/// Uses of one index by several paths fall on the same pages: where one path is uniform, its use is
/// added to each page of the other.
fn overlaid(parts: &[(Vec<LeafGroup>, Use); 5], tables: f64) -> Vec<PageGroup> {
    let [by_key, anywhere, by_row, integer_anywhere, text] = parts;
    let one = |(groups, wanted): &(Vec<LeafGroup>, Use), even: &(Vec<LeafGroup>, Use)| {
        let spread = even.0.first().map_or(0.0, |leaf| leaf.share);
        let (wanted, even) = (*wanted, even.1);
        groups
            .iter()
            .map(|group| PageGroup {
                pages: group.leaves * tables,
                rate: (wanted.references * group.share + even.references * spread) / tables,
                write_rate: (wanted.changes * group.share + even.changes * spread) / tables,
            })
            .collect::<Vec<_>>()
    };
    let unused = (text.0.clone(), Use::default());
    let all = [
        one(by_key, anywhere),
        one(by_row, integer_anywhere),
        one(text, &unused),
    ];
    all.concat()
}

/// Number of accesses of a transaction to pages of one index by one path.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Use {
    references: f64,
    changes: f64,
}

impl Use {
    fn read(&mut self, references: f64) {
        self.references += references;
    }

    fn change(&mut self, references: f64) {
        self.references += references;
        self.changes += references;
    }

    /// Rows that are looked for by their keys and changed.
    fn change_rows(&mut self, rows: f64, tables: &TableSet) {
        self.change(rows);
        self.read(rows * (tables.lookup() - 1.0));
    }
}

/// Number of accesses of a transaction to pages of each index.
#[derive(Debug, Default)]
struct Uses {
    /// Leaves of the clustered index, by the distribution of keys.
    clustered_by_key: Use,
    /// Leaves of the clustered index that a line of text leads to.
    clustered_anywhere: Use,
    /// Leaves of the integer column's index where a row chosen by its key has its entry.
    integer_by_row: Use,
    /// Leaves of that index where a new entry comes.
    integer_anywhere: Use,
    /// Leaves of the text column's index.
    text_anywhere: Use,
}

impl Uses {
    fn for_workload(
        workload: WorkloadName,
        mix: &Mix,
        tables: &TableSet,
    ) -> Result<Self, PredictError> {
        use WorkloadName as W;
        let mut uses = Self::default();
        match workload {
            W::OltpPointSelect => uses.clustered_by_key.read(tables.lookup()),
            W::OltpReadOnly | W::OltpTextReadOnly | W::OltpReadWrite | W::OltpTextReadWrite => {
                uses.reads(mix, tables);
            }
            W::OltpWriteOnly | W::OltpTextWriteOnly => {}
            W::OltpUpdateIndex => {
                uses.clustered_by_key.change_rows(1.0, tables);
                uses.integer_by_row.change(1.0);
            }
            W::OltpUpdateNonIndex => uses.clustered_by_key.change_rows(1.0, tables),
            W::OltpInsert
            | W::OltpDelete
            | W::SelectRandomPoints
            | W::SelectRandomRanges
            | W::BulkInsert => {
                return Err(PredictError::Outside {
                    what: "workload",
                    value: workload.to_string(),
                    why: "its pages grow, vanish or follow the values of a column",
                    remedy: "give a drive trace of a run with a tiny pool",
                });
            }
        }
        if workload.has_text() && workload != W::OltpTextWriteOnly {
            uses.text_select(mix, tables);
        }
        match workload {
            W::OltpWriteOnly | W::OltpReadWrite => uses.writes(mix, tables),
            W::OltpTextWriteOnly | W::OltpTextReadWrite => uses.text_writes(mix, tables),
            _ => {}
        }
        Ok(uses)
    }

    fn reads(&mut self, mix: &Mix, tables: &TableSet) {
        self.clustered_by_key
            .read(f64::from(mix.point_selects) * tables.lookup());
        if mix.range_selects {
            let ranges =
                mix.simple_ranges + mix.sum_ranges + mix.order_ranges + mix.distinct_ranges;
            let more_rows = f64::from(mix.range_size.saturating_sub(1));
            let leaves = tables.lookup() + more_rows / tables.leaf.rows;
            self.clustered_by_key.read(f64::from(ranges) * leaves);
        }
    }

    fn writes(&mut self, mix: &Mix, tables: &TableSet) {
        let by_index = f64::from(mix.index_updates);
        let pairs = f64::from(mix.delete_inserts);
        self.clustered_by_key
            .change_rows(by_index + f64::from(mix.non_index_updates), tables);
        self.integer_by_row.change(by_index);
        self.purge(by_index + pairs);
        // The insert finds the leaf that the delete has just used.
        self.clustered_by_key.change_rows(pairs, tables);
        self.integer_by_row.change(pairs);
        self.integer_anywhere.change(pairs);
    }

    /// Entries that a transaction marked as deleted are removed later. (Those of text have left with the page
    /// before, or are removed while it is still changed.)
    fn purge(&mut self, entries: f64) {
        self.integer_by_row.change(entries);
    }

    /// A line leads to the rows that have it, wherever they are.
    fn text_select(&mut self, mix: &Mix, tables: &TableSet) {
        let selects = f64::from(mix.text_selects);
        let matches = tables.rows as f64 / tables.lines as f64;
        self.text_anywhere
            .read(selects * (1.0 + matches / tables.leaf.text_entries));
        self.clustered_anywhere
            .read(selects * matches * tables.lookup());
    }

    fn text_writes(&mut self, mix: &Mix, tables: &TableSet) {
        let by_index = f64::from(mix.index_updates);
        let pairs = f64::from(mix.delete_inserts);
        let by_text = f64::from(mix.text_updates);
        let matches = tables.rows as f64 / tables.lines as f64;
        self.clustered_by_key
            .change_rows(by_index + f64::from(mix.non_index_updates) + pairs, tables);
        self.integer_by_row.change(by_index + pairs);
        self.integer_anywhere.change(by_index + pairs);
        self.purge(by_index + pairs);
        self.text_anywhere.change(2.0 * (by_index + pairs));
        self.text_anywhere
            .read(by_text * (1.0 + matches / tables.leaf.text_entries));
        self.clustered_anywhere
            .change_rows(by_text * matches, tables);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(workload: WorkloadName) -> (f64, f64) {
        let tables = TableSet::prepared(workload, 2, 100_000, Flavor::Mysql);
        let found =
            popularity_of(workload, &Mix::default(), Distribution::Uniform, &tables).unwrap();
        (found.references(), found.changes())
    }

    #[test]
    fn a_transaction_asks_for_the_pages_of_its_statements() {
        let (asked, changed) = references(WorkloadName::OltpReadWrite);
        let lookup = 1.0 + 2.0 / 73.0;
        let ranges = 4.0 * (lookup + 99.0 / 73.0);
        let changed_rows = 3.0 * lookup;
        assert!(
            (asked - (10.0 * lookup + ranges + changed_rows + 3.0 + 2.0 + 3.0)).abs() < 1e-6,
            "{asked}"
        );
        // Six in the tables, two that are purged, three of undo.
        assert!((changed - 11.0).abs() < 1e-6, "{changed}");
        let (asked, changed) = references(WorkloadName::OltpPointSelect);
        assert!((asked - lookup).abs() < 1e-9 && changed.abs() < 1e-9);
        // A line is on five of the 100,000 rows.
        let (asked, _) = references(WorkloadName::OltpTextReadOnly);
        let lookup = 1.0 + 2.0 / 44.1;
        let ranges = 4.0 * (lookup + 99.0 / 44.1);
        assert!((asked - (15.0 * lookup + ranges + 1.0 + 5.0 / 213.5)).abs() < 1e-6);
    }

    #[test]
    fn what_the_keys_do_not_decide_is_refused_with_what_it_needs() {
        let tables = TableSet::prepared(WorkloadName::OltpInsert, 1, 1_000, Flavor::Mysql);
        let refused = popularity_of(
            WorkloadName::OltpInsert,
            &Mix::default(),
            Distribution::Uniform,
            &tables,
        );
        let text = refused.unwrap_err().to_string();
        assert!(
            text.contains("oltp_insert") && text.contains("trace"),
            "{text}"
        );
    }
}
