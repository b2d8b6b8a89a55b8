//! Counters of a server: `SHOW GLOBAL STATUS` (MySQL manual, "Server Status Variables"; MariaDB
//! Knowledge Base, "Server Status Variables").

use std::collections::HashMap;
use std::time::Duration;

use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder};
use weir_model::{Address, Endpoint, Metric, metrics};

use crate::{Probe, ProbeError, Reading};

/// How long a server may take to answer before the sample is given up.
const PATIENCE: Duration = Duration::from_secs(2);

/// A metric and where a server has it.
struct Source {
    metric: Metric,
    variable: &'static str,
    /// What one of the server's units is in the metric's unit.
    factor: f64,
}

const fn source(metric: Metric, variable: &'static str) -> Source {
    Source {
        metric,
        variable,
        factor: 1.0,
    }
}

/// What both flavours have under the same name.
const COMMON: [Source; 10] = [
    source(metrics::STATUS_QUESTIONS, "Questions"),
    source(
        metrics::STATUS_POOL_READ_REQUESTS,
        "Innodb_buffer_pool_read_requests",
    ),
    source(metrics::STATUS_POOL_READS, "Innodb_buffer_pool_reads"),
    source(
        metrics::STATUS_POOL_PAGES_DIRTY,
        "Innodb_buffer_pool_pages_dirty",
    ),
    source(
        metrics::STATUS_POOL_PAGES_FLUSHED,
        "Innodb_buffer_pool_pages_flushed",
    ),
    source(metrics::STATUS_DATA_READ, "Innodb_data_read"),
    source(metrics::STATUS_DATA_WRITTEN, "Innodb_data_written"),
    source(metrics::STATUS_REDO_WRITTEN, "Innodb_os_log_written"),
    source(
        metrics::STATUS_DOUBLEWRITE_PAGES,
        "Innodb_dblwr_pages_written",
    ),
    Source {
        metric: metrics::STATUS_ROW_LOCK_TIME,
        variable: "Innodb_row_lock_time",
        // The server counts milliseconds.
        factor: 1e-3,
    },
];

/// `InnoDB`'s own row counters: MySQL, and MariaDB before 10.6.
const INNODB_ROWS: [Source; 4] = [
    source(metrics::STATUS_ROWS_INSERTED, "Innodb_rows_inserted"),
    source(metrics::STATUS_ROWS_UPDATED, "Innodb_rows_updated"),
    source(metrics::STATUS_ROWS_DELETED, "Innodb_rows_deleted"),
    source(metrics::STATUS_ROWS_READ, "Innodb_rows_read"),
];

/// MariaDB dropped those; its handler counters of changes leave internal temporary tables out
/// (`Handler_tmp_...` has them), so they say the same of a workload on `InnoDB`. Its counters of
/// reads include the scan that answers `SHOW STATUS` itself, so rows read stay a gap.
const HANDLER_ROWS: [Source; 3] = [
    source(metrics::STATUS_ROWS_INSERTED, "Handler_write"),
    source(metrics::STATUS_ROWS_UPDATED, "Handler_update"),
    source(metrics::STATUS_ROWS_DELETED, "Handler_delete"),
];

/// Only MariaDB has it: tells whose handler counters leave temporary tables out.
const MARIADB_MARK: &str = "Handler_tmp_write";

/// Reads a server's status counters over a connection of its own.
#[derive(Debug)]
pub struct StatusProbe {
    options: Opts,
    statement: String,
    connection: Option<Conn>,
}

impl StatusProbe {
    /// The server at `endpoint`; it is connected to at the first sample, and again after a failure.
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            options: connection_options(endpoint).into(),
            statement: statement(),
            connection: None,
        }
    }

    fn read(&mut self) -> Result<HashMap<String, String>, mysql::Error> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            None => self.connection.insert(Conn::new(self.options.clone())?),
        };
        let rows: Vec<(String, String)> = connection.query(&self.statement)?;
        Ok(rows.into_iter().collect())
    }
}

impl Probe for StatusProbe {
    fn name(&self) -> &'static str {
        "server status"
    }

    fn sample(&mut self) -> Result<Vec<Reading>, ProbeError> {
        match self.read() {
            Ok(status) => Ok(readings(&status)),
            Err(error) => {
                // An answer that comes after all would be taken for the next one's.
                self.connection = None;
                Err(ProbeError::status(error))
            }
        }
    }
}

fn connection_options(endpoint: Endpoint) -> OptsBuilder {
    let options = OptsBuilder::new()
        .user(Some(endpoint.user))
        .pass(Some(endpoint.password.reveal()))
        .read_timeout(Some(PATIENCE))
        .write_timeout(Some(PATIENCE))
        // A look-up of the socket's path would be one more statement in the server's counters.
        .prefer_socket(false);
    match endpoint.address {
        Address::Socket(path) => options.socket(path.to_str()),
        Address::Tcp(host, port) => options
            .ip_or_hostname(Some(host))
            .tcp_port(port)
            .tcp_connect_timeout(Some(PATIENCE)),
    }
}

/// Asks for the few counters only: a third of the time of the whole list.
fn statement() -> String {
    let names: Vec<String> = COMMON
        .iter()
        .chain(&INNODB_ROWS)
        .chain(&HANDLER_ROWS)
        .map(|source| source.variable)
        .chain([MARIADB_MARK])
        .map(|name| format!("'{name}'"))
        .collect();
    format!(
        "SHOW GLOBAL STATUS WHERE Variable_name IN ({})",
        names.join(", ")
    )
}

fn readings(status: &HashMap<String, String>) -> Vec<Reading> {
    let rows: &[Source] = if status.contains_key(INNODB_ROWS[0].variable) {
        &INNODB_ROWS
    } else if status.contains_key(MARIADB_MARK) {
        &HANDLER_ROWS
    } else {
        &[]
    };
    COMMON
        .iter()
        .chain(rows)
        .filter_map(|source| {
            let value: f64 = status.get(source.variable)?.parse().ok()?;
            Some((source.metric, value * source.factor))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(pairs: &[(&str, &str)]) -> HashMap<String, String> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn a_counter_that_is_missing_or_no_number_is_left_out() {
        let found = readings(&status(&[
            ("Questions", "12"),
            ("Innodb_row_lock_time", "1500"),
            ("Innodb_buffer_pool_reads", "many"),
        ]));
        assert_eq!(
            found,
            [
                (metrics::STATUS_QUESTIONS, 12.0),
                (metrics::STATUS_ROW_LOCK_TIME, 1.5)
            ]
        );
    }

    #[test]
    fn rows_are_taken_from_the_handlers_only_where_these_leave_temporary_tables_out() {
        let handlers = [("Handler_write", "7"), ("Handler_tmp_write", "9")];
        assert_eq!(
            readings(&status(&handlers)),
            [(metrics::STATUS_ROWS_INSERTED, 7.0)]
        );
        assert_eq!(readings(&status(&handlers[..1])), []);
        let both = [("Handler_write", "7"), ("Innodb_rows_inserted", "3")];
        assert_eq!(
            readings(&status(&both)),
            [(metrics::STATUS_ROWS_INSERTED, 3.0)]
        );
    }
}
