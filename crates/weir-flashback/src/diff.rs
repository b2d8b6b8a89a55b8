//! Changes since a moment: of each key the row then and the row now, whatever happened in between.

use std::collections::HashMap;
use std::fmt;

use crate::change::Change;
use crate::history::{ColumnChange, differences};
use crate::render::{Cell, quoted};
use crate::{FlashbackError, Table};

/// The net change of rows.
#[derive(Debug, Default)]
pub struct Diff {
    rows: HashMap<(usize, Vec<u8>), Net>,
    seen: u64,
}

#[derive(Debug)]
struct Net {
    order: u64,
    then: Option<Vec<Cell>>,
    now: Option<Vec<Cell>>,
    /// True if the row went and came again since: what the log does not have of it need not be as it was.
    is_remade: bool,
}

/// A row that is not what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Table of the row.
    pub table: String,
    /// Key of the row, as `id=7`.
    pub key: String,
    /// Change of the row, in words.
    pub change: &'static str,
    /// Columns with what they held and hold.
    pub columns: Vec<ColumnChange>,
}

impl fmt::Display for DiffLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<_> = self.columns.iter().map(ToString::to_string).collect();
        write!(
            out,
            "{} {}: {}: {}",
            self.table,
            self.key,
            self.change,
            columns.join(", ")
        )
    }
}

impl Diff {
    /// Takes a change.
    ///
    /// # Errors
    ///
    /// A change that is not one of the table.
    pub fn take(&mut self, table: &Table, change: &Change<'_>) -> Result<(), FlashbackError> {
        // All is read before anything is kept.
        let mut sides = Vec::new();
        for (image, is_after) in change.images() {
            sides.push((
                change.key(table, image)?,
                is_after,
                change.cells(table, image)?,
            ));
        }
        // What the log does not have of a changed row is as it was known last.
        let is_known = !change.may_hide_values();
        let known = sides
            .first()
            .filter(|(_, is_after, _)| is_known && !is_after);
        let known =
            known.and_then(|(key, ..)| self.rows.get(&(change.table, key.clone()))?.now.clone());
        for (at, column) in known.into_iter().flatten().enumerate() {
            let are_absent = sides.iter().all(|(.., cells)| cells[at] == Cell::Unknown);
            if are_absent && !change.has_difference(table, at) {
                for (.., cells) in &mut sides {
                    cells[at].clone_from(&column);
                }
            }
        }
        let stays = matches!(&sides[..], [(before, ..), (after, ..)] if before == after);
        for (key, is_after, cells) in sides {
            self.seen += 1;
            let order = self.seen;
            let net = self.rows.entry((change.table, key));
            let net = net.or_insert_with(|| Net {
                order,
                // The first image of a key is the row then, or shows that it was not there.
                then: (!is_after).then(|| cells.clone()),
                now: None,
                is_remade: false,
            });
            net.is_remade |= is_after && !(stays && is_known) && net.then.is_some();
            net.now = is_after.then_some(cells);
        }
        Ok(())
    }

    /// A line for each row that is not what it was, in the order in which they changed first.
    pub fn lines(&self, tables: &[Table]) -> Vec<DiffLine> {
        let mut rows: Vec<_> = self
            .rows
            .iter()
            .filter(|((number, _), net)| !net.differences(&tables[*number]).is_empty())
            .collect();
        rows.sort_by_key(|(_, net)| net.order);
        rows.iter()
            .map(|((number, _), net)| {
                let table = &tables[*number];
                let row = net.then.as_ref().or(net.now.as_ref());
                let key = row.map_or_else(String::new, |row| key_text(table, row));
                let what = match (&net.then, &net.now) {
                    (None, _) => "inserted since",
                    (_, None) => "deleted since",
                    _ => "changed",
                };
                DiffLine {
                    table: table.name.to_string(),
                    key,
                    change: what,
                    columns: net.differences(table),
                }
            })
            .collect()
    }
}

impl Net {
    /// Columns that differ; none of a row that came and went.
    fn differences(&self, table: &Table) -> Vec<ColumnChange> {
        match (&self.then, &self.now) {
            (None, None) => Vec::new(),
            (then, now) => differences(table, then.as_deref(), now.as_deref(), self.is_remade),
        }
    }
}

/// A key as `id=7`.
pub(crate) fn key_text(table: &Table, row: &[Cell]) -> String {
    let parts = table.key.iter().map(|at| {
        let column = &table.columns[*at];
        format!("{}={}", column.name, quoted(column, &row[*at]))
    });
    parts.collect::<Vec<_>>().join(" ")
}
