//! A driver without a server: its transactions take a fixed time on the reactor's own clock.

use super::{Cause, Driver, Next, Transport};
use crate::LoadError;
use crate::meter::{ConnectionCounters, Meter, Phase, QueryKind, TransactionTiming};

/// Completes one transaction of one read every `delay_ns`.
#[derive(Debug)]
pub(crate) struct NullDriver {
    delay_ns: u64,
    timing: TransactionTiming,
    counters: ConnectionCounters,
}

impl NullDriver {
    pub(crate) fn new(delay_ns: u64) -> Self {
        Self {
            delay_ns,
            timing: TransactionTiming::default(),
            counters: ConnectionCounters::default(),
        }
    }
}

impl Driver for NullDriver {
    /// Nothing is ever sent.
    type Resources = Vec<u8>;

    fn transport(&mut self) -> Option<Transport> {
        None
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn is_local(&self) -> bool {
        true
    }

    fn outgoing(shared: &mut Vec<u8>) -> &mut Vec<u8> {
        shared
    }

    fn advance(
        &mut self,
        cause: Cause<'_>,
        _: &mut Vec<u8>,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let now_ns = meter.now();
        if matches!(cause, Cause::Time) {
            meter.reply_received(None);
            meter.query(QueryKind::Read);
            meter.transactions(1, self.timing);
            if meter.phase() == Phase::Measure {
                self.counters.transactions += 1;
                self.counters.busy_ns += now_ns - self.timing.last_attempt_ns;
            }
        }
        let Some(due_ns) = meter.claim() else {
            return Ok(Next::Finished);
        };
        self.timing = meter.begin(due_ns, false);
        Ok(Next::Time(now_ns + self.delay_ns))
    }

    fn counters(&self) -> ConnectionCounters {
        self.counters
    }
}
