//! The algorithm: the rows of a snapshot whose keys did not change, and the first images of those that did.
//!
//! 1. A consistent snapshot S is opened.
//! 2. After that the log's end P is asked for.
//! 3. The log is read from the moment T to P; of each key that changed the first image is kept.
//! 4. The rows of S whose key is not among these, and the images, are the table as of T.
//!
//! Why no lock is needed: what S shows was in the log before it could be seen, so P lies behind it. A key without a
//! change between T and P has in S the value of T. A key with one has, in its first image, the value of T, also if that
//! change came after S. Where S lies in the log does not matter.

use std::path::PathBuf;

use weir_binlog::{EventWriter, LogReader};
use weir_model::Flavor;
use weir_mysql::Connection;
use weir_process::WorkDirectory;
use weir_server::ServerBinary;

use crate::copy::{READS_BYTES, RowsWriter, copy, select};
use crate::events::apply;
use crate::images::{Images, Keeps, MEMORY_BYTES};
use crate::log_files::{LogFiles, free_server_id, open};
use crate::moment::{Asked, Cut, Moment};
use crate::private::Private;
use crate::scan::{Change, Pace, Scan, Told};
use crate::source::Variables;
use crate::{FlashbackError, Source, Table, TableName};

/// Isolation and reading of a snapshot: it is held for as long as the tables take to be read.
const SNAPSHOT: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];

/// How a flashback is made.
#[derive(Debug, Clone)]
pub struct Options {
    /// Foreign keys that change rows without a word in the log are no reason to refuse.
    pub ignore_cascades: bool,
    /// Most bytes of log per second.
    pub bytes_per_s: Option<u64>,
    /// Where data are put.
    pub work: PathBuf,
    /// Images in memory, bytes; more lie in a file.
    pub memory_bytes: usize,
}

impl Options {
    /// As fast as it goes, in the directory for temporary files.
    pub fn new(work: PathBuf) -> Self {
        Self {
            ignore_cascades: false,
            bytes_per_s: None,
            work,
            memory_bytes: MEMORY_BYTES,
        }
    }
}

/// What is known before the log is read.
#[derive(Debug)]
pub struct Prepared {
    source: Source,
    variables: Variables,
    /// The tables that are asked for.
    pub tables: Vec<Table>,
    /// The moment.
    pub moment: Moment,
    server_id: u32,
    options: Options,
}

/// What is to be read of a table, and what of the log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The table as of the moment.
    Then,
    /// The table as of the end of the log that was read.
    Now,
}

/// A made flashback.
#[derive(Debug)]
pub struct Made {
    /// The private server with the tables.
    pub private: Private,
    /// What the log told.
    pub told: Told,
    /// Of each table: rows of the snapshot that were read, keys that changed since.
    pub counts: Vec<(u64, usize)>,
}

impl Prepared {
    /// Looks whether the past of these tables can be told.
    ///
    /// # Errors
    ///
    /// What stands in the way, with a remedy.
    pub fn new(
        source: &Source,
        names: &[TableName],
        asked: &Asked,
        options: Options,
    ) -> Result<Self, FlashbackError> {
        let mut connection = source.open()?;
        let variables = Variables::read(&mut connection)?;
        let mut tables = Vec::with_capacity(names.len());
        for name in names {
            let table = Table::read(
                &mut connection,
                source,
                &variables,
                name,
                options.ignore_cascades,
            );
            tables.push(table?);
        }
        if !tables.iter().all(|table| table.is_versioned) {
            check_log(&mut connection, &variables, &tables)?;
        }
        let moment = Moment::resolve(asked, &mut connection)?;
        Ok(Self {
            server_id: free_server_id(&mut connection)?,
            source: source.clone(),
            variables,
            tables,
            moment,
            options,
        })
    }

    /// Whether the server answers by itself: all tables keep their own past.
    pub fn is_versioned(&self) -> bool {
        self.tables.iter().all(|table| table.is_versioned)
    }

    /// Reads the log from the moment to its end; each change of a row goes to `on_change`.
    pub fn changes(
        &self,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<Told, FlashbackError> {
        Ok(self.scan(&self.log_files()?, false, on_change)?.0)
    }

    /// As [`Prepared::changes`], for reading only: what makes the past unknown is listed and passed over.
    pub fn known_changes(
        &self,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<Told, FlashbackError> {
        Ok(self.scan(&self.log_files()?, true, on_change)?.0)
    }

    /// The bytes of log between the moment's file and the end.
    pub fn log_bytes(&self) -> Result<u64, FlashbackError> {
        let files = self.log_files()?;
        let from = files.before(&self.moment, &self.source, self.server_id)?;
        Ok(files.bytes_from(&from))
    }

    fn log_files(&self) -> Result<LogFiles, FlashbackError> {
        LogFiles::list(&mut self.source.open()?)
    }

    /// Reads the log from the moment to its end as `files` have it.
    fn scan(
        &self,
        files: &LogFiles,
        is_lenient: bool,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(Told, Option<EventWriter>), FlashbackError> {
        let from = files.before(&self.moment, &self.source, self.server_id)?;
        let log = open(&self.source, &from, self.server_id)?;
        let mut reader = LogReader::new(log);
        let cut = Cut::new(self.moment.clone(), files.names());
        let pace = Pace::new(self.options.bytes_per_s);
        let mut scan = Scan::new(&self.tables, cut, files.end(), pace);
        scan.is_lenient = is_lenient;
        let told = scan.run(&mut reader, on_change)?;
        Ok((told, reader.format().cloned().map(EventWriter::new)))
    }

    /// Makes the tables on a private server. `clause`: what is added to the query that reads the snapshot of the only
    /// table, as in ` WHERE id < 5`.
    pub fn make(
        &self,
        binary: &ServerBinary,
        state: State,
        clause: &str,
    ) -> Result<Made, FlashbackError> {
        let directory = WorkDirectory::create(&self.options.work, "flashback")?;
        let mut snapshot = self.source.open_patient()?;
        snapshot.run(READS_BYTES)?;
        snapshot.run(without_limits(self.source.flavor))?;
        for statement in SNAPSHOT {
            snapshot.run(statement)?;
        }
        // Only now: what the snapshot shows lies before this.
        let files = self.log_files()?;
        let keeps = match state {
            State::Then => Keeps::First,
            State::Now => Keeps::Last,
        };
        let memory_bytes = self.options.memory_bytes;
        let mut images: Vec<Images> = self
            .tables
            .iter()
            .map(|_| Images::new(keeps, directory.path(), memory_bytes))
            .collect();
        // Before any server is started: most refusals come from here.
        let (told, writer) = self.scan(&files, false, &mut |change| {
            images[change.table].take(&self.tables[change.table], change)
        })?;
        let private = Private::start(binary, &self.variables, directory)?;
        let mut rows = private.connect_for_rows()?;
        for table in &self.tables {
            private.make_schema(&table.name.schema)?;
            create(table, &private)?;
        }
        let mut counts = Vec::new();
        for (table, images) in self.tables.iter().zip(&mut images) {
            let query = select(table, clause);
            rows.run("START TRANSACTION")?;
            let writer_of_rows = RowsWriter::new(&mut rows, table, &table.name, self.source.flavor);
            let read = copy(&mut snapshot, &query, writer_of_rows, &private.refused())?;
            rows.run("COMMIT").map_err(private.refused())?;
            if let Some(writer) = &writer {
                apply(images, &mut rows, writer, &private.refused())?;
            }
            counts.push((read, images.len()));
        }
        drop(snapshot);
        if state == State::Then {
            drop_added(&self.tables, &told, &private)?;
        }
        Ok(Made {
            private,
            told,
            counts,
        })
    }

    /// The user's server.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Settings of a session on the private server that make it read as one on the user's does: the mode, and the
    /// offset of its clock at the moment.
    pub fn session_settings(&self) -> Result<String, FlashbackError> {
        let mut connection = self.source.open()?;
        let us = match &self.moment {
            Moment::Time(us) => (us / 1_000_000).to_string(),
            _ => "UNIX_TIMESTAMP()".to_owned(),
        };
        let query = format!(
            "SELECT CAST(TIMESTAMPDIFF(MINUTE, '1970-01-01 00:00:00' + INTERVAL {us} SECOND, FROM_UNIXTIME({us})) AS SIGNED), \
             @@SESSION.sql_mode"
        );
        let found: Option<(Option<i64>, String)> = connection.first(query)?;
        let (minutes, mode) = found.unwrap_or_default();
        let minutes = minutes.unwrap_or(0);
        let sign = if minutes < 0 { '-' } else { '+' };
        let (hours, minutes) = (minutes.abs() / 60, minutes.abs() % 60);
        Ok(format!(
            "SET SESSION time_zone = '{sign}{hours:02}:{minutes:02}', sql_mode = '{mode}'"
        ))
    }
}

/// The log may take hours to be read before the snapshot's rows are.
fn without_limits(flavor: Flavor) -> &'static str {
    match flavor {
        Flavor::Mysql => {
            "SET SESSION max_execution_time = 0, wait_timeout = 604800, net_write_timeout = 3600"
        }
        Flavor::Mariadb => {
            "SET SESSION max_statement_time = 0, wait_timeout = 604800, net_write_timeout = 3600, \
             idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0"
        }
    }
}

/// Whether the log has all that is needed.
fn check_log(
    connection: &mut Connection,
    variables: &Variables,
    tables: &[Table],
) -> Result<(), FlashbackError> {
    if !variables.is_on("log_bin") {
        return Err(FlashbackError::refused(
            "the server has no binary log (log_bin is OFF)",
            "nothing of the past is kept without it; restore a backup",
        ));
    }
    let mut status = None;
    for statement in ["SHOW BINARY LOG STATUS", "SHOW MASTER STATUS"] {
        if let Ok(row) = connection.first::<weir_mysql::Row>(statement) {
            status = row;
            break;
        }
    }
    let listed = |name: &str| {
        let list = status
            .as_ref()
            .and_then(|row| crate::table::named(row, name));
        let list = list.unwrap_or_default();
        list.split(',')
            .map(|schema| schema.trim().to_owned())
            .filter(|schema| !schema.is_empty())
            .collect::<Vec<_>>()
    };
    let (only, ignored) = (listed("Binlog_Do_DB"), listed("Binlog_Ignore_DB"));
    let left_out = tables
        .iter()
        .map(|table| &table.name.schema)
        .find(|schema| ignored.contains(schema) || (!only.is_empty() && !only.contains(schema)));
    match left_out {
        Some(schema) => Err(FlashbackError::refused(
            format!("the server does not log the schema {schema} (binlog_do_db, binlog_ignore_db)"),
            "nothing of its past is kept; restore a backup",
        )),
        None => Ok(()),
    }
}

/// Makes the table empty.
fn create(table: &Table, private: &Private) -> Result<(), FlashbackError> {
    let mut connection = private.connect(Some(&table.name.schema))?;
    connection.run(crate::private::TAKES_ALL)?;
    connection.run(&table.create).map_err(private.refused())?;
    Ok(())
}

/// Columns that were added since were not there.
fn drop_added(tables: &[Table], told: &Told, private: &Private) -> Result<(), FlashbackError> {
    for (table, added) in tables.iter().zip(&told.added) {
        for name in added {
            let mut connection = private.connect(None)?;
            connection.run(crate::private::TAKES_ALL)?;
            connection
                .run(format!(
                    "ALTER TABLE {} DROP COLUMN {}",
                    table.name.sql(),
                    weir_mysql::identifier(name)
                ))
                .map_err(private.refused())?;
        }
    }
    Ok(())
}
