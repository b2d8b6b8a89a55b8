//! The private server that both tools load.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;
use weir_model::{Address, Flavor};
use weir_server::PrivateServer;

/// Connections of the largest case and room for a few more.
const CONNECTIONS_MAX: &str = "4000";
/// All tables and their indexes stay cached.
const POOL_BYTES: &str = "1073741824";
/// An account without a password: all tools can then be told everything on their command lines. The socket's directory
/// is closed to other users. The port of 127.0.0.1 is not, for as long as the comparison takes.
pub(crate) const ACCOUNT: &str = "bench";

/// Handling of commits by the server, all else being the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commits {
    /// As MySQL does by default: binary log and redo log are flushed for each.
    Durable,
    /// The redo log is flushed once a second, so that less of what is compared is the host's disk.
    Lazy,
    /// The same without a binary log.
    LazyNoBinaryLog,
}

impl Commits {
    pub(crate) const ALL: [Self; 3] = [Self::Durable, Self::Lazy, Self::LazyNoBinaryLog];

    fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Durable => &[],
            Self::Lazy => &[("innodb_flush_log_at_trx_commit", "2")],
            Self::LazyNoBinaryLog => &[
                ("innodb_flush_log_at_trx_commit", "2"),
                ("skip_log_bin", "ON"),
            ],
        }
    }
}

/// A running server. It goes before its directory.
#[derive(Debug)]
pub(crate) struct Server {
    server: PrivateServer,
    /// Of 127.0.0.1, for tools that know no sockets.
    port: u16,
    socket: PathBuf,
    certificates: TempDir,
    _directory: TempDir,
}

impl Server {
    /// Starts one.
    pub(crate) fn start(commits: Commits) -> anyhow::Result<Self> {
        let mut variables = vec![
            ("max_connections", CONNECTIONS_MAX),
            ("max_prepared_stmt_count", "100000"),
            ("innodb_buffer_pool_size", POOL_BYTES),
            ("innodb_redo_log_capacity", "1073741824"),
        ];
        variables.extend(commits.variables());
        let (server, directory, port) = weir_testing::start_on_tcp(Flavor::Mysql, &variables);
        let Address::Socket(socket) = server.endpoint().address else {
            anyhow::bail!("the server has no socket")
        };
        let started = Self {
            certificates: certificates(server.data_dir())?,
            socket,
            server,
            port,
            _directory: directory,
        };
        for host in ["localhost", "'127.0.0.1'"] {
            started.query(&format!("CREATE USER {ACCOUNT}@{host}"))?;
            started.query(&format!("GRANT ALL ON *.* TO {ACCOUNT}@{host}"))?;
        }
        Ok(started)
    }

    /// Runs a statement.
    pub(crate) fn query(&self, sql: &str) -> anyhow::Result<()> {
        self.run(&[sql])
    }

    /// Runs statements on one connection.
    pub(crate) fn run(&self, statements: &[&str]) -> anyhow::Result<()> {
        let mut connection = weir_testing::connect(&self.server.endpoint());
        for sql in statements {
            connection
                .run(*sql)
                .with_context(|| format!("while running `{sql}`"))?;
        }
        Ok(())
    }

    /// The rows of a table.
    pub(crate) fn count(&self, table: &str) -> anyhow::Result<u64> {
        let rows = weir_testing::connect(&self.server.endpoint())
            .first::<u64>(format!("SELECT COUNT(*) FROM {table}"))
            .with_context(|| format!("while counting the rows of {table}"))?;
        rows.with_context(|| format!("{table} has no count"))
    }

    /// Returns flavour and version.
    pub(crate) fn version(&self) -> String {
        let binary = self.server.binary();
        format!("{:?} {}", binary.flavor, binary.version)
    }

    /// Returns the port of 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns the socket.
    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// The schema of the tables.
    pub(crate) fn schema(&self) -> String {
        self.server.endpoint().database
    }

    /// A folder with what sysbench 1.0 wants of a client that encrypts.
    pub(crate) fn certificates(&self) -> &Path {
        self.certificates.path()
    }
}

/// The certificates that the server has made for itself, by the names that sysbench looks for.
fn certificates(data: &Path) -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    for (own, wanted) in [
        ("ca.pem", "cacert.pem"),
        ("client-cert.pem", "client-cert.pem"),
        ("client-key.pem", "client-key.pem"),
    ] {
        std::fs::copy(data.join(own), folder.path().join(wanted))
            .with_context(|| format!("while copying the server's {own}"))?;
    }
    Ok(folder)
}
