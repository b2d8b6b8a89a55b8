//! File I/O by kind of file, as the server times it: `performance_schema.file_summary_by_event_name`
//! (MySQL manual, "File I/O Summary Tables"). MariaDB's is empty unless `performance_schema = ON`.

use weir_model::{FileKind, Metric, metrics};
use weir_mysql::{Connection, Row};

use super::{number, rows, text};
use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

/// Files whose traffic a DBA asks for, by the server's names. InnoDB does not tell its undo
/// tablespaces from its data.
const EVENTS: [(&str, FileKind); 7] = [
    ("wait/io/file/innodb/innodb_log_file", FileKind::Redo),
    (
        "wait/io/file/innodb/innodb_dblwr_file",
        FileKind::Doublewrite,
    ),
    ("wait/io/file/innodb/innodb_data_file", FileKind::Data),
    ("wait/io/file/innodb/innodb_temp_file", FileKind::Temporary),
    ("wait/io/file/sql/binlog", FileKind::Binlog),
    ("wait/io/file/sql/binlog_index", FileKind::Binlog),
    ("wait/io/file/sql/relaylog", FileKind::Binlog),
];

/// Column -> metric and factor; the table's times are picoseconds.
const COLUMNS: [(&str, Metric, f64); 8] = [
    ("COUNT_READ", metrics::FILE_READS, 1.0),
    ("SUM_NUMBER_OF_BYTES_READ", metrics::FILE_READ_BYTES, 1.0),
    ("SUM_TIMER_READ", metrics::FILE_READ_TIME, 1e-12),
    ("COUNT_WRITE", metrics::FILE_WRITES, 1.0),
    ("SUM_NUMBER_OF_BYTES_WRITE", metrics::FILE_WRITE_BYTES, 1.0),
    ("SUM_TIMER_WRITE", metrics::FILE_WRITE_TIME, 1e-12),
    ("COUNT_MISC", metrics::FILE_SYNCS, 1.0),
    ("SUM_TIMER_MISC", metrics::FILE_SYNC_TIME, 1e-12),
];

/// File I/O by kind of file.
#[derive(Debug)]
pub(super) struct FileIo {
    statement: String,
}

impl Default for FileIo {
    fn default() -> Self {
        let columns = COLUMNS.map(|(column, ..)| column).join(", ");
        let events = EVENTS.map(|(event, _)| format!("'{event}'")).join(", ");
        Self {
            statement: format!(
                "SELECT EVENT_NAME, {columns} \
                 FROM performance_schema.file_summary_by_event_name WHERE EVENT_NAME IN ({events})"
            ),
        }
    }
}

impl Part<Connection> for FileIo {
    fn name(&self) -> &'static str {
        "performance_schema file I/O"
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        // By kind, in the order of `FileKind::ALL`; of a kind without a row nothing is known.
        let mut sums = [None::<[f64; COLUMNS.len()]>; FileKind::ALL.len()];
        for row in rows(connection, &self.statement)? {
            if let Some(kind) = text(&row, 0).and_then(kind) {
                add_row(&row, sums[kind.index()].get_or_insert_default());
            }
        }
        for (kind, sums) in FileKind::ALL.into_iter().zip(sums) {
            for ((_, metric, factor), sum) in COLUMNS.into_iter().zip(sums.into_iter().flatten()) {
                readings.add_of(metric, kind.name(), sum * factor);
            }
        }
        Ok(())
    }
}

fn kind(event: &str) -> Option<FileKind> {
    let (_, kind) = EVENTS.into_iter().find(|(name, _)| *name == event)?;
    Some(kind)
}

fn add_row(row: &Row, sums: &mut [f64]) {
    for (sum, column) in sums.iter_mut().zip(1..) {
        *sum += number(row, column).unwrap_or(0.0);
    }
}
