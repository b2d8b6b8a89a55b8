//! What happened to one row, as the log has it.

use weir_binlog::{RowImage, RowsKind};

use crate::render::{Cell, quoted, text};
use crate::scan::Change;
use crate::{FlashbackError, Table};

/// One change of the row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryLine {
    /// When its transaction was committed, UTC.
    pub time: String,
    /// The transaction.
    pub transaction: String,
    /// Where in the log.
    pub place: String,
    /// The connection that made it.
    pub connection: Option<u32>,
    /// `insert`, `update` or `delete`.
    pub kind: &'static str,
    /// Columns with what they held and hold: all of a row that came or went, else those that changed.
    pub columns: Vec<String>,
    /// The statement's text, if the log has it.
    pub statement: Option<String>,
}

/// Reads the values of a key: one text for each of its columns, or all in one with commas.
///
/// # Errors
///
/// Another number of values than the key has columns.
pub fn read_key(table: &Table, given: &[String]) -> Result<Vec<String>, FlashbackError> {
    let wanted = table.key.len();
    if given.len() == wanted {
        return Ok(given.to_vec());
    }
    if let [only] = given {
        let parts: Vec<String> = only.split(',').map(|part| part.trim().to_owned()).collect();
        if parts.len() == wanted {
            return Ok(parts);
        }
    }
    let names: Vec<_> = table
        .key
        .iter()
        .map(|at| table.columns[*at].name.as_str())
        .collect();
    Err(FlashbackError::refused(
        format!(
            "the key of {} has the columns ({}), and {} values were given",
            table.name,
            names.join(", "),
            given.len()
        ),
        "give one --key for each of them, in this order",
    ))
}

/// The line of a change, if it is one of the row with this key.
pub fn line(
    table: &Table,
    key: &[String],
    change: &Change<'_>,
) -> Result<Option<HistoryLine>, FlashbackError> {
    let cells = |image: &RowImage<'_>| change.cells(table, image);
    let before = change.row.before.as_ref().map(cells).transpose()?;
    let after = change.row.after.as_ref().map(cells).transpose()?;
    let is_it = |cells: &Option<Vec<Cell>>| {
        cells.as_ref().is_some_and(|cells| {
            let mut pairs = table.key.iter().zip(key);
            pairs.all(|(at, wanted)| text(&table.columns[*at], &cells[*at]) == *wanted)
        })
    };
    if !is_it(&before) && !is_it(&after) {
        return Ok(None);
    }
    let kind = match (&before, &after) {
        (None, _) => "insert",
        (_, None) => "delete",
        _ => "update",
    };
    Ok(Some(HistoryLine {
        time: change.transaction.time(),
        transaction: change.transaction.name(),
        place: change.place.to_string(),
        connection: change.transaction.connection,
        kind,
        columns: differences(table, before.as_deref(), after.as_deref()),
        statement: change.transaction.statement.clone(),
    }))
}

/// Columns that differ, as `name: before -> after`; all of a row that came or went, as `name: value`.
pub(crate) fn differences(
    table: &Table,
    before: Option<&[Cell]>,
    after: Option<&[Cell]>,
) -> Vec<String> {
    let columns = table.columns.iter().enumerate();
    columns
        .filter_map(|(at, column)| match (before, after) {
            (Some(before), Some(after)) if before[at] != after[at] => Some(format!(
                "{}: {} -> {}",
                column.name,
                quoted(column, &before[at]),
                quoted(column, &after[at])
            )),
            (Some(row), None) | (None, Some(row)) => {
                Some(format!("{}: {}", column.name, quoted(column, &row[at])))
            }
            _ => None,
        })
        .collect()
}

/// The word for what happened to the rows of an event.
pub(crate) fn word(kind: RowsKind) -> &'static str {
    match kind {
        RowsKind::Insert => "insert",
        RowsKind::Update => "update",
        RowsKind::Delete => "delete",
    }
}
