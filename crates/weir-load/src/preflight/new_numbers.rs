//! Where the numbers of new rows go on, so that those of different runs do not meet.
//!
//! A sequence goes on after the greatest number that is there. Numbers in no order come in one order for all
//! runs, and a run begins at one of some places in it ([`Unique`]): at one whose first numbers are free, or,
//! if all are taken, after the last numbers that are taken.

use std::collections::BTreeSet;

use weir_mysql::{Connection, NameCase, identifier, text_literal};
use weir_workload::{NewNumber, NumberSource, Script, Unique};

use crate::LoadError;
use crate::share::Share;

/// Numbers in a row of which none is there where no run has been: a few of a run's may be missing, as rows
/// whose transaction failed.
const LOOKED_FOR: u64 = 4;
/// Numbers that are left out after the last that was found: those that others had under way.
const MARGIN: u64 = 4_096;

/// A column of a table.
type Column = (String, String);

/// Tables that are asked for at once.
const TABLES_AT_ONCE: usize = 16;

/// Lets the sources of a script go on where the servers' tables say; `controls`: a connection to each.
pub(super) fn go_on(script: &Script, controls: &mut [Connection]) -> Result<(), LoadError> {
    let Some(first) = controls.first_mut() else {
        return Ok(());
    };
    let numbers = script.new_numbers().into_iter();
    let numbers: Vec<_> = numbers
        .map(|NewNumber { source, columns }| Ok((source, keys(&columns, first)?)))
        .collect::<Result<_, LoadError>>()?;
    for (source, columns) in numbers {
        if columns.is_empty() {
            continue;
        }
        match source {
            NumberSource::Sequence(next) => {
                for control in &mut *controls {
                    let after = greatest(&columns, control)?.map_or(0, |greatest| greatest + 1);
                    next.begin_at(after);
                }
            }
            NumberSource::Unique(unique) => {
                let index = Search::new(&unique, &columns, controls).free_index()?;
                unique.begin_at(index);
            }
        }
    }
    Ok(())
}

/// Of several processes each takes numbers of its own: one counter counts for one process.
///
/// Numbers in no order need nothing: each process begins at a place of its own.
pub(super) fn share_out(script: &Script, share: &Share) {
    for number in script.new_numbers() {
        if let NumberSource::Sequence(sequence) = number.source {
            sequence.take_class(share.part.into(), share.parts.into());
        }
    }
}

/// Those of the columns that hold whole numbers of which none may be there twice, and by which rows are found.
fn keys(columns: &BTreeSet<Column>, control: &mut Connection) -> Result<Vec<Column>, LoadError> {
    let tables: BTreeSet<_> = columns
        .iter()
        .map(|(table, _)| text_literal(table))
        .collect();
    let tables = tables.into_iter().collect::<Vec<_>>().join(", ");
    let keys: Vec<(String, String)> = control.rows(format!(
        "SELECT DISTINCT s.table_name, s.column_name FROM information_schema.statistics s \
         JOIN information_schema.columns c USING (table_schema, table_name, column_name) \
         WHERE s.table_schema = DATABASE() AND s.table_name IN ({tables}) AND s.non_unique = 0 \
         AND s.seq_in_index = 1 AND c.data_type IN ('tinyint', 'smallint', 'mediumint', 'int', 'bigint')"
    ))?;
    let case = NameCase::read(control)?;
    let is_key = |(table, column): &&Column| {
        keys.iter().any(|(key_table, key_column)| {
            case.is_same(key_table, table) && key_column.eq_ignore_ascii_case(column)
        })
    };
    Ok(columns.iter().filter(is_key).cloned().collect())
}

/// The greatest number above 0 in any of the columns.
fn greatest(columns: &[Column], control: &mut Connection) -> Result<Option<u64>, LoadError> {
    let queries: Vec<_> = columns
        .iter()
        .map(|(table, column)| {
            let (table, column) = (identifier(table), identifier(column));
            format!("SELECT MAX({column}) FROM {table} WHERE {column} > 0")
        })
        .collect();
    let mut greatest = None;
    for answer in control.first_of_each::<Option<u64>>(&queries)? {
        greatest = greatest.max(answer?.flatten());
    }
    Ok(greatest)
}

/// A search for a place to begin at.
struct Search<'a> {
    unique: &'a Unique,
    columns: &'a [Column],
    controls: &'a mut [Connection],
}

impl<'a> Search<'a> {
    fn new(unique: &'a Unique, columns: &'a [Column], controls: &'a mut [Connection]) -> Self {
        Self {
            unique,
            columns,
            controls,
        }
    }

    /// An index from which on numbers are free, for as long as possible.
    fn free_index(mut self) -> Result<u64, LoadError> {
        let unique = self.unique;
        // Runs that begin at the same time have different numbers.
        let turn = self
            .controls
            .first()
            .map_or(0, |first| u64::from(first.id()));
        let arcs: Vec<_> = (0..unique.arcs())
            .map(|next| unique.arc_of(turn.wrapping_add(next)))
            .collect();
        let starts: Vec<_> = arcs.iter().map(|arc| unique.arc_start(*arc)).collect();
        let taken = self.are_taken(&starts)?;
        if let Some(free) = taken.iter().position(|is_taken| !is_taken) {
            return Ok(starts[free]);
        }
        let used = self.used(&starts)?;
        let least = starts.iter().zip(used).min_by_key(|(_, used)| *used);
        let (start, used) = least.expect("invariant: there is at least one arc");
        let margin = MARGIN.min((unique.arc_length() - used) / 2);
        Ok(start + used + margin)
    }

    /// How many indexes of each arc, all of whose first are taken, are taken.
    fn used(&mut self, starts: &[u64]) -> Result<Vec<u64>, LoadError> {
        let length = self.unique.arc_length();
        // Taken up to there, free from there on.
        let mut ends: Vec<_> = starts.iter().map(|_| (0, length)).collect();
        while ends.iter().any(|(taken, free)| free - taken > 1) {
            let middles: Vec<_> = ends
                .iter()
                .map(|(taken, free): &(u64, u64)| taken.midpoint(*free))
                .collect();
            let indexes: Vec<_> = starts.iter().zip(&middles).map(|(a, b)| a + b).collect();
            let taken = self.are_taken(&indexes)?;
            for ((end, middle), is_taken) in ends.iter_mut().zip(middles).zip(taken) {
                if is_taken {
                    end.0 = middle;
                } else {
                    end.1 = middle;
                }
            }
        }
        Ok(ends.into_iter().map(|(_, free)| free).collect())
    }

    /// For each index, whether its number or one of the next is taken.
    fn are_taken(&mut self, indexes: &[u64]) -> Result<Vec<bool>, LoadError> {
        let unique = self.unique;
        let numbers_at = |index: &u64| {
            let looked_for = *index..;
            let numbers = looked_for.filter_map(|index| unique.number(index));
            numbers.take(LOOKED_FOR as usize).collect::<Vec<_>>()
        };
        let numbers: Vec<_> = indexes.iter().map(numbers_at).collect();
        let list: Vec<_> = numbers.iter().flatten().map(i64::to_string).collect();
        let list = list.join(", ");
        let mut there = BTreeSet::new();
        for columns in self.columns.chunks(TABLES_AT_ONCE) {
            let query = |(table, column): &Column| {
                let (table, column) = (identifier(table), identifier(column));
                format!("SELECT {column} FROM {table} WHERE {column} IN ({list})")
            };
            let queries: Vec<_> = columns.iter().map(query).collect();
            let query = queries.join(" UNION ALL ");
            for control in &mut *self.controls {
                there.extend(control.rows::<i64>(&query)?);
            }
        }
        let is_taken = |numbers: &Vec<i64>| numbers.iter().any(|number| there.contains(number));
        Ok(numbers.iter().map(is_taken).collect())
    }
}
