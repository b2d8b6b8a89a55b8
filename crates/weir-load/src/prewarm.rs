//! Reads tables and indexes into the buffer pool.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::LoadError;
use crate::plan::PreparePlan;
use weir_mysql::{Connection, Connector, Gate, Patience, identifier, text_literal};

/// Reads every index of every table of a workload from end to end, the primary key and with it the
/// rows first, with as many connections as `plan` has threads. `on_progress` is called with the
/// tables that were read and those that are to be read.
///
/// # Errors
///
/// A table that does not exist, a server that refuses or dies, or `stop`, which is seen between
/// two indexes.
pub fn prewarm(
    plan: &PreparePlan,
    gate: &Gate,
    stop: &AtomicBool,
    on_progress: &(dyn Fn(usize, usize) + Sync),
) -> Result<(), LoadError> {
    let tables = plan.own_tables()?;
    let connector = Connector::new(plan.endpoint.clone(), plan.compression, gate.clone())?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || -> Result<(), LoadError> {
        let mut control = Connection::connect(&connector, true, Patience::Endless)?;
        while let Some(table) = tables.get(next.fetch_add(1, Ordering::Relaxed)) {
            read(&mut control, &table.name, stop)?;
            on_progress(done.fetch_add(1, Ordering::Relaxed) + 1, tables.len());
        }
        Ok(())
    };
    let threads = (plan.threads as usize).clamp(1, tables.len().max(1));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })
}

fn read(control: &mut Connection, table: &str, stop: &AtomicBool) -> Result<(), LoadError> {
    let sql = format!(
        "SELECT index_name FROM information_schema.statistics \
         WHERE table_schema = DATABASE() AND table_name = {} AND seq_in_index = 1 \
         ORDER BY index_name <> 'PRIMARY', index_name",
        text_literal(table)
    );
    let indexes: Vec<String> = control.rows(&sql)?;
    if indexes.is_empty() {
        return Err(LoadError::Table {
            table: table.to_owned(),
            why: "does not exist or has no index".to_owned(),
        });
    }
    for index in indexes {
        if stop.load(Ordering::Relaxed) {
            return Err(LoadError::Interrupted("reading the tables"));
        }
        control.run(format!(
            "SELECT COUNT(*) FROM {} FORCE INDEX ({})",
            identifier(table),
            identifier(&index)
        ))?;
    }
    Ok(())
}
