//! Writing: a new result, then one transaction per completed run.

use std::fs;
use std::path::Path;

use rusqlite::{Connection, Transaction, params};
use weir_model::{Plan, RunResult, StudyResult};

use crate::rows::encode;
use crate::{SCHEMA_VERSION, Store, StoreError};

impl Store {
    /// Creates the result at `path` from a study's header; runs in `study` are written as well.
    ///
    /// It is written aside and renamed into place: a kill at any moment leaves a result that can be
    /// opened, or none.
    pub fn create(path: &Path, study: &StudyResult) -> Result<Self, StoreError> {
        if path.exists() {
            return Err(StoreError::Exists {
                path: path.to_owned(),
            });
        }
        let aside = path.with_extension("new");
        // What a killed study left; its journal goes first, or it would be played into the new file.
        let _ = fs::remove_file(path.with_extension("new-journal"));
        let _ = fs::remove_file(&aside);
        write_new(&aside, study).map_err(StoreError::sqlite("create", path))?;
        fs::rename(&aside, path).map_err(|source| StoreError::Rename {
            path: path.to_owned(),
            source,
        })?;
        Self::open(path)
    }

    /// Replaces the plan: a search adds a cell for each place where it measures.
    pub fn set_plan(&mut self, plan: &Plan) -> Result<(), StoreError> {
        self.connection
            .execute("UPDATE study SET plan = ?", [encode(plan)])
            .map_err(self.error("write to"))?;
        Ok(())
    }

    /// Adds a completed run. Either all of it is stored or nothing.
    pub fn append(&mut self, run: &RunResult) -> Result<(), StoreError> {
        let mut write = || {
            let transaction = self.connection.transaction()?;
            insert_run(&transaction, run)?;
            transaction.commit()
        };
        write().map_err(StoreError::sqlite("write to", &self.path))
    }
}

/// Writes a whole new file and closes it.
fn write_new(path: &Path, study: &StudyResult) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    let transaction = connection.transaction()?;
    transaction.execute_batch(include_str!("schema.sql"))?;
    insert_study(&transaction, study)?;
    for run in &study.runs {
        insert_run(&transaction, run)?;
    }
    transaction.commit()?;
    connection.close().map_err(|(_, error)| error)
}

fn insert_study(transaction: &Transaction<'_>, study: &StudyResult) -> rusqlite::Result<()> {
    let sql = "INSERT INTO study VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    transaction.execute(
        sql,
        params![
            SCHEMA_VERSION,
            study.started_at,
            study.weir_version,
            encode(&study.flavor),
            encode(&study.server_version),
            study.data_bytes,
            encode(&study.plan),
            encode(&study.host),
            encode(&study.drives),
        ],
    )?;
    Ok(())
}

fn insert_run(transaction: &Transaction<'_>, run: &RunResult) -> rusqlite::Result<()> {
    let record = &run.record;
    transaction.execute(
        "INSERT INTO run (cell, repetition, started_at, measured_s, queries_per_s, \
         transactions_per_s, errors, unfinished, limiter, latency, utilization, approach, drive, \
         histogram) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            record.cell,
            record.repetition,
            record.started_at,
            record.measured_s,
            record.queries_per_s,
            record.transactions_per_s,
            record.errors,
            record.unfinished,
            encode(&record.limiter),
            encode(&record.latency),
            encode(&record.utilization),
            encode(&record.approach),
            run.drive.as_ref().map(encode),
            run.histogram,
        ],
    )?;
    let id = transaction.last_insert_rowid();
    insert_intervals(transaction, id, run)?;
    insert_samples(transaction, id, run)?;
    insert_variables(transaction, id, run)
}

fn insert_intervals(
    transaction: &Transaction<'_>,
    id: i64,
    run: &RunResult,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare(sql)?;
    for interval in &run.intervals {
        statement.execute(params![
            id,
            interval.time_s,
            interval.length_s,
            interval.transactions,
            interval.queries,
            interval.reads,
            interval.writes,
            interval.errors,
            interval.latency_us_p50,
            interval.latency_us_p95,
            interval.latency_us_p99,
            interval.latency_us_max,
        ])?;
    }
    Ok(())
}

fn insert_samples(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare("INSERT INTO sample VALUES (?, ?, ?, ?)")?;
    for sample in &run.samples {
        statement.execute(params![id, sample.metric, sample.time_s, sample.value])?;
    }
    Ok(())
}

fn insert_variables(
    transaction: &Transaction<'_>,
    id: i64,
    run: &RunResult,
) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare("INSERT INTO variable VALUES (?, ?, ?, ?)")?;
    for (name, value) in &run.variables {
        statement.execute(params![id, name, value, run.variables_changed.get(name)])?;
    }
    Ok(())
}
