//! Writing: a new result, then one transaction per completed run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use weir_model::{Plan, RunResult, Series, StudyResult};

use crate::rows::encode;
use crate::{SCHEMA_VERSION, Store, StoreError};

impl Store {
    /// Creates the result at `path` from a study's header; runs in `study` are written as well.
    ///
    /// It is written aside and renamed into place: a kill at any moment leaves a result that can be
    /// opened, or none.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
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
    ///
    /// # Errors
    /// If the file cannot be written, or is of an earlier schema.
    pub fn set_plan(&mut self, plan: &Plan) -> Result<(), StoreError> {
        self.check_current()?;
        self.connection
            .execute("UPDATE study SET plan = ?", [encode(plan)])
            .map_err(self.error("write to"))?;
        Ok(())
    }

    /// Adds a completed run. Either all of it is stored or nothing.
    ///
    /// # Errors
    /// If the file cannot be written, or is of an earlier schema.
    pub fn append(&mut self, run: &RunResult) -> Result<(), StoreError> {
        self.check_current()?;
        let mut write = || {
            let transaction = self.connection.transaction()?;
            insert_run(&transaction, run)?;
            transaction.commit()
        };
        write().map_err(StoreError::sqlite("write to", &self.path))
    }

    /// Every writer asks this first: a result of an earlier schema is never changed.
    ///
    /// # Errors
    /// If the result is of an earlier schema.
    pub fn check_current(&self) -> Result<(), StoreError> {
        if self.is_current {
            return Ok(());
        }
        Err(StoreError::ReadOnly {
            path: self.path.clone(),
        })
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
    let sql = "INSERT INTO study VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
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
            study.provenance.study_file,
            study.provenance.weir_commit,
            encode(&study.provenance.command),
        ],
    )?;
    Ok(())
}

fn insert_run(transaction: &Transaction<'_>, run: &RunResult) -> rusqlite::Result<()> {
    let record = &run.record;
    let variable_set = variable_set(transaction, &run.variables)?;
    transaction.execute(
        "INSERT INTO run (cell, repetition, started_at, measured_s, queries_per_s, \
         transactions_per_s, errors, unfinished, limiter, latency, utilization, approach, drive, \
         commands, variable_set) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        params![
            record.cell,
            record.repetition,
            record.started_at,
            record.measured_s,
            record.queries_per_s,
            record.transactions_per_s,
            record.errors,
            record.unfinished,
            encode(&record.bottleneck),
            encode(&record.latency),
            encode(&record.utilization),
            encode(&record.approach),
            run.drive.as_ref().map(encode),
            encode(&run.commands),
            variable_set,
        ],
    )?;
    let id = transaction.last_insert_rowid();
    let sql = "INSERT INTO histogram VALUES (?, ?)";
    transaction.execute(sql, params![id, run.histogram])?;
    let sql = "INSERT INTO server_log VALUES (?, ?)";
    transaction.execute(sql, params![id, run.server_log])?;
    insert_kinds(transaction, id, run)?;
    insert_events(transaction, id, run)?;
    insert_hosts(transaction, id, run)?;
    insert_server_host(transaction, id, run)?;
    insert_profile(transaction, id, run)?;
    if let Some(replay) = &run.replay {
        let sql = "INSERT INTO replay VALUES (?, ?)";
        transaction.execute(sql, params![id, encode(replay)])?;
    }
    insert_intervals(transaction, id, run)?;
    insert_short_intervals(transaction, id, run)?;
    insert_losses(transaction, id, run)?;
    insert_series(transaction, id, run)?;
    insert_changed(transaction, id, run)
}

fn insert_kinds(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    let sql = "INSERT INTO kind_latency VALUES (?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    for (position, kind) in run.kinds.iter().enumerate() {
        statement.execute(params![
            id,
            position,
            kind.name,
            kind.is_statement,
            kind.count,
            encode(&kind.latency)
        ])?;
    }
    Ok(())
}

fn insert_events(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    let sql = "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    let mut detail = transaction.prepare_cached("INSERT INTO event_detail VALUES (?, ?, ?)")?;
    for (position, event) in run.events.iter().enumerate() {
        statement.execute(params![
            id,
            position,
            event.name,
            event.kind,
            event.began_s,
            event.ended_s,
            event.tries,
            event.lock_wait_s,
            encode(&event.ending),
            encode(&event.session),
        ])?;
        if !event.detail.is_empty() {
            detail.execute(params![id, position, encode(&event.detail)])?;
        }
    }
    Ok(())
}

fn insert_short_intervals(
    transaction: &Transaction<'_>,
    id: i64,
    run: &RunResult,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO short_interval VALUES (?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    for short in &run.short_intervals {
        statement.execute(params![
            id,
            short.time_s,
            short.transactions,
            short.statements,
            short.pause_s,
            short.latency_us_p99,
        ])?;
    }
    Ok(())
}

fn insert_losses(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    if !run.losses.are_none() {
        let sql = "INSERT INTO connection_loss VALUES (?, ?)";
        transaction.execute(sql, params![id, encode(&run.losses)])?;
    }
    Ok(())
}

/// The table is there once a run needs it: results of one host are as earlier versions read them.
fn insert_hosts(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    if run.hosts.is_empty() {
        return Ok(());
    }
    transaction.execute_batch(include_str!("load-host.sql"))?;
    let sql = "INSERT INTO load_host VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    for (position, host) in run.hosts.iter().enumerate() {
        statement.execute(params![
            id,
            position,
            host.name,
            host.host,
            host.cores,
            host.connections,
            host.clock_ahead_s,
            host.clock_error_us,
            host.began_late_us,
            host.transactions,
            host.cpu_s,
            host.longest_silence_s,
        ])?;
    }
    insert_clocks(transaction, id, run)
}

/// Apart from the hosts: results of versions that did not ask again have no such columns.
fn insert_clocks(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    let clocks = run
        .hosts
        .iter()
        .map(|host| host.clock_moved_us.zip(host.clock_moved_error_us));
    let clocks: Vec<_> = (0..)
        .zip(clocks)
        .filter_map(|(position, clock)| Some((position, clock?)))
        .collect();
    if clocks.is_empty() {
        return Ok(());
    }
    transaction.execute_batch(include_str!("load-host-clock.sql"))?;
    let sql = "INSERT INTO load_host_clock VALUES (?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    for (position, (moved_us, error_us)) in clocks {
        statement.execute(params![id, position, moved_us, error_us])?;
    }
    Ok(())
}

/// The table is there once a run needs it, too.
fn insert_server_host(
    transaction: &Transaction<'_>,
    id: i64,
    run: &RunResult,
) -> rusqlite::Result<()> {
    let Some(host) = &run.server_host else {
        return Ok(());
    };
    transaction.execute_batch(include_str!("server-host.sql"))?;
    let sql = "INSERT INTO server_host VALUES (?, ?)";
    transaction.execute(sql, params![id, encode(host)])?;
    Ok(())
}

/// The table is there once a run needs it, too.
fn insert_profile(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    let Some(profile) = &run.profile else {
        return Ok(());
    };
    transaction.execute_batch(include_str!("stack-profile.sql"))?;
    let sql = "INSERT INTO stack_profile VALUES (?, ?, ?)";
    transaction.execute(sql, params![id, encode(profile), profile.folded])?;
    Ok(())
}

fn insert_intervals(
    transaction: &Transaction<'_>,
    id: i64,
    run: &RunResult,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO interval VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
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

fn insert_series(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare_cached("INSERT INTO sample VALUES (?, ?, ?, ?)")?;
    for series in &run.series {
        let metric = metric(transaction, series)?;
        for (time_s, value) in series.points() {
            statement.execute(params![id, metric, time_s, value])?;
        }
    }
    let mut statement = transaction.prepare_cached("INSERT INTO gap VALUES (?, ?, ?, ?, ?)")?;
    for gap in &run.gaps {
        statement.execute(params![id, gap.source, gap.from_s, gap.to_s, gap.reason])?;
    }
    Ok(())
}

/// The number of a series' metric and instance, given to it when it is first met.
fn metric(transaction: &Transaction<'_>, series: &Series) -> rusqlite::Result<i64> {
    let key = [&series.metric, &series.instance];
    let known = "SELECT id FROM metric WHERE name = ? AND instance = ?";
    let mut known = transaction.prepare_cached(known)?;
    if let Some(id) = known.query_row(key, |row| row.get(0)).optional()? {
        return Ok(id);
    }
    let new = "INSERT INTO metric (name, instance) VALUES (?, ?)";
    transaction.execute(new, key)?;
    Ok(transaction.last_insert_rowid())
}

fn insert_changed(transaction: &Transaction<'_>, id: i64, run: &RunResult) -> rusqlite::Result<()> {
    let sql = "INSERT INTO variable_changed VALUES (?, ?, ?)";
    let mut statement = transaction.prepare_cached(sql)?;
    for (name, value) in &run.variables_changed {
        statement.execute(params![id, name, value])?;
    }
    Ok(())
}

/// The set of exactly these `variables`, stored unless an earlier run had the same.
fn variable_set(
    transaction: &Transaction<'_>,
    variables: &BTreeMap<String, String>,
) -> rusqlite::Result<i64> {
    let digest = digest(variables);
    let known = "SELECT id FROM variable_set WHERE digest = ?";
    let known = transaction.query_row(known, [digest], |row| row.get(0));
    if let Some(id) = known.optional()? {
        return Ok(id);
    }
    transaction.execute("INSERT INTO variable_set (digest) VALUES (?)", [digest])?;
    let id = transaction.last_insert_rowid();
    let mut statement = transaction.prepare_cached("INSERT INTO variable VALUES (?, ?, ?)")?;
    for (name, value) in variables {
        statement.execute(params![id, name, value])?;
    }
    Ok(id)
}

/// FNV-1a over names and values, each ended by a byte that no text holds: 64 bits for the few
/// hundred sets of a result. <http://www.isthe.com/chongo/tech/comp/fnv/>
fn digest(variables: &BTreeMap<String, String>) -> i64 {
    let texts = variables.iter().flat_map(|(name, value)| [name, value]);
    let bytes = texts.flat_map(|text| text.bytes().chain([0xff]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    hash.cast_signed()
}
