//! History of one row, as the log has it.

use std::fmt;

use weir_mysql::binlog::{RowImage, RowsKind};

use crate::change::Change;
use crate::render::{Cell, quoted, text};
use crate::{Column, FlashbackError, Table};

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
    pub columns: Vec<ColumnChange>,
    /// The statement's text, if the log has it.
    pub statement: Option<String>,
}

/// A column that differs between two rows, or one of a row that came or went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnChange {
    /// Name of the column.
    pub column: String,
    before: Option<DisplayValue>,
    after: Option<DisplayValue>,
}

/// A value that the log has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoggedValue {
    /// NULL.
    Null,
    /// As people read it.
    Text(String),
}

/// A value for a line with others, and whole if it was logged.
#[derive(Debug, Clone, PartialEq, Eq)]
struct DisplayValue {
    short: String,
    whole: Option<LoggedValue>,
}

impl DisplayValue {
    fn new(column: &Column, cell: &Cell) -> Self {
        Self {
            short: quoted(column, cell),
            whole: match cell {
                Cell::Unknown => None,
                Cell::Null => Some(LoggedValue::Null),
                Cell::Value(_) => Some(LoggedValue::Text(text(column, cell))),
            },
        }
    }
}

impl ColumnChange {
    /// Returns the value before, if the row was there and the log has the value.
    pub fn before(&self) -> Option<&LoggedValue> {
        self.before.as_ref()?.whole.as_ref()
    }

    /// Returns the value since, likewise.
    pub fn after(&self) -> Option<&LoggedValue> {
        self.after.as_ref()?.whole.as_ref()
    }
}

impl fmt::Display for ColumnChange {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                write!(out, "{}: {} -> {}", self.column, before.short, after.short)
            }
            (Some(one), None) | (None, Some(one)) => write!(out, "{}: {}", self.column, one.short),
            (None, None) => out.write_str(&self.column),
        }
    }
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
///
/// # Errors
///
/// A change that is not one of the table.
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
        columns: differences(
            table,
            before.as_deref(),
            after.as_deref(),
            change.may_hide_values(),
        ),
        statement: change.transaction.statement.clone(),
    }))
}

/// Columns that differ; all of a row that came or went. `is_remade`: values that the log has on neither side may differ,
/// too.
pub(crate) fn differences(
    table: &Table,
    before: Option<&[Cell]>,
    after: Option<&[Cell]>,
    is_remade: bool,
) -> Vec<ColumnChange> {
    let differs = |at: usize| match (before, after) {
        (Some(before), Some(after)) => {
            let is_unknown = before[at] == Cell::Unknown && !table.columns[at].is_virtual;
            before[at] != after[at] || (is_remade && is_unknown)
        }
        _ => true,
    };
    let columns = table.columns.iter().enumerate();
    columns
        .filter(|(at, _)| differs(*at))
        .map(|(at, column)| ColumnChange {
            column: column.name.clone(),
            before: before.map(|row| DisplayValue::new(column, &row[at])),
            after: after.map(|row| DisplayValue::new(column, &row[at])),
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
