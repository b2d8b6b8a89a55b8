//! Fills tables, or goes on with those that were not finished.
//!
//! While a table is being filled, its comment says with what; the statement that builds the indexes
//! takes the comment away. So a table that is complete can be told from one whose loading was
//! interrupted, and the latter is only gone on with by the same rows. The rows are there up to a
//! number without gaps, of a table or of each of its slices: they go in by their number, each transaction
//! as a whole or not at all.

use std::sync::atomic::Ordering;

use super::batch::Batch;
use super::difference::{Stage, difference, made_otherwise, other_foreign_keys};
use super::part::{Part, PartedTable, State};
use super::{Job, LoadingStep};
use crate::LoadError;
use crate::plan::BinaryLog;
use weir_model::OrderEntryWorkload;
use weir_mysql::{ClientError, Connection, Patience, StatementEffect, text_literal};
use weir_workload::{RowWriter, Slice, Table, TableOptions};

/// Bytes of rows in one statement of text: what the server makes of longer ones leaves its processor's caches (1 MiB:
/// a quarter more of its time).
const INSERT_BYTES_MAX: u64 = 64 << 10;
/// Bytes of rows in one transaction: what an interruption undoes.
const TRANSACTION_BYTES_MAX: u64 = 8 << 20;
/// Bytes of one packet of it.
const PIECE_BYTES_MAX: u64 = 128 << 10;
/// Memory for sorting an index, where the server lets a session choose (MySQL 8.0.27 on).
const INDEX_BUFFER: &str = "SET SESSION innodb_ddl_buffer_size = 67108864";
/// The server's word that it has undone a transaction for the sake of another (`ER_LOCK_DEADLOCK`).
const DEADLOCK: u16 = 1213;
/// The server's word that a lock did not become free in time (`ER_LOCK_WAIT_TIMEOUT`).
const LOCK_WAIT_TIMEOUT: u16 = 1205;
/// Longest wait for statements of an earlier load on a table, seconds: they are undone in a few.
const OTHERS_LIMIT_S: u64 = 120;
/// Settings of the session; they end with it. Without `autocommit`, rows that a server has reported as loaded would go
/// with the connection.
const SETTINGS: &str = "SET SESSION autocommit = 1, unique_checks = 0, foreign_key_checks = 0";
/// Begin of the comment of a table that is being filled.
pub(crate) const MARK: &str = "weir is loading";
/// Text before the comment that the table had and gets back.
const BEFORE: &str = "; before: ";

/// Fills tables on one connection.
pub(super) struct Loader<'a> {
    job: &'a Job<'a>,
    control: Connection,
    takes_files: bool,
    packet_bytes_max: u64,
    buffer: Vec<u8>,
    /// Rows of the transaction under way.
    sent_rows: u64,
}

/// Existing part of a table.
enum ExistingTable {
    Nothing,
    /// Rows left by an unfinished load, with its mark and the comment before it.
    Part {
        mark: String,
        comment: String,
    },
    /// A table without our mark, with its comment.
    Table {
        comment: String,
    },
}

impl ExistingTable {
    /// By the comment of a table.
    fn by_comment(comment: String) -> Self {
        match comment.split_once(BEFORE) {
            Some((mark, comment)) if mark.starts_with(MARK) => Self::Part {
                mark: mark.to_owned(),
                comment: comment.to_owned(),
            },
            _ => Self::Table { comment },
        }
    }
}

/// Keeps tables and rows out of the binary log if they are to be kept out.
fn choose_binary_log(wish: BinaryLog, control: &mut Connection) -> Result<(), LoadError> {
    if wish == BinaryLog::On {
        return Ok(());
    }
    let readers = control.first::<u64>(
        "SELECT COUNT(*) FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'",
    )?;
    if readers != Some(0) {
        return Err(LoadError::Setting {
            setting: "prepare-binlog",
            value: "off".to_owned(),
            why: "a replica reads this server's binary log and would miss the tables; leave it out",
        });
    }
    control.run("SET SESSION sql_log_bin = 0")?;
    Ok(())
}

impl<'a> Loader<'a> {
    /// A loader on a connection of its own.
    pub(super) fn connect(job: &'a Job<'a>) -> Result<Self, LoadError> {
        let mut control = Connection::connect(&job.connector, true, Patience::Endless)?;
        control.run(SETTINGS)?;
        match control.run(INDEX_BUFFER) {
            // A server that has no such variable.
            Ok(_) | Err(ClientError::Statement { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        choose_binary_log(job.plan.binary_log, &mut control)?;
        let packet_bytes_max = control
            .first::<u64>("SELECT @@max_allowed_packet")?
            .unwrap_or(INSERT_BYTES_MAX);
        let takes_files = control.first::<u64>("SELECT @@GLOBAL.local_infile")? == Some(1);
        Ok(Self {
            job,
            control,
            takes_files,
            packet_bytes_max,
            buffer: Vec::new(),
            sent_rows: 0,
        })
    }

    /// The server's number of the connection.
    pub(super) fn id(&self) -> u32 {
        self.control.id()
    }

    /// Loads one part of the table.
    pub(super) fn load(&mut self, part: &Part<'_>) -> Result<(), LoadError> {
        let State::Open { rows_before, .. } = *part.table.state() else {
            return Ok(());
        };
        self.fill_slice(part.table.table(), part.slice, rows_before)?;
        let Some(comment) = part.table.end_part() else {
            return Ok(());
        };
        self.close(part.table.table(), &comment)
    }

    /// Makes a table unless it is there or was opened already, and marks it as one that is being filled.
    pub(super) fn open(&mut self, part: &PartedTable) -> Result<(), LoadError> {
        // The first connection opens it; the others wait.
        let mut state = part.state();
        if let State::New = *state {
            self.check_stop()?;
            let table = part.table();
            *state = match self.find(table)? {
                ExistingTable::Nothing => self.make(table)?,
                ExistingTable::Part { mark, comment } => self.go_on(table, &mark, comment)?,
                ExistingTable::Table { comment } => self.take(table, comment)?,
            };
        }
        Ok(())
    }

    /// Makes a table that is not there. One that the server makes otherwise is dropped: the next `prepare` would
    /// take it for a table of its own.
    fn make(&mut self, table: &Table) -> Result<State, LoadError> {
        (self.job.on_step)(LoadingStep::Create(&table.name));
        self.run(&table.create)?;
        let otherwise = made_otherwise(table, self.own_options(), &mut self.control)?;
        match (self.find(table)?, otherwise) {
            (ExistingTable::Nothing, _) => {
                Err(self.refused(table, "was made and is not there".to_owned()))
            }
            (_, Some(how)) => Err(self.drop_made(table, how)),
            (ExistingTable::Part { comment, .. } | ExistingTable::Table { comment }, None) => {
                self.begin(table, comment)
            }
        }
    }

    /// Drops a table that this connection has just made, unless it has rows by now; the error that refuses it.
    fn drop_made(&mut self, table: &Table, how: String) -> LoadError {
        let drop = format!("DROP TABLE {}", table.identifier());
        let dropped = match self.count(table) {
            Ok(0) => self.control.run(drop).map_err(|error| error.words()),
            Ok(rows) => Err(format!("it has {rows} rows")),
            Err(error) => Err(error.to_string()),
        };
        match dropped {
            Ok(_) => LoadError::NotAsAsked {
                table: self.full_name(table),
                how,
            },
            Err(why) => self.refused(table, format!("{how} and is still there ({why})")),
        }
    }

    /// Goes on with a table of an earlier load that did not end.
    fn go_on(&mut self, table: &Table, mark: &str, comment: String) -> Result<State, LoadError> {
        if mark != self.mark(table) {
            let begun = mark.strip_prefix(MARK).unwrap_or(mark).trim();
            let why = format!("is half loaded with other settings ({begun})");
            return Err(self.refused(table, why));
        }
        self.compare(table, Stage::Begun)?;
        self.await_others(table, &comment)?;
        Ok(State::Open {
            rows_before: self.count(table)?,
            comment,
        })
    }

    /// Takes a table that is there and has no mark: it is complete, or empty.
    fn take(&mut self, table: &Table, comment: String) -> Result<State, LoadError> {
        let rows = self.count(table)?;
        if rows == table.rows {
            self.compare(table, Stage::Complete)?;
            self.progress(rows);
            return Ok(State::Complete);
        }
        if rows > 0 {
            let why = format!("exists with {rows} rows, but {} are asked for", table.rows);
            return Err(self.refused(table, why));
        }
        self.compare(table, Stage::Begun)?;
        self.begin(table, comment)
    }

    /// Marks an empty table as one that is being filled.
    fn begin(&mut self, table: &Table, comment: String) -> Result<State, LoadError> {
        self.write_mark(table, &comment)?;
        Ok(State::Open {
            rows_before: 0,
            comment,
        })
    }

    fn write_mark(&mut self, table: &Table, comment: &str) -> Result<(), LoadError> {
        let marked = text_literal(&format!("{}{BEFORE}{comment}", self.mark(table)));
        let name = table.identifier();
        self.run(&format!("ALTER TABLE {name} COMMENT = {marked}"))
    }

    /// Waits until no statement of an earlier load works on a table or is undone there. The server changes a comment
    /// when no other transaction has the table.
    fn await_others(&mut self, table: &Table, comment: &str) -> Result<(), LoadError> {
        self.run(&format!("SET SESSION lock_wait_timeout = {OTHERS_LIMIT_S}"))?;
        match self.write_mark(table, comment) {
            Err(LoadError::Client(error)) if error.code() == Some(LOCK_WAIT_TIMEOUT) => {
                return Err(LoadError::InUse {
                    table: self.full_name(table),
                    limit_s: OTHERS_LIMIT_S,
                });
            }
            marked => marked?,
        }
        self.run("SET SESSION lock_wait_timeout = DEFAULT")
    }

    /// Refuses a table that is not the one that would be there at this stage.
    fn compare(&mut self, table: &Table, stage: Stage) -> Result<(), LoadError> {
        let options = self.own_options();
        let mut differs = difference(table, options, stage, &mut self.control)?;
        if differs.is_none() && self.job.plan.workload.order_entry().is_some() {
            differs = other_foreign_keys(table, stage, &mut self.control)?;
        }
        differs.map_or(Ok(()), |differs| Err(self.refused(table, differs)))
    }

    /// Returns the comment of a table that is being filled.
    fn mark(&self, table: &Table) -> String {
        let plan = self.job.plan;
        let (rows, seed) = (table.rows, plan.seed);
        match plan.workload.order_entry() {
            Some(OrderEntryWorkload {
                warehouses,
                items,
                customers,
                ..
            }) => format!(
                "{MARK} {rows} rows, seed {seed}, {warehouses} warehouses, {items} items, \
                 {customers} customers"
            ),
            None => format!(
                "{MARK} {rows} rows, seed {seed}, {:?}",
                plan.tables.distribution
            ),
        }
    }

    /// Loads the rows of a slice that are not there yet.
    fn fill_slice(
        &mut self,
        table: &Table,
        slice: Option<&Slice>,
        rows_before: u64,
    ) -> Result<(), LoadError> {
        let (first, rows, found) = match slice {
            None => (1, table.rows, rows_before),
            Some(slice) if rows_before == 0 => (slice.first, slice.rows, 0),
            Some(slice) => (slice.first, slice.rows, self.count_slice(table, slice)?),
        };
        self.progress(found);
        if slice.is_none() && found < rows {
            (self.job.on_step)(LoadingStep::Insert(&table.name, rows - found));
        }
        self.fill(table, first + found, first + rows - 1)
    }

    /// Ends a table of which all rows are there.
    fn close(&mut self, table: &Table, comment: &str) -> Result<(), LoadError> {
        self.verify(table)?;
        if !table.indexes.is_empty() {
            (self.job.on_step)(LoadingStep::Index(&table.name));
        }
        let mut changes: Vec<_> = table.indexes.iter().map(|i| format!("ADD {i}")).collect();
        changes.push(format!("COMMENT = {}", text_literal(comment)));
        self.run(&format!(
            "ALTER TABLE {} {}",
            table.identifier(),
            changes.join(", ")
        ))?;
        if self.job.plan.workload.order_entry().is_none() {
            return Ok(());
        }
        // Statistics of before the rows make a server read all items for those of an order.
        self.run(&format!("ANALYZE LOCAL TABLE {}", table.identifier()))
    }

    fn count_slice(&mut self, table: &Table, slice: &Slice) -> Result<u64, LoadError> {
        let sql = format!(
            "SELECT COUNT(*) FROM {} WHERE {}",
            table.identifier(),
            slice.condition
        );
        Ok(self.control.first::<u64>(&sql)?.unwrap_or(0))
    }

    /// Options of sysbench's tables; a user's own have none.
    fn own_options(&self) -> Option<&'a TableOptions> {
        let plan = self.job.plan;
        plan.workload.is_on_sbtest().then_some(&plan.tables)
    }

    fn find(&mut self, table: &Table) -> Result<ExistingTable, LoadError> {
        let comment = self.control.first::<String>(&format!(
            "SELECT table_comment FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = {}",
            text_literal(&table.name)
        ))?;
        Ok(comment.map_or(ExistingTable::Nothing, ExistingTable::by_comment))
    }

    fn count(&mut self, table: &Table) -> Result<u64, LoadError> {
        let sql = format!("SELECT COUNT(*) FROM {}", table.identifier());
        Ok(self.control.first::<u64>(&sql)?.unwrap_or(0))
    }

    fn verify(&mut self, table: &Table) -> Result<(), LoadError> {
        let rows = self.count(table)?;
        if rows == table.rows {
            return Ok(());
        }
        let why = format!("has {rows} rows after {} were loaded", table.rows);
        Err(self.refused(table, why))
    }

    /// Loads the rows from `first` to `last`.
    fn fill(&mut self, table: &Table, first: u64, last: u64) -> Result<(), LoadError> {
        let mut writer = RowWriter::new(table, self.job.plan.seed);
        let bytes = self.insert_bytes();
        let (mut batch, mut next) = (None, first);
        let mut is_prepared = false;
        while next <= last {
            self.check_stop()?;
            self.sent_rows = 0;
            let takes_files = self.takes_files();
            if !takes_files && !is_prepared {
                batch = Batch::prepare(&mut self.control, &mut writer, bytes)?;
                is_prepared = true;
            }
            let loaded = if takes_files {
                self.load_lines(table, &mut writer, (next, last))
            } else {
                self.insert(&mut writer, batch.as_mut(), (next, last))
            };
            match loaded {
                // MariaDB locks an empty table as a whole, and the first slices of it meet.
                Err(LoadError::Client(error)) if error.code() == Some(DEADLOCK) => {
                    let undone = self.sent_rows;
                    self.job.rows_done.fetch_sub(undone, Ordering::Relaxed);
                }
                Err(LoadError::Client(error @ ClientError::Statement { .. }))
                    if takes_files && self.sent_rows == 0 =>
                {
                    self.give_up_files(&error);
                }
                loaded => next = 1 + loaded?,
            }
        }
        batch.map_or(Ok(()), |batch| batch.close(&mut self.control))
    }

    fn takes_files(&self) -> bool {
        self.takes_files && !self.job.refuses_files.load(Ordering::Relaxed)
    }

    /// A statement that was refused before the server asked for rows has loaded none. `INSERT` does without files.
    fn give_up_files(&self, error: &ClientError) {
        let is_stopped = self.job.is_stopped();
        if !is_stopped && !self.job.refuses_files.swap(true, Ordering::Relaxed) {
            (self.job.on_step)(LoadingStep::Inserts(&error.words()));
        }
    }

    /// Bytes of rows in a statement: half of what is allowed leaves room for whatever surrounds them.
    fn insert_bytes(&self) -> usize {
        (self.packet_bytes_max / 2).min(INSERT_BYTES_MAX) as usize
    }

    /// One transaction of inserts of rows from `first` to `end` at most; the last one.
    fn insert(
        &mut self,
        writer: &mut RowWriter<'_>,
        mut batch: Option<&mut Batch>,
        (first, end): (u64, u64),
    ) -> Result<u64, LoadError> {
        let bytes_max = self.insert_bytes();
        let (mut next, mut sent_bytes) = (first, 0);
        self.control.run("START TRANSACTION")?;
        while next <= end && sent_bytes < TRANSACTION_BYTES_MAX && !self.job.is_stopped() {
            let batch = batch.as_deref_mut();
            let batch = batch.filter(|batch| next + batch.rows() <= end + 1);
            let last = if let Some(batch) = batch {
                batch.insert(&mut self.control, writer, next, &mut self.buffer)?
            } else {
                let last = writer.insert(next, end, bytes_max, &mut self.buffer);
                let sql = std::str::from_utf8(&self.buffer)
                    .expect("invariant: names and values are UTF-8");
                self.control.run(sql)?;
                last
            };
            sent_bytes += self.buffer.len() as u64;
            self.progress(last + 1 - next);
            self.sent_rows += last + 1 - next;
            next = last + 1;
        }
        self.control.run("COMMIT")?;
        Ok(next - 1)
    }

    /// One `LOAD DATA` of rows from `first` to `end` at most; the last one.
    fn load_lines(
        &mut self,
        table: &Table,
        writer: &mut RowWriter<'_>,
        (first, end): (u64, u64),
    ) -> Result<u64, LoadError> {
        let piece_bytes = (self.packet_bytes_max / 2).min(PIECE_BYTES_MAX) as usize;
        let (job, mut next, mut sent_bytes) = (self.job, first, 0);
        let sent_rows = &mut self.sent_rows;
        let statement = writer.load_statement();
        let StatementEffect {
            affected_rows: rows,
            warnings,
        } = self.control.load(&statement, &mut |piece| {
            let start = piece.len();
            let before = next;
            if job.is_stopped() || sent_bytes >= TRANSACTION_BYTES_MAX {
                return;
            }
            while next <= end && piece.len() - start < piece_bytes {
                writer.line(next, piece);
                next += 1;
            }
            sent_bytes += (piece.len() - start) as u64;
            job.rows_done.fetch_add(next - before, Ordering::Relaxed);
            *sent_rows += next - before;
        })?;
        if warnings > 0 || rows != next - first {
            let why = format!(
                "{rows} of {} rows were loaded, with {warnings} warnings",
                next - first
            );
            return Err(self.refused(table, why));
        }
        Ok(next - 1)
    }

    fn run(&mut self, sql: &str) -> Result<(), LoadError> {
        self.check_stop()?;
        self.control.run(sql)?;
        Ok(())
    }

    fn check_stop(&self) -> Result<(), LoadError> {
        if self.job.is_stopped() {
            return Err(LoadError::Interrupted("loading the tables"));
        }
        Ok(())
    }

    fn progress(&self, rows: u64) {
        self.job.rows_done.fetch_add(rows, Ordering::Relaxed);
    }

    fn refused(&self, table: &Table, why: String) -> LoadError {
        LoadError::Preparation {
            table: self.full_name(table),
            why,
        }
    }

    fn full_name(&self, table: &Table) -> String {
        format!("{}.{}", self.job.plan.endpoint.database, table.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_of_before_outlasts_the_mark() {
        let comment = format!("{MARK} 3 rows{BEFORE}it's mine");
        let ExistingTable::Part { mark, comment } = ExistingTable::by_comment(comment) else {
            panic!("the mark is there");
        };
        assert_eq!(
            (mark.as_str(), comment.as_str()),
            ("weir is loading 3 rows", "it's mine")
        );
        assert_eq!(text_literal(&comment), "'it''s mine'");
        assert!(matches!(
            ExistingTable::by_comment("other".to_owned()),
            ExistingTable::Table { .. }
        ));
    }
}
