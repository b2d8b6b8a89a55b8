//! The control plane: ordinary statements outside the measurement, through the `mysql` crate.

use std::error::Error as _;
use std::io::ErrorKind;
use std::time::Duration;

use mysql::prelude::Queryable as _;
use mysql::{Conn, OptsBuilder};
use weir_model::{Address, Endpoint};

use crate::LoadError;

/// A connection for control statements.
pub(crate) struct Control<'a> {
    connection: Conn,
    endpoint: &'a Endpoint,
    timeout: Option<Duration>,
}

impl<'a> Control<'a> {
    /// Connects; `use_database`: to the endpoint's schema, which must exist; `timeout`: longest
    /// wait for an answer.
    pub(crate) fn connect(
        endpoint: &'a Endpoint,
        use_database: bool,
        timeout: Option<Duration>,
    ) -> Result<Self, LoadError> {
        let options = OptsBuilder::new()
            .user(Some(&endpoint.user))
            .pass(Some(endpoint.password.reveal()))
            .db_name(use_database.then_some(&endpoint.database))
            // Otherwise a TCP connection to this host would be replaced by one to a socket.
            .prefer_socket(false)
            .read_timeout(timeout)
            .write_timeout(timeout);
        let options = match &endpoint.address {
            Address::Socket(path) => options.socket(Some(path.to_string_lossy())),
            Address::Tcp(host, port) => options
                .ip_or_hostname(Some(host))
                .tcp_port(*port)
                .tcp_connect_timeout(Some(timeout.unwrap_or(CONNECT_TIMEOUT))),
        };
        let connection = Conn::new(options).map_err(|error| LoadError::Connect {
            address: endpoint.address.to_string(),
            why: words(&error, timeout),
        })?;
        Ok(Self {
            connection,
            endpoint,
            timeout,
        })
    }

    /// Runs a statement.
    pub(crate) fn run(&mut self, sql: &str) -> Result<(), LoadError> {
        self.connection
            .query_drop(sql)
            .map_err(|error| failed(self.endpoint, self.timeout, sql, error))
    }

    /// The first row of a query; an error of the server is returned as its code and words.
    pub(crate) fn first<T: mysql::prelude::FromRow>(
        &mut self,
        sql: &str,
    ) -> Result<Option<T>, LoadError> {
        self.connection
            .query_first(sql)
            .map_err(|error| failed(self.endpoint, self.timeout, sql, error))
    }

    /// The server's number of this connection.
    pub(crate) fn id(&self) -> u32 {
        self.connection.connection_id()
    }
}

/// Longest wait for a TCP connection when nothing else was asked for.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What an error says when a server let `timeout` pass.
pub(crate) fn no_answer(timeout: Duration) -> String {
    format!("no answer within {} s", timeout.as_secs_f64())
}

/// Longest part of a statement that an error shows.
const SHOWN_BYTES: usize = 60;

fn failed(
    endpoint: &Endpoint,
    timeout: Option<Duration>,
    sql: &str,
    error: mysql::Error,
) -> LoadError {
    let address = endpoint.address.to_string();
    match error {
        mysql::Error::MySqlError(error) => LoadError::Statement {
            address,
            statement: shorten(sql),
            code: error.code,
            message: error.message,
        },
        error => LoadError::ConnectionLost {
            address,
            why: words(&error, timeout),
        },
    }
}

/// The start of a statement.
fn shorten(sql: &str) -> String {
    match sql.char_indices().nth(SHOWN_BYTES) {
        Some((end, _)) => format!("{} ...", &sql[..end]),
        None => sql.to_owned(),
    }
}

/// A library's error in one line, without its type's name.
fn words(error: &mysql::Error, timeout: Option<Duration>) -> String {
    let io_error = match error {
        mysql::Error::IoError(error) => Some(error),
        mysql::Error::CodecError(error) => error.source().and_then(|error| error.downcast_ref()),
        _ => None,
    };
    match (error, io_error, timeout) {
        (_, Some(error), Some(timeout)) if error.kind() == ErrorKind::WouldBlock => {
            no_answer(timeout)
        }
        (_, Some(error), _) => error.to_string().to_lowercase(),
        (mysql::Error::MySqlError(error), ..) => {
            format!("error {}: {}", error.code, error.message)
        }
        (mysql::Error::DriverError(error), ..) => error.to_string().to_lowercase(),
        (error, ..) => error.to_string().to_lowercase(),
    }
}
