//! A connection for ordinary statements, outside all measurement: they wait for their answer.

mod binary_log;
mod replication;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use mysql_common::prelude::FromRow;
use mysql_common::row::convert::from_row_opt;
use mysql_common::{Row, Value};
use weir_model::Endpoint;

use crate::gate::Passage;
pub use binary_log::BinaryLog;

use crate::{
    Blocking, ClientError, Connector, Deadline, Gate, Params, PreparedStatement, Session,
    SessionError, StatementEffect, shorten,
};

/// Longest wait for a login when nothing else was asked for.
const LOGIN_LIMIT: Duration = Duration::from_secs(30);

/// Time limit of waits.
#[derive(Debug, Clone, Copy)]
pub enum Patience {
    /// For the login, and then for each answer.
    Each(Duration),
    /// For everything together.
    Until(Deadline),
    /// As long as statements need.
    Endless,
}

impl Patience {
    fn for_login(self) -> Deadline {
        match self {
            Self::Each(limit) => Deadline::after(limit),
            Self::Until(deadline) => deadline,
            Self::Endless => Deadline::after(LOGIN_LIMIT),
        }
    }

    fn for_statement(self) -> Option<Deadline> {
        match self {
            Self::Each(limit) => Some(Deadline::after(limit)),
            Self::Until(deadline) => Some(deadline),
            Self::Endless => None,
        }
    }
}

/// A connection whose statements wait for their answer. Each of them passes the gate.
#[derive(Debug)]
pub struct Connection {
    session: Session<Blocking>,
    address: weir_model::Address,
    gate: Gate,
    patience: Patience,
    /// Deadline of the present wait.
    deadline: Option<Deadline>,
    prepared: HashMap<String, PreparedStatement>,
}

impl Connection {
    /// Logs in at `endpoint`, without choosing its schema: it may not exist yet.
    ///
    /// # Errors
    ///
    /// As [`Connector::new`] and [`Connector::login`].
    pub fn open(endpoint: &Endpoint, gate: &Gate, patience: Duration) -> Result<Self, ClientError> {
        let connector = Connector::new(endpoint.clone(), None, gate.clone())?;
        Self::connect(&connector, false, Patience::Each(patience))
    }

    /// Logs in; `use_database`: to the endpoint's schema, which must exist.
    ///
    /// # Errors
    ///
    /// As [`Connector::login`].
    pub fn connect(
        connector: &Connector,
        use_database: bool,
        patience: Patience,
    ) -> Result<Self, ClientError> {
        Ok(Self {
            session: connector.login(use_database, patience.for_login())?,
            address: connector.address().clone(),
            gate: connector.gate().clone(),
            patience,
            deadline: None,
            prepared: HashMap::new(),
        })
    }

    /// The server's number of this connection.
    pub fn id(&self) -> u32 {
        self.session.id()
    }

    /// The server's version, as it greets with it.
    pub fn version(&self) -> &str {
        self.session.version()
    }

    /// The process that listens, if it is on this host and does so on a Unix socket.
    pub fn peer(&mut self) -> Option<u32> {
        self.session.socket().peer()
    }

    /// Runs a statement whose rows, if any, are of no interest.
    ///
    /// # Errors
    ///
    /// Here and below: what the gate forbids, what the server refuses, a server that is gone or silent.
    pub fn run(&mut self, sql: impl AsRef<str>) -> Result<StatementEffect, ClientError> {
        self.each_row(sql.as_ref(), &mut |_| {})
    }

    /// All rows of a query.
    ///
    /// # Errors
    ///
    /// Also rows that are no `T`.
    pub fn rows<T: FromRow>(&mut self, sql: impl AsRef<str>) -> Result<Vec<T>, ClientError> {
        let sql = sql.as_ref();
        let mut rows = Vec::new();
        self.each_row(sql, &mut |row| rows.push(row))?;
        rows.into_iter().map(|row| self.typed(sql, row)).collect()
    }

    /// The first row of a query, if it has one.
    ///
    /// # Errors
    ///
    /// Also a row that is no `T`.
    pub fn first<T: FromRow>(&mut self, sql: impl AsRef<str>) -> Result<Option<T>, ClientError> {
        let sql = sql.as_ref();
        let mut first = None;
        self.each_row(sql, &mut |row| {
            first.get_or_insert(row);
        })?;
        first.map(|row| self.typed(sql, row)).transpose()
    }

    /// Hands each row of a query to `on_row`, without keeping any.
    ///
    /// # Errors
    ///
    /// Also a row that is no `T`; those after it are passed over.
    pub fn each<T: FromRow>(
        &mut self,
        sql: &str,
        mut on_row: impl FnMut(T),
    ) -> Result<(), ClientError> {
        let mut is_typed = true;
        self.each_row(sql, &mut |row| match from_row_opt(row) {
            Ok(row) if is_typed => on_row(row),
            _ => is_typed = false,
        })?;
        if is_typed {
            return Ok(());
        }
        Err(self.other_rows(sql))
    }

    fn each_row(
        &mut self,
        sql: &str,
        on_row: &mut dyn FnMut(Row),
    ) -> Result<StatementEffect, ClientError> {
        if self.admit(sql)? == Passage::Rehearsed {
            return Ok(StatementEffect::default());
        }
        self.send(sql, on_row)
    }

    /// All rows of a statement that is prepared when the connection first meets it; values have their types.
    ///
    /// # Errors
    ///
    /// As [`Self::rows`].
    pub fn execute<T: FromRow>(
        &mut self,
        sql: &str,
        values: impl Into<Params>,
    ) -> Result<Vec<T>, ClientError> {
        let values: Vec<Value> = match values.into() {
            Params::Positional(values) => values,
            Params::Empty | Params::Named(_) => Vec::new(),
        };
        let mut rows = Vec::new();
        self.execute_each(sql, &values, &mut |row| rows.push(row))?;
        rows.into_iter().map(|row| self.typed(sql, row)).collect()
    }

    /// Hands each row of such a statement to `on_row`, without keeping any.
    ///
    /// # Errors
    ///
    /// A statement that the gate or the server refuses, or a server that is gone.
    pub fn execute_each(
        &mut self,
        sql: &str,
        values: &[Value],
        on_row: &mut dyn FnMut(Row),
    ) -> Result<StatementEffect, ClientError> {
        if self.admit(sql)? == Passage::Rehearsed {
            return Ok(StatementEffect::default());
        }
        let statement = if let Some(statement) = self.prepared.get(sql) {
            *statement
        } else {
            let statement = self.prepare(sql)?;
            self.prepared.insert(sql.to_owned(), statement);
            statement
        };
        self.wait();
        let done = self.session.query_prepared(statement, values, on_row);
        done.map_err(|error| self.failed(sql, error))
    }

    /// Asks for a sign of life.
    ///
    /// # Errors
    ///
    /// A server that is gone or silent.
    pub fn ping(&mut self) -> Result<(), ClientError> {
        self.wait();
        let answer = self.session.ping();
        answer.map_err(|error| self.failed("ping", error))
    }

    /// Runs a `LOAD DATA LOCAL INFILE` on the pieces that `next` appends; nothing at the end.
    ///
    /// # Errors
    ///
    /// A statement that the gate or the server refuses, or a server that is gone.
    pub fn load(
        &mut self,
        sql: &str,
        next: &mut dyn FnMut(&mut Vec<u8>),
    ) -> Result<StatementEffect, ClientError> {
        if self.admit(sql)? == Passage::Rehearsed {
            return Ok(StatementEffect::default());
        }
        self.wait();
        let done = self.session.load(sql, next);
        done.map_err(|error| self.failed(sql, error))
    }

    /// Lets the server look whether statements could be executed; each one's refusal, in their order.
    ///
    /// # Errors
    ///
    /// A server that is gone or silent.
    pub fn check_all(
        &mut self,
        statements: &[impl AsRef<str>],
    ) -> Result<Vec<Result<(), ClientError>>, ClientError> {
        self.admit_all(statements)?;
        let answers = self.session.prepare_all(statements);
        let answers = answers.map_err(|error| self.failed("PREPARE", error))?;
        for statement in answers.iter().flatten() {
            let closed = self.session.close(*statement);
            closed.map_err(|error| self.failed("PREPARE", error))?;
        }
        let answers = ClientError::of_each(&self.address, statements, answers);
        Ok(answers.into_iter().map(|answer| answer.map(drop)).collect())
    }

    /// The first row of each query, or why it was refused, in their order.
    ///
    /// # Errors
    ///
    /// Also a row that is no `T`.
    ///
    /// # Errors
    ///
    /// A server that is gone or silent.
    #[allow(
        clippy::type_complexity,
        reason = "an answer for each, which may have no row"
    )]
    pub fn first_of_each<T: FromRow>(
        &mut self,
        queries: &[impl AsRef<str>],
    ) -> Result<Vec<Result<Option<T>, ClientError>>, ClientError> {
        self.admit_all(queries)?;
        let mut rows: Vec<Option<Row>> = queries.iter().map(|_| None).collect();
        let answers = self.session.query_all(queries, &mut |number, row| {
            rows[number].get_or_insert(row);
        });
        let answers = answers.map_err(|error| self.failed("SELECT", error))?;
        let answers = ClientError::of_each(&self.address, queries, answers);
        queries
            .iter()
            .zip(rows)
            .zip(answers)
            .map(|((sql, row), answer)| match answer {
                Ok(()) => row
                    .map(|row| self.typed(sql.as_ref(), row))
                    .transpose()
                    .map(Ok),
                Err(error) => Ok(Err(error)),
            })
            .collect()
    }

    /// Returns the time that the server takes for a ping.
    ///
    /// # Errors
    ///
    /// A server that is gone or silent.
    pub fn round_trip(&mut self) -> Result<Duration, ClientError> {
        self.wait();
        let began = Instant::now();
        let pong = self.session.ping();
        pong.map_err(|error| self.failed("PING", error))?;
        Ok(began.elapsed())
    }

    /// Lets the gate look at statements that go together, before the first of them is sent.
    fn admit_all(&mut self, statements: &[impl AsRef<str>]) -> Result<(), ClientError> {
        for sql in statements {
            let _: Passage = self.admit(sql.as_ref())?;
        }
        self.wait();
        Ok(())
    }

    /// Prepares a statement, which changes nothing yet.
    ///
    /// # Errors
    ///
    /// A statement that the gate or the server refuses, or a server that is gone.
    pub fn prepare(&mut self, sql: &str) -> Result<PreparedStatement, ClientError> {
        let _: Passage = self.admit(sql)?;
        self.wait();
        let statement = self.session.prepare(sql);
        statement.map_err(|error| self.failed(sql, error))
    }

    /// Executes the prepared statement `sql`, which returns no rows, by a whole packet.
    ///
    /// # Errors
    ///
    /// A statement that the gate or the server refuses, or a server that is gone.
    pub fn send_execute(&mut self, sql: &str, packet: &[u8]) -> Result<(), ClientError> {
        if self.gate.is_rehearsal() {
            return Ok(());
        }
        self.wait();
        let done = self.session.execute(packet);
        done.map_err(|error| self.failed(sql, error))
    }

    /// Lets the server forget the prepared statement `sql`.
    ///
    /// # Errors
    ///
    /// A server that is gone.
    pub fn close(&mut self, sql: &str, statement: PreparedStatement) -> Result<(), ClientError> {
        let closed = self.session.close(statement);
        closed.map_err(|error| self.failed(sql, error))
    }

    /// Sets a global variable back to what it was. A log that cannot be written does not stop that.
    ///
    /// # Errors
    ///
    /// A statement that the gate or the server refuses, or a server that is gone.
    pub fn put_back(&mut self, sql: &str) -> Result<StatementEffect, ClientError> {
        match self.admit(sql) {
            Ok(Passage::Rehearsed) => return Ok(StatementEffect::default()),
            Ok(Passage::Sent) | Err(ClientError::Unlogged { .. }) => {}
            Err(error) => return Err(error),
        }
        self.send(sql, &mut |_| {})
    }

    /// Lets the gate look at a statement that is sent by other means.
    ///
    /// # Errors
    ///
    /// A statement that the gate refuses.
    pub fn admit_only(&mut self, sql: &str) -> Result<(), ClientError> {
        self.admit(sql).map(drop)
    }

    /// Lets the gate look at a statement, with the value that a global variable has before it.
    fn admit(&mut self, sql: &str) -> Result<Passage, ClientError> {
        let admission = self.gate.judge(&self.address, sql)?;
        if admission.writes {
            self.look_before_writing()?;
        }
        let mut before = Vec::new();
        for variable in &admission.variables {
            let mut value = None;
            let query = format!("SELECT @@GLOBAL.{variable}");
            self.send(&query, &mut |row| value = row.get_opt::<String, _>(0))?;
            before.push((variable.clone(), value.and_then(Result::ok)));
        }
        self.gate.record(&admission, &self.address, sql, &before)
    }

    fn send(
        &mut self,
        sql: &str,
        on_row: &mut dyn FnMut(Row),
    ) -> Result<StatementEffect, ClientError> {
        self.wait();
        let done = self.session.query(sql, on_row);
        done.map_err(|error| self.failed(sql, error))
    }

    /// Gives each wait from here on a time of its own.
    fn wait(&mut self) {
        self.deadline = self.patience.for_statement();
        self.session.socket().set_deadline(self.deadline);
    }

    fn typed<T: FromRow>(&self, sql: &str, row: Row) -> Result<T, ClientError> {
        from_row_opt(row).map_err(|_| self.other_rows(sql))
    }

    fn other_rows(&self, sql: &str) -> ClientError {
        ClientError::Protocol {
            address: self.address.to_string(),
            why: format!("`{}` returned something else", shorten(sql)),
        }
    }

    fn failed(&self, sql: &str, error: SessionError) -> ClientError {
        let address = self.address.to_string();
        match (error, self.deadline) {
            (SessionError::Refused(error), _) => ClientError::refused(address, sql, error),
            (SessionError::Malformed(malformed), _) => ClientError::Protocol {
                address,
                why: malformed.to_string(),
            },
            (SessionError::Timeout(_), Some(deadline)) => ClientError::Timeout {
                address,
                limit_s: deadline.limit().as_secs_f64(),
                waiting: format!("the answer to `{}` did not come", shorten(sql)),
            },
            (error, _) => ClientError::Lost {
                address,
                why: error.to_string(),
            },
        }
    }
}
