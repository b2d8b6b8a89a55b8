//! A longer way to the server: half of the round-trip time for each request, half for each reply.
//!
//! Delaying here instead of in the kernel's network needs no privilege, works on a Unix socket, and
//! lets a study ask what a faster or slower network would change.

use super::{MysqlDriver, ReactorResources};
use crate::LoadError;
use crate::driver::Next;
use crate::meter::Meter;
use crate::stamp::Stamp;
use weir_mysql::Reply;

/// Bytes on their way.
#[derive(Debug)]
pub(super) enum Transit {
    /// The request, until this time.
    Request(u64),
    /// A reply, until this time.
    Reply(u64, Reply),
}

impl Transit {
    /// Returns the time of arrival, nanoseconds on the meter's clock.
    pub(super) fn arrival_ns(&self) -> u64 {
        match self {
            Self::Request(at_ns) | Self::Reply(at_ns, _) => *at_ns,
        }
    }
}

impl MysqlDriver {
    /// Sends the request that the session has left, on the way that it has to go.
    pub(super) fn send(&mut self, shared: &mut ReactorResources, meter: &Meter<'_>) -> Next {
        self.asked_ns = meter.last_now();
        self.unasked_since = None;
        if shared.half_rtt_ns == 0 {
            return Next::Reply;
        }
        self.held.clear();
        self.held.append(&mut shared.outgoing);
        let at_ns = meter.last_now() + shared.half_rtt_ns;
        self.transit = Some(Transit::Request(at_ns));
        Next::Time(at_ns)
    }

    /// Takes a reply that the socket has delivered, on the way that it still has to go.
    pub(super) fn deliver(
        &mut self,
        reply: Reply,
        came: Option<Stamp>,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        let received_ns = meter.reply_received(came);
        if shared.half_rtt_ns == 0 {
            return self.replied(reply, shared, meter);
        }
        let at_ns = received_ns + shared.half_rtt_ns;
        self.transit = Some(Transit::Reply(at_ns, reply));
        Ok(Next::Time(at_ns))
    }

    /// Handles the arrival of bytes that were on their way.
    pub(super) fn arrive(
        &mut self,
        transit: Transit,
        shared: &mut ReactorResources,
        meter: &mut Meter<'_>,
    ) -> Result<Next, LoadError> {
        match transit {
            Transit::Request(_) => {
                meter.now();
                shared.outgoing.append(&mut self.held);
                Ok(Next::Reply)
            }
            Transit::Reply(at_ns, reply) => {
                meter.reply_received_at(at_ns);
                self.replied(reply, shared, meter)
            }
        }
    }
}
