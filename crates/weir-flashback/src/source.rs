//! The user's server, which is only read.

use std::collections::BTreeMap;
use std::time::Duration;

use weir_model::{Endpoint, Flavor, ServerVersion};
use weir_mysql::{Connection, Connector, Gate, NameCase, Patience};
use weir_server::ExternalServer;

use crate::FlashbackError;

/// Longest time that the server may take for one answer that is not a whole table.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server whose tables and log are read.
#[derive(Debug, Clone)]
pub struct Source {
    /// Where it listens; its schema is that of names without one.
    pub endpoint: Endpoint,
    /// The server's branch of the family.
    pub flavor: Flavor,
    /// The server's version.
    pub version: ServerVersion,
    gate: Gate,
}

impl Source {
    /// A server of the user's, read only.
    pub fn new(server: &ExternalServer) -> Self {
        Self::at(server.endpoint.clone(), server.url.flavor, server.version)
    }

    /// The server at `endpoint`, read only.
    pub fn at(endpoint: Endpoint, flavor: Flavor, version: ServerVersion) -> Self {
        Self {
            endpoint,
            flavor,
            version,
            gate: Gate::reading(),
        }
    }

    /// A connection for short statements.
    ///
    /// # Errors
    ///
    /// A server that cannot be reached or refuses the login.
    pub fn open(&self) -> Result<Connection, FlashbackError> {
        Ok(Connection::open(&self.endpoint, &self.gate, PATIENCE)?)
    }

    /// Ends what one of these connections waits for. It may be over already.
    pub(crate) fn end(&self, connection: u32) {
        if let Ok(mut other) = self.open() {
            let _ = other.run(format!("KILL QUERY {connection}"));
        }
    }

    /// A connection for whole tables: it waits as long as they take.
    pub(crate) fn open_patient(&self) -> Result<Connection, FlashbackError> {
        let connector = Connector::new(self.endpoint.clone(), None, self.gate.clone())?;
        Ok(Connection::connect(&connector, false, Patience::Endless)?)
    }
}

/// The global variables that decide whether a log can be used.
#[derive(Debug, Clone)]
pub(crate) struct Variables(BTreeMap<String, String>);

impl Variables {
    pub(crate) fn read(connection: &mut Connection) -> Result<Self, FlashbackError> {
        let rows: Vec<(String, Option<String>)> = connection.rows("SHOW GLOBAL VARIABLES")?;
        let pairs = rows.into_iter();
        Ok(Self(
            pairs
                .map(|(name, value)| (name, value.unwrap_or_default()))
                .collect(),
        ))
    }

    /// Returns the value of a variable; empty if there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }

    /// Returns the server's way to compare names of tables.
    pub(crate) fn name_case(&self) -> NameCase {
        NameCase::parse(self.get("lower_case_table_names"))
    }

    pub(crate) fn is_on(&self, name: &str) -> bool {
        matches!(self.get(name), "ON" | "1")
    }
}
