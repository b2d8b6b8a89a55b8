//! The user's server, which is only read, and the settings that decide what an ALTER does there.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_model::{Endpoint, Flavor, ServerVersion};
use weir_mysql::{Connection, Gate};

use crate::ddl::DdlError;

/// Time limit for one answer of the server.
const PATIENCE: Duration = Duration::from_mins(2);

/// Variables that a new data directory takes, with the servers' defaults.
const SHAPING: [(&str, &str); 2] = [
    ("lower_case_table_names", "0"),
    ("innodb_page_size", "16384"),
];

/// Global variables that decide what a table is and which algorithm an ALTER may take.
const DECISIVE: [&str; 14] = [
    "alter_algorithm",
    "character_set_server",
    "collation_server",
    "explicit_defaults_for_timestamp",
    "foreign_key_checks",
    "innodb_default_row_format",
    "innodb_file_per_table",
    "innodb_instant_alter_column_allowed",
    "innodb_strict_mode",
    "old_mode",
    "sql_generate_invisible_primary_key",
    "sql_mode",
    "sql_require_primary_key",
    "system_versioning_alter_history",
];

/// A server with its variables.
#[derive(Debug)]
pub(super) struct UserServer {
    endpoint: Endpoint,
    gate: Gate,
    pub(super) flavor: Flavor,
    pub(super) version: ServerVersion,
    /// Data directory, if it is on this host.
    pub(super) data_dir: Option<PathBuf>,
    variables: BTreeMap<String, String>,
}

impl UserServer {
    pub(super) fn read(
        endpoint: &Endpoint,
        gate: &Gate,
        flavor: Flavor,
        version: ServerVersion,
        data_dir: Option<PathBuf>,
    ) -> Result<Self, DdlError> {
        let mut server = Self {
            endpoint: endpoint.clone(),
            gate: gate.clone(),
            flavor,
            version,
            data_dir,
            variables: BTreeMap::new(),
        };
        let rows: Vec<(String, Option<String>)> =
            server.connect()?.rows("SHOW GLOBAL VARIABLES")?;
        let known = |(name, value): (String, Option<String>)| Some((name, value?));
        server.variables = rows.into_iter().filter_map(known).collect();
        Ok(server)
    }

    pub(super) fn connect(&self) -> Result<Connection, DdlError> {
        let mut connection = Connection::open(&self.endpoint, &self.gate, PATIENCE)?;
        // As a copy is written, and sizes as they are now.
        connection.run("SET SESSION sql_mode = ''")?;
        if self
            .variables
            .contains_key("information_schema_stats_expiry")
        {
            connection.run("SET SESSION information_schema_stats_expiry = 0")?;
        }
        Ok(connection)
    }

    /// The schema of names without one; empty if the URL has none.
    pub(super) fn schema(&self) -> &str {
        &self.endpoint.database
    }

    pub(super) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    pub(super) fn is_on(&self, name: &str) -> bool {
        matches!(self.variable(name), Some("ON" | "1"))
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.variable(name)?.parse().ok()
    }

    /// Returns the directory of sort files of an index build, if it can be looked at from here.
    pub(super) fn temporary_dir(&self) -> Option<&Path> {
        let own = self
            .variable("innodb_tmpdir")
            .filter(|path| !path.is_empty());
        let path = own.or_else(|| self.variable("tmpdir"))?;
        // Several directories are taken in turn; the first one stands for them.
        path.split(':').next().map(Path::new)
    }

    pub(super) fn shaping(&self) -> BTreeMap<String, String> {
        let differs = |(name, usual): (&str, &str)| {
            let value = self.variable(name).filter(|value| *value != usual)?;
            Some((name.to_owned(), value.to_owned()))
        };
        SHAPING.into_iter().filter_map(differs).collect()
    }

    pub(super) fn decisive(&self) -> BTreeMap<String, String> {
        let held = |name: &str| Some((name.to_owned(), self.variable(name)?.to_owned()));
        DECISIVE.into_iter().filter_map(held).collect()
    }
}
