//! A server that the user gives: asked and loaded. Only [`crate::ConfigChanges`] changes its settings.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr as _;

use weir_model::{Bytes, Endpoint, Flavor, ServerUrl, ServerVersion};

use weir_mysql::{ChangeLog, Gate, Permissions, text_literal};

use crate::server_process::is_server;
use crate::{ServerError, Session};

/// A server that the user gives, once it has let us in.
#[derive(Debug, Clone)]
pub struct ExternalServer {
    /// As the user names it.
    pub url: ServerUrl,
    /// Address and account.
    pub endpoint: Endpoint,
    /// Version of the server.
    pub version: ServerVersion,
    /// Data directory, if it is on this host and may be looked at.
    pub data_dir: Option<PathBuf>,
    /// Process of the server, if it is on this host and listens on a Unix socket.
    pub pid: Option<u32>,
    /// File of the user's that also gets the way back of each changed setting.
    pub note_to: Option<PathBuf>,
    permissions: Permissions,
    /// Gate for statements: only reads, until more is permitted.
    gate: Gate,
}

impl ExternalServer {
    /// Logs in at `endpoint`, which `url` names, and asks what is there.
    ///
    /// # Errors
    ///
    /// A server that cannot be reached, refuses the login, or is none that Weir knows.
    pub fn open(url: &ServerUrl, endpoint: Endpoint) -> Result<Self, ServerError> {
        let permissions = Permissions {
            log: Some(ChangeLog::at(crate::change_log())),
            ..Permissions::default()
        };
        let gate = Gate::new(permissions.clone());
        let mut session = Session::open(&endpoint, &gate)?;
        let action = "ask the server who it is";
        let row = session.row(action, "SELECT VERSION() v, @@hostname h, @@datadir d")?;
        let row = row.unwrap_or_default();
        let said = |name: &str| row.get(name).map_or("", String::as_str);
        let flavor = if said("v").contains("MariaDB") {
            Flavor::Mariadb
        } else {
            Flavor::Mysql
        };
        if flavor != url.flavor {
            return Err(ServerError::OtherFlavor {
                url: url.to_string(),
                flavor,
            });
        }
        let version = ServerVersion::from_str(said("v")).map_err(|why| ServerError::Value {
            name: "version".to_owned(),
            value: said("v").to_owned(),
            why,
        })?;
        let is_here = said("h") == rustix::system::uname().nodename().to_string_lossy();
        let data_dir = PathBuf::from(said("d"));
        Ok(Self {
            url: url.clone(),
            version,
            data_dir: (is_here && data_dir.is_dir()).then_some(data_dir),
            pid: process(&mut session),
            endpoint,
            note_to: None,
            permissions,
            gate,
        })
    }

    /// Returns the gate for statements.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// From here on tables of its schema may be made, changed and dropped.
    pub fn permit_schema(&mut self) {
        self.permissions.schema = Some(self.endpoint.database.clone());
        self.gate = Gate::new(self.permissions.clone());
    }

    /// From here on these variables may be set, too; by the server's own names.
    pub fn permit_variables(&mut self, names: &BTreeSet<String>) {
        self.permissions.variables.extend(names.iter().cloned());
        self.gate = Gate::new(self.permissions.clone());
    }

    /// From here on changes are only noted.
    pub fn rehearse(&mut self) {
        self.permissions.is_rehearsal = true;
        self.gate = Gate::new(self.permissions.clone());
    }

    /// A control connection.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn session(&self) -> Result<Session, ServerError> {
        Session::open(&self.endpoint, &self.gate)
    }

    /// The server that it follows, `HOST:PORT`, if it is a replica.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn primary(&self) -> Result<Option<String>, ServerError> {
        self.session()?.source()
    }

    /// Refuses it if its tables are another one's to write, unless that was permitted.
    ///
    /// # Errors
    ///
    /// A replica, unless writing to it was permitted; a server that is gone.
    pub fn look_before_writing(&self) -> Result<(), ServerError> {
        self.session()?.look_before_writing()
    }

    /// From here on tables are changed also if it is a replica.
    pub fn permit_replica(&mut self) {
        self.permissions.writes_replicas = true;
        self.gate = Gate::new(self.permissions.clone());
    }

    /// Returns the size of the tables of its schema, as the server estimates it.
    ///
    /// # Errors
    ///
    /// A server that refuses or is gone.
    pub fn tables_size(&self) -> Result<Bytes, ServerError> {
        let query = format!(
            "SELECT CAST(COALESCE(SUM(data_length + index_length), 0) AS UNSIGNED) \
             FROM information_schema.tables WHERE table_schema = {}",
            text_literal(&self.endpoint.database)
        );
        let size = self.session()?.value("ask for the tables' size", &query)?;
        Ok(Bytes(size.unwrap_or(0)))
    }
}

/// The server's process, if it is at the other end.
fn process(session: &mut Session) -> Option<u32> {
    let pid = session.peer()?;
    // A socket may be forwarded: then this is the program that forwards it.
    is_server(pid).then_some(pid)
}
