//! The statement that takes one change of a row back.

use weir_mysql::identifier;

use crate::Table;
use crate::render::{Cell, guard, literal};
use crate::step::Step;

/// Conditions that a row has the key of this one, byte for byte.
pub(crate) fn key_conditions(table: &Table, row: &[Cell]) -> Vec<String> {
    let key = || table.key.iter().map(|at| (&table.columns[*at], &row[*at]));
    // As it is first, so that its index is used.
    // A number of a SET's members is compared as one with a sign.
    let indexed = key().filter(|(column, _)| column.data_type != "set");
    let plain = indexed.map(|(column, cell)| {
        let value = literal(column, cell);
        format!("{} = {value}", identifier(&column.name))
    });
    let exact = key().filter_map(|(column, cell)| {
        let says_the_same = format!("{} <=> {}", identifier(&column.name), literal(column, cell));
        guard(column, cell).filter(|guard| *guard != says_the_same)
    });
    plain.chain(exact).collect()
}

/// The statement that takes one change back, if the condition `is_next` holds and the row still is as the change left it;
/// none if only what the server computes has changed.
pub(crate) fn inverse(table: &Table, step: &Step, is_next: &str) -> Option<String> {
    let name = table.name.sql();
    let stored = |row: &[Cell]| -> Vec<(usize, String, String)> {
        let pairs = table.columns.iter().zip(row).enumerate();
        pairs
            // A column that was added since keeps its value, or gets its default.
            .filter(|(_, (column, cell))| !column.is_generated && **cell != Cell::Unknown)
            .map(|(at, (column, cell))| (at, identifier(&column.name), literal(column, cell)))
            .collect()
    };
    let guards = |row: &[Cell]| {
        let others = table.columns.iter().zip(row).enumerate();
        // What the server computes of other columns says nothing more, and may hang on its session.
        let others =
            others.filter(|(at, (column, _))| !column.is_generated && !table.key.contains(at));
        let all = std::iter::once(is_next.to_owned())
            .chain(key_conditions(table, row))
            .chain(others.filter_map(|(_, (column, cell))| guard(column, cell)));
        all.collect::<Vec<_>>().join(" AND ")
    };
    Some(match (&step.before, &step.after) {
        (None, Some(after)) => format!("DELETE FROM {name} WHERE {}", guards(after)),
        (Some(before), None) => {
            let stored = stored(before).into_iter();
            let (names, values): (Vec<_>, Vec<_>) =
                stored.map(|(_, name, value)| (name, value)).unzip();
            format!(
                "INSERT INTO {name} ({}) SELECT {} FROM DUAL WHERE {is_next}",
                names.join(", "),
                values.join(", ")
            )
        }
        (Some(before), Some(after)) => {
            if stored(before) == stored(after) {
                return None;
            }
            // All of them: a column with ON UPDATE that is not named would become the time of now. But servers update
            // a row in two passes if its key is named.
            let is_same_key = |at: usize| {
                let is_time = ["timestamp", "datetime"].contains(&&*table.columns[at].data_type);
                table.key.contains(&at) && before[at] == after[at] && !is_time
            };
            let sets = stored(before).into_iter();
            let sets: Vec<_> = sets
                .filter(|(at, ..)| !is_same_key(*at))
                .map(|(_, name, value)| format!("{name} = {value}"))
                .collect();
            format!(
                "UPDATE {name} SET {} WHERE {}",
                sets.join(", "),
                guards(after)
            )
        }
        (None, None) => return None,
    })
}
