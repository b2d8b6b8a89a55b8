//! What becomes of a connection that was lost: the end of the run or, when that is asked for, a new
//! connection on which the same transaction is tried again.

use super::{Doing, MysqlDriver, Shared};
use crate::LoadError;
use crate::codec::ReplyParser;
use crate::driver::{Fresh, Next};
use crate::meter::{Meter, Phase};

/// How often a driver looks whether its new connection is there.
const LOOK_NS: u64 = 5_000_000;
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
        let Some(reconnector) = &shared.reconnector else {
            return Err(why);
        };
        self.transit = None;
        self.doing = Doing::Lost;
        meter.now();
        meter.lose();
        reconnector.ask(self.place.connection);
        Ok(self.regain(shared, meter))
    }

    /// Takes the new connection, or waits for it for as long as there is something to measure.
    pub(super) fn regain(&mut self, shared: &Shared, meter: &mut Meter<'_>) -> Next {
        let now_ns = meter.now();
        if meter.phase() == Phase::Drain {
            meter.give_up();
            return Next::Finished;
        }
        let fresh = shared
            .reconnector
            .as_ref()
            .and_then(|reconnector| reconnector.take(self.place.connection));
        let Some(fresh) = fresh else {
            self.look_ns = now_ns + LOOK_NS;
            return Next::Due(self.look_ns);
        };
        self.renew(fresh);
        meter.regain();
        Next::Renewed
    }

    fn renew(&mut self, fresh: Fresh) {
        self.parser = ReplyParser::new(fresh.eof_deprecated);
        self.statements = fresh.statements;
        self.transport = Some(fresh.transport);
    }
}
