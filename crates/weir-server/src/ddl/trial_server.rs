//! The private server on which statements are tried, on empty tables.

use std::collections::BTreeMap;
use std::path::Path;

use weir_model::Flavor;
use weir_mysql::{Connection, Gate, identifier};
use weir_process::WorkDirectory;

use crate::ddl::DdlError;
use crate::{ScratchServer, ServerBinary, Stop, literal};

/// Before MariaDB 10.8.2 it cannot be set while the server runs.
const AT_START: &str = "explicit_defaults_for_timestamp";

/// A private server for tries.
#[derive(Debug)]
pub struct TrialServer {
    server: ScratchServer,
    /// Flavor of the server.
    pub flavor: Flavor,
    /// Signal to stop.
    pub(crate) stop: Stop,
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
        let at_start = settings.get_key_value(AT_START);
        let at_start: Vec<_> = at_start
            .map(|(name, value)| (&**name, &**value))
            .into_iter()
            .collect();
        let server = ScratchServer::start(binary, directory, shaping, &at_start, stop);
        stop.check()?;
        let trial = Self {
            server: server?,
            flavor: binary.flavor,
            stop,
        };
        let mut control = trial.connect()?;
        for (name, value) in settings.iter().filter(|(name, _)| *name != AT_START) {
            let set = format!("SET GLOBAL {} = {}", identifier(name), literal(value));
            control.run(set)?;
        }
        Ok(trial)
    }

    /// A connection that has the settings.
    pub(crate) fn connect(&self) -> Result<Connection, DdlError> {
        Ok(self.server.connect(Gate::own(), None)?)
    }
}
