//! Makes connections: those of the control plane, and those of a run, several at a time.

mod blocking;
mod deadline;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use weir_model::{Address, Endpoint, TlsMode};

use crate::LoadError;
use crate::codec::{Compression, Login, Session, SessionError, Waiting};
use crate::driver::{Fresh, MysqlDriver, Statements};
use crate::plan::LoadPlan;
use crate::tls::TlsClient;
use crate::workload::{Script, seeded};

pub(crate) use blocking::Blocking;
pub(crate) use deadline::Deadline;

/// Connections that are set up at the same time. More would only queue in the server.
const PARALLEL_MAX: usize = 8;
/// The server's word that a statement exists as text only (`ER_UNSUPPORTED_PS`).
pub(crate) const UNSUPPORTED_AS_PREPARED: u16 = 1295;

/// Connects to one server; what does not change from connection to connection is ready.
#[derive(Debug, Clone)]
pub(crate) struct Connector {
    endpoint: Endpoint,
    tls: Option<TlsClient>,
    compression: Option<Compression>,
}

impl Connector {
    /// Reads the certificates that the endpoint names.
    pub(crate) fn new(
        endpoint: Endpoint,
        compression: Option<Compression>,
    ) -> Result<Self, LoadError> {
        let host = match &endpoint.address {
            Address::Tcp(host, _) => Some(host.as_str()),
            Address::Socket(_) => None,
        };
        let tls = match endpoint.tls.mode {
            TlsMode::Disabled => None,
            _ => Some(TlsClient::new(&endpoint.tls, host)?),
        };
        Ok(Self {
            endpoint,
            tls,
            compression,
        })
    }

    /// Connects and logs in; `use_database`: to the endpoint's schema, which must exist.
    pub(crate) fn login(
        &self,
        use_database: bool,
        deadline: Deadline,
    ) -> Result<Session<Blocking>, LoadError> {
        let endpoint = &self.endpoint;
        let login = Login {
            user: &endpoint.user,
            password: endpoint.password.reveal(),
            database: use_database.then_some(&endpoint.database),
            is_local: matches!(endpoint.address, Address::Socket(_)),
            mode: endpoint.tls.mode,
            tls: self.tls.as_ref(),
            compression: self.compression,
        };
        Blocking::connect(&endpoint.address, deadline)
            .map_err(|error| SessionError::stream(error, Waiting::Connection))
            .and_then(|socket| Session::login(socket, login))
            .map_err(|error| self.failed(error, deadline))
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> &Address {
        &self.endpoint.address
    }

    /// What a failure before the load means.
    fn failed(&self, error: SessionError, deadline: Deadline) -> LoadError {
        let address = self.endpoint.address.to_string();
        match error {
            SessionError::Malformed(malformed) => LoadError::Protocol {
                address,
                why: malformed.to_string(),
            },
            SessionError::NotCompressed(compression) => LoadError::NotCompressed {
                address,
                compression: compression.name(),
            },
            SessionError::Timeout(waiting) => LoadError::InitTimeout {
                address,
                limit_s: deadline.limit().as_secs_f64(),
                waiting: format!("{waiting} did not come"),
            },
            error => LoadError::Connect {
                address,
                why: error.to_string(),
            },
        }
    }

    /// Connects, logs in and prepares.
    pub(crate) fn open(&self, script: &Script, deadline: Deadline) -> Result<Fresh, LoadError> {
        let mut session = self.login(true, deadline)?;
        let statements = Statements::prepare(script, |sql, parameters| {
            self.prepare(&mut session, sql, parameters, deadline)
        })?;
        let failed = |error: SessionError| self.failed(error, deadline);
        let (channel, eof_deprecated) = session.into_parts().map_err(failed)?;
        let transport = channel
            .map(Blocking::into_non_blocking)
            .map_err(|error| failed(SessionError::Stream(error)))?;
        Ok(Fresh {
            transport,
            eof_deprecated,
            statements,
        })
    }

    fn prepare(
        &self,
        session: &mut Session<Blocking>,
        sql: &str,
        parameters: usize,
        deadline: Deadline,
    ) -> Result<Option<u32>, LoadError> {
        match session.prepare(sql) {
            Ok(statement) if usize::from(statement.parameters) == parameters => {
                Ok(Some(statement.id))
            }
            Ok(statement) => Err(LoadError::Protocol {
                address: self.endpoint.address.to_string(),
                why: format!(
                    "`{sql}` was prepared with {} parameters",
                    statement.parameters
                ),
            }),
            Err(SessionError::Refused(error))
                if parameters == 0 && error.code == UNSUPPORTED_AS_PREPARED =>
            {
                Ok(None)
            }
            Err(SessionError::Refused(error)) => {
                let address = self.endpoint.address.to_string();
                Err(LoadError::refused(address, sql.to_owned(), error))
            }
            Err(error) => Err(self.failed(error, deadline)),
        }
    }
}

/// The servers of a run: one, or several over which connections are dealt in turn.
#[derive(Debug, Clone)]
pub(crate) struct Servers(Vec<Connector>);

impl Servers {
    /// Those of a plan.
    pub(crate) fn new(plan: &LoadPlan) -> Result<Self, LoadError> {
        std::iter::once(&plan.endpoint.address)
            .chain(&plan.more_addresses)
            .map(|address| {
                let endpoint = Endpoint {
                    address: address.clone(),
                    ..plan.endpoint.clone()
                };
                Connector::new(endpoint, plan.compression)
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The server of connection `number`, counted from 0.
    pub(crate) fn of(&self, number: u32) -> &Connector {
        &self.0[number as usize % self.0.len()]
    }

    /// Each server with its share of so many connections; servers without any are left out.
    pub(crate) fn shares(&self, connections: u32) -> impl Iterator<Item = (&Connector, u32)> {
        let count = self.0.len() as u32;
        (0..)
            .zip(&self.0)
            .map(move |(index, server)| (server, (connections + count - 1 - index) / count))
            .filter(|(_, share)| *share > 0)
    }
}

/// Connects and prepares; one driver per connection, in the order of their numbers.
pub(crate) fn connect_all(
    plan: &LoadPlan,
    servers: &Servers,
    script: &Script,
    stop: &AtomicBool,
    deadline: Deadline,
) -> Result<Vec<MysqlDriver>, LoadError> {
    let job = Job {
        plan,
        servers,
        script,
        stop,
        deadline,
        ready: AtomicU32::new(0),
    };
    let numbers: Vec<u32> = (0..plan.connections).collect();
    let share = numbers.len().div_ceil(PARALLEL_MAX);
    // One connection goes first: a wrong password is then one failed login, and with
    // caching_sha2_password the others find the cache filled.
    let first = job.connect(numbers[0])?;
    std::thread::scope(|scope| {
        let workers: Vec<_> = numbers[1..]
            .chunks(share)
            .map(|chunk| scope.spawn(|| job.connect_chunk(chunk)))
            .collect();
        let mut drivers = vec![first];
        for worker in workers {
            let part = worker
                .join()
                .expect("invariant: a worker that connects does not panic");
            drivers.extend(part?);
        }
        Ok(drivers)
    })
}

/// What the threads that connect share.
struct Job<'a> {
    plan: &'a LoadPlan,
    servers: &'a Servers,
    script: &'a Script,
    stop: &'a AtomicBool,
    deadline: Deadline,
    ready: AtomicU32,
}

impl Job<'_> {
    fn connect_chunk(&self, numbers: &[u32]) -> Result<Vec<MysqlDriver>, LoadError> {
        let mut drivers = Vec::with_capacity(numbers.len());
        for number in numbers {
            if self.stop.load(Ordering::Relaxed) {
                return Err(LoadError::Interrupted("connecting"));
            }
            drivers.push(self.connect(*number)?);
        }
        Ok(drivers)
    }

    fn connect(&self, number: u32) -> Result<MysqlDriver, LoadError> {
        let fresh = self
            .servers
            .of(number)
            .open(self.script, self.deadline)
            .map_err(|error| self.with_progress(error))?;
        self.ready.fetch_add(1, Ordering::Relaxed);
        let rng = seeded(self.plan.seed, u64::from(number));
        let begins_ns = self.plan.begins_ns(number);
        let slots = self.script.slots;
        Ok(MysqlDriver::new(number, fresh, slots, begins_ns, rng))
    }

    /// Adds to a lack of time how far the others have come.
    fn with_progress(&self, error: LoadError) -> LoadError {
        match error {
            LoadError::InitTimeout {
                address,
                limit_s,
                waiting,
            } => LoadError::InitTimeout {
                address,
                limit_s,
                waiting: format!(
                    "{waiting}, and {} of {} connections were ready",
                    self.ready.load(Ordering::Relaxed),
                    self.plan.connections
                ),
            },
            error => error,
        }
    }
}

#[cfg(test)]
mod tests;
