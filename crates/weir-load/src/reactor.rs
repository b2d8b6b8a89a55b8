//! One thread, many drivers.
//!
//! Bytes go between the drivers and their sockets, each way once. Timers are kept in a heap for the
//! drivers that wait for a time; the sockets' wait ends with the first of them.

mod drive;
mod epoll;
mod ring;
mod schedule;
mod sockets;
mod timer;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::LoadError;
use crate::driver::{Cause, Driver, Next};
use crate::meter::{ConnectionCounters, Meter, Phase};

pub(crate) use drive::drive;
use epoll::EpollSockets;
use ring::RingSockets;
pub(crate) use schedule::use_batch_scheduling;
use sockets::{Arrival, Sockets, Wait};

/// Time in which transactions may complete after the measurement, nanoseconds.
const DRAIN_NS_MAX: u64 = 3_000_000_000;
/// Time for which a wish to stop may go unnoticed, nanoseconds.
const PATIENCE_NS: u64 = 100_000_000;

/// A thread's drivers and what they wait for.
#[derive(Debug)]
struct Reactor<'a, D, S> {
    sockets: S,
    slots: Vec<Slot<D>>,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    active: usize,
    stop: &'a AtomicBool,
    abort: &'a AtomicBool,
}

#[derive(Debug)]
struct Slot<D> {
    driver: D,
    waits_for: Next,
}

/// Results of the drivers of a reactor.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Each connection's part.
    pub(crate) connections: Vec<ConnectionCounters>,
    /// Drivers whose last transaction did not complete in time.
    pub(crate) unfinished: usize,
    /// The longest time between two rounds before the drain, nanoseconds: a round waits for a tenth of a second at most.
    pub(crate) standstill_ns: u64,
}

impl<'a, D: Driver, S: Sockets> Reactor<'a, D, S> {
    /// A reactor over `drivers`, whose connections go to `sockets`. `stop`: the caller wants the
    /// measurement to end; `abort`: another reactor has failed.
    fn new(
        drivers: Vec<D>,
        sockets: S,
        stop: &'a AtomicBool,
        abort: &'a AtomicBool,
    ) -> Result<Self, LoadError> {
        let slots: Vec<_> = drivers
            .into_iter()
            .map(|driver| Slot {
                driver,
                waits_for: Next::Reply,
            })
            .collect();
        let mut reactor = Self {
            sockets,
            active: slots.len(),
            slots,
            timers: BinaryHeap::new(),
            stop,
            abort,
        };
        for index in 0..reactor.slots.len() {
            reactor.attach(index)?;
        }
        Ok(reactor)
    }

    fn attach(&mut self, index: usize) -> Result<(), LoadError> {
        match self.slots[index].driver.transport() {
            Some(transport) => self
                .sockets
                .attach(index, transport)
                .map_err(|error| host("watch a connection", &error)),
            None => Ok(()),
        }
    }

    /// Runs the drivers until all have finished or the time to do so is over.
    fn run(
        mut self,
        shared: &mut D::Resources,
        meter: &mut Meter<'_>,
    ) -> Result<Outcome, LoadError> {
        for index in 0..self.slots.len() {
            self.advance(index, Cause::Start, shared, meter)?;
        }
        let mut drain_until_ns = u64::MAX;
        let (mut round_ns, mut standstill_ns) = (meter.last_now(), 0);
        while self.active > 0 && meter.last_now() < drain_until_ns {
            self.wait(meter)?;
            let before_ns = meter.last_now();
            while let Some(arrival) = self.sockets.next() {
                self.arrive(arrival, shared, meter)?;
            }
            if meter.last_now() == before_ns {
                // No driver had a reason to read the clock.
                meter.now();
            }
            if drain_until_ns == u64::MAX {
                standstill_ns = standstill_ns.max(meter.last_now() - round_ns);
            }
            round_ns = meter.last_now();
            self.fire_timers(shared, meter)?;
            meter.deliver(|| self.connections());
            if self.stop.load(Ordering::Relaxed) || self.abort.load(Ordering::Relaxed) {
                meter.cut();
            }
            if meter.phase() == Phase::Drain && drain_until_ns == u64::MAX {
                drain_until_ns = meter.last_now() + DRAIN_NS_MAX;
                self.release(shared, meter)?;
            }
        }
        Ok(Outcome {
            connections: self.connections().collect(),
            unfinished: self.active,
            standstill_ns,
        })
    }

    fn connections(&self) -> impl Iterator<Item = ConnectionCounters> {
        self.slots.iter().map(|slot| slot.driver.counters())
    }

    /// Tells the drivers whose next transaction is not due yet that there will be none.
    fn release(
        &mut self,
        shared: &mut D::Resources,
        meter: &mut Meter<'_>,
    ) -> Result<(), LoadError> {
        for index in 0..self.slots.len() {
            if matches!(self.slots[index].waits_for, Next::Due(_)) {
                self.advance(index, Cause::Time, shared, meter)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, meter: &Meter<'_>) -> Result<(), LoadError> {
        let now_ns = meter.last_now();
        let patience_ns = now_ns.saturating_add(PATIENCE_NS);
        let timer_ns = self.timers.peek().map(|Reverse((at_ns, _))| *at_ns);
        let is_over = timer_ns.is_some_and(|at_ns| at_ns <= now_ns);
        let wait = Wait {
            now_ns,
            until_ns: if is_over {
                now_ns
            } else {
                meter.boundary_ns().min(patience_ns)
            },
            timer_ns: timer_ns.filter(|_| !is_over),
        };
        self.sockets
            .wait(wait)
            .map_err(|error| host("wait for replies", &error))
    }

    fn fire_timers(
        &mut self,
        shared: &mut D::Resources,
        meter: &mut Meter<'_>,
    ) -> Result<(), LoadError> {
        while let Some(Reverse((at_ns, index))) = self.timers.peek().copied() {
            if at_ns > meter.last_now() {
                break;
            }
            self.timers.pop();
            let waits_for = self.slots.get(index).map(|slot| slot.waits_for);
            if !matches!(waits_for, Some(Next::Time(at) | Next::Due(at)) if at == at_ns) {
                // What it waited for has come in another way.
                continue;
            }
            self.advance(index, Cause::Time, shared, meter)?;
        }
        Ok(())
    }

    /// Hands a driver what came on its connection.
    fn arrive(
        &mut self,
        arrival: Arrival,
        shared: &mut D::Resources,
        meter: &mut Meter<'_>,
    ) -> Result<(), LoadError> {
        let (index, chunk) = match arrival {
            Arrival::Chunk(index, chunk) => (index, chunk),
            Arrival::Ready(index) => return self.ready(index, shared, meter),
        };
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => return self.advance(index, Cause::Broken(error), shared, meter),
        };
        let slot = &mut self.slots[index];
        if slot.waits_for == Next::Finished {
            self.sockets.recycle(chunk);
            return Ok(());
        }
        let bytes = self.sockets.bytes(&chunk);
        let cause = Cause::Received(bytes, chunk.came);
        let next = slot.driver.advance(cause, shared, meter)?;
        self.sockets.recycle(chunk);
        match self.follow(index, next, shared)? {
            Some(cause) => self.advance(index, cause, shared, meter),
            None => Ok(()),
        }
    }

    /// Tells a driver that a socket of its own is ready, if it still waits for one.
    fn ready(
        &mut self,
        index: usize,
        shared: &mut D::Resources,
        meter: &mut Meter<'_>,
    ) -> Result<(), LoadError> {
        match self.slots[index].waits_for {
            Next::Socket(_) => self.advance(index, Cause::Ready, shared, meter),
            _ => Ok(()),
        }
    }

    fn advance(
        &mut self,
        index: usize,
        cause: Cause<'_>,
        shared: &mut D::Resources,
        meter: &mut Meter<'_>,
    ) -> Result<(), LoadError> {
        let mut cause = Some(cause);
        while let Some(because) = cause.take() {
            let slot = &mut self.slots[index];
            if slot.waits_for == Next::Finished {
                break;
            }
            let next = slot.driver.advance(because, shared, meter)?;
            cause = self.follow(index, next, shared)?;
        }
        Ok(())
    }

    /// Sends what a driver left to be sent and notes what it waits for; why it is to be called
    /// again at once, if it is.
    fn follow(
        &mut self,
        index: usize,
        next: Next,
        shared: &mut D::Resources,
    ) -> Result<Option<Cause<'static>>, LoadError> {
        let outgoing = D::outgoing(shared);
        let sent = if outgoing.is_empty() {
            Ok(())
        } else {
            self.sockets.send(index, outgoing)
        };
        outgoing.clear();
        let waited_for = std::mem::replace(&mut self.slots[index].waits_for, next);
        match next {
            Next::Time(at_ns) | Next::Due(at_ns) if next != waited_for => {
                self.timers.push(Reverse((at_ns, index)));
            }
            Next::Renewed => {
                self.attach(index)?;
                return Ok(Some(Cause::Renewed));
            }
            Next::Finished => {
                self.active -= 1;
                return Ok(None);
            }
            Next::Socket(socket) => self
                .sockets
                .watch(index, socket)
                .map_err(|error| host("watch a connection", &error))?,
            Next::Reply | Next::Time(_) | Next::Due(_) => {}
        }
        Ok(sent.err().map(Cause::Broken))
    }
}

fn host(what: &'static str, error: &io::Error) -> LoadError {
    LoadError::Host {
        what,
        why: error.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests;
