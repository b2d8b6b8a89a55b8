//! A connection that runs transactions, one request at a time.
//!
//! The path of a query: a walk over the reply, one look at the clock, parameters patched into a
//! shared template. Nothing is allocated on it.

mod loss;
mod place;
mod requests;
mod statements;
mod transit;

use std::io;
use weir_model::ThinkKind;

use super::{Cause, Driven as _, Driver, Fresh, Next, Transport};
use crate::LoadError;
use crate::meter::{ConnectionCounters, Kind, Meter, Phase, QueryKind, TransactionTiming};
use crate::stamp::Stamp;
use crate::workload::{BulkText, Rng};
use weir_mysql::{Reply, ReplyParser, ServerError, Wire};

use place::Place;
use requests::Requests;
pub(crate) use requests::Shared;
pub(crate) use statements::{Statements, Wanted};
use transit::Transit;

/// `COM_QUIT`, as a packet.
const QUIT: &[u8] = &[1, 0, 0, 0, 1];
/// The server has already undone the whole transaction (`ER_LOCK_DEADLOCK`).
const DEADLOCK: u16 = 1213;

/// What the outstanding request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// This step of the script.
    Step(usize),
    /// Undoing a transaction that failed.
    Rollback,
    /// None: the next transaction is not due yet.
    Waiting,
    /// None: the connection is lost.
    Lost,
    /// None that is answered: the connection is about to be closed.
    Leaving,
    /// None: the next transaction waits for a new connection.
    Renewing,
}

/// One connection under load.
#[derive(Debug)]
pub(crate) struct MysqlDriver {
    /// Until the reactor takes it.
    transport: Option<Transport>,
    parser: ReplyParser,
    /// What is kept of its compression, if it is compressed.
    wire: Wire,
    rng: Rng,
    statements: Statements,
    doing: Doing,
    place: Place,
    timing: TransactionTiming,
    /// When it begins, if not with the others, nanoseconds into the run.
    begins_ns: u64,
    /// When the outstanding request set out.
    asked_ns: u64,
    /// Transactions that this connection has done.
    served: u64,
    /// When to look for a new connection.
    look_ns: u64,
    /// What the delay of a slower network holds back.
    transit: Option<Transit>,
    counters: ConnectionCounters,
}

impl MysqlDriver {
    /// A driver of connection `number`, from 0, whose transactions keep `slots` values and begin
    /// `begins_ns` into the run.
    pub(crate) fn new(number: u32, fresh: Fresh, slots: usize, begins_ns: u64, rng: Rng) -> Self {
        let Fresh {
            transport,
            eof_deprecated,
            statements,
        } = fresh;
        Self {
            transport: Some(transport),
            parser: ReplyParser::new(eof_deprecated),
            wire: Wire::default(),
            rng,
            statements,
            doing: Doing::Step(0),
            place: Place::new(number, slots),
            timing: TransactionTiming::default(),
            begins_ns,
            asked_ns: 0,
            served: 0,
            look_ns: 0,
            transit: None,
            counters: ConnectionCounters::default(),
        }
    }

    /// Turns to the next transaction: begins it or waits until it is due.
    fn next(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Next {
        let Some(due_ns) = meter.claim() else {
            return Self::quit(shared);
        };
        let due_ns = due_ns.saturating_add(self.pause_ns(shared));
        self.timing.intended_start_ns = due_ns;
        if due_ns > meter.last_now() {
            self.doing = Doing::Waiting;
            return Next::Due(due_ns);
        }
        self.begin(true, shared, meter)
    }

    /// How long this connection waits before the transaction that it turns to: until it begins at
    /// all, or while its user thinks.
    fn pause_ns(&mut self, shared: &Shared) -> u64 {
        let begins_ns = std::mem::take(&mut self.begins_ns);
        let think_ns = shared.think.mean.0.as_nanos() as u64;
        if begins_ns > 0 || think_ns == 0 || self.timing.last_attempt_ns == 0 {
            return begins_ns;
        }
        match shared.think.kind {
            ThinkKind::Constant => think_ns,
            // The inverse of the exponential distribution; the argument is in (0, 1].
            ThinkKind::Exponential => (-(1.0 - self.rng.unit()).ln() * think_ns as f64) as u64,
        }
    }

    fn begin(&mut self, has_waited: bool, shared: &mut Shared, meter: &mut Meter<'_>) -> Next {
        if self.has_served(shared) {
            return self.leave(shared);
        }
        self.timing = meter.begin(self.timing.intended_start_ns, has_waited);
        self.place.transaction = shared.requests.choose(&mut self.rng);
        self.doing = Doing::Step(0);
        if shared.requests.is_bulk() {
            return self.begin_bulk(shared, meter);
        }
        self.send(shared, meter)
    }

    /// Begins the same transaction again after a tolerated error.
    fn retry(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Next {
        if !meter.may_begin(true) {
            meter.give_up();
            return Self::quit(shared);
        }
        self.timing = meter.retry(self.timing);
        self.doing = Doing::Step(0);
        self.send(shared, meter)
    }

    /// Begins the transaction that has become due.
    fn due(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Next {
        meter.now();
        if !meter.may_begin(true) {
            return Self::quit(shared);
        }
        self.begin(false, shared, meter)
    }

    /// Leaves, with a word, so that the server doesn't log an aborted connection.
    fn quit(shared: &mut Shared) -> Next {
        shared.outgoing.extend_from_slice(QUIT);
        Next::Finished
    }

    /// Sends the rows after those that were sent before, as many as fit and may still be sent.
    fn begin_bulk(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Next {
        self.place.first_row = self.place.first_row.wrapping_add(self.place.rows as u32);
        self.place.rows = 1 + meter.permit_more(BulkText::ROWS_MAX - 1);
        self.send(shared, meter)
    }

    /// Leaves the request of what is to be done to the reactor.
    fn transmit(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Next {
        let rows_permitted = self.place.rows;
        let Shared {
            requests, outgoing, ..
        } = shared;
        match self.doing {
            Doing::Rollback => Requests::rollback(outgoing),
            Doing::Waiting | Doing::Lost | Doing::Leaving | Doing::Renewing => return Next::Reply,
            Doing::Step(index) => {
                let (statements, place) = (&mut self.statements, &mut self.place);
                requests.step(index, statements, place, &mut self.rng, outgoing);
            }
        }
        // A bulk insert has as many rows as fit.
        meter.return_permits(rows_permitted - self.place.rows);
        Next::Reply
    }

    fn received(
        &mut self,
        bytes: &[u8],
        came: Option<Stamp>,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let reply = match &mut shared.codec {
            None => self.parser.feed(bytes),
            Some(codec) => codec.feed(&mut self.wire, &mut self.parser, bytes),
        };
        match reply.map_err(|malformed| shared.link.malformed(malformed))? {
            Some(reply) => self.deliver(reply, came, shared, meter),
            None => Ok(Next::Reply),
        }
    }

    fn replied(
        &mut self,
        reply: Reply,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        match reply {
            Reply::Rows { .. } => meter.query(QueryKind::Read),
            Reply::Done { affected_rows: 0 } => meter.query(QueryKind::Other),
            Reply::Done { .. } => meter.query(QueryKind::Write),
            Reply::Refused(error) => return self.refused(error, shared, meter),
        }
        let Doing::Step(index) = self.doing else {
            return Ok(self.retry(shared, meter));
        };
        if let Some(statement) = shared.requests.statement(self.place.transaction, index) {
            meter.completed(Kind::Statement(statement), self.asked_ns);
        }
        if index + 1 < shared.requests.steps(self.place.transaction) {
            self.doing = Doing::Step(index + 1);
            return Ok(self.send(shared, meter));
        }
        let transactions = self.place.rows.max(1);
        self.served += transactions;
        meter.transactions(transactions, self.timing);
        if shared.requests.has_choice() {
            let kind = Kind::Transaction(self.place.transaction);
            meter.completed(kind, self.timing.intended_start_ns);
        }
        if meter.phase() == Phase::Measure {
            self.counters.transactions += transactions;
            self.counters.busy_ns += meter
                .reply_received_ns()
                .saturating_sub(self.timing.last_attempt_ns);
        }
        Ok(self.next(shared, meter))
    }

    /// The failed try is over: in a closed loop, what comes next has its own latency.
    fn refused(
        &mut self,
        error: ServerError,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let is_survived = shared
            .reconnector
            .as_ref()
            .is_some_and(|r| r.renewal.after_loss);
        if is_survived && loss::is_farewell(error.code) {
            let why = shared.link.lost(&io::ErrorKind::UnexpectedEof.into());
            return self.lose(why, shared, meter);
        }
        if !shared.tolerated.contains(error.code) {
            let sql = match self.doing {
                Doing::Step(index) => shared.requests.sql(index, &self.place),
                _ => "ROLLBACK".to_owned(),
            };
            return Err(shared.link.refused(&sql, error));
        }
        let needs_rollback = shared.requests.is_explicit(self.place.transaction)
            && matches!(self.doing, Doing::Step(_))
            && error.code != DEADLOCK;
        meter.failed_try(error);
        if needs_rollback {
            self.doing = Doing::Rollback;
            return Ok(self.send(shared, meter));
        }
        Ok(self.retry(shared, meter))
    }

    /// Does what `cause` allows; what is to be sent is left in plain packets.
    fn act(
        &mut self,
        cause: Cause<'_>,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        match cause {
            Cause::Start => {
                meter.now();
                Ok(self.next(shared, meter))
            }
            // What a server says unasked is its farewell; if it closes, the next request will tell.
            Cause::Received(..) | Cause::Broken(_) if self.doing == Doing::Waiting => {
                Ok(Next::Due(self.timing.intended_start_ns))
            }
            Cause::Received(..) | Cause::Broken(_)
                if matches!(self.doing, Doing::Lost | Doing::Renewing) =>
            {
                Ok(Next::Due(self.look_ns))
            }
            Cause::Received(..) if self.doing == Doing::Leaving => Ok(Next::Reply),
            Cause::Broken(_) if self.doing == Doing::Leaving => self.left(shared, meter),
            Cause::Broken(error) => {
                let why = shared.link.lost(&error);
                self.lose(why, shared, meter)
            }
            Cause::Received(bytes, came) => match &self.transit {
                Some(transit) => Ok(Next::Time(transit.arrival_ns())),
                None => self.received(bytes, came, shared, meter),
            },
            Cause::Time => match self.transit.take() {
                Some(transit) => self.arrive(transit, shared, meter),
                None if matches!(self.doing, Doing::Lost | Doing::Renewing) => {
                    self.regain(shared, meter)
                }
                None => Ok(self.due(shared, meter)),
            },
            Cause::Renewed if self.doing == Doing::Renewing => Ok(self.come_back(shared, meter)),
            Cause::Renewed => Ok(self.retry(shared, meter)),
        }
    }
}

impl Driver for MysqlDriver {
    type Shared = Shared;

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

    fn outgoing(shared: &mut Shared) -> &mut Vec<u8> {
        &mut shared.outgoing
    }

    fn advance(
        &mut self,
        cause: Cause<'_>,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let next = self.act(cause, shared, meter)?;
        let Shared {
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
