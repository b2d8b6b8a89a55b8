//! Makes and fills the tables.
//!
//! Rows go in by their number, one table or one slice of a table per connection at a time, so that pages
//! fill up and the result does not depend on the number of threads: as `LOAD DATA` from memory where the server
//! takes it, else as multi-row inserts. Indexes are built after the rows, sorted, instead of row by
//! row. What each of this gains was measured: docs/decisions/0003-prepare.md.

mod batch;
mod difference;
mod loader;
mod part;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::LoadError;
use crate::plan::PreparePlan;
use crate::preflight::{check_control, check_reach};
use crate::rehearsal::rehearse_prepare;
use crate::schema::make_schema;
pub(crate) use loader::MARK;

use loader::Loader;
use part::Parts;
use weir_mysql::{Connection, Connector, Gate, Patience};
use weir_workload::{create_bulk_table, table_name};

/// Interval of progress reports and looks for a stop.
const PACE: Duration = Duration::from_millis(100);

/// Data that the loading threads share.
struct Job<'a> {
    plan: &'a PreparePlan,
    connector: Connector,
    parts: Parts,
    stop: &'a AtomicBool,
    abort: AtomicBool,
    /// `LOAD DATA LOCAL` was refused to one of the connections.
    refuses_files: AtomicBool,
    rows_done: AtomicU64,
    /// Connections whose statement must be ended for a stop.
    connections: Mutex<Vec<u32>>,
    on_step: OnStep<'a>,
}

/// Next step for a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadingStep<'a> {
    /// It is made.
    Create(&'a str),
    /// So many rows are put in.
    Insert(&'a str, u64),
    /// Creation of its indexes.
    Index(&'a str),
    /// The server, or a proxy before it, refused `LOAD DATA LOCAL` in these words: rows go in by `INSERT`.
    Inserts(&'a str),
}

/// Hears of steps, from several threads.
pub type OnStep<'a> = &'a (dyn Fn(LoadingStep<'_>) + Sync);

/// Makes the schema if it is missing, the tables, their rows and their indexes, and counts the
/// rows. A table that is complete is left as it is, and one whose loading was interrupted is gone
/// on with: its rows become those of a loading without interruption. `on_progress` is called with
/// the rows that are there and those that are to be there.
///
/// # Errors
///
/// A table that exists with other rows, a server that refuses or dies, or `stop`: what was made so
/// far is left for the next time, or for [`cleanup`](crate::cleanup).
pub fn prepare(
    plan: &PreparePlan,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(u64, u64),
) -> Result<(), LoadError> {
    prepare_observed(plan, gate, stop, on_progress, &|_| {})
}

/// [`prepare`], which also tells what it begins to do with which table, by the threads that do it.
///
/// # Errors
///
/// As [`prepare`].
pub fn prepare_observed(
    plan: &PreparePlan,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &mut dyn FnMut(u64, u64),
    on_step: OnStep<'_>,
) -> Result<(), LoadError> {
    check(plan)?;
    let tables = plan.own_tables()?;
    if gate.is_rehearsal() {
        return rehearse_prepare(plan, gate, &tables);
    }
    let rows_total = tables.iter().map(|table| table.rows).sum();
    let names = tables.iter().map(|table| table.name.clone()).collect();
    let parts = Parts::new(tables);
    let threads = (plan.threads as usize).min(parts.count());
    let job = Job {
        plan,
        connector: Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?,
        parts,
        stop,
        abort: AtomicBool::new(false),
        refuses_files: AtomicBool::new(false),
        rows_done: AtomicU64::new(0),
        connections: Mutex::new(Vec::new()),
        on_step,
    };
    let mut control = Connection::connect(&job.connector, false, Patience::Endless)?;
    check_control(&mut control)?;
    make_schema(&mut control, &plan.endpoint.database)?;
    check_reach(&names, &job.connector, &mut control)?;
    if plan.workload.is_bulk() {
        return make_bulk_tables(&job.connector, plan.tables.tables, on_step);
    }
    std::thread::scope(|scope| {
        let job = &job;
        let workers: Vec<_> = (0..threads)
            .map(|number| scope.spawn(move || job.work((number, threads))))
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(PACE);
            on_progress(job.rows_done.load(Ordering::Relaxed), rows_total);
            if job.is_stopped() {
                job.kill_statements(&mut control);
            }
        }
        on_progress(job.rows_done.load(Ordering::Relaxed), rows_total);
        let results = workers.into_iter().map(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        first_cause(results)
    })
}

/// Empty tables need no threads.
fn make_bulk_tables(
    connector: &Connector,
    tables: u32,
    on_step: OnStep<'_>,
) -> Result<(), LoadError> {
    let mut control = Connection::connect(connector, true, Patience::Endless)?;
    for number in 1..=tables {
        on_step(LoadingStep::Create(&table_name(number)));
        control.run(create_bulk_table(number))?;
    }
    Ok(())
}

/// The error that made the others stop, if there is one.
fn first_cause(results: impl Iterator<Item = Result<(), LoadError>>) -> Result<(), LoadError> {
    let mut errors: Vec<_> = results.filter_map(Result::err).collect();
    errors.sort_by_key(|error| matches!(error, LoadError::Interrupted(_)));
    errors.into_iter().next().map_or(Ok(()), Err)
}

fn check(plan: &PreparePlan) -> Result<(), LoadError> {
    if plan.tables.tables == 0 || plan.threads == 0 {
        return Err(LoadError::Setting {
            setting: if plan.tables.tables == 0 {
                "tables"
            } else {
                "threads"
            },
            value: "0".to_owned(),
            why: "must be at least 1",
        });
    }
    // Both become part of a statement.
    let is_plain = |text: &str| {
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    if !is_plain(&plan.tables.engine) {
        return Err(LoadError::Setting {
            setting: "storage engine",
            value: format!("`{}`", plan.tables.engine),
            why: "must be letters, digits and underscores",
        });
    }
    if plan.endpoint.database.is_empty() {
        return Err(LoadError::Setting {
            setting: "schema",
            value: format!("`{}`", plan.endpoint.database),
            why: "must not be empty",
        });
    }
    Ok(())
}

impl Job<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.abort.load(Ordering::Relaxed)
    }

    /// Works as one connection of so many.
    fn work(&self, share: (usize, usize)) -> Result<(), LoadError> {
        let result = self.load_tables(share);
        let is_first = result.is_ok() || !self.abort.swap(true, Ordering::Relaxed);
        match result {
            // Whatever the server said to a statement that was ended by a stop, or because another
            // connection had failed.
            Err(_) if !is_first || self.stop.load(Ordering::Relaxed) => {
                Err(LoadError::Interrupted("loading the tables"))
            }
            result => result,
        }
    }

    fn load_tables(&self, (number, count): (usize, usize)) -> Result<(), LoadError> {
        let mut loader = Loader::connect(self)?;
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(loader.id());
        // No rows go into a table before all tables are as asked for.
        for table in self.parts.tables_from(number, count) {
            loader.open(table)?;
        }
        while let Some(part) = self.parts.next() {
            loader.load(&part)?;
        }
        Ok(())
    }

    /// Ends what the loading connections are doing: building an index may take minutes.
    fn kill_statements(&self, control: &mut Connection) {
        let connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for id in connections.iter() {
            // The connection may have gone already, which is just as well.
            let _ = control.run(format!("KILL QUERY {id}"));
        }
    }
}
