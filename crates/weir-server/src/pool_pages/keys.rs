//! The pool of one server brought to another by queries: the other reads its own pages of the same ranges of keys.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weir_innodb::RangeMap;
use weir_mysql::identifier;

use crate::pool_pages::catalog::{Catalog, IndexInfo, RangeColumn};
use crate::pool_pages::dump::Dump;
use crate::pool_pages::load::Pace;
use crate::pool_pages::trees::Trees;
use crate::pool_pages::{PoolError, PoolServer};

/// Connections that read at the same time.
const CONNECTIONS: usize = 4;
const PAUSE: Duration = Duration::from_millis(100);

/// Queries that read what a pool holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyRanges {
    /// The queries, and the leaf pages that each of them is for.
    pub queries: Vec<(String, usize)>,
    /// Leaf pages of indexes whose first column is no integer.
    pub left_out: usize,
    /// Pages that are no leaf page of an index.
    pub others: usize,
}

impl KeyRanges {
    /// The ranges of keys of the leaf pages in `dump`; neighbours are one range.
    pub(crate) fn new(dump: &Dump, catalog: &Catalog, trees: &Trees) -> Self {
        let mut ranges = Self::default();
        let resident: HashSet<(u32, u32)> =
            dump.pages.iter().map(|id| (id.space, id.page)).collect();
        let mut leaves_found = 0;
        for index in &catalog.indexes {
            let Some(leaves) = trees
                .of_space(index.space)
                .and_then(|space| space.tree(&index.name)?.levels.first())
            else {
                continue;
            };
            let is_resident = |page: u32| resident.contains(&(index.space, page));
            let found = leaves.nodes().iter();
            let found = found.filter(|node| is_resident(node.page)).count();
            leaves_found += found;
            match &index.range_column {
                Some(column) => ranges.add(index, column, leaves, &is_resident),
                None => ranges.left_out += found,
            }
        }
        ranges.others = resident.len() - leaves_found;
        ranges
    }

    fn add(
        &mut self,
        index: &IndexInfo,
        column: &RangeColumn,
        leaves: &RangeMap,
        is_resident: &dyn Fn(u32) -> bool,
    ) {
        let nodes = leaves.nodes();
        let mut from = None;
        for position in 0..=nodes.len() {
            let is_in = nodes
                .get(position)
                .is_some_and(|node| is_resident(node.page));
            match (from, is_in) {
                (None, true) => from = Some(position),
                (Some(first), false) => {
                    let low = column.value(&nodes[first].low);
                    let high = nodes.get(position).and_then(|next| column.value(&next.low));
                    let query = query(index, &column.name, low, high);
                    self.queries.push((query, position - first));
                    from = None;
                }
                _ => {}
            }
        }
    }

    /// Leaf pages that the queries are for.
    pub fn pages(&self) -> usize {
        self.queries.iter().map(|(_, pages)| pages).sum()
    }
}

/// Reads all entries of a range of an index, and returns one number.
fn query(index: &IndexInfo, column: &str, low: Option<i128>, high: Option<i128>) -> String {
    let (schema, table) = index.sql_names();
    let column = identifier(column);
    let bound =
        |sign: &str, value: Option<i128>| value.map(|value| format!("{column} {sign} {value}"));
    let bounds: Vec<_> = [bound(">=", low), bound("<=", high)]
        .into_iter()
        .flatten()
        .collect();
    let condition = if bounds.is_empty() {
        String::new()
    } else {
        format!(" WHERE {}", bounds.join(" AND "))
    };
    format!(
        "SELECT COUNT(*) FROM {}.{} FORCE INDEX ({}){condition}",
        identifier(&schema),
        identifier(&table),
        identifier(&index.name)
    )
}

impl PoolServer {
    /// Runs the queries of `ranges` on some connections; `go_on` is asked now and then, with the pages that are read.
    ///
    /// # Errors
    ///
    /// What the server says, and an interruption.
    pub fn read_ranges(
        &self,
        ranges: &KeyRanges,
        pace: Pace,
        go_on: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), PoolError> {
        let began = Instant::now();
        let next = AtomicUsize::new(0);
        let read = AtomicUsize::new(0);
        let is_over = AtomicBool::new(false);
        let failure = Mutex::new(None);
        let work = || -> Result<(), PoolError> {
            let mut session = self.session()?;
            while !is_over.load(Ordering::Relaxed) {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some((query, pages)) = ranges.queries.get(number) else {
                    return Ok(());
                };
                let _: Option<u64> = session.value("read the keys of a range", query)?;
                let done = read.fetch_add(*pages, Ordering::Relaxed) + pages;
                let until = began + pace.least(done);
                while Instant::now() < until && !is_over.load(Ordering::Relaxed) {
                    thread::sleep(PAUSE.min(until.saturating_duration_since(Instant::now())));
                }
            }
            Ok(())
        };
        let is_interrupted = thread::scope(|scope| {
            let workers: Vec<_> = (0..CONNECTIONS)
                .map(|_| {
                    scope.spawn(|| {
                        if let Err(error) = work() {
                            is_over.store(true, Ordering::Relaxed);
                            let mut failure = failure
                                .lock()
                                .unwrap_or_else(std::sync::PoisonError::into_inner);
                            failure.get_or_insert(error);
                        }
                    })
                })
                .collect();
            let mut is_interrupted = false;
            while workers.iter().any(|worker| !worker.is_finished()) {
                if !is_interrupted && !go_on(read.load(Ordering::Relaxed)) {
                    is_interrupted = true;
                    is_over.store(true, Ordering::Relaxed);
                }
                thread::sleep(PAUSE / 10);
            }
            is_interrupted
        });
        if let Some(error) = failure
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
        {
            return Err(error);
        }
        if is_interrupted {
            return Err(PoolError::Interrupted {
                name: self.name().to_owned(),
            });
        }
        Ok(())
    }
}
