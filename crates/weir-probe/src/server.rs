//! A server's own counters, read over one connection with prepared statements.
//!
//! Each part is one table or statement of the server. What the account may not read, or what this
//! server does not have, is named once; the rest goes on. A server that does not answer costs its
//! samples and at most [`PATIENCE`], never the run.

mod buffer_pool;
mod file_io;
mod innodb_metrics;
mod login;
mod ping;
mod replica;
mod replication;
mod status;
mod waits;

use std::time::Duration;

use weir_model::Endpoint;
use weir_mysql::{Connection, Row, Value};

use crate::probe_parts::{Part, Parts};
use crate::{Probe, ProbeError, Readings};

use login::Login;
pub use replica::ReplicaProbe;
pub(crate) use status::variables_of;

/// Time that a server may take to answer before the sample is given up: later it would be of
/// another second.
const PATIENCE: Duration = Duration::from_secs(1);

/// Reads a server's counters over a connection of its own.
#[derive(Debug)]
pub struct ServerProbe {
    login: Login,
    parts: Parts<Connection>,
}

impl ServerProbe {
    /// The server at `endpoint`; it is connected to at the first sample, and again after a failure.
    pub fn new(endpoint: Endpoint) -> Self {
        let parts: Vec<Box<dyn Part<Connection>>> = vec![
            Box::new(ping::Ping),
            Box::new(status::Status::default()),
            Box::new(innodb_metrics::InnodbMetrics),
            Box::new(buffer_pool::BufferPool),
            Box::new(file_io::FileIo::default()),
            Box::new(waits::Waits::default()),
            Box::new(replication::Replication::default()),
        ];
        Self {
            login: Login::new(endpoint),
            parts: Parts::new(parts),
        }
    }
}

impl Probe for ServerProbe {
    fn name(&self) -> &'static str {
        "server status"
    }

    fn sample(&mut self, readings: &mut Readings) -> Result<(), ProbeError> {
        let parts = &mut self.parts;
        self.login
            .read(|connection| parts.read(connection, readings, is_refused))
    }
}

/// Returns true if the server will never answer this. The account may not ask (1044, 1142, 1143,
/// 1227, 1370), or there is no such thing (1054, 1064, 1109, 1146, 1193, 1235, 1295). Numbers:
/// MySQL error reference; MariaDB has the same.
fn is_refused(error: &ProbeError) -> bool {
    const CODES: [u16; 12] = [
        1044, 1054, 1064, 1109, 1142, 1143, 1146, 1193, 1227, 1235, 1295, 1370,
    ];
    let ProbeError::Server { source } = error else {
        return false;
    };
    source.code().is_some_and(|code| CODES.contains(&code))
}

/// All rows of a statement, which is prepared when the connection first meets it.
fn rows(connection: &mut Connection, statement: &str) -> Result<Vec<Row>, ProbeError> {
    connection
        .execute(statement, ())
        .map_err(ProbeError::server)
}

/// A column as text.
fn text(row: &Row, column: usize) -> Option<&str> {
    match row.as_ref(column)? {
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// A column as a number, whatever type the server gave it.
fn number(row: &Row, column: usize) -> Option<f64> {
    match row.as_ref(column)? {
        Value::Bytes(bytes) => std::str::from_utf8(bytes).ok()?.parse().ok(),
        Value::Int(value) => Some(*value as f64),
        Value::UInt(value) => Some(*value as f64),
        Value::Float(value) => Some(f64::from(*value)),
        Value::Double(value) => Some(*value),
        _ => None,
    }
}
