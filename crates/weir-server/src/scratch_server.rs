//! A private server on new, empty data, for work that is thrown away. It goes with its data when the value does.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;

use weir_model::{Endpoint, Flavor};
use weir_mysql::{ClientError, Connection, Connector, Gate, Patience};
use weir_process::WorkDirectory;

use crate::{PrivateServer, ServerBinary, ServerError, StartOptions, Stop, make_empty_data};

/// A private server with its directory.
#[derive(Debug)]
pub struct ScratchServer {
    server: PrivateServer,
    /// Flavor of the server.
    pub flavor: Flavor,
    // After the server in the order of drops.
    directory: WorkDirectory,
}

impl ScratchServer {
    /// Starts `binary` in `directory`. `shaping`: variables that only a new data directory takes; `settings`: others
    /// that it starts with, beside those that make it small and let it wait for no disk.
    ///
    /// # Errors
    ///
    /// A server that does not start; [`ServerError::Interrupted`] if `stop` asks for that.
    pub fn start(
        binary: &ServerBinary,
        directory: WorkDirectory,
        shaping: &BTreeMap<String, String>,
        settings: &[(&str, &str)],
        stop: Stop,
    ) -> Result<Self, ServerError> {
        let data = directory.path().join("data");
        make_empty_data(binary, &data, shaping)?;
        if stop.is_asked() {
            return Err(ServerError::Interrupted);
        }
        let mut options = StartOptions::new(data, directory.path().join("run"));
        options.variables = variables(binary.flavor, settings);
        options.variables.extend(shaping.clone());
        let server = PrivateServer::start_watched(binary, &options, &mut |_| {
            if stop.is_asked() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        Ok(Self {
            server,
            flavor: binary.flavor,
            directory,
        })
    }

    /// A connection that may do what `gate` allows, in `schema` if there is one.
    ///
    /// # Errors
    ///
    /// A server that is gone.
    pub fn connect(&self, gate: Gate, schema: Option<&str>) -> Result<Connection, ClientError> {
        let mut endpoint = self.endpoint();
        if let Some(schema) = schema {
            schema.clone_into(&mut endpoint.database);
        }
        let connector = Connector::new(endpoint, None, gate)?;
        Connection::connect(&connector, schema.is_some(), Patience::Endless)
    }

    /// Returns the endpoint, with the rights of its owner.
    pub fn endpoint(&self) -> Endpoint {
        self.server.endpoint()
    }

    /// Returns its directory, which is removed with it.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Returns the reason that it no longer runs; `None` while it does.
    pub fn has_exited(&mut self) -> Option<String> {
        self.server.has_exited()
    }
}

/// Nothing of it has to outlive it, so nothing is written twice or waited for.
fn variables(flavor: Flavor, settings: &[(&str, &str)]) -> BTreeMap<String, String> {
    let both = [
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_doublewrite", "OFF"),
        ("innodb_buffer_pool_size", "33554432"),
        ("innodb_redo_log_capacity", "16777216"),
    ];
    let own: &[(&str, &str)] = match flavor {
        Flavor::Mysql => &[
            ("skip_log_bin", "1"),
            // Events that it is given belong to no transaction.
            ("gtid_mode", "OFF"),
            ("enforce_gtid_consistency", "OFF"),
            ("performance_schema", "OFF"),
        ],
        Flavor::Mariadb => &[],
    };
    let all = both.iter().chain(own).chain(settings);
    all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}
