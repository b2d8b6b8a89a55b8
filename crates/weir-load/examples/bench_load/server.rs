//! The private server that both tools load.

use std::process::Command;

use anyhow::Context as _;
use mysql::prelude::Queryable as _;
use tempfile::TempDir;
use weir_model::{Address, Flavor};
use weir_server::{PrivateServer, testing};

/// Connections of the largest case and room for a few more.
const CONNECTIONS_MAX: &str = "4000";
/// All tables and their indexes stay cached.
const POOL_BYTES: &str = "536870912";
/// An account without a password: both tools can then be told everything on their command lines,
/// and the socket's directory is closed to other users.
const ACCOUNT: &str = "bench";

/// A running server. It goes before its directory.
#[derive(Debug)]
pub(crate) struct Server {
    server: PrivateServer,
    _directory: TempDir,
}

impl Server {
    /// Starts one, with its binary log as MySQL has it by default, or without one.
    pub(crate) fn start(has_binary_log: bool) -> anyhow::Result<Self> {
        let mut variables = vec![
            ("max_connections", CONNECTIONS_MAX),
            ("max_prepared_stmt_count", "100000"),
            ("innodb_buffer_pool_size", POOL_BYTES),
            ("innodb_redo_log_capacity", "1073741824"),
            ("innodb_flush_log_at_trx_commit", "2"),
        ];
        if !has_binary_log {
            variables.push(("skip_log_bin", "ON"));
        }
        let (server, directory) = testing::start_with(Flavor::Mysql, &variables);
        let started = Self {
            server,
            _directory: directory,
        };
        started.query(&format!("CREATE USER {ACCOUNT}@localhost"))?;
        started.query(&format!("GRANT ALL ON *.* TO {ACCOUNT}@localhost"))?;
        Ok(started)
    }

    /// Runs a statement.
    pub(crate) fn query(&self, sql: &str) -> anyhow::Result<()> {
        testing::connect(&self.server.endpoint())
            .query_drop(sql)
            .with_context(|| format!("while running `{sql}`"))
    }

    /// Its flavour and version.
    pub(crate) fn version(&self) -> String {
        let binary = self.server.binary();
        format!("{:?} {}", binary.flavor, binary.version)
    }

    /// Tells a tool with sysbench's options where to connect.
    pub(crate) fn connect_options(&self, command: &mut Command) {
        let endpoint = self.server.endpoint();
        if let Address::Socket(path) = &endpoint.address {
            command.arg(format!("--mysql-socket={}", path.display()));
        }
        command.arg(format!("--mysql-user={ACCOUNT}"));
        command.arg(format!("--mysql-db={}", endpoint.database));
    }
}
