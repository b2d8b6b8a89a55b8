//! The private server on which tables are made as they were: of the user's flavour and version, and with its own data
//! directory, which goes when this value does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use weir_model::Flavor;
use weir_mysql::{ClientError, Connection, Gate, identifier, write_client_options};
use weir_process::{PathError, WorkDirectory};
use weir_server::{ScratchServer, ServerBinary};

use crate::source::Variables;
use crate::{FlashbackError, Source, Stop};

/// Settings of a session that takes values as they are.
pub(crate) const TAKES_ALL: &str = "SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES', \
     foreign_key_checks = 0, unique_checks = 0, time_zone = '+00:00'";

/// Beside what every scratch server has: rows as large as the user's.
const SETTINGS: [(&str, &str); 4] = [
    ("innodb_buffer_pool_size", "268435456"),
    ("innodb_redo_log_capacity", "67108864"),
    ("max_allowed_packet", "1073741824"),
    ("innodb_strict_mode", "OFF"),
];

/// The schemas that no server comes with.
const OWN_SCHEMAS: &str = "SELECT CAST(SCHEMA_NAME AS CHAR) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT IN \
     ('mysql', 'sys', 'information_schema', 'performance_schema')";

/// `ER_CANT_CREATE_GEOMETRY_OBJECT`. Servers keep an empty value where an `IGNORE` gave NULL to a column without NULL.
const NO_GEOMETRY: u16 = 1416;
/// `ER_TO_VECTOR_CONVERSION`.
const NO_VECTOR: u16 = 6136;

/// A private server for tables as they were.
#[derive(Debug)]
pub struct Private {
    server: ScratchServer,
}

/// Finds the server to start: `path`, or the one of this machine that is the user's in flavour and version.
///
/// # Errors
///
/// None is like it.
pub fn find_like(source: &Source, path: Option<&Path>) -> Result<ServerBinary, FlashbackError> {
    let found = weir_server::find_like(source.flavor, source.version, path)?;
    found.ok_or_else(|| {
        FlashbackError::refused(
            format!(
                "no {} {}.{} on this machine, on which the tables as of then would be made",
                source.flavor, source.version.major, source.version.minor
            ),
            "install one, or pass --server PATH of its mysqld or mariadbd",
        )
    })
}

impl Private {
    /// Starts a server like the user's in `directory`, which goes with it.
    pub(crate) fn start(
        binary: &ServerBinary,
        variables: &Variables,
        directory: WorkDirectory,
        stop: Stop,
    ) -> Result<Self, FlashbackError> {
        let lower_case = variables.get("lower_case_table_names");
        let shaping: BTreeMap<String, String> = match lower_case {
            "" | "0" => BTreeMap::new(),
            other => [("lower_case_table_names".to_owned(), other.to_owned())].into(),
        };
        let server = ScratchServer::start(binary, directory, &shaping, &SETTINGS, stop);
        stop.check()?;
        let private = Self { server: server? };
        if private.flavor() == Flavor::Mariadb {
            // A session of the user's may have written rows that break a constraint.
            private
                .connect(None)?
                .run("SET GLOBAL slave_exec_mode = 'IDEMPOTENT', check_constraint_checks = 0")?;
        }
        Ok(private)
    }

    /// A connection in `schema`.
    ///
    /// # Errors
    ///
    /// A private server that is gone.
    pub fn connect(&self, schema: Option<&str>) -> Result<Connection, FlashbackError> {
        self.connect_by(schema, Gate::own())
    }

    /// A connection for statements of the user's, which only read.
    ///
    /// # Errors
    ///
    /// A private server that is gone.
    pub fn connect_reading(&self, schema: &str) -> Result<Connection, FlashbackError> {
        self.connect_by(Some(schema), Gate::reading())
    }

    fn connect_by(&self, schema: Option<&str>, gate: Gate) -> Result<Connection, FlashbackError> {
        Ok(self.server.connect(gate, schema)?)
    }

    /// Ends what one of these connections waits for. It may be over already.
    pub fn end(&self, connection: u32) {
        if let Ok(mut other) = self.connect(None) {
            let _ = other.run(format!("KILL QUERY {connection}"));
        }
    }

    /// A connection that takes rows and events as they are.
    pub(crate) fn connect_for_rows(&self) -> Result<Connection, FlashbackError> {
        let mut connection = self.connect(None)?;
        connection.run(TAKES_ALL)?;
        // Texts come as the bytes that they are stored as.
        connection.run("SET NAMES binary")?;
        if self.flavor() == Flavor::Mysql {
            connection.run("SET SESSION rbr_exec_mode = 'IDEMPOTENT'")?;
        }
        Ok(connection)
    }

    /// Sets whether rows of events that are not found are errors of that connection.
    pub(crate) fn be_strict(
        &self,
        rows: &mut Connection,
        is_strict: bool,
    ) -> Result<(), FlashbackError> {
        let mode = if is_strict { "STRICT" } else { "IDEMPOTENT" };
        let set = match self.flavor() {
            Flavor::Mysql => format!("SET SESSION rbr_exec_mode = '{mode}'"),
            Flavor::Mariadb => format!("SET GLOBAL slave_exec_mode = '{mode}'"),
        };
        rows.run(set)?;
        Ok(())
    }

    /// Makes a schema if it is missing.
    pub(crate) fn make_schema(&self, schema: &str) -> Result<(), FlashbackError> {
        let create = format!("CREATE DATABASE IF NOT EXISTS {}", identifier(schema));
        self.connect(None)?.run(create)?;
        Ok(())
    }

    /// Removes all schemas that were made on it.
    pub(crate) fn clear(&self) -> Result<(), FlashbackError> {
        let mut connection = self.connect(None)?;
        connection.run(TAKES_ALL)?;
        let schemas: Vec<String> = connection.rows(OWN_SCHEMAS)?;
        for schema in schemas {
            connection.run(format!("DROP DATABASE {}", identifier(&schema)))?;
        }
        Ok(())
    }

    /// Writes an option file with which a client of the same user logs in; it goes with the server.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub fn option_file(&self) -> Result<PathBuf, FlashbackError> {
        let path = self.server.directory().join("client.cnf");
        let endpoint = self.server.endpoint();
        write_client_options(&path, &endpoint).map_err(PathError::on("write", &path))?;
        Ok(path)
    }

    /// Why it no longer runs; none while it does.
    pub fn has_exited(&mut self) -> Option<String> {
        self.server.has_exited()
    }

    /// Returns the server's branch of the family.
    pub(crate) fn flavor(&self) -> Flavor {
        self.server.flavor
    }

    /// For `map_err`: what this server refused.
    pub(crate) fn refused(&self) -> impl Fn(ClientError) -> FlashbackError {
        let path = self.server.directory().display().to_string();
        move |error| match error.code() {
            Some(NO_GEOMETRY | NO_VECTOR) => FlashbackError::refused(
                "a row has an empty value in a column of shapes or vectors that is NOT NULL, which no statement can write",
                "give these rows a value (WHERE LENGTH(column) = 0), or leave the table out",
            ),
            _ => FlashbackError::Private {
                words: error.words(),
                path: path.clone(),
            },
        }
    }
}

/// Where data are put if nothing else is asked for.
pub fn usual_parent() -> PathBuf {
    std::env::temp_dir()
}
