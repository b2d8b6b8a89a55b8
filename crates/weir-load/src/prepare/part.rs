//! Data that loading connections share: the parts of all tables, and the state of each table.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use weir_workload::{Slice, Table};

/// All parts, in the order in which they are loaded.
#[derive(Debug)]
pub(super) struct Parts {
    tables: Vec<PartedTable>,
    /// Table and slice of each.
    all: Vec<(usize, usize)>,
    next: AtomicUsize,
}

/// A table or a slice of one.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) table: &'a PartedTable,
    pub(super) slice: Option<&'a Slice>,
}

/// A table with how far it is.
#[derive(Debug)]
pub(super) struct PartedTable {
    table: Table,
    state: Mutex<State>,
    /// Parts that are not loaded yet.
    left: AtomicUsize,
}

/// State of a table.
#[derive(Debug)]
pub(super) enum State {
    /// Not looked at yet.
    New,
    /// It is being filled.
    Open {
        /// Rows of the table when it was opened.
        rows_before: u64,
        /// The comment that it gets back.
        comment: String,
    },
    /// It was complete before.
    Complete,
}

impl Parts {
    /// Those of `tables`.
    pub(super) fn new(tables: Vec<Table>) -> Self {
        let mut all = Vec::new();
        let tables = tables.into_iter().enumerate();
        let tables = tables
            .map(|(number, table)| {
                let count = table.slices.len().max(1);
                all.extend((0..count).map(|slice| (number, slice)));
                PartedTable {
                    table,
                    state: Mutex::new(State::New),
                    left: AtomicUsize::new(count),
                }
            })
            .collect();
        Self {
            tables,
            all,
            next: AtomicUsize::new(0),
        }
    }

    /// Returns the number of parts.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// All tables, from that of a share of the connections on: each begins elsewhere.
    pub(super) fn tables_from(
        &self,
        connection: usize,
        connections: usize,
    ) -> impl Iterator<Item = &PartedTable> {
        let count = self.tables.len();
        let first = connection * count / connections;
        self.tables.iter().cycle().skip(first).take(count)
    }

    /// The next one that no connection has taken.
    pub(super) fn next(&self) -> Option<Part<'_>> {
        let (number, slice) = *self.all.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        let table = &self.tables[number];
        Some(Part {
            table,
            slice: table.table.slices.get(slice),
        })
    }
}

impl PartedTable {
    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a part that is loaded; after the last one, the comment that the table gets back.
    pub(super) fn end_part(&self) -> Option<String> {
        if self.left.fetch_sub(1, Ordering::AcqRel) > 1 {
            return None;
        }
        match &*self.state() {
            State::Open { comment, .. } => Some(comment.clone()),
            State::New | State::Complete => None,
        }
    }
}
