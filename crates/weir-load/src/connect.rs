//! Makes the measured connections of a run, several at a time.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use weir_model::{Address, Endpoint};
use weir_mysql::{
    Blocking, ClientError, Compression, Connector, Deadline, Exchange, Gate, PreparedStatement,
    Session, SessionError,
};

use crate::LoadError;
use crate::driver::{Fresh, MysqlDriver};
use crate::plan::LoadPlan;
use crate::session::{StatementToPrepare, Statements, Work};
use weir_workload::Script;

/// Connections that are set up at the same time where the server is near: more would only queue in it.
const PARALLEL_NEAR: usize = 8;
/// And where it is far, so that most of the time is the network's.
const PARALLEL_MAX: usize = 256;
/// Work of the server between two round trips of a connection that is set up, about.
const WORK: Duration = Duration::from_millis(1);
/// The server's word that a statement exists as text only (`ER_UNSUPPORTED_PS`).
pub(crate) const UNSUPPORTED_AS_PREPARED: u16 = 1295;

/// Connects, logs in and prepares the statements of `script`.
pub(crate) fn open(
    connector: &Connector,
    script: &Script,
    deadline: Deadline,
) -> Result<Fresh, LoadError> {
    let mut session = connector.login(true, deadline)?;
    let statements = Statements::prepare(script, |wanted| {
        prepare(connector, &mut session, wanted, deadline)
    })?;
    let failed = |error: SessionError| connector.failed(error, deadline);
    let (channel, eof_deprecated) = session.into_parts().map_err(failed)?;
    let transport = channel
        .map(|blocking| blocking.into_stream().try_into())
        .map_err(|error| failed(SessionError::Stream(error)))?;
    Ok(Fresh::new(transport, eof_deprecated, statements))
}

/// A connection that a source has opened.
fn taken(exchange: Exchange) -> Result<Fresh, LoadError> {
    let (channel, eof_deprecated) = exchange.into_parts();
    let transport = channel.map(TryInto::try_into);
    let transport = transport.map_err(|error| LoadError::Host {
        what: "take a connection over",
        why: error.to_string().to_lowercase(),
    })?;
    Ok(Fresh::new(transport, eof_deprecated, Statements::default()))
}

/// Prepares statements; `None` for those that exist as text only.
fn prepare(
    connector: &Connector,
    session: &mut Session<Blocking>,
    wanted: &[StatementToPrepare],
    deadline: Deadline,
) -> Result<Vec<Option<u32>>, LoadError> {
    let texts: Vec<_> = wanted.iter().map(|wanted| wanted.sql.as_str()).collect();
    let answers = connector.prepare_all(session, &texts, deadline)?;
    wanted
        .iter()
        .zip(answers)
        .map(|(wanted, answer)| number(connector, wanted, answer))
        .collect()
}

/// The server's number of a statement by its answer; `None` if it exists as text only.
fn number(
    connector: &Connector,
    StatementToPrepare { sql, parameters }: &StatementToPrepare,
    answer: Result<PreparedStatement, ClientError>,
) -> Result<Option<u32>, LoadError> {
    match answer {
        Ok(statement) if usize::from(statement.parameters) == *parameters => Ok(Some(statement.id)),
        Ok(statement) => Err(ClientError::Protocol {
            address: connector.address().to_string(),
            why: format!(
                "`{sql}` was prepared with {} parameters",
                statement.parameters
            ),
        }
        .into()),
        Err(error) if *parameters == 0 && error.code() == Some(UNSUPPORTED_AS_PREPARED) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The servers of a run: one, or several over which connections are dealt in turn.
#[derive(Debug, Clone)]
pub(crate) struct Servers(Vec<Connector>);

impl Servers {
    /// Those of a plan; `gate`: what may be done to each.
    pub(crate) fn new(plan: &LoadPlan, gate: &Gate) -> Result<Self, LoadError> {
        std::iter::once(&plan.endpoint.address)
            .chain(&plan.more_addresses)
            .map(|address| {
                let endpoint = Endpoint {
                    address: address.clone(),
                    ..plan.endpoint.clone()
                };
                let compression = Compression::from_protocol(plan.load.compression);
                Ok(Connector::new(endpoint, compression, gate.clone())?)
            })
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The same, for connections whose statements may have several results.
    pub(crate) fn with_several_results(self) -> Self {
        let all = self.0.into_iter();
        Self(all.map(Connector::with_several_results).collect())
    }

    /// The server of connection `number`, counted from 0.
    pub(crate) fn for_connection(&self, number: u32) -> &Connector {
        &self.0[number as usize % self.0.len()]
    }

    /// The addresses, in the order in which connections are dealt over them.
    pub(crate) fn addresses(&self) -> Vec<Address> {
        self.0
            .iter()
            .map(|server| server.address().clone())
            .collect()
    }

    /// Each server with how many of the connections of these numbers it has.
    pub(crate) fn shares(&self, numbers: &Range<u32>) -> impl Iterator<Item = (&Connector, u32)> {
        let count = self.0.len() as u32;
        let before =
            move |number: u32, index: u32| number.saturating_add(count - 1 - index) / count;
        let (start, end) = (numbers.start, numbers.end);
        (0..)
            .zip(&self.0)
            .map(move |(index, server)| (server, before(end, index) - before(start, index)))
    }
}

/// Connections to set up at the same time, so that the server has work while others travel.
fn parallel(round_trip: Duration) -> usize {
    let away = (round_trip.as_secs_f64() / WORK.as_secs_f64()) as usize;
    (PARALLEL_NEAR * away.max(1)).min(PARALLEL_MAX)
}

/// Connects and prepares; one driver per connection, in the order of their numbers. The servers are
/// `round_trip` away.
pub(crate) fn connect_all(
    plan: &LoadPlan,
    servers: &Servers,
    work: &Work<'_>,
    round_trip: Duration,
    stop: &AtomicBool,
    deadline: Deadline,
) -> Result<Vec<MysqlDriver>, LoadError> {
    let job = Job {
        plan,
        servers,
        work,
        stop,
        deadline,
        ready: AtomicU32::new(0),
    };
    let numbers: Vec<u32> = plan.share().connections.collect();
    let share = numbers.len().div_ceil(parallel(round_trip));
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

/// Data that the threads that connect share.
struct Job<'a> {
    plan: &'a LoadPlan,
    servers: &'a Servers,
    work: &'a Work<'a>,
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
        let rng = self.plan.random_of(number);
        let begins_ns = self.plan.begins_ns(number);
        if self.work.joins() {
            let session = self.work.session(number, Statements::default());
            return Ok(MysqlDriver::away(number, session, begins_ns, rng));
        }
        if let Some(opened) = self.work.open(number) {
            let (exchange, session) = opened?;
            let Some(exchange) = exchange else {
                self.ready.fetch_add(1, Ordering::Relaxed);
                return Ok(MysqlDriver::away(number, session, begins_ns, rng));
            };
            let fresh = taken(exchange)?;
            self.ready.fetch_add(1, Ordering::Relaxed);
            return Ok(MysqlDriver::of_session(
                number, fresh, session, begins_ns, rng,
            ));
        }
        let fresh = open(
            self.servers.for_connection(number),
            self.work.script(),
            self.deadline,
        )
        .map_err(|error| self.with_progress(error))?;
        self.ready.fetch_add(1, Ordering::Relaxed);
        Ok(MysqlDriver::new(number, fresh, self.work, begins_ns, rng))
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
                    self.plan.share().count()
                ),
            },
            error => error,
        }
    }
}

#[cfg(test)]
mod tests;
