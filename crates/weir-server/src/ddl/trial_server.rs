//! The private server on which statements are tried, on empty tables. It goes with its data when the value does.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{PrivateServer, ServerBinary, StartOptions, literal, make_empty_data};
use weir_model::Flavor;
use weir_mysql::{Connection, Connector, Gate, Patience, identifier};
use weir_process::WorkDirectory;

use crate::ddl::DdlError;

/// Whether the user wants no answer any more.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stop(Option<&'static AtomicBool>);

impl Stop {
    /// Once `flag` is true.
    pub fn when(flag: &'static AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// An error once that is so.
    pub(crate) fn check(self) -> Result<(), DdlError> {
        match self.0 {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(DdlError::Stopped),
            _ => Ok(()),
        }
    }
}

/// A private server with its directory.
#[derive(Debug)]
pub struct TrialServer {
    server: PrivateServer,
    /// Its branch of the family.
    pub flavor: Flavor,
    /// Whether to go on.
    pub(crate) stop: Stop,
    // After the server in the order of drops.
    _directory: WorkDirectory,
}

impl TrialServer {
    /// Starts `binary` below `parent`. `shaping`: variables that only a new data directory takes; `settings`: global
    /// variables that decide what a table and an ALTER of it are.
    ///
    /// # Errors
    ///
    /// A server that does not start, or that does not know a setting.
    pub fn start(
        binary: &ServerBinary,
        parent: &Path,
        shaping: &BTreeMap<String, String>,
        settings: &BTreeMap<String, String>,
        stop: Stop,
    ) -> Result<Self, DdlError> {
        let directory = WorkDirectory::create(parent, "ddl")?;
        let data = directory.path().join("data");
        make_empty_data(binary, &data, shaping)?;
        stop.check()?;
        let mut options = StartOptions::new(data, directory.path().join("run"));
        options.variables = small(binary.flavor);
        options.variables.extend(shaping.clone());
        let server = PrivateServer::start_watched(binary, &options, &mut |_| match stop.check() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        });
        stop.check()?;
        let trial = Self {
            server: server?,
            flavor: binary.flavor,
            stop,
            _directory: directory,
        };
        let mut control = trial.connect()?;
        for (name, value) in settings {
            control.run(format!(
                "SET GLOBAL {} = {}",
                identifier(name),
                literal(value)
            ))?;
        }
        Ok(trial)
    }

    /// A connection that has the settings.
    pub(crate) fn connect(&self) -> Result<Connection, DdlError> {
        let connector = Connector::new(self.server.endpoint(), None, Gate::own())?;
        Ok(Connection::connect(&connector, false, Patience::Endless)?)
    }
}

/// Nothing of it has to outlive it, so nothing is written twice or waited for.
fn small(flavor: Flavor) -> BTreeMap<String, String> {
    let both = [
        ("innodb_flush_log_at_trx_commit", "0"),
        ("innodb_buffer_pool_size", "33554432"),
        ("innodb_redo_log_capacity", "16777216"),
    ];
    let own: &[(&str, &str)] = match flavor {
        Flavor::Mysql => &[
            ("skip_log_bin", "1"),
            ("gtid_mode", "OFF"),
            ("enforce_gtid_consistency", "OFF"),
            ("performance_schema", "OFF"),
        ],
        Flavor::Mariadb => &[],
    };
    both.iter()
        .chain(own)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}
