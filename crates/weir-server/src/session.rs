//! A control connection: ordinary statements outside all measurement.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_model::Endpoint;
use weir_mysql::{
    ClientError, Connection, Connector, FromRow, FromValue, Gate, Patience, Row, Value,
};

use crate::ServerError;

/// Time limit for a server to greet and to answer: a stalled one never would.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection for statements that set up, look and change settings.
#[derive(Debug)]
pub struct Session {
    connection: Connection,
}

impl Session {
    /// Logs in, without choosing the endpoint's schema: it may not exist yet. `gate`: what may be done
    /// there.
    ///
    /// # Errors
    ///
    /// A server that cannot be reached or refuses the login.
    pub fn open(endpoint: &Endpoint, gate: &Gate) -> Result<Self, ServerError> {
        Self::open_patient(endpoint, gate, PATIENCE)
    }

    /// As [`Session::open`], for statements that may take as long as `patience`.
    ///
    /// # Errors
    ///
    /// As [`Session::open`].
    pub fn open_patient(
        endpoint: &Endpoint,
        gate: &Gate,
        patience: Duration,
    ) -> Result<Self, ServerError> {
        Self::try_open(endpoint, gate, patience).map_err(|error| ServerError::Connect {
            address: endpoint.address.clone(),
            user: endpoint.user.clone(),
            why: error.words(),
        })
    }

    /// As [`Session::open_patient`], in the endpoint's schema, which must exist.
    pub(crate) fn open_in_schema(
        endpoint: &Endpoint,
        gate: &Gate,
        patience: Duration,
    ) -> Result<Self, ServerError> {
        let connector = Connector::new(endpoint.clone(), None, gate.clone());
        let connection = connector
            .and_then(|connector| Connection::connect(&connector, true, Patience::Each(patience)));
        let connection = connection.map_err(|error| ServerError::Connect {
            address: endpoint.address.clone(),
            user: endpoint.user.clone(),
            why: error.words(),
        })?;
        Ok(Self { connection })
    }

    pub(crate) fn try_open(
        endpoint: &Endpoint,
        gate: &Gate,
        patience: Duration,
    ) -> Result<Self, ClientError> {
        Ok(Self {
            connection: Connection::open(endpoint, gate, patience)?,
        })
    }

    /// Runs a statement; an error names `action` as the step that failed.
    ///
    /// # Errors
    ///
    /// A statement that the gate or the server refuses, or a server that is gone.
    pub fn run(&mut self, action: &'static str, statement: &str) -> Result<(), ServerError> {
        let done = self.connection.run(statement);
        done.map(drop).map_err(ServerError::query(action))
    }

    /// Runs a statement whose failure may be a row, as of `ANALYZE TABLE`. Returns the text of the first such row.
    ///
    /// # Errors
    ///
    /// As [`Session::run`].
    pub fn run_maintenance(
        &mut self,
        action: &'static str,
        statement: &str,
    ) -> Result<Option<String>, ServerError> {
        let rows: Vec<Row> = self.rows(action, statement)?;
        let column = |row: &Row, name: &str| -> Option<String> {
            let mut columns = row.columns_ref().iter();
            let at = columns.position(|column| column.name_str().eq_ignore_ascii_case(name))?;
            row.as_ref(at).map(text)
        };
        let mut rows = rows.iter();
        Ok(rows.find_map(|row| {
            let is_error = column(row, "Msg_type")?.eq_ignore_ascii_case("error");
            column(row, "Msg_text").filter(|_| is_error)
        }))
    }

    /// The version with which the server greets.
    pub(crate) fn greeting(&self) -> &str {
        self.connection.version()
    }

    /// The process that listens, if it is on this host and does so on a Unix socket.
    pub(crate) fn peer(&mut self) -> Option<u32> {
        self.connection.peer()
    }

    /// The server that this one follows, `HOST:PORT`, if it is a replica.
    pub(crate) fn source(&mut self) -> Result<Option<String>, ServerError> {
        let source = self.connection.source();
        source.map_err(ServerError::query("read the replica's status"))
    }

    /// Refuses a server whose tables are another one's to write.
    pub(crate) fn look_before_writing(&mut self) -> Result<(), ServerError> {
        let looked = self.connection.look_before_writing();
        looked.map_err(ServerError::query("write tables"))
    }

    /// Sets a variable back to what it was, whether or not that can be logged.
    pub(crate) fn put_back(&mut self, statement: &str) -> Result<(), ServerError> {
        let done = self.connection.put_back(statement);
        done.map(drop)
            .map_err(ServerError::query("put a setting back"))
    }

    /// The first column of the first row.
    ///
    /// # Errors
    ///
    /// As [`Session::run`], and a value of another type.
    pub fn value<T: FromValue>(
        &mut self,
        action: &'static str,
        query: &str,
    ) -> Result<Option<T>, ServerError> {
        let row: Option<Row> = self
            .connection
            .first(query)
            .map_err(ServerError::query(action))?;
        Ok(row
            .and_then(|mut row| row.take_opt::<T, _>(0))
            .and_then(Result::ok))
    }

    /// The first row, by column names; `None` if there is none.
    ///
    /// # Errors
    ///
    /// As [`Session::run`].
    pub fn row(
        &mut self,
        action: &'static str,
        query: &str,
    ) -> Result<Option<BTreeMap<String, String>>, ServerError> {
        let row: Option<Row> = self
            .connection
            .first(query)
            .map_err(ServerError::query(action))?;
        Ok(row.map(named))
    }

    /// All rows, by column names.
    ///
    /// # Errors
    ///
    /// As [`Session::run`].
    pub(crate) fn named_rows(
        &mut self,
        action: &'static str,
        query: &str,
    ) -> Result<Vec<BTreeMap<String, String>>, ServerError> {
        let rows: Vec<Row> = self.rows(action, query)?;
        Ok(rows.into_iter().map(named).collect())
    }

    /// All rows.
    pub fn rows<T: FromRow>(
        &mut self,
        action: &'static str,
        query: &str,
    ) -> Result<Vec<T>, ServerError> {
        let rows = self.connection.rows(query);
        rows.map_err(ServerError::query(action))
    }

    /// `SHOW GLOBAL VARIABLES`.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn variables(&mut self) -> Result<BTreeMap<String, String>, ServerError> {
        self.pairs("read the server's variables", "SHOW GLOBAL VARIABLES")
    }

    /// `SHOW GLOBAL STATUS`.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn status(&mut self) -> Result<BTreeMap<String, String>, ServerError> {
        self.pairs("read the server's status", "SHOW GLOBAL STATUS")
    }

    /// One global variable; `None` if the server has none of that name.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn variable(&mut self, name: &str) -> Result<Option<String>, ServerError> {
        let query = format!("SHOW GLOBAL VARIABLES LIKE '{name}'");
        let row: Option<(String, String)> = self
            .connection
            .first(&query)
            .map_err(ServerError::query("read a variable of the server"))?;
        Ok(row.map(|(_, value)| value))
    }

    /// One variable of the status; empty if the server has none of that name.
    pub fn variable_of_status(&mut self, name: &str) -> Result<String, ServerError> {
        let query = format!("SHOW GLOBAL STATUS LIKE '{name}'");
        let row: Option<(String, String)> = self
            .connection
            .first(&query)
            .map_err(ServerError::query("read the server's status"))?;
        Ok(row.map(|(_, value)| value).unwrap_or_default())
    }

    /// One global variable with its type, as a statement can set it again.
    pub(crate) fn global(&mut self, name: &str) -> Result<Value, ServerError> {
        // A prepared statement's answer has types; that of a plain one is all text.
        let query = format!("SELECT @@GLOBAL.{name}");
        let values: Vec<Value> = self
            .connection
            .execute(&query, ())
            .map_err(ServerError::query("read a variable of the server"))?;
        Ok(values.into_iter().next().unwrap_or(Value::NULL))
    }

    fn pairs(
        &mut self,
        action: &'static str,
        query: &str,
    ) -> Result<BTreeMap<String, String>, ServerError> {
        let rows: Vec<(String, Option<String>)> = self
            .connection
            .rows(query)
            .map_err(ServerError::query(action))?;
        Ok(rows
            .into_iter()
            .map(|(name, value)| (name, value.unwrap_or_default()))
            .collect())
    }
}

/// A row by the names of its columns.
fn named(row: Row) -> BTreeMap<String, String> {
    let columns = row.columns_ref().iter();
    let names: Vec<_> = columns
        .map(|column| column.name_str().into_owned())
        .collect();
    names
        .into_iter()
        .zip(row.unwrap().iter().map(text))
        .collect()
}

/// A value as `SHOW` prints it; empty for NULL.
fn text(value: &Value) -> String {
    match value {
        Value::NULL => String::new(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.as_sql(true),
    }
}
