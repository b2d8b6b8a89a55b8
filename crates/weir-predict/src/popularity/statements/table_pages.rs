//! The indexes of a table of a workload file: how many entries their leaves hold, and who asks for them.

use std::collections::HashMap;

use weir_mysql::sql_words;
use weir_workload::{Keys, RowWriter, Table, Value};

use super::lookup;
use crate::popularity::PageGroup;
use crate::popularity::groups::{LeafGroup, leaf_groups_of, scattered_groups_of};

/// Bytes of a page that rows have when they are loaded in order: a sixteenth stays free, and page and directory take
/// some (`innodb_fill_factor` and `page0page.h` of `MySQL`).
const LEAF_BYTES: f64 = 16_384.0 * 15.0 / 16.0 - 200.0;
/// Bytes of a row beside its columns: header, transaction and undo pointer; and of an entry of another index.
const ROW_MORE: f64 = 5.0 + 6.0 + 7.0 + 2.0;
const ENTRY_MORE: f64 = 7.0;
/// Rows that are made to know their size, and how different their values are.
const SAMPLED: u64 = 2_000;
/// Leaves below a page of the upper levels.
const BELOW_UPPER: f64 = 1_000.0;

/// An index.
#[derive(Debug)]
pub(super) struct IndexPages {
    columns: Vec<String>,
    pub(super) entries_per_leaf: f64,
    leaves: u64,
    /// References and changes of leaves that are used alike.
    even: (f64, f64),
    /// Of single groups of leaves, by the distribution of keys.
    uneven: Vec<(Vec<LeafGroup>, f64, f64)>,
    /// Of the last leaf.
    end: (f64, f64),
}

/// A table: its clustered index, and the others.
#[derive(Debug)]
pub(super) struct TablePages {
    rows: f64,
    clustered: IndexPages,
    secondary: Vec<IndexPages>,
    /// For each column how many rows have one value, on average.
    rows_of_value: Vec<(String, f64)>,
}

impl TablePages {
    pub(super) fn new(table: &Table) -> Self {
        let rows = table.rows as f64;
        let (bytes, rows_of_value) = sampled(table);
        let row_bytes = bytes.iter().sum::<f64>() + ROW_MORE;
        let primary = primary_key(table);
        let width = |columns: &[String]| -> f64 {
            let known = table.columns.iter().zip(&bytes);
            known
                .filter(|(name, _)| columns.contains(&name.to_ascii_lowercase()))
                .map(|(_, bytes)| bytes)
                .sum()
        };
        let index = |columns: Vec<String>, entry_bytes: f64| {
            let entries_per_leaf = (LEAF_BYTES / entry_bytes).max(1.0);
            IndexPages {
                leaves: (rows / entries_per_leaf).ceil().max(1.0) as u64,
                columns,
                entries_per_leaf,
                even: (0.0, 0.0),
                uneven: Vec::new(),
                end: (0.0, 0.0),
            }
        };
        let primary_bytes = width(&primary).max(4.0);
        let secondary = table.indexes.iter().map(|text| {
            let columns = index_columns(text);
            let entry_bytes = width(&columns) + primary_bytes + ENTRY_MORE;
            index(columns, entry_bytes)
        });
        Self {
            rows,
            secondary: secondary.collect(),
            clustered: index(primary, row_bytes),
            rows_of_value,
        }
    }

    /// The index whose first column this is: `None` inside for the clustered one.
    #[allow(clippy::option_option, reason = "which index, if there is one")]
    pub(super) fn index_of(&self, column: &str) -> Option<Option<usize>> {
        let column = column.to_ascii_lowercase();
        if self.clustered.columns.first() == Some(&column) {
            return Some(None);
        }
        let found = self
            .secondary
            .iter()
            .position(|index| index.columns.first() == Some(&column));
        found.map(Some)
    }

    /// Rows that have one value of an index's first column.
    pub(super) fn rows_of_value(&self, index: Option<usize>, column: &str) -> f64 {
        if index.is_none() && self.clustered.columns.len() == 1 {
            return 1.0;
        }
        let found = self
            .rows_of_value
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(column));
        found.map_or(1.0, |(_, rows)| *rows)
    }

    /// A search by an index that finds so many rows.
    pub(super) fn look_up(
        &mut self,
        share: f64,
        index: Option<usize>,
        found: f64,
        keys: Option<&Keys>,
        is_change: bool,
    ) {
        let clustered = lookup(&self.clustered);
        let Some(number) = index else {
            let more = (found - 1.0).max(0.0) / self.clustered.entries_per_leaf;
            let changes = if is_change { share * (1.0 + more) } else { 0.0 };
            return self
                .clustered
                .by_keys(keys, self.rows, share * (clustered + more), changes);
        };
        let secondary = &mut self.secondary[number];
        let more = (found - 1.0).max(0.0) / secondary.entries_per_leaf;
        let references = share * (lookup(secondary) + more);
        secondary.by_keys(keys, self.rows, references, 0.0);
        self.clustered.even.0 += share * found * clustered;
        self.clustered.even.1 += if is_change { share * found } else { 0.0 };
    }

    /// New rows.
    pub(super) fn insert(&mut self, share: f64, at_the_end: bool) {
        let place = if at_the_end {
            &mut self.clustered.end
        } else {
            &mut self.clustered.even
        };
        place.0 += share;
        place.1 += share;
        for index in &mut self.secondary {
            index.even.0 += share;
            index.even.1 += share;
        }
    }

    /// Entries of other indexes that change with a row: the old one is marked, the new one is put, and purge removes.
    pub(super) fn change_indexes(&mut self, rows: f64, is_delete: bool, assigned: &[String]) {
        let is_assigned = |index: &IndexPages| {
            let mut columns = index.columns.iter();
            columns.any(|column| {
                assigned
                    .iter()
                    .any(|name| name.eq_ignore_ascii_case(column))
            })
        };
        for index in &mut self.secondary {
            let changes = match (is_delete, is_assigned(index)) {
                (true, _) => 2.0,
                (false, true) => 3.0,
                (false, false) => 0.0,
            };
            index.even.0 += rows * changes;
            index.even.1 += rows * changes;
        }
    }

    /// Returns its pages in groups, and those of the upper levels.
    pub(super) fn groups(self) -> (Vec<PageGroup>, f64) {
        let mut groups = Vec::new();
        let mut upper_pages = 0.0;
        for index in std::iter::once(self.clustered).chain(self.secondary) {
            if index.is_used() {
                upper_pages += 1.0 + index.leaves as f64 / BELOW_UPPER;
            }
            groups.extend(index.groups());
        }
        (groups, upper_pages)
    }
}

impl IndexPages {
    fn by_keys(&mut self, keys: Option<&Keys>, rows: f64, references: f64, changes: f64) {
        let Some(keys) = keys else {
            self.even.0 += references;
            self.even.1 += changes;
            return;
        };
        // The keys' own range lies over the whole index.
        let scale = keys.rows() as f64 / rows;
        let share = |key: f64| keys.share_up_to(key * scale);
        let groups = if keys.is_scattered() {
            scattered_groups_of(&share, self.leaves, rows)
        } else {
            leaf_groups_of(&share, self.leaves, rows)
        };
        self.uneven.push((groups, references, changes));
    }

    fn is_used(&self) -> bool {
        self.even.0 > 0.0 || self.end.0 > 0.0 || !self.uneven.is_empty()
    }

    /// Leaves with what asks for them. Paths of different distributions fall on the same leaves; which on which is known
    /// only of the most used, to which the rest is added evenly.
    fn groups(self) -> Vec<PageGroup> {
        let leaves = self.leaves as f64;
        let mut paths = self.uneven;
        paths.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut even = (self.even.0 / leaves, self.even.1 / leaves);
        let first = if paths.is_empty() {
            None
        } else {
            Some(paths.remove(0))
        };
        for (_, references, changes) in &paths {
            even.0 += references / leaves;
            even.1 += changes / leaves;
        }
        let mut groups = match first {
            None => vec![PageGroup {
                pages: leaves,
                rate: even.0,
                write_rate: even.1,
            }],
            Some((found, references, changes)) => {
                let used: f64 = found.iter().map(|group| group.leaves).sum();
                let rest = PageGroup {
                    pages: (leaves - used).max(0.0),
                    rate: even.0,
                    write_rate: even.1,
                };
                let hot = found.iter().map(|group| PageGroup {
                    pages: group.leaves,
                    rate: references * group.share + even.0,
                    write_rate: changes * group.share + even.1,
                });
                hot.chain([rest]).collect()
            }
        };
        if self.end.0 > 0.0 {
            groups.push(PageGroup {
                pages: 1.0,
                rate: self.end.0,
                write_rate: self.end.1,
            });
        }
        groups
    }
}

/// The mean bytes of each column, and how many rows have one value of it.
fn sampled(table: &Table) -> (Vec<f64>, Vec<(String, f64)>) {
    let rows = table.rows.min(SAMPLED);
    let mut writer = RowWriter::new(table, 1);
    let mut bytes = vec![0.0; table.columns.len()];
    let mut values: Vec<HashMap<Vec<u8>, u64>> = vec![HashMap::new(); table.columns.len()];
    for row in 1..=rows {
        writer.values(row, |position, value| {
            let text = match value {
                // The usual width of an integer's column.
                Some(Value::Integer(number)) => number.to_le_bytes()[..4].to_vec(),
                Some(Value::Text(text)) => text.to_vec(),
                None => Vec::new(),
            };
            bytes[position] += text.len() as f64 / rows as f64;
            *values[position].entry(text).or_default() += 1;
        });
    }
    let of_value = table.columns.iter().zip(values).map(|(name, counts)| {
        // Two rows drawn at random have the same value this often.
        let all = rows as f64;
        let same: f64 = counts
            .values()
            .map(|count| *count as f64 * (*count as f64 - 1.0))
            .sum();
        let rows_of_value = (same / (all * (all - 1.0)).max(1.0) * table.rows as f64).max(1.0);
        (name.clone(), rows_of_value)
    });
    let of_value = of_value.collect();
    (bytes, of_value)
}

/// The primary key of a definition, in small letters: of its own clause, or of a column.
fn primary_key(table: &Table) -> Vec<String> {
    let words = sql_words(&table.create);
    let Some(at) = words
        .windows(2)
        .position(|pair| pair[0].is("PRIMARY") && pair[1].is("KEY"))
    else {
        return Vec::new();
    };
    if words.get(at + 2).is_some_and(|word| word.is_sign('(')) {
        let names = words[at + 3..].iter().take_while(|word| !word.is_sign(')'));
        return names
            .filter_map(|word| Some(word.name()?.to_ascii_lowercase()))
            .collect();
    }
    // `id INT NOT NULL PRIMARY KEY`: the column begins after the last comma or parenthesis of its level.
    let mut depth = 0;
    for before in (0..at).rev() {
        let word = &words[before];
        if word.is_sign(')') {
            depth += 1;
        } else if word.is_sign('(') || word.is_sign(',') {
            if depth == 0 {
                return words[before + 1]
                    .name()
                    .into_iter()
                    .map(|name| name.to_ascii_lowercase())
                    .collect();
            }
            if word.is_sign('(') {
                depth -= 1;
            }
        }
    }
    Vec::new()
}

/// The columns of `INDEX a (a, b)`, in small letters.
fn index_columns(text: &str) -> Vec<String> {
    let words = sql_words(text);
    let Some(open) = words.iter().position(|word| word.is_sign('(')) else {
        return Vec::new();
    };
    let names = words[open + 1..]
        .iter()
        .take_while(|word| !word.is_sign(')'));
    names
        .filter_map(|word| Some(word.name()?.to_ascii_lowercase()))
        .collect()
}
