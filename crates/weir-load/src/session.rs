//! Session of a connection: a stream of transactions, request by request.
//!
//! A [`Session`] says what comes next and receives the server's answers. It does no input or output
//! and reads no clock, so that it runs on any reactor, and in simulated time. Compiled workloads are
//! sessions that allocate nothing; a [`SessionSource`] brings sessions of another kind, such as scripts
//! or captured statements.

mod compiled;
mod found;
mod order_entry;
mod place;
mod statements;
mod turn;

use std::fmt;
use std::sync::Arc;

use weir_mysql::{AnswerDigest, Exchange, Reply, Row, ServerError, StatementResult};

use weir_workload::Script;

use crate::LoadError;
use crate::own_socket::OwnSocket;
use crate::plan::LoadPlan;

pub(crate) use compiled::{CompiledSession, Templates};
pub use found::FoundStatements;
pub(crate) use order_entry::{OrderEntry, OrderEntrySession};
pub(crate) use statements::{StatementToPrepare, Statements};
pub use turn::Turn;

/// Session of one connection.
///
/// One request is outstanding at a time. A call that returns [`Step::Request`] has left it in the
/// [`Turn`]; the answer comes by [`Self::replied`] or, where the run tolerates the error, by
/// [`Self::refused`]. Other errors end the run, or the connection is made again.
pub trait Session: fmt::Debug + Send {
    /// Returns true if the rows of the outstanding request's answer are wanted. Others are skipped, which is cheaper
    /// by far.
    fn needs_rows(&self) -> bool {
        false
    }

    /// Returns true if a digest of the outstanding request's answer is wanted, see
    /// [`Self::digested`].
    fn digests_rows(&self) -> bool {
        false
    }

    /// The digest of the answer that [`Self::replied`] has next.
    fn digested(&mut self, _digest: AnswerDigest) {}

    /// Returns true if it handles errors itself: each answer that is one comes by [`Self::refused`], and a lost
    /// connection is not counted.
    fn judges_errors(&self) -> bool {
        false
    }

    /// Returns true if this error is the right answer to the outstanding request; such errors are not counted.
    fn expects_error(&self, _error: &ServerError) -> bool {
        false
    }

    /// Returns the time at which its next transaction is due, nanoseconds since the run began; `None`: when the load's
    /// pace wants it. Latency counts from then.
    fn due_ns(&mut self) -> Option<u64> {
        None
    }

    /// Begins the next transaction.
    fn begin(&mut self, turn: &mut Turn<'_>) -> Step;

    /// Begins the same transaction again: after [`Step::Retry`], or on a new connection.
    fn again(&mut self, turn: &mut Turn<'_>) -> Step;

    /// The outstanding request was answered, with `rows` if they were wanted.
    fn replied(&mut self, reply: &Reply, rows: &[Row], turn: &mut Turn<'_>) -> Step;

    /// All results of the outstanding request, before [`Self::replied`] or [`Self::refused`], if it was left by
    /// [`Turn::query_results`] or [`Turn::execute_results`].
    fn results(&mut self, _results: Vec<StatementResult>) {}

    /// There are no more transactions: what the connection does before it is closed, by the steps of a
    /// transaction until [`Step::Done`] or [`Step::End`]. It is not measured.
    fn finish(&mut self, _turn: &mut Turn<'_>) -> Step {
        Step::End
    }

    /// Returns true if a transaction that sleeps at the end of the run goes on, instead of being
    /// given up.
    fn completes_sleeping(&self) -> bool {
        false
    }

    /// The outstanding request was refused with an error that the run tolerates; it is counted.
    fn refused(&mut self, error: &ServerError, turn: &mut Turn<'_>) -> Step;

    /// The time of [`Step::Sleep`] has come.
    fn woken(&mut self, turn: &mut Turn<'_>) -> Step {
        self.again(turn)
    }

    /// The socket of [`Step::Await`] is ready.
    fn ready(&mut self, turn: &mut Turn<'_>) -> Step {
        self.again(turn)
    }

    /// The connection is a new one: what was prepared on the one before is gone.
    fn reconnected(&mut self) {}

    /// [`Step::Join`] failed: the server let no connection in.
    fn not_joined(&mut self, _why: &LoadError) {}

    /// The text of the outstanding request, for an error.
    fn sql(&self) -> String;
}

/// Next step of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A request was left in the turn.
    Request {
        /// Statement of its latency, by its position in [`SessionKinds::statements`].
        kind: Option<usize>,
    },
    /// Nothing until this time, nanoseconds since the run began; the transaction goes on then.
    Sleep {
        /// End of the sleep.
        until_ns: u64,
    },
    /// Nothing until a socket of the session's own is ready; the transaction goes on with [`Session::ready`].
    Await(OwnSocket),
    /// The transaction is complete.
    Done {
        /// Number of transactions that it counts for: one, but for statements that carry many; 0: it was none, and has
        /// no latency.
        transactions: u64,
        /// Kind of the transaction, by its position in [`SessionKinds::transactions`].
        kind: Option<usize>,
    },
    /// The try has failed, as the server's answer said; the transaction is begun again.
    Retry {
        /// True if its latency goes on from its beginning also in a closed loop, where it else
        /// begins anew.
        keeps_start: bool,
    },
    /// A new connection is made, on which the session goes on with [`Session::begin`]; without one, see
    /// [`Session::not_joined`], too.
    Join,
    /// The connection is closed, and the session goes on with its next transaction.
    Leave,
    /// There are no more transactions.
    End,
}

/// Names of the kinds that latencies are kept by.
#[derive(Debug, Clone, Default)]
pub struct SessionKinds {
    /// Of transactions; empty where they are all alike.
    pub transactions: Vec<String>,
    /// Of statements.
    pub statements: Vec<String>,
    /// Of statements that turn up during the run; their positions follow those of `statements`.
    pub found: Arc<FoundStatements>,
}

/// A session that a source has made, and the connection that the engine drives for it. `None`: the session has all of
/// its connections itself, see [`Step::Await`].
pub type OpenedSession = (Option<Exchange>, Box<dyn Session>);

/// Makes sessions of another kind than a compiled workload's.
pub trait SessionSource: Sync {
    /// Creates the session of a connection, by its number from 0.
    fn session(&self, connection: u32) -> Box<dyn Session>;

    /// Returns the names of its sessions' kinds.
    fn kinds(&self) -> SessionKinds;

    /// Opens connection `number` with its session, where the source does that itself; `None`: the engine is to
    /// open it.
    ///
    /// # Errors
    ///
    /// A server that refuses, or a session that cannot begin.
    fn open(&self, _number: u32) -> Option<Result<OpenedSession, LoadError>> {
        None
    }

    /// Returns true if the source opens connections itself, see [`Self::open`]. Changes by their statements are not
    /// looked at before, and they may have several results.
    fn opens_connections(&self) -> bool {
        false
    }

    /// Returns true if its sessions join and leave the server themselves, see [`Step::Join`]. They have no connection
    /// when they begin.
    fn joins(&self) -> bool {
        false
    }

    /// Returns true if its sessions change nothing. Then Weir does not look whether tables may be changed, and a
    /// statement that changes one is not sent to a server of the user's.
    fn only_reads(&self) -> bool {
        false
    }
}

/// The session of one connection.
#[derive(Debug)]
pub(crate) enum AnySession {
    /// Of a compiled workload: nothing is allocated on its way.
    Compiled(CompiledSession),
    /// A terminal of order entry: nothing is allocated on its way, either.
    OrderEntry(Box<OrderEntrySession>),
    /// Of a source.
    Sourced(Box<dyn Session>),
}

macro_rules! either {
    ($self:ident, $session:ident => $call:expr) => {
        match $self {
            AnySession::Compiled($session) => $call,
            AnySession::OrderEntry($session) => $call,
            AnySession::Sourced($session) => $call,
        }
    };
}

impl AnySession {
    pub(crate) fn needs_rows(&self) -> bool {
        match self {
            Self::Compiled(_) => false,
            Self::OrderEntry(session) => session.needs_rows(),
            Self::Sourced(session) => session.needs_rows(),
        }
    }

    pub(crate) fn digests_rows(&self) -> bool {
        match self {
            Self::Compiled(_) | Self::OrderEntry(_) => false,
            Self::Sourced(session) => session.digests_rows(),
        }
    }

    pub(crate) fn digested(&mut self, digest: AnswerDigest) {
        if let Self::Sourced(session) = self {
            session.digested(digest);
        }
    }

    pub(crate) fn judges_errors(&self) -> bool {
        match self {
            Self::Compiled(_) | Self::OrderEntry(_) => false,
            Self::Sourced(session) => session.judges_errors(),
        }
    }

    pub(crate) fn expects_error(&self, error: &ServerError) -> bool {
        match self {
            Self::Compiled(_) | Self::OrderEntry(_) => false,
            Self::Sourced(session) => session.expects_error(error),
        }
    }

    pub(crate) fn due_ns(&mut self) -> Option<u64> {
        match self {
            Self::Compiled(_) => None,
            Self::OrderEntry(session) => session.due_ns(),
            Self::Sourced(session) => session.due_ns(),
        }
    }

    pub(crate) fn begin(&mut self, turn: &mut Turn<'_>) -> Step {
        either!(self, session => session.begin(turn))
    }

    pub(crate) fn again(&mut self, turn: &mut Turn<'_>) -> Step {
        either!(self, session => session.again(turn))
    }

    pub(crate) fn replied(&mut self, reply: &Reply, rows: &[Row], turn: &mut Turn<'_>) -> Step {
        either!(self, session => session.replied(reply, rows, turn))
    }

    pub(crate) fn refused(&mut self, error: &ServerError, turn: &mut Turn<'_>) -> Step {
        either!(self, session => session.refused(error, turn))
    }

    pub(crate) fn woken(&mut self, turn: &mut Turn<'_>) -> Step {
        either!(self, session => session.woken(turn))
    }

    pub(crate) fn ready(&mut self, turn: &mut Turn<'_>) -> Step {
        either!(self, session => session.ready(turn))
    }

    pub(crate) fn results(&mut self, results: Vec<StatementResult>) {
        if let Self::Sourced(session) = self {
            session.results(results);
        }
    }

    pub(crate) fn finish(&mut self, turn: &mut Turn<'_>) -> Step {
        match self {
            Self::Compiled(_) | Self::OrderEntry(_) => Step::End,
            Self::Sourced(session) => session.finish(turn),
        }
    }

    pub(crate) fn completes_sleeping(&self) -> bool {
        match self {
            Self::Compiled(_) | Self::OrderEntry(_) => false,
            Self::Sourced(session) => session.completes_sleeping(),
        }
    }

    pub(crate) fn not_joined(&mut self, why: &LoadError) {
        if let Self::Sourced(session) = self {
            session.not_joined(why);
        }
    }

    pub(crate) fn sql(&self) -> String {
        either!(self, session => session.sql())
    }

    /// Goes on on a new connection, on which these statements are prepared.
    pub(crate) fn renew(&mut self, statements: Statements) {
        match self {
            Self::Compiled(session) => session.renew(statements),
            Self::OrderEntry(session) => session.renew(statements),
            Self::Sourced(session) => session.reconnected(),
        }
    }
}

/// Work of all connections of a run.
#[derive(Clone)]
pub(crate) struct Work<'a> {
    /// Of a compiled workload; of no statements where sessions come from a source.
    templates: Arc<Templates>,
    order_entry: Option<Arc<OrderEntry>>,
    source: Option<&'a dyn SessionSource>,
}

impl<'a> Work<'a> {
    /// The workload of a plan.
    pub(crate) fn of_plan(plan: &LoadPlan) -> Result<Self, LoadError> {
        let order_entry = plan.workload.order_entry();
        Ok(Self {
            order_entry: order_entry.map(|workload| Arc::new(OrderEntry::new(workload, plan.seed))),
            ..Self::of_script(plan.script()?)
        })
    }

    /// A compiled workload.
    pub(crate) fn of_script(script: Script) -> Self {
        Self {
            templates: Arc::new(Templates::new(script)),
            order_entry: None,
            source: None,
        }
    }

    /// Creates the work of a source's sessions.
    pub(crate) fn of_source(source: &'a dyn SessionSource) -> Self {
        Self {
            source: Some(source),
            ..Self::of_script(Script::empty())
        }
    }

    /// The workload's script; without statements where sessions come from a source.
    pub(crate) fn script(&self) -> &Script {
        &self.templates.script
    }

    /// Returns true if the run's statements are known before it begins.
    pub(crate) fn is_compiled(&self) -> bool {
        self.source.is_none()
    }

    /// Returns true if a source's sessions change nothing.
    pub(crate) fn only_reads(&self) -> bool {
        self.source.is_some_and(SessionSource::only_reads)
    }

    /// A connection that the source opens itself, with its session.
    pub(crate) fn open(
        &self,
        number: u32,
    ) -> Option<Result<(Option<Exchange>, AnySession), LoadError>> {
        let opened = self.source?.open(number)?;
        Some(opened.map(|(exchange, session)| (exchange, AnySession::Sourced(session))))
    }

    /// Returns true if sessions join and leave the server themselves.
    pub(crate) fn joins(&self) -> bool {
        self.source.is_some_and(SessionSource::joins)
    }

    /// Returns true if connections are not the engine's to open.
    pub(crate) fn opens_connections(&self) -> bool {
        self.source.is_some_and(SessionSource::opens_connections)
    }

    /// The session of connection `number`, on which these statements are prepared.
    pub(crate) fn session(&self, number: u32, statements: Statements) -> AnySession {
        let templates = Arc::clone(&self.templates);
        if let Some(order_entry) = &self.order_entry {
            let session = order_entry.session(number, templates, statements);
            return AnySession::OrderEntry(Box::new(session));
        }
        match self.source {
            Some(source) => AnySession::Sourced(source.session(number)),
            None => AnySession::Compiled(CompiledSession::new(templates, statements, number)),
        }
    }

    /// Returns the names of its kinds.
    pub(crate) fn kinds(&self) -> SessionKinds {
        if let Some(source) = self.source {
            return source.kinds();
        }
        if self.order_entry.is_some() {
            return OrderEntry::kinds();
        }
        let script = self.script();
        SessionKinds {
            transactions: script.transactions.iter().map(|t| t.name.clone()).collect(),
            statements: script.statements.iter().map(|s| s.name.clone()).collect(),
            found: Arc::default(),
        }
    }
}
