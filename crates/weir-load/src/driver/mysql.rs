//! A connection that runs the transactions of its session, one request at a time.
//!
//! The path of a query: a walk over the reply, one look at the clock, and what the session does: for
//! compiled workloads, parameters patched into a shared template. Nothing is allocated on it.

mod joining;
mod loss;
mod reactor_resources;
mod transaction;
mod transit;

use std::time::Instant;

use super::{Cause, Driver, Fresh, Next, ReactorStream as _, Transport};
use crate::LoadError;
use crate::meter::{ConnectionCounters, Kind, Meter, QueryKind, TransactionTiming};
use crate::own_socket::OwnSocket;
use crate::plan::ToleratedErrors;
use crate::session::{AnySession, Work};
use crate::stamp::Stamp;
use weir_mysql::{Reply, ReplyParser, ServerError, Wire};
use weir_workload::Rng;

pub(crate) use reactor_resources::ReactorResources;
use transaction::Call;
use transit::Transit;

/// `COM_QUIT`, as a packet.
const QUIT: &[u8] = &[1, 0, 0, 0, 1];

/// State of a driver, by its outstanding request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DriverState {
    /// The session's.
    Session,
    /// None: the session sleeps within a transaction.
    Sleeping,
    /// None: the next transaction is not due yet.
    Waiting,
    /// None: the connection is lost.
    Lost,
    /// None that is answered: the connection is about to be closed.
    Leaving,
    /// None: the next transaction waits for a new connection.
    Renewing,
    /// None that is answered: the session has left, and the server is about to close.
    Parting,
    /// None: the session joins the server.
    Joining,
    /// None: the session waits for a socket of its own.
    Awaiting(OwnSocket),
}

/// One connection under load.
#[derive(Debug)]
pub(crate) struct MysqlDriver {
    /// Until the reactor takes it.
    transport: Option<Transport>,
    parser: ReplyParser,
    /// State of the compression, if the connection is compressed.
    wire: Wire,
    rng: Rng,
    /// Number of the connection, from 0.
    number: u32,
    session: AnySession,
    /// Kind of the statement of the outstanding request.
    kind: Option<usize>,
    doing: DriverState,
    timing: TransactionTiming,
    /// Time at which the transaction was to begin, also if it is tried again; `None`: there was
    /// none yet.
    turned_ns: Option<u64>,
    /// Time at which it begins, if not with the others, nanoseconds into the run.
    begins_ns: u64,
    /// Time at which the outstanding request set out.
    asked_ns: u64,
    /// Time at which the connection was made, until its first request.
    unasked_since: Option<Instant>,
    /// Transactions that this connection has done.
    served: u64,
    /// Time to look for a new connection.
    look_ns: u64,
    /// The last transaction ended without an answer.
    asks_nothing: bool,
    /// It has no connection: its session has left, or has not joined yet.
    is_away: bool,
    /// There are no more transactions: the session does its last things.
    is_finishing: bool,
    /// Time at which a session that sleeps goes on.
    wake_ns: u64,
    /// Bytes that the delay of a slower network holds back.
    transit: Option<Transit>,
    /// The request among it.
    held: Vec<u8>,
    /// The server's unasked words before it closed the connection.
    farewell: Option<ServerError>,
    /// Time for which the connection had been idle when it was closed, nanoseconds.
    closed_idle_ns: Option<u64>,
    counters: ConnectionCounters,
}

impl MysqlDriver {
    /// A driver of connection `number`, from 0, whose transactions are those of `work` and begin
    /// `begins_ns` into the run.
    pub(crate) fn new(
        number: u32,
        fresh: Fresh,
        work: &Work<'_>,
        begins_ns: u64,
        rng: Rng,
    ) -> Self {
        let mut fresh = fresh;
        let session = work.session(number, std::mem::take(&mut fresh.statements));
        Self::of_session(number, fresh, session, begins_ns, rng)
    }

    /// The same with a session of its own.
    pub(crate) fn of_session(
        number: u32,
        fresh: Fresh,
        session: AnySession,
        begins_ns: u64,
        rng: Rng,
    ) -> Self {
        Self {
            transport: Some(fresh.transport),
            parser: ReplyParser::new(fresh.eof_deprecated),
            unasked_since: Some(fresh.made),
            is_away: false,
            ..Self::away(number, session, begins_ns, rng)
        }
    }

    /// The same without a connection: its session joins the server itself.
    pub(crate) fn away(number: u32, session: AnySession, begins_ns: u64, rng: Rng) -> Self {
        Self {
            transport: None,
            parser: ReplyParser::new(true),
            wire: Wire::default(),
            rng,
            number,
            session,
            kind: None,
            doing: DriverState::Session,
            timing: TransactionTiming::default(),
            turned_ns: None,
            begins_ns,
            asked_ns: 0,
            unasked_since: None,
            served: 0,
            look_ns: 0,
            asks_nothing: false,
            is_away: true,
            is_finishing: false,
            wake_ns: 0,
            transit: None,
            held: Vec::new(),
            farewell: None,
            closed_idle_ns: None,
            counters: ConnectionCounters::default(),
        }
    }

    /// Leaves, with a word, so that the server doesn't log an aborted connection.
    fn quit(&self, shared: &mut ReactorResources) -> Next {
        if !self.is_away {
            shared.outgoing.extend_from_slice(QUIT);
        }
        Next::Finished
    }

    fn received(
        &mut self,
        bytes: &[u8],
        came: Option<Stamp>,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let reply = match &mut shared.codec {
            None => self.parser.feed(bytes),
            Some(codec) => codec.feed(&mut self.wire, &mut self.parser, bytes),
        };
        match reply.map_err(|malformed| shared.link(self.number).malformed(malformed))? {
            Some(reply) => self.deliver(reply, came, shared, meter),
            None => Ok(Next::Reply),
        }
    }

    fn replied(
        &mut self,
        reply: Reply,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        match reply {
            Reply::Rows { .. } => meter.query(QueryKind::Read),
            Reply::Done { affected_rows: 0 } => meter.query(QueryKind::Other),
            // No statement was executed.
            Reply::Prepared { .. } => {}
            Reply::Done { .. } => meter.query(QueryKind::Write),
            Reply::Refused(error) => return self.refused(error, shared, meter),
        }
        if let Some(kind) = self.kind {
            meter.completed(Kind::Statement(kind), self.asked_ns);
        }
        self.turn(Call::Replied(&reply), shared, meter)
    }

    /// The failed try is over: in a closed loop, what comes next has its own latency.
    fn refused(
        &mut self,
        error: ServerError,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let is_survived = shared
            .reconnector
            .as_ref()
            .is_some_and(|r| r.renewal.after_loss);
        if is_survived && ToleratedErrors::is_farewell(error.code) {
            let why = shared.link(self.number).dismissed(&error);
            return self.lose(why, &error, shared, meter);
        }
        if !self.session.judges_errors() && !shared.tolerated.contains(error.code) {
            return Err(shared.link(self.number).refused(&self.session.sql(), error));
        }
        if !self.session.expects_error(&error) {
            meter.failed_try(&error);
        }
        self.turn(Call::Refused(&error), shared, meter)
    }

    /// Does what `cause` allows; what is to be sent is left in plain packets.
    fn act(
        &mut self,
        cause: Cause<'_>,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if let (DriverState::Awaiting(socket), Cause::Received(..) | Cause::Broken(_)) =
            (self.doing, &cause)
        {
            // If the connection is broken, its next request will tell.
            return Ok(Next::Socket(socket));
        }
        match cause {
            Cause::Start => {
                meter.now();
                self.next(shared, meter)
            }
            // What a server says unasked is its farewell; if it closes, the next request will tell.
            Cause::Received(bytes, _) if self.doing == DriverState::Waiting => {
                self.keep_farewell(bytes);
                Ok(Next::Due(self.timing.intended_start_ns))
            }
            Cause::Broken(_) if self.doing == DriverState::Waiting => {
                self.closed_idle(meter);
                Ok(Next::Due(self.timing.intended_start_ns))
            }
            Cause::Ready => self.ready(shared, meter),
            Cause::Received(bytes, _) if self.doing == DriverState::Sleeping => {
                self.keep_farewell(bytes);
                Ok(Next::Due(self.wake_ns))
            }
            Cause::Received(..) | Cause::Broken(_)
                if matches!(
                    self.doing,
                    DriverState::Lost | DriverState::Renewing | DriverState::Joining
                ) =>
            {
                Ok(Next::Due(self.look_ns))
            }
            Cause::Received(..) if self.doing == DriverState::Parting => Ok(Next::Reply),
            Cause::Broken(_) if self.doing == DriverState::Parting => self.parted(shared, meter),
            Cause::Received(..) if self.doing == DriverState::Leaving => Ok(Next::Reply),
            Cause::Broken(_) if self.doing == DriverState::Leaving => self.left(shared, meter),
            Cause::Broken(error) => {
                if self.doing == DriverState::Sleeping {
                    self.closed_idle(meter);
                }
                let (why, said) = self.cause_of_loss(&error, shared);
                self.lose(why, &said, shared, meter)
            }
            Cause::Received(bytes, came) => match &self.transit {
                Some(transit) => Ok(Next::Time(transit.arrival_ns())),
                None => self.received(bytes, came, shared, meter),
            },
            Cause::Time => match self.transit.take() {
                Some(transit) => self.arrive(transit, shared, meter),
                None if matches!(self.doing, DriverState::Lost | DriverState::Renewing) => {
                    self.regain(shared, meter)
                }
                None if self.doing == DriverState::Joining => self.joined(shared, meter),
                None if self.doing == DriverState::Sleeping => self.wake(shared, meter),
                None => self.due(false, shared, meter),
            },
            Cause::Renewed if self.doing == DriverState::Renewing => self.due(true, shared, meter),
            Cause::Renewed if self.doing == DriverState::Joining => {
                self.begin_joined(shared, meter)
            }
            Cause::Renewed => self.retry(false, shared, meter),
        }
    }
}

impl Driver for MysqlDriver {
    type Resources = ReactorResources;

    fn transport(&mut self) -> Option<Transport> {
        self.transport.take()
    }

    fn is_plain(&self) -> bool {
        let transport = self.transport.as_ref();
        transport.is_none_or(|transport| !transport.is_encrypted())
    }

    fn is_local(&self) -> bool {
        let transport = self.transport.as_ref();
        transport.is_none_or(Transport::is_local)
    }

    fn outgoing(shared: &mut ReactorResources) -> &mut Vec<u8> {
        &mut shared.outgoing
    }

    fn advance(
        &mut self,
        cause: Cause<'_>,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let next = self.act(cause, shared, meter)?;
        let ReactorResources {
            codec, outgoing, ..
        } = shared;
        if let Some(codec) = codec
            && !outgoing.is_empty()
        {
            codec.pack(&mut self.wire, outgoing);
        }
        Ok(next)
    }

    fn counters(&self) -> ConnectionCounters {
        self.counters
    }
}

#[cfg(test)]
mod tests;
