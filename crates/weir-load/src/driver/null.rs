//! A driver without a server: its transactions take a fixed time on the reactor's own clock.

use mio::event::Source;

use super::{Cause, Driver, Next, Share};
use crate::LoadError;
use crate::meter::{Meter, Phase, QueryKind};

/// Completes one transaction of one read every `delay_ns`.
#[derive(Debug)]
pub(crate) struct NullDriver {
    delay_ns: u64,
    started_ns: u64,
    share: Share,
}

impl NullDriver {
    pub(crate) fn new(delay_ns: u64) -> Self {
        Self {
            delay_ns,
            started_ns: 0,
            share: Share::default(),
        }
    }
}

impl Driver for NullDriver {
    type Shared = ();

    fn source(&mut self) -> Option<&mut dyn Source> {
        None
    }

    fn advance(
        &mut self,
        cause: Cause,
        (): &mut (),
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let now_ns = meter.now();
        if cause == Cause::Time {
            let latency_ns = now_ns - self.started_ns;
            meter.query(QueryKind::Read);
            meter.transactions(1, latency_ns);
            if meter.phase() == Phase::Measure {
                self.share.transactions += 1;
                self.share.busy_ns += latency_ns;
            }
        }
        self.started_ns = now_ns;
        Ok(if meter.may_begin(false) {
            Next::Time(now_ns + self.delay_ns)
        } else {
            Next::Finished
        })
    }

    fn share(&self) -> Share {
        self.share
    }
}
