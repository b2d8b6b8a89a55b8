//! What becomes of a connection that was lost: the end of the run or, when that is asked for, a new
//! connection on which the same transaction is tried again. And of one that has done its number of
//! transactions: it leaves, and the next transaction comes on a new one.

use super::{Doing, MysqlDriver, QUIT, Shared};
use crate::LoadError;
use crate::driver::{Fresh, Next};
use crate::meter::{Meter, Phase};
use weir_mysql::{ReplyParser, Wire};

/// How often a driver looks whether its new connection is there.
const LOOK_NS: u64 = 5_000_000;
/// The same when the server is up: its time to let a connection in is within a transaction's.
const LOOK_SOON_NS: u64 = 100_000;
/// The server's words that it is about to close: `ER_SERVER_SHUTDOWN`, `ER_NORMAL_SHUTDOWN`,
/// MariaDB's `ER_CONNECTION_KILLED`, `ER_CLIENT_INTERACTION_TIMEOUT`.
const FAREWELLS: [u16; 4] = [1053, 1077, 1927, 4031];

/// Whether this error says that the connection is about to be closed.
pub(super) fn is_farewell(code: u16) -> bool {
    FAREWELLS.contains(&code)
}

impl MysqlDriver {
    /// The connection has gone while a transaction was under way.
    pub(super) fn lose(
        &mut self,
        why: LoadError,
        shared: &Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        if self.is_finishing {
            return Ok(Next::Finished);
        }
        let reconnector = shared.reconnector.as_ref();
        let Some(reconnector) = reconnector.filter(|reconnector| reconnector.renewal.after_loss)
        else {
            return Err(why);
        };
        self.transit = None;
        self.doing = Doing::Lost;
        meter.now();
        meter.lose();
        reconnector.ask(self.number);
        self.regain(shared, meter)
    }

    /// Whether the connection has done its number of transactions.
    pub(super) fn has_served(&self, shared: &Shared) -> bool {
        let every = shared.reconnector.as_ref().map_or(0, |r| r.renewal.every);
        every > 0 && self.served >= every
    }

    /// Leaves the server, to come back on a new connection.
    pub(super) fn leave(&mut self, shared: &mut Shared) -> Next {
        self.served = 0;
        self.doing = Doing::Leaving;
        shared.outgoing.extend_from_slice(QUIT);
        Next::Reply
    }

    /// The server has closed the connection that left: only now is there room for another.
    pub(super) fn left(
        &mut self,
        shared: &Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        self.doing = Doing::Renewing;
        if let Some(reconnector) = &shared.reconnector {
            reconnector.ask(self.number);
        }
        self.regain(shared, meter)
    }

    /// Takes the new connection, or waits for it for as long as there is something to measure.
    pub(super) fn regain(
        &mut self,
        shared: &Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let was_lost = self.doing == Doing::Lost;
        let now_ns = meter.now();
        if meter.phase() == Phase::Drain {
            if was_lost {
                meter.give_up();
            }
            return Ok(Next::Finished);
        }
        let fresh = shared
            .reconnector
            .as_ref()
            .and_then(|reconnector| reconnector.take(self.number));
        let Some(fresh) = fresh else {
            self.look_ns = now_ns + if was_lost { LOOK_NS } else { LOOK_SOON_NS };
            return Ok(Next::Due(self.look_ns));
        };
        self.renew(fresh?);
        if was_lost {
            meter.regain();
        } else {
            meter.renewed();
        }
        Ok(Next::Renewed)
    }

    fn renew(&mut self, fresh: Fresh) {
        self.parser = ReplyParser::new(fresh.eof_deprecated);
        self.wire = Wire::default();
        self.session.renew(fresh.statements);
        self.transport = Some(fresh.transport);
    }
}
