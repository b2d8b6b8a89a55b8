//! One change of a row, as an undo sees it.

use std::sync::Arc;

use crate::Table;
use crate::change::Transaction;
use crate::diff::key_text;
use crate::history::word;
use crate::render::Cell;

/// The table's number and the key's bytes.
pub(crate) type RowKey<'a> = (usize, &'a [u8]);

/// One change of a row, which may be taken back.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) table: usize,
    pub(crate) transaction: Arc<Transaction>,
    pub(crate) is_chosen: bool,
    /// The keys of its images.
    pub(crate) key_before: Option<Vec<u8>>,
    pub(crate) key_after: Option<Vec<u8>>,
    /// The images, if it is chosen.
    pub(crate) before: Option<Vec<Cell>>,
    pub(crate) after: Option<Vec<Cell>>,
    /// Why it cannot be taken back.
    pub(crate) obstacle: Option<String>,
}

impl Step {
    /// The keys of its images.
    pub(crate) fn keys(&self) -> impl Iterator<Item = RowKey<'_>> + Clone {
        let keys = [&self.key_before, &self.key_after];
        let table = self.table;
        keys.into_iter()
            .flatten()
            .map(move |key| (table, key.as_slice()))
    }

    /// The keys with the rows that have them, if the step is chosen.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (&[u8], &[Cell])> {
        let sides = [
            (&self.key_before, &self.before),
            (&self.key_after, &self.after),
        ];
        sides
            .into_iter()
            .filter_map(|(key, row)| Some((key.as_deref()?, row.as_deref()?)))
    }

    /// The row as people name it.
    pub(crate) fn row_name(&self, tables: &[Table]) -> String {
        let table = &tables[self.table];
        let row = self.before.as_ref().or(self.after.as_ref());
        let key = row.map_or_else(String::new, |row| key_text(table, row));
        format!("{} {key}", table.name)
    }
}

pub(crate) fn word_of(step: &Step) -> &'static str {
    match (&step.before, &step.after) {
        (None, _) => word(weir_mysql::binlog::RowsKind::Insert),
        (_, None) => word(weir_mysql::binlog::RowsKind::Delete),
        _ => word(weir_mysql::binlog::RowsKind::Update),
    }
}
