//! Handling of a lost connection: the end of the run or, when that is asked for, another try of the
//! transaction on a new connection. And of one that has done its number of transactions: it leaves,
//! and the next transaction comes on a new one.

use std::io;

use super::{DriverState, MysqlDriver, QUIT, ReactorResources};
use crate::LoadError;
use crate::driver::{Fresh, Next};
use crate::meter::{Meter, Phase};
use weir_mysql::{ReplyParser, ServerError, Wire};

/// Interval at which a driver looks for its new connection.
const LOOK_NS: u64 = 5_000_000;
/// The same when the server is up: its time to let a connection in is within a transaction's.
const LOOK_SOON_NS: u64 = 100_000;

/// Returns the error of a client for a connection that has gone without a word (`CR_SERVER_LOST`).
pub(super) fn lost_in_silence() -> ServerError {
    ServerError {
        code: 2013,
        state: "HY000".to_owned(),
        message: "lost connection to the server during a query".to_owned(),
    }
}

/// Closed after so long without a request, a connection may have met a limit. The least `wait_timeout` is 1 s on the
/// server's clock, which starts before the reply is read here.
const IDLE_LIMIT_MIN_NS: u64 = 750_000_000;

impl MysqlDriver {
    /// Keeps what the server says unasked, if it says why it is about to close.
    /// A compressed one is passed over.
    pub(super) fn keep_farewell(&mut self, bytes: &[u8]) {
        if let Some(said) = ServerError::unasked(bytes) {
            self.farewell = Some(said);
        }
    }

    /// The connection was closed while nothing was asked.
    pub(super) fn closed_idle(&mut self, meter: &mut Meter<'_>) {
        if self.closed_idle_ns.is_none() {
            self.closed_idle_ns = Some(match self.unasked_since {
                Some(made) => made.elapsed().as_nanos() as u64,
                None => meter.now().saturating_sub(self.asked_ns),
            });
        }
    }

    /// Returns the reason of the loss, and the error that is counted: the server's own, if it gave
    /// one.
    pub(super) fn cause_of_loss(
        &mut self,
        error: &io::Error,
        shared: &ReactorResources,
    ) -> (LoadError, ServerError) {
        let idle_ns = self.closed_idle_ns.take();
        let idle_ns = idle_ns.filter(|idle_ns| *idle_ns >= IDLE_LIMIT_MIN_NS);
        match self.farewell.take() {
            Some(said) => (shared.link(self.number).dismissed(&said), said),
            None => (
                shared.link(self.number).lost(error, idle_ns),
                lost_in_silence(),
            ),
        }
    }

    /// The connection has gone while a transaction was under way; `said`: the server's last words.
    pub(super) fn lose(
        &mut self,
        why: LoadError,
        said: &ServerError,
        shared: &ReactorResources,
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
        self.doing = DriverState::Lost;
        meter.now();
        if shared.tolerated.survives_loss() && !self.session.judges_errors() {
            meter.failed_try(said);
        }
        meter.lose();
        reconnector.ask(self.number, true);
        self.regain(shared, meter)
    }

    /// Returns true if the connection has done its number of transactions.
    pub(super) fn has_served(&self, shared: &ReactorResources) -> bool {
        let every = shared.reconnector.as_ref().map_or(0, |r| r.renewal.every);
        every > 0 && self.served >= every
    }

    /// Leaves the server, to come back on a new connection.
    pub(super) fn leave(&mut self, shared: &mut ReactorResources) -> Next {
        self.served = 0;
        self.doing = DriverState::Leaving;
        shared.outgoing.extend_from_slice(QUIT);
        Next::Reply
    }

    /// The server has closed the connection that left: only now is there room for another.
    pub(super) fn left(
        &mut self,
        shared: &ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        self.doing = DriverState::Renewing;
        if let Some(reconnector) = &shared.reconnector {
            reconnector.ask(self.number, reconnector.renewal.after_loss);
        }
        self.regain(shared, meter)
    }

    /// Takes the new connection, or waits for it for as long as there is something to measure.
    pub(super) fn regain(
        &mut self,
        shared: &ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let was_lost = self.doing == DriverState::Lost;
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

    pub(super) fn renew(&mut self, fresh: Fresh) {
        self.parser = ReplyParser::new(fresh.eof_deprecated);
        self.wire = Wire::default();
        self.session.renew(fresh.statements);
        self.transport = Some(fresh.transport);
        self.unasked_since = Some(fresh.made);
        (self.farewell, self.closed_idle_ns) = (None, None);
    }
}
