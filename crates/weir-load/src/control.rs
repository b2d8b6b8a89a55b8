//! The control plane: ordinary statements outside the measurement, over the same protocol,
//! encryption and authentication as the measured connections.

use std::time::Duration;

use mysql_common::prelude::FromRow;
use mysql_common::row::convert::from_row_opt;

use crate::LoadError;
use crate::codec::{PreparedStatement, Session, SessionError};
use crate::connect::{Blocking, Connector, Deadline};

/// Longest wait for a login when nothing else was asked for.
const LOGIN_LIMIT: Duration = Duration::from_secs(30);
/// Longest part of a statement that an error shows.
const SHOWN_BYTES: usize = 60;

/// A connection for control statements.
pub(crate) struct Control {
    session: Session<Blocking>,
    address: String,
    deadline: Option<Deadline>,
}

impl Control {
    /// Connects; `use_database`: to the endpoint's schema, which must exist. Statements may take
    /// until `deadline`, or as long as they need.
    pub(crate) fn connect(
        connector: &Connector,
        use_database: bool,
        deadline: Option<Deadline>,
    ) -> Result<Self, LoadError> {
        let login_deadline = deadline.unwrap_or_else(|| Deadline::after(LOGIN_LIMIT));
        let mut session = connector.login(use_database, login_deadline)?;
        session.socket().set_deadline(deadline);
        Ok(Self {
            session,
            address: connector.address().to_string(),
            deadline,
        })
    }

    /// Runs a statement.
    pub(crate) fn run(&mut self, sql: &str) -> Result<(), LoadError> {
        self.session
            .query(sql, &mut |_| {})
            .map_err(|error| self.failed(sql, error))
    }

    /// Runs a `LOAD DATA LOCAL INFILE` on the pieces that `next` appends; the rows that were loaded
    /// and the server's warnings.
    pub(crate) fn load(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<(u64, u16), LoadError> {
        self.session
            .load(sql, next)
            .map_err(|error| self.failed(sql, error))
    }

    /// The first row of a query, if it has one.
    pub(crate) fn first<T: FromRow>(&mut self, sql: &str) -> Result<Option<T>, LoadError> {
        let mut first = None;
        self.session
            .query(sql, &mut |row| {
                first.get_or_insert(row);
            })
            .map_err(|error| self.failed(sql, error))?;
        first
            .map(from_row_opt)
            .transpose()
            .map_err(|_| LoadError::Protocol {
                address: self.address.clone(),
                why: format!("`{}` returned something else", shorten(sql)),
            })
    }

    /// Lets the server look whether a statement could be executed.
    pub(crate) fn check(&mut self, sql: &str) -> Result<(), LoadError> {
        let statement = self.prepare(sql)?;
        self.close(sql, statement)
    }

    /// Prepares a statement.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, LoadError> {
        self.session
            .prepare(sql)
            .map_err(|error| self.failed(sql, error))
    }

    /// Executes the prepared statement `sql`, which returns no rows, by a whole packet.
    pub(crate) fn execute(&mut self, sql: &str, packet: &[u8]) -> Result<(), LoadError> {
        self.session
            .execute(packet)
            .map_err(|error| self.failed(sql, error))
    }

    /// Lets the server forget the prepared statement `sql`.
    pub(crate) fn close(
        &mut self,
        sql: &str,
        statement: PreparedStatement,
    ) -> Result<(), LoadError> {
        self.session
            .close(statement)
            .map_err(|error| self.failed(sql, error))
    }

    /// The server's number of this connection.
    pub(crate) fn id(&self) -> u32 {
        self.session.id()
    }

    fn failed(&self, sql: &str, error: SessionError) -> LoadError {
        let address = self.address.clone();
        match (error, self.deadline) {
            (SessionError::Refused(error), _) => LoadError::refused(address, shorten(sql), error),
            (SessionError::Malformed(malformed), _) => LoadError::Protocol {
                address,
                why: malformed.to_string(),
            },
            (SessionError::Timeout(_), Some(deadline)) => LoadError::InitTimeout {
                address,
                limit_s: deadline.limit().as_secs_f64(),
                waiting: format!("the answer to `{}` did not come", shorten(sql)),
            },
            (error, _) => LoadError::ConnectionLost {
                address,
                why: error.to_string(),
            },
        }
    }
}

/// The start of a statement.
fn shorten(sql: &str) -> String {
    match sql.char_indices().nth(SHOWN_BYTES) {
        Some((end, _)) => format!("{} ...", &sql[..end]),
        None => sql.to_owned(),
    }
}
