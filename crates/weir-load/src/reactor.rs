//! One thread, one epoll, many drivers.
//!
//! Events are edge-triggered; a driver is called once per event and does not block. Timers are
//! kept in a heap for the drivers that wait for a time, and one timer of the kernel for the first.

mod schedule;
mod timer;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Interest, Poll, Token};

use crate::LoadError;
use crate::driver::{Cause, Driver, Next, Share};
use crate::meter::{Meter, Phase};

pub(crate) use schedule::use_batch_scheduling;
use timer::Timer;

/// How long transactions may take to complete after the measurement.
const DRAIN_NS_MAX: u64 = 3_000_000_000;
/// How long a wish to stop may go unnoticed.
const PATIENCE_NS: u64 = 100_000_000;
/// The timer's events belong to no driver.
const TIMER: Token = Token(usize::MAX);
/// Events taken from the kernel at once.
const EVENTS_MAX: usize = 1024;

/// A thread's drivers and what they wait for.
#[derive(Debug)]
pub(crate) struct Reactor<'a, D> {
    poll: Poll,
    slots: Vec<Slot<D>>,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    /// Made when a driver first waits for a time.
    timer: Option<Timer>,
    active: usize,
    stop: &'a AtomicBool,
    abort: &'a AtomicBool,
}

#[derive(Debug)]
struct Slot<D> {
    driver: D,
    waits_for: Next,
    /// What its source is registered for.
    interest: Interest,
}

/// What the drivers of a reactor did.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Each driver's part.
    pub(crate) shares: Vec<Share>,
    /// Drivers whose last transaction did not complete in time.
    pub(crate) unfinished: usize,
}

impl<'a, D: Driver> Reactor<'a, D> {
    /// A reactor over `drivers`. `stop`: the caller wants the measurement to end; `abort`:
    /// another reactor has failed.
    pub(crate) fn new(
        drivers: Vec<D>,
        stop: &'a AtomicBool,
        abort: &'a AtomicBool,
    ) -> Result<Self, LoadError> {
        let poll = Poll::new().map_err(|error| host("make an epoll instance", &error))?;
        let mut slots: Vec<_> = drivers
            .into_iter()
            .map(|driver| Slot {
                driver,
                waits_for: Next::Readable,
                interest: Interest::READABLE,
            })
            .collect();
        for (index, slot) in slots.iter_mut().enumerate() {
            if let Some(source) = slot.driver.source() {
                poll.registry()
                    .register(source, Token(index), Interest::READABLE)
                    .map_err(|error| host("register a connection with epoll", &error))?;
            }
        }
        Ok(Self {
            poll,
            active: slots.len(),
            slots,
            timers: BinaryHeap::new(),
            timer: None,
            stop,
            abort,
        })
    }

    /// Runs the drivers until all have finished or the time to do so is over.
    pub(crate) fn run(
        mut self,
        shared: &mut D::Shared,
        meter: &mut Meter<'_>,
    ) -> Result<Outcome, LoadError> {
        for index in 0..self.slots.len() {
            self.advance(index, Cause::Start, shared, meter)?;
        }
        let mut events = Events::with_capacity(EVENTS_MAX);
        let mut drain_until_ns = u64::MAX;
        while self.active > 0 && meter.last_now() < drain_until_ns {
            self.wait(&mut events, meter)?;
            let before_ns = meter.last_now();
            for event in &events {
                self.advance(index_of(event), Cause::Ready, shared, meter)?;
            }
            if meter.last_now() == before_ns {
                // No driver had a reason to read the clock.
                meter.now();
            }
            self.fire_timers(shared, meter)?;
            if self.stop.load(Ordering::Relaxed) || self.abort.load(Ordering::Relaxed) {
                meter.cut();
            }
            if meter.phase() == Phase::Drain && drain_until_ns == u64::MAX {
                drain_until_ns = meter.last_now() + DRAIN_NS_MAX;
                self.release(shared, meter)?;
            }
        }
        Ok(Outcome {
            shares: self.slots.iter().map(|slot| slot.driver.share()).collect(),
            unfinished: self.active,
        })
    }

    /// Tells the drivers whose next transaction is not due yet that there will be none.
    fn release(&mut self, shared: &mut D::Shared, meter: &mut Meter<'_>) -> Result<(), LoadError> {
        for index in 0..self.slots.len() {
            if matches!(self.slots[index].waits_for, Next::Due(_)) {
                self.advance(index, Cause::Time, shared, meter)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, events: &mut Events, meter: &Meter<'_>) -> Result<(), LoadError> {
        let now_ns = meter.last_now();
        let mut wait_ns = meter.boundary_ns().saturating_sub(now_ns).min(PATIENCE_NS);
        if let Some(Reverse((at_ns, _))) = self.timers.peek().copied() {
            if at_ns <= now_ns {
                wait_ns = 0;
            } else {
                self.set_timer(at_ns, now_ns)
                    .map_err(|error| host("set a timer", &error))?;
            }
        }
        match self.poll.poll(events, Some(Duration::from_nanos(wait_ns))) {
            Err(error) if error.kind() != std::io::ErrorKind::Interrupted => {
                Err(host("wait for events", &error))
            }
            _ => Ok(()),
        }
    }

    fn set_timer(&mut self, at_ns: u64, now_ns: u64) -> std::io::Result<()> {
        if self.timer.is_none() {
            self.timer = Some(Timer::new(self.poll.registry(), TIMER, now_ns)?);
        }
        match &mut self.timer {
            Some(timer) => timer.set(at_ns),
            None => Ok(()),
        }
    }

    fn fire_timers(
        &mut self,
        shared: &mut D::Shared,
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

    fn advance(
        &mut self,
        index: usize,
        cause: Cause,
        shared: &mut D::Shared,
        meter: &mut Meter<'_>,
    ) -> Result<(), LoadError> {
        let Some(slot) = self.slots.get_mut(index) else {
            return Ok(());
        };
        if slot.waits_for == Next::Finished {
            return Ok(());
        }
        let next = slot.driver.advance(cause, shared, meter)?;
        match next {
            Next::Time(at_ns) | Next::Due(at_ns) if next != slot.waits_for => {
                self.timers.push(Reverse((at_ns, index)));
            }
            Next::Renewed => {
                if let Some(source) = slot.driver.source() {
                    self.poll
                        .registry()
                        .register(source, Token(index), Interest::READABLE)
                        .map_err(|error| host("register a connection with epoll", &error))?;
                }
                // As after the first registration; whatever it waited for is forgotten.
                slot.waits_for = Next::Readable;
                slot.interest = Interest::READABLE;
                return self.advance(index, Cause::Renewed, shared, meter);
            }
            Next::Finished => self.active -= 1,
            Next::Readable | Next::Writable => {
                let interest = match next {
                    Next::Writable => Interest::WRITABLE,
                    _ => Interest::READABLE,
                };
                if interest == slot.interest {
                    slot.waits_for = next;
                    return Ok(());
                }
                slot.interest = interest;
                if let Some(source) = slot.driver.source() {
                    self.poll
                        .registry()
                        .reregister(source, Token(index), interest)
                        .map_err(|error| host("register a connection with epoll", &error))?;
                }
            }
            _ => {}
        }
        slot.waits_for = next;
        Ok(())
    }
}

fn index_of(event: &Event) -> usize {
    event.token().0
}

fn host(what: &'static str, error: &std::io::Error) -> LoadError {
    LoadError::Host {
        what,
        why: error.to_string().to_lowercase(),
    }
}

#[cfg(test)]
mod tests;
