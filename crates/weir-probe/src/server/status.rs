//! Counters of a server: `SHOW GLOBAL STATUS` (MySQL manual, "Server Status Variables"; MariaDB
//! Knowledge Base, "Server Status Variables").

use std::collections::HashMap;

use weir_model::{Metric, metrics};
use weir_mysql::Connection;

use super::{number, rows, text};
use crate::probe_parts::Part;
use crate::{ProbeError, Readings};

/// Metrics, each with the variable that has it; a flavour has one of two with the same metric.
const VARIABLES: [(Metric, &str); 45] = [
    (metrics::STATUS_QUESTIONS, "Questions"),
    (metrics::STATUS_THREADS_CONNECTED, "Threads_connected"),
    (metrics::STATUS_THREADS_RUNNING, "Threads_running"),
    (metrics::STATUS_RECEIVED, "Bytes_received"),
    (metrics::STATUS_SENT, "Bytes_sent"),
    (
        metrics::STATUS_TEMPORARY_TABLES_ON_DISK,
        "Created_tmp_disk_tables",
    ),
    (metrics::STATUS_ROWS_INSERTED, "Innodb_rows_inserted"),
    (metrics::STATUS_ROWS_UPDATED, "Innodb_rows_updated"),
    (metrics::STATUS_ROWS_DELETED, "Innodb_rows_deleted"),
    (metrics::STATUS_ROWS_READ, "Innodb_rows_read"),
    (
        metrics::STATUS_POOL_READ_REQUESTS,
        "Innodb_buffer_pool_read_requests",
    ),
    (metrics::STATUS_POOL_READS, "Innodb_buffer_pool_reads"),
    (
        metrics::STATUS_POOL_WRITE_REQUESTS,
        "Innodb_buffer_pool_write_requests",
    ),
    (
        metrics::STATUS_POOL_READ_AHEAD,
        "Innodb_buffer_pool_read_ahead",
    ),
    (
        metrics::STATUS_POOL_READ_AHEAD_EVICTED,
        "Innodb_buffer_pool_read_ahead_evicted",
    ),
    (
        metrics::STATUS_POOL_WAIT_FREE,
        "Innodb_buffer_pool_wait_free",
    ),
    (
        metrics::STATUS_POOL_PAGES_TOTAL,
        "Innodb_buffer_pool_pages_total",
    ),
    (
        metrics::STATUS_POOL_PAGES_DATA,
        "Innodb_buffer_pool_pages_data",
    ),
    (
        metrics::STATUS_POOL_PAGES_FREE,
        "Innodb_buffer_pool_pages_free",
    ),
    (
        metrics::STATUS_POOL_PAGES_DIRTY,
        "Innodb_buffer_pool_pages_dirty",
    ),
    (
        metrics::STATUS_POOL_PAGES_FLUSHED,
        "Innodb_buffer_pool_pages_flushed",
    ),
    (metrics::STATUS_PAGES_CREATED, "Innodb_pages_created"),
    (metrics::STATUS_PAGES_READ, "Innodb_pages_read"),
    (metrics::STATUS_PAGES_WRITTEN, "Innodb_pages_written"),
    (metrics::STATUS_DATA_READ, "Innodb_data_read"),
    (metrics::STATUS_DATA_WRITTEN, "Innodb_data_written"),
    (metrics::STATUS_DATA_READS, "Innodb_data_reads"),
    (metrics::STATUS_DATA_WRITES, "Innodb_data_writes"),
    (metrics::STATUS_DATA_SYNCS, "Innodb_data_fsyncs"),
    (
        metrics::STATUS_DATA_PENDING_READS,
        "Innodb_data_pending_reads",
    ),
    (
        metrics::STATUS_DATA_PENDING_WRITES,
        "Innodb_data_pending_writes",
    ),
    (
        metrics::STATUS_DATA_PENDING_SYNCS,
        "Innodb_data_pending_fsyncs",
    ),
    (
        metrics::STATUS_DOUBLEWRITE_PAGES,
        "Innodb_dblwr_pages_written",
    ),
    (metrics::STATUS_DOUBLEWRITE_WRITES, "Innodb_dblwr_writes"),
    (metrics::STATUS_REDO_WRITTEN, "Innodb_os_log_written"),
    (metrics::STATUS_REDO_WRITES, "Innodb_log_writes"),
    (
        metrics::STATUS_REDO_WRITE_REQUESTS,
        "Innodb_log_write_requests",
    ),
    (metrics::STATUS_REDO_SYNCS, "Innodb_os_log_fsyncs"),
    (metrics::STATUS_REDO_WAITS, "Innodb_log_waits"),
    (metrics::STATUS_REDO_LSN, CURRENT_LSN),
    (metrics::STATUS_REDO_LSN, "Innodb_lsn_current"),
    (metrics::STATUS_CHECKPOINT_AGE, "Innodb_checkpoint_age"),
    (metrics::STATUS_ROW_LOCK_WAITS, "Innodb_row_lock_waits"),
    (
        metrics::STATUS_ROW_LOCKS_WAITING,
        "Innodb_row_lock_current_waits",
    ),
    (metrics::STATUS_ROW_LOCK_TIME, "Innodb_row_lock_time"),
];

/// MariaDB dropped InnoDB's own row counters in 10.6; its handler counters of changes leave internal
/// temporary tables out (`Handler_tmp_...` has them), so they say the same of a workload on
/// `InnoDB`. Its counters of reads include the scan that answers `SHOW STATUS` itself, so rows
/// read stay a gap.
const HANDLER_ROWS: [(Metric, &str); 3] = [
    (metrics::STATUS_ROWS_INSERTED, "Handler_write"),
    (metrics::STATUS_ROWS_UPDATED, "Handler_update"),
    (metrics::STATUS_ROWS_DELETED, "Handler_delete"),
];

/// Only MariaDB has it: tells whose handler counters leave temporary tables out.
const MARIADB_MARK: &str = "Handler_tmp_write";

/// The last of `InnoDB`'s own row counters; where it is, the handler's are not needed.
const INNODB_ROWS: &str = "Innodb_rows_deleted";

/// MySQL tells where the redo log ends and where the checkpoint is, MariaDB their difference.
const CURRENT_LSN: &str = "Innodb_redo_log_current_lsn";
const CHECKPOINT_LSN: &str = "Innodb_redo_log_checkpoint_lsn";

/// The few counters of the server's list that are metrics: a third of the time of all of them.
#[derive(Debug)]
pub(super) struct Status {
    statement: String,
    metrics: HashMap<&'static str, Metric>,
}

impl Default for Status {
    fn default() -> Self {
        let handler = HANDLER_ROWS.iter().map(|(_, variable)| *variable);
        let names: Vec<_> = VARIABLES
            .iter()
            .map(|(_, variable)| *variable)
            .chain(handler)
            .chain([MARIADB_MARK, CHECKPOINT_LSN])
            .map(|name| format!("'{name}'"))
            .collect();
        Self {
            statement: format!(
                "SHOW GLOBAL STATUS WHERE Variable_name IN ({})",
                names.join(", ")
            ),
            metrics: VARIABLES
                .iter()
                .map(|(metric, name)| (*name, *metric))
                .collect(),
        }
    }
}

impl Part<Connection> for Status {
    fn name(&self) -> &'static str {
        "SHOW GLOBAL STATUS"
    }

    fn read(
        &mut self,
        connection: &mut Connection,
        readings: &mut Readings,
    ) -> Result<(), ProbeError> {
        let rows = rows(connection, &self.statement)?;
        let status = rows
            .iter()
            .filter_map(|row| Some((text(row, 0)?, number(row, 1)?)));
        self.add(status, readings);
        Ok(())
    }
}

impl Status {
    fn add<'a>(&self, status: impl Iterator<Item = (&'a str, f64)>, readings: &mut Readings) {
        let mut handler = [None; HANDLER_ROWS.len()];
        let (mut is_mariadb, mut has_rows) = (false, false);
        let (mut current, mut checkpoint) = (None, None);
        for (name, value) in status {
            match name {
                MARIADB_MARK => is_mariadb = true,
                CHECKPOINT_LSN => checkpoint = Some(value),
                CURRENT_LSN => current = Some(value),
                INNODB_ROWS => has_rows = true,
                _ => {}
            }
            if let Some(metric) = self.metrics.get(name) {
                readings.add(*metric, value * factor(*metric));
            } else if let Some(at) = HANDLER_ROWS.iter().position(|(_, of)| *of == name) {
                handler[at] = Some(value);
            }
        }
        if is_mariadb && !has_rows {
            for ((metric, _), value) in HANDLER_ROWS.into_iter().zip(handler) {
                readings.add(metric, value.unwrap_or(f64::NAN));
            }
        }
        if let (Some(current), Some(checkpoint)) = (current, checkpoint) {
            readings.add(metrics::STATUS_CHECKPOINT_AGE, current - checkpoint);
        }
    }
}

/// Returns the factor from the server's unit to the metric's: its times are milliseconds.
fn factor(metric: Metric) -> f64 {
    if metric.unit == "s" { 1e-3 } else { 1.0 }
}

/// The variables that a metric is read from, for its description.
pub(crate) fn variables_of(metric: Metric) -> impl Iterator<Item = &'static str> {
    let all = VARIABLES.iter().chain(&HANDLER_ROWS);
    all.filter(move |(of, _)| of.name == metric.name)
        .map(|(_, variable)| *variable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(status: &[(&str, f64)]) -> Readings {
        let mut readings = Readings::default();
        Status::default().add(status.iter().copied(), &mut readings);
        readings
    }

    #[test]
    fn lock_time_is_in_seconds_and_unknown_variables_are_left_out() {
        let readings = read(&[("Innodb_row_lock_time", 1500.0), ("Uptime", 7.0)]);
        assert_eq!(readings.value(metrics::STATUS_ROW_LOCK_TIME), Some(1.5));
        assert_eq!(readings.pending().count(), 1);
    }

    #[test]
    fn handler_counters_count_only_where_they_leave_temporary_tables_out() {
        let handler = [("Handler_write", 7.0), ("Handler_tmp_write", 9.0)];
        let rows = |status| read(status).value(metrics::STATUS_ROWS_INSERTED);
        assert_eq!(rows(&handler), Some(7.0));
        assert_eq!(rows(&handler[..1]), None);
        let both = [
            handler[0],
            handler[1],
            ("Innodb_rows_inserted", 3.0),
            ("Innodb_rows_deleted", 0.0),
        ];
        assert_eq!(rows(&both), Some(3.0));
    }

    #[test]
    fn the_age_of_the_checkpoint_is_the_same_in_both_flavours() {
        let age = |status| read(status).value(metrics::STATUS_CHECKPOINT_AGE);
        let mysql = [(CURRENT_LSN, 500.0), (CHECKPOINT_LSN, 180.0)];
        assert_eq!(age(&mysql), Some(320.0));
        assert_eq!(read(&mysql).value(metrics::STATUS_REDO_LSN), Some(500.0));
        assert_eq!(age(&[("Innodb_checkpoint_age", 320.0)]), Some(320.0));
        assert_eq!(age(&mysql[..1]), None);
    }
}
