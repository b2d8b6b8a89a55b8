//! `--where` of an undo: which of the changed rows meet a condition, before the changes or now.
//!
//! A private server finds each row by its key as a value, as the script does: no text of a key is compared.

use std::collections::{HashMap, HashSet};

use crate::inverse::key_conditions;
use crate::private::Private;
use crate::render::Cell;
use crate::undo::Undo;
use crate::{FlashbackError, Table};

/// Rows of one query.
const ROWS_MAX: usize = 100;

/// A changed row: its key's bytes, and a row of the log that has this key.
struct Row<'a> {
    key: &'a [u8],
    cells: &'a [Cell],
}

/// Lets an undo take back only changes of rows that meet the condition on one of these servers, which have the table as
/// it was and as it is.
///
/// # Errors
///
/// A condition that a server refuses, and a row of which it is not known whether it meets it.
pub fn only_where(
    undo: &mut Undo,
    table: &Table,
    condition: &str,
    states: [&Private; 2],
) -> Result<(), FlashbackError> {
    let mut rows: HashMap<&[u8], Row<'_>> = HashMap::new();
    for (_, step) in undo.chosen() {
        for (key, cells) in step.rows() {
            rows.entry(key).or_insert(Row { key, cells });
        }
    }
    let rows: Vec<_> = rows.into_values().collect();
    let (mut found, mut meeting) = (HashSet::new(), HashSet::new());
    for private in states {
        let mut connection = private.connect_reading(&table.name.schema)?;
        connection.run("SET SESSION time_zone = '+00:00'")?;
        connection.run("SET NAMES utf8mb4")?;
        for (first, some) in rows.chunks(ROWS_MAX).enumerate() {
            let queries = some.iter().enumerate().map(|(at, row)| {
                format!(
                    "(SELECT {}, ({condition}) IS TRUE FROM {} WHERE {})",
                    first * ROWS_MAX + at,
                    table.name.sql(),
                    key_conditions(table, row.cells).join(" AND ")
                )
            });
            let query = queries.collect::<Vec<_>>().join(" UNION ALL ");
            for (number, meets) in connection.rows::<(usize, bool)>(query)? {
                found.insert(rows[number].key);
                if meets {
                    meeting.insert((0, rows[number].key.to_vec()));
                }
            }
        }
    }
    let passing = undo.passing_rows();
    for row in rows.iter().filter(|row| !found.contains(row.key)) {
        // One that came and went since the moment needs nothing.
        if !passing.contains(&(0, row.key)) {
            return Err(FlashbackError::refused(
                format!(
                    "{} {}: it is not known whether it meets the condition (it is in neither of the tables as they \
                     were and are)",
                    table.name,
                    crate::diff::key_text(table, row.cells)
                ),
                "leave --where out, or ask for a time right before the change",
            ));
        }
    }
    undo.only(&meeting);
    Ok(())
}
