//! A connection that runs transactions, one request at a time.
//!
//! The path of a query: one `read`, a walk over the reply, one look at the clock, parameters
//! patched into a shared template, one `write`. Nothing is allocated on it.

mod loss;
mod requests;
mod statements;
mod transit;

use std::io::{self, Read as _, Write as _};

use mio::event::Source;

use super::{Cause, Driver, Fresh, Next, Share, Transport};
use crate::LoadError;
use crate::codec::{Reply, ReplyParser, ServerError};
use crate::meter::{Course, Meter, Phase, QueryKind};
use crate::workload::{BulkText, Rng};

pub(crate) use requests::Shared;
pub(crate) use statements::Statements;
use transit::Transit;

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
}

/// Row and table that the current steps work on.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Number of the connection, from 0.
    connection: u32,
    /// Counted from 0.
    table: u32,
    key: u32,
    /// Rows of a bulk insert; until it is sent, the most that it may have.
    rows: u64,
}

impl Place {
    /// Where connection `connection` begins: in a bulk insert, before row 1 of its own table.
    fn new(connection: u32) -> Self {
        Self {
            connection,
            table: connection,
            key: 1,
            rows: 0,
        }
    }
}

/// One connection under load.
#[derive(Debug)]
pub(crate) struct MysqlDriver {
    transport: Transport,
    parser: ReplyParser,
    rng: Rng,
    statements: Statements,
    /// The end of a request that the socket had no room for.
    unsent: Vec<u8>,
    doing: Doing,
    place: Place,
    course: Course,
    /// When to look for a new connection.
    look_ns: u64,
    /// What the delay of a slower network holds back.
    transit: Option<Transit>,
    share: Share,
}

impl MysqlDriver {
    /// A driver of connection `number`, from 0, on which `statements` were prepared.
    pub(crate) fn new(number: u32, fresh: Fresh, rng: Rng) -> Self {
        let Fresh {
            transport,
            eof_deprecated,
            statements,
        } = fresh;
        Self {
            transport,
            parser: ReplyParser::new(eof_deprecated),
            rng,
            statements,
            unsent: Vec::new(),
            doing: Doing::Step(0),
            place: Place::new(number),
            course: Course::default(),
            look_ns: 0,
            transit: None,
            share: Share::default(),
        }
    }

    /// Turns to the next transaction: begins it or waits until it is due.
    fn next(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Result<Next, LoadError> {
        let Some(due_ns) = meter.claim() else {
            return Ok(self.quit(shared));
        };
        self.course.due_ns = due_ns;
        if due_ns > meter.last_now() {
            self.doing = Doing::Waiting;
            return Ok(Next::Due(due_ns));
        }
        self.begin(true, shared, meter)
    }

    fn begin(
        &mut self,
        has_waited: bool,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        self.course = meter.begin(self.course.due_ns, has_waited);
        self.doing = Doing::Step(0);
        if shared.requests.is_bulk() {
            return self.begin_bulk(shared, meter);
        }
        self.send(shared, meter)
    }

    /// Begins the same transaction again after a tolerated error.
    fn retry(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Result<Next, LoadError> {
        if !meter.may_begin(true) {
            meter.give_up();
            return Ok(self.quit(shared));
        }
        self.course = meter.retry(self.course);
        self.doing = Doing::Step(0);
        self.send(shared, meter)
    }

    /// Begins the transaction that has become due.
    fn due(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Result<Next, LoadError> {
        meter.now();
        if !meter.may_begin(true) {
            return Ok(self.quit(shared));
        }
        self.begin(false, shared, meter)
    }

    fn quit(&mut self, shared: &Shared) -> Next {
        // So that the server doesn't log an aborted connection; it is leaving either way.
        let _ = self.transport.write(shared.quit());
        Next::Finished
    }

    /// Sends the rows after those that were sent before, as many as fit and may still be sent.
    fn begin_bulk(
        &mut self,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        self.place.key = self.place.key.wrapping_add(self.place.rows as u32);
        self.place.rows = 1 + meter.permit_more(BulkText::ROWS_MAX - 1);
        self.send(shared, meter)
    }

    /// Writes the request of what is to be done.
    fn transmit(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Result<Next, LoadError> {
        let Shared { requests, link, .. } = shared;
        let rows_permitted = self.place.rows;
        let request = match self.doing {
            Doing::Rollback => requests.rollback(),
            Doing::Waiting | Doing::Lost => return Ok(Next::Readable),
            Doing::Step(index) => {
                requests.step(index, &mut self.statements, &mut self.place, &mut self.rng)
            }
        };
        // A bulk insert has as many rows as fit.
        meter.return_permits(rows_permitted - self.place.rows);
        let sent = match self.transport.write(request) {
            Ok(sent) => sent,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) => {
                let why = link.lost(&error);
                return self.lose(why, shared, meter);
            }
        };
        if sent == request.len() {
            return Ok(Next::Readable);
        }
        self.unsent.extend_from_slice(&request[sent..]);
        Ok(Next::Writable)
    }

    fn send_rest(&mut self, shared: &Shared, meter: &mut Meter<'_>) -> Result<Next, LoadError> {
        while !self.unsent.is_empty() {
            match self.transport.write(&self.unsent) {
                Ok(sent) => drop(self.unsent.drain(..sent)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Next::Writable);
                }
                Err(error) => {
                    let why = shared.link.lost(&error);
                    return self.lose(why, shared, meter);
                }
            }
        }
        Ok(Next::Readable)
    }

    fn receive(&mut self, shared: &mut Shared, meter: &mut Meter<'_>) -> Result<Next, LoadError> {
        loop {
            let read = match self.transport.read(&mut shared.buffer) {
                Ok(0) => {
                    let why = shared.link.lost(&io::ErrorKind::UnexpectedEof.into());
                    return self.lose(why, shared, meter);
                }
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Next::Readable);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let why = shared.link.lost(&error);
                    return self.lose(why, shared, meter);
                }
            };
            let reply = self
                .parser
                .feed(&shared.buffer[..read])
                .map_err(|malformed| shared.link.malformed(malformed))?;
            if let Some(reply) = reply {
                return self.deliver(reply, shared, meter);
            }
            if read < shared.buffer.len() {
                // epoll(7): a short read from a stream has emptied it.
                return Ok(Next::Readable);
            }
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
            return self.retry(shared, meter);
        };
        if index + 1 < shared.requests.steps() {
            self.doing = Doing::Step(index + 1);
            return self.send(shared, meter);
        }
        let transactions = self.place.rows.max(1);
        meter.transactions(transactions, self.course);
        if meter.phase() == Phase::Measure {
            self.share.transactions += transactions;
            self.share.busy_ns += meter.last_now() - self.course.tried_ns;
        }
        self.next(shared, meter)
    }

    /// The failed try is over: in a closed loop, what comes next has its own latency.
    fn refused(
        &mut self,
        error: ServerError,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if shared.reconnector.is_some() && loss::is_farewell(error.code) {
            let why = shared.link.lost(&io::ErrorKind::UnexpectedEof.into());
            return self.lose(why, shared, meter);
        }
        if !shared.tolerated.contains(error.code) {
            let sql = match self.doing {
                Doing::Step(index) => shared.requests.sql(index, self.place.table),
                Doing::Rollback | Doing::Waiting | Doing::Lost => "ROLLBACK".to_owned(),
            };
            return Err(shared.link.refused(sql, error));
        }
        let needs_rollback = shared.requests.is_transaction()
            && matches!(self.doing, Doing::Step(_))
            && error.code != DEADLOCK;
        meter.failed_try(error);
        if needs_rollback {
            self.doing = Doing::Rollback;
            return self.send(shared, meter);
        }
        self.retry(shared, meter)
    }
}

impl Driver for MysqlDriver {
    type Shared = Shared;

    fn source(&mut self) -> Option<&mut dyn Source> {
        Some(self.transport.source())
    }

    fn advance(
        &mut self,
        cause: Cause,
        shared: &mut Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if let Some(transit) = self.transit.take() {
            if cause == Cause::Time {
                return self.arrive(transit, shared, meter);
            }
            // Nothing is expected meanwhile; a server that has closed is noticed afterwards.
            let next = Next::Time(transit.arrival_ns());
            self.transit = Some(transit);
            return Ok(next);
        }
        match cause {
            Cause::Start => {
                meter.now();
                self.next(shared, meter)
            }
            // Bytes that come now are the server's farewell; the next request will tell.
            Cause::Ready if self.doing == Doing::Waiting => Ok(Next::Due(self.course.due_ns)),
            Cause::Ready if self.doing == Doing::Lost => Ok(Next::Due(self.look_ns)),
            Cause::Time if self.doing == Doing::Lost => Ok(self.regain(shared, meter)),
            Cause::Renewed => self.retry(shared, meter),
            Cause::Time if self.doing == Doing::Waiting => self.due(shared, meter),
            _ if !self.unsent.is_empty() => self.send_rest(shared, meter),
            _ => self.receive(shared, meter),
        }
    }

    fn share(&self) -> Share {
        self.share
    }
}
