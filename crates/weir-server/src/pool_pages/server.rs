//! A server whose pool is read or filled: how to ask it, where its files are, and how a variable is set for a moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{ConfigChanges, ExternalServer, Instances, ServerError, Session, literal};
use weir_model::{Address, Endpoint, Flavor, ServerUrl};
use weir_mysql::Gate;

use crate::pool_pages::PoolError;

/// A server of Weir's own, or one of the user's that is only read.
#[derive(Debug, Clone)]
pub struct PoolServer {
    name: String,
    endpoint: Endpoint,
    /// Statements that may be sent to it.
    gate: Gate,
    flavor: Flavor,
    data_dir: PathBuf,
    /// Keeps notes of variables that are changed, for a server that outlives this process.
    ledger: Option<ExternalServer>,
}

impl PoolServer {
    /// The private server that is called `name`.
    ///
    /// # Errors
    ///
    /// No such server, or one that does not answer.
    pub fn instance(instances: &Instances, name: &str) -> Result<Self, PoolError> {
        let info = instances.info(name)?;
        let endpoint = instances.endpoint(name)?;
        let text = |path: &Path| path.display().to_string();
        let url = ServerUrl {
            flavor: info.instance.flavor,
            user: None,
            host: None,
            port: None,
            database: None,
            options: BTreeMap::from([
                ("option-file".to_owned(), text(&info.client_options)),
                ("socket".to_owned(), text(&info.socket)),
            ]),
        };
        let ledger = ExternalServer::open(&url, endpoint.clone())?;
        let mut server = Self::private(name, endpoint, info.instance.flavor)?;
        server.ledger = Some(ledger);
        Ok(server)
    }

    /// A server that ends with this process.
    ///
    /// # Errors
    ///
    /// One that does not answer.
    pub fn private(name: &str, endpoint: Endpoint, flavor: Flavor) -> Result<Self, PoolError> {
        let mut session = Session::open(&endpoint, &Gate::own())?;
        let data_dir = session.variable("datadir")?.unwrap_or_default();
        Ok(Self {
            name: name.to_owned(),
            endpoint,
            gate: Gate::own(),
            flavor,
            data_dir: PathBuf::from(data_dir),
            ledger: None,
        })
    }

    /// A server of the user's, to which only queries are sent.
    pub fn external(server: &ExternalServer) -> Self {
        Self {
            name: server.url.to_string(),
            endpoint: server.endpoint.clone(),
            gate: server.gate().clone(),
            flavor: server.url.flavor,
            data_dir: PathBuf::new(),
            ledger: None,
        }
    }

    /// Returns true if only queries may be sent to it.
    pub fn is_external(&self) -> bool {
        self.data_dir.as_os_str().is_empty()
    }

    /// Returns the user's name for it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the flavor.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Returns the address on which it listens.
    pub fn address(&self) -> &Address {
        &self.endpoint.address
    }

    /// A control connection.
    ///
    /// # Errors
    ///
    /// A login that fails.
    pub fn session(&self) -> Result<Session, ServerError> {
        Session::open(&self.endpoint, &self.gate)
    }

    /// Does `work` while variables have other values; afterwards they are as before. If this process is killed
    /// meanwhile, a note says how to put them back.
    pub(crate) fn with_variables<T>(
        &self,
        wanted: &[(&str, String)],
        work: impl FnOnce(&mut Session) -> Result<T, PoolError>,
    ) -> Result<T, PoolError> {
        let mut session = self.session()?;
        match &self.ledger {
            Some(ledger) => {
                let mut ledger = ledger.clone();
                let names: BTreeSet<_> =
                    wanted.iter().map(|(name, _)| (*name).to_owned()).collect();
                ledger.permit_variables(&names);
                let mut changes = ConfigChanges::new(&ledger);
                let wanted = wanted
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), value.clone()));
                changes.apply(&wanted.collect())?;
                let done = work(&mut session);
                changes.put_back()?;
                done
            }
            None => set_for(&mut session, wanted, work),
        }
    }
}

fn set_for<T>(
    session: &mut Session,
    wanted: &[(&str, String)],
    work: impl FnOnce(&mut Session) -> Result<T, PoolError>,
) -> Result<T, PoolError> {
    const ACTION: &str = "set a variable of the buffer pool";
    let mut before = Vec::new();
    for (name, value) in wanted {
        before.push((*name, session.variable(name)?.unwrap_or_default()));
        session.run(ACTION, &format!("SET GLOBAL {name} = {}", literal(value)))?;
    }
    let done = work(session);
    for (name, value) in before {
        session.run(ACTION, &format!("SET GLOBAL {name} = {}", literal(&value)))?;
    }
    done
}
