//! Sessions that join the server and leave it when they want to: their connections are made outside of the reactor,
//! as those that were lost.

use super::transaction::Call;
use super::{DriverState, MysqlDriver, QUIT, ReactorResources};
use crate::LoadError;
use crate::driver::Next;
use crate::meter::{Meter, Phase};

/// Interval at which a driver looks for its new connection.
const LOOK_NS: u64 = 100_000;

impl MysqlDriver {
    /// Asks for a new connection.
    pub(super) fn join(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        self.doing = DriverState::Joining;
        if let Some(reconnector) = &shared.reconnector {
            reconnector.ask(self.number, false);
        }
        self.joined(shared, meter)
    }

    /// Takes the new connection, or waits for it for as long as there is something to measure.
    pub(super) fn joined(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let now_ns = meter.now();
        if meter.phase() == Phase::Drain {
            meter.give_up();
            return Ok(Next::Finished);
        }
        let reconnector = shared.reconnector.as_ref();
        match reconnector.and_then(|reconnector| reconnector.take(self.number)) {
            None => {
                self.look_ns = now_ns + LOOK_NS;
                Ok(Next::Due(self.look_ns))
            }
            Some(Ok(fresh)) => {
                self.renew(fresh);
                self.is_away = false;
                meter.renewed();
                Ok(Next::Renewed)
            }
            Some(Err(why)) => {
                self.session.not_joined(&why);
                self.turn(Call::Begin, shared, meter)
            }
        }
    }

    /// The reactor has the new connection.
    pub(super) fn begin_joined(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        meter.now();
        self.turn(Call::Begin, shared, meter)
    }

    /// Closes the connection.
    pub(super) fn disconnect(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        meter.give_up();
        if std::mem::replace(&mut self.is_away, true) {
            return self.next(shared, meter);
        }
        self.doing = DriverState::Parting;
        shared.outgoing.extend_from_slice(QUIT);
        Ok(Next::Reply)
    }

    /// The server has closed the connection.
    pub(super) fn parted(
        &mut self,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        meter.now();
        self.next(shared, meter)
    }
}
