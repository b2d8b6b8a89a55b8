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

use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_model::{Flavor, ServerVersion};
use weir_mysql::Connection;
use weir_mysql::binlog::{EventWriter, LogReader};
use weir_process::WorkDirectory;
use weir_server::ServerBinary;

use crate::change::Change;
use crate::copy::{READS_BYTES, RowsWriter, copy, select};
use crate::events::apply;
use crate::findings::LogFindings;
use crate::images::{Images, MEMORY_BYTES};
use crate::log_files::{LogFiles, free_server_id, open};
use crate::moment::{Cut, Moment, MomentRequest};
use crate::pace::Pace;
use crate::private::Private;
use crate::scan::Scan;
use crate::settled::SnapshotPlace;
use crate::source::Variables;
use crate::{FlashbackError, Source, Stop, Table, TableName};

/// Isolation and reading of a snapshot: it is held for as long as the tables take to be read.
const SNAPSHOT: [&str; 2] = [
    "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
];

/// Snapshots that are taken more if tables without a key change meanwhile, and the pause between the first two.
const SNAPSHOTS: u32 = 20;
const PAUSE: Duration = Duration::from_millis(20);

/// Options of a flashback.
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
    /// When to stop.
    pub stop: Stop,
}

impl Options {
    /// As fast as it goes, in the directory for temporary files.
    pub fn new(work: PathBuf) -> Self {
        Self {
            ignore_cascades: false,
            bytes_per_s: None,
            work,
            memory_bytes: MEMORY_BYTES,
            stop: Stop::default(),
        }
    }
}

/// Facts that are known before the log is read.
#[derive(Debug)]
pub struct FlashbackPlan {
    source: Source,
    pub(crate) variables: Variables,
    /// The tables that are asked for.
    pub tables: Vec<Table>,
    /// The moment.
    pub moment: Moment,
    server_id: u32,
    pub(crate) options: Options,
}

/// State of a table to read, and with it the part of the log that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// The table as of the moment.
    Then,
    /// The table as it is, of which the log is not read.
    Now,
}

/// A snapshot, and what the log has of the time since the moment.
struct SnapshotAndLog {
    state: State,
    snapshot: Connection,
    images: Vec<Images>,
    told: LogFindings,
    writer: Option<EventWriter>,
}

/// A made flashback.
#[derive(Debug)]
pub struct BuiltFlashback {
    /// The private server with the tables.
    pub private: Private,
    /// Findings in the log.
    pub told: LogFindings,
    /// Of each table.
    pub counts: Counts,
}

/// Of each table: rows of the snapshot that were read, keys that changed since.
pub type Counts = Vec<(u64, usize)>;

impl FlashbackPlan {
    /// Looks whether the past of these tables can be told.
    ///
    /// # Errors
    ///
    /// What stands in the way, with a remedy.
    pub fn new(
        source: &Source,
        names: &[TableName],
        asked: &MomentRequest,
        options: Options,
    ) -> Result<Self, FlashbackError> {
        let mut connection = source.open()?;
        let variables = Variables::read(&mut connection)?;
        let mut tables: Vec<Table> = Vec::with_capacity(names.len());
        for name in names {
            let table = Table::read(
                &mut connection,
                source,
                &variables,
                name,
                options.ignore_cascades,
            );
            let table = table?;
            // Two names may be one to the server.
            if !tables.iter().any(|known| known.name == table.name) {
                tables.push(table);
            }
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

    /// Returns true if the server answers by itself: all tables keep their own past.
    pub fn is_versioned(&self) -> bool {
        self.tables.iter().all(|table| table.is_versioned)
    }

    /// Reads the log from the moment to its end; each change of a row goes to `on_change`.
    ///
    /// # Errors
    ///
    /// A log that cannot be read, a past that is unknown, or the error of `on_change`.
    pub fn changes(
        &self,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<LogFindings, FlashbackError> {
        Ok(self.scan_all(false, on_change)?.0)
    }

    /// As [`Prepared::changes`], for reading only: what makes the past unknown is listed and passed over.
    ///
    /// # Errors
    ///
    /// A log that cannot be read, or the error of `on_change`.
    pub fn known_changes(
        &self,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<LogFindings, FlashbackError> {
        Ok(self.scan_all(true, on_change)?.0)
    }

    pub(crate) fn scan_all(
        &self,
        is_lenient: bool,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(LogFindings, Option<EventWriter>), FlashbackError> {
        for table in &self.tables {
            table.check_key()?;
        }
        let files = self.log_files()?;
        self.scan(&files, files.end(), is_lenient, on_change)
    }

    /// The bytes of log between the moment's file and the end.
    ///
    /// # Errors
    ///
    /// A server that does not list its logs.
    pub fn log_bytes(&self) -> Result<u64, FlashbackError> {
        let files = self.log_files()?;
        let from = files.before(&self.moment, &self.source, self.server_id)?;
        Ok(files.bytes_from(&from))
    }

    fn log_files(&self) -> Result<LogFiles, FlashbackError> {
        LogFiles::list(&mut self.source.open()?)
    }

    /// Reads the log from the moment to its `end`.
    fn scan(
        &self,
        files: &LogFiles,
        end: (String, u64),
        is_lenient: bool,
        on_change: &mut dyn FnMut(&Change<'_>) -> Result<(), FlashbackError>,
    ) -> Result<(LogFindings, Option<EventWriter>), FlashbackError> {
        let from = files.before(&self.moment, &self.source, self.server_id)?;
        let log = open(&self.source, &from, self.server_id)?;
        let mut reader = LogReader::new(log);
        let cut = Cut::new(self.moment.clone(), files.names());
        let mut scan = Scan::new(&self.tables, cut);
        scan.end = Some(end);
        scan.pace = Pace::new(self.options.bytes_per_s);
        scan.stop = self.options.stop;
        scan.name_case = self.variables.name_case();
        scan.is_lenient = is_lenient;
        let told = scan.run(&mut reader, on_change)?;
        Ok((told, reader.format().cloned().map(EventWriter::new)))
    }

    /// Starts a private server without tables.
    ///
    /// # Errors
    ///
    /// A directory that cannot be made, or a server that does not start.
    pub fn start_private(&self, binary: &ServerBinary) -> Result<Private, FlashbackError> {
        let directory = WorkDirectory::create(&self.options.work, "flashback")?;
        Private::start(binary, &self.variables, directory, self.options.stop)
    }

    /// Makes the tables on a private server. `clause`: what is added to the query that reads the snapshot of the only
    /// table, as in ` WHERE id < 5`.
    ///
    /// # Errors
    ///
    /// A private server that does not start, or tables that cannot be made on it.
    pub fn make(
        &self,
        binary: &ServerBinary,
        state: State,
        clause: &str,
    ) -> Result<BuiltFlashback, FlashbackError> {
        let directory = WorkDirectory::create(&self.options.work, "flashback")?;
        // Before any server is started: most refusals come from here.
        let read = self.read(state, directory.path())?;
        let private = Private::start(binary, &self.variables, directory, self.options.stop)?;
        let (told, counts) = self.fill(&private, read, clause)?;
        Ok(BuiltFlashback {
            private,
            told,
            counts,
        })
    }

    /// As [`Prepared::make`], on a private server that has served already: its schemas are removed first.
    /// Returns what the log told, and the counts of [`BuiltFlashback`].
    ///
    /// # Errors
    ///
    /// As [`Prepared::make`]; the private server can serve again.
    pub fn make_on(
        &self,
        private: &Private,
        state: State,
        clause: &str,
    ) -> Result<(LogFindings, Counts), FlashbackError> {
        let read = self.read(state, &self.options.work)?;
        private.clear()?;
        self.fill(private, read, clause)
    }

    /// Makes the tables as they were of what was read.
    fn fill(
        &self,
        private: &Private,
        read: SnapshotAndLog,
        clause: &str,
    ) -> Result<(LogFindings, Counts), FlashbackError> {
        let SnapshotAndLog {
            state,
            mut snapshot,
            mut images,
            told,
            writer,
        } = read;
        let stop = self.options.stop;
        let mut rows = private.connect_for_rows()?;
        let tables = match state {
            State::Then => self.tables.iter().map(Table::with_plain_columns).collect(),
            // Statements may change it.
            State::Now => self.tables.clone(),
        };
        for table in &tables {
            private.make_schema(&table.name.schema)?;
            create(table, private)?;
        }
        let mut counts = Vec::new();
        for (table, images) in tables.iter().zip(&mut images) {
            let read = self.copy_snapshot(&mut snapshot, table, clause, &mut rows, private)?;
            if let Some(writer) = &writer {
                let is_keyless = table.is_keyless;
                private.be_strict(&mut rows, is_keyless)?;
                apply(
                    images,
                    &mut rows,
                    writer,
                    is_keyless,
                    stop,
                    &private.refused(),
                )?;
            }
            counts.push((read, images.len()));
        }
        drop(snapshot);
        drop_added(&self.tables, &told, private)?;
        Ok((told, counts))
    }

    /// Opens a snapshot and reads the log; more than once if it is not known where in the log the snapshot lies.
    fn read(&self, state: State, directory: &Path) -> Result<SnapshotAndLog, FlashbackError> {
        let mut tries = 0;
        loop {
            match self.read_once(state, directory) {
                Err(FlashbackError::Unsettled { .. }) if tries < SNAPSHOTS => {
                    tries += 1;
                    self.options.stop.sleep(tries * PAUSE);
                }
                read => return read,
            }
        }
    }

    fn read_once(&self, state: State, directory: &Path) -> Result<SnapshotAndLog, FlashbackError> {
        let (snapshot, settled) = self.open_snapshot(state)?;
        let memory_bytes = self.options.memory_bytes;
        let tables = self.tables.iter();
        let mut images: Vec<Images> = tables
            .map(|_| Images::new(directory, memory_bytes))
            .collect();
        if state == State::Now {
            let (told, writer) = (LogFindings::default(), None);
            return Ok(SnapshotAndLog {
                state,
                snapshot,
                images,
                told,
                writer,
            });
        }
        // The end of the log is asked for only now: what the snapshot shows lies before it.
        let files = self.log_files()?;
        let end = match &settled {
            Some(SnapshotPlace::At(file, position)) => (file.clone(), *position),
            _ => files.end(),
        };
        let (told, writer) = self.scan(&files, end, false, &mut |change| {
            let table = &self.tables[change.table];
            let gtid = change.transaction.start.gtid.as_ref();
            let is_settled = settled.as_ref().is_none_or(|settled| settled.has(gtid));
            if table.is_keyless && !is_settled {
                return Err(FlashbackError::Unsettled {
                    table: table.name.to_string(),
                    transaction: change.transaction.name(),
                });
            }
            images[change.table].take(table, change)
        })?;
        Ok(SnapshotAndLog {
            state,
            snapshot,
            images,
            told,
            writer,
        })
    }

    /// A connection that shows all tables at one moment, for as long as they take to be read, and where in the log that
    /// moment is, if a table needs to know.
    pub(crate) fn open_snapshot(
        &self,
        state: State,
    ) -> Result<(Connection, Option<SnapshotPlace>), FlashbackError> {
        let flavor = self.source.flavor;
        let mut snapshot = self.source.open_patient()?;
        snapshot.run(READS_BYTES)?;
        for statement in without_limits(flavor, &snapshot) {
            snapshot.run(statement)?;
        }
        let is_exact = state == State::Then && self.tables.iter().any(|table| table.is_keyless);
        let before = if is_exact {
            SnapshotPlace::before(&mut snapshot, flavor)?
        } else {
            None
        };
        for statement in SNAPSHOT {
            snapshot.run(statement)?;
        }
        let settled = match before {
            None if is_exact => Some(SnapshotPlace::within(&mut snapshot)?),
            before => before,
        };
        Ok((snapshot, settled))
    }

    /// Copies the rows of a table as the snapshot shows them; their number.
    pub(crate) fn copy_snapshot(
        &self,
        snapshot: &mut Connection,
        table: &Table,
        clause: &str,
        rows: &mut Connection,
        private: &Private,
    ) -> Result<u64, FlashbackError> {
        // Rows without a key are counted, and all of them.
        let clause = if table.is_keyless { "" } else { clause };
        let query = select(table, clause);
        rows.run("START TRANSACTION")?;
        let writer = RowsWriter::new(rows, table, &table.name, self.source.flavor);
        let reading = snapshot.id();
        let end = || self.source.end(reading);
        let stop = self.options.stop;
        let read = stop.during(end, || copy(snapshot, &query, writer, &private.refused()));
        stop.check()?;
        let read = read?;
        rows.run("COMMIT").map_err(private.refused())?;
        Ok(read)
    }

    /// When to stop.
    pub fn stop(&self) -> Stop {
        self.options.stop
    }

    /// The user's server.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Settings of a session on the private server that make it read as one on the user's does: the mode, and the
    /// offset of its clock at the moment.
    ///
    /// # Errors
    ///
    /// A server that is gone.
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
fn without_limits(flavor: Flavor, connection: &Connection) -> Vec<&'static str> {
    const IDLE: &str =
        "SET SESSION idle_transaction_timeout = 0, idle_readonly_transaction_timeout = 0";
    let version = ServerVersion::from_greeting(connection.version()).map(|(_, version)| version);
    let has_idle = version.is_none_or(|version| version >= ServerVersion::new(10, 3, 0));
    match flavor {
        Flavor::Mysql => vec![
            "SET SESSION max_execution_time = 0, wait_timeout = 604800, net_write_timeout = 3600",
        ],
        Flavor::Mariadb => {
            ["SET SESSION max_statement_time = 0, wait_timeout = 604800, net_write_timeout = 3600"]
                .into_iter()
                .chain(has_idle.then_some(IDLE))
                .collect()
        }
    }
}

/// Checks that the log has all that is needed.
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
pub(crate) fn create(table: &Table, private: &Private) -> Result<(), FlashbackError> {
    let mut connection = private.connect(Some(&table.name.schema))?;
    connection.run(crate::private::TAKES_ALL)?;
    connection.run(&table.create).map_err(private.refused())?;
    Ok(())
}

/// Columns that were added since were not there.
fn drop_added(
    tables: &[Table],
    told: &LogFindings,
    private: &Private,
) -> Result<(), FlashbackError> {
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
