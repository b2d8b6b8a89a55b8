//! Replies that are held until the model says that they are due.
//!
//! The thread that reads requests never sleeps: it does the I/O on the store, asks the model, and
//! hands the reply over. What is due at once it sends itself; what is due in a few microseconds it
//! waits for in a spin, because waking another thread would take as long; the rest goes into a
//! heap by deadline that one timer thread serves.
//!
//! The timer thread sleeps until shortly before the earliest deadline and spins for the rest. An earlier
//! deadline sets its alarm anew without waking it. How long before a deadline it is awake, it learns from
//! its own wake-ups (mean and deviation, as TCP's retransmission timer does, RFC 6298); how much it may
//! spin is capped, since on a small host the spinning takes the processor from the server under test.

mod pending_reply;
pub(crate) mod priority;
mod wakeup;

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use weir_model::Nanoseconds;
use weir_process::Alarm;

use self::pending_reply::PendingReply;
pub(crate) use self::pending_reply::{Buffers, Reply};
use self::wakeup::{Lead, SpinBudget, WakeupError};
use crate::calibration::{Correction, Ticket};
use crate::clock::Clock;
use crate::placement::Placement;
use crate::statistics::Counters;

/// A deadline this near is waited for in the thread that reads requests.
const SPIN_NS_IN_READER: Nanoseconds = 10_000;
/// A reply this early is not early: the system call that sends it takes longer.
const NEAR_NS: Nanoseconds = 300;

/// Holds replies until they are due.
#[derive(Debug)]
pub(crate) struct Scheduler {
    shared: Arc<SchedulerState>,
    timer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct SchedulerState {
    clock: Clock,
    counters: Arc<Counters>,
    buffers: Arc<Buffers>,
    correction: Arc<Correction>,
    placement: Arc<Placement>,
    held: Mutex<TimerQueue>,
    alarm: Alarm,
    /// Replies that do not leave, whatever their time, while there is such a list.
    stuck: Mutex<Option<Vec<PendingReply>>>,
    is_stuck: AtomicBool,
    /// The power is cut: nothing is done any more.
    is_cut: AtomicBool,
    /// The earliest deadline in the heap, for the timer thread's spin.
    earliest: AtomicU64,
    ended: AtomicBool,
}

/// Replies that the timer thread has to send.
#[derive(Debug, Default)]
struct TimerQueue {
    heap: BinaryHeap<PendingReply>,
    /// Until when the timer thread sleeps, if it does.
    asleep_until: Option<Nanoseconds>,
    lead: Lead,
}

impl TimerQueue {
    /// Returns the time at which the timer thread should be awake for the reply of `ticket`.
    fn wake(&self, ticket: &Ticket) -> Nanoseconds {
        let latency = ticket.done - ticket.accepted;
        ticket.due.saturating_sub(self.lead.for_latency(latency))
    }
}

impl Scheduler {
    pub(crate) fn start(
        clock: Clock,
        counters: Arc<Counters>,
        buffers: Arc<Buffers>,
        correction: Arc<Correction>,
        placement: Arc<Placement>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(SchedulerState {
            clock,
            counters,
            buffers,
            correction,
            placement,
            held: Mutex::default(),
            alarm: Alarm::new()?,
            stuck: Mutex::default(),
            is_stuck: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            earliest: AtomicU64::new(u64::MAX),
            ended: AtomicBool::new(false),
        });
        let of_timer = Arc::clone(&shared);
        let timer = std::thread::Builder::new()
            .name("drive-timer".to_owned())
            .spawn(move || of_timer.serve())?;
        Ok(Self {
            shared,
            timer: Mutex::new(Some(timer)),
        })
    }

    /// Sends `reply` when its `ticket` is due.
    pub(crate) fn complete(&self, reply: Reply, ticket: Ticket) {
        let shared = &self.shared;
        if shared.is_stuck.load(Ordering::Relaxed) {
            return self.stick(PendingReply { ticket, reply });
        }
        let wait = ticket.due.saturating_sub(shared.clock.now());
        if wait <= SPIN_NS_IN_READER {
            shared.clock.spin_until(ticket.due.saturating_sub(NEAR_NS));
            shared.send(PendingReply { ticket, reply });
            return;
        }
        shared.counters.held();
        self.hold(PendingReply { ticket, reply });
    }

    fn hold(&self, pending: PendingReply) {
        let shared = &self.shared;
        let ticket = pending.ticket;
        let mut held = shared.lock();
        // Asked under the lock: what is in the heap before the timer thread ends, it sends.
        if shared.ended.load(Ordering::Acquire) {
            drop(held);
            return shared.send_held(pending);
        }
        held.heap.push(pending);
        shared.earliest.fetch_min(ticket.due, Ordering::Relaxed);
        let wake = held.wake(&ticket);
        if held.asleep_until.is_none_or(|until| until <= wake) {
            return;
        }
        if wake > shared.clock.now() {
            held.asleep_until = Some(wake);
            shared.wake_at(wake);
        } else {
            // It comes at once, and would have to wait for the lock.
            held.asleep_until = None;
            drop(held);
            shared.wake_at(wake);
        }
    }

    fn stick(&self, pending: PendingReply) {
        self.shared.counters.held();
        match &mut *self.shared.lock_stuck() {
            Some(stuck) => stuck.push(pending),
            // The queue was released in between.
            None => self.hold(pending),
        }
    }

    /// From now on no reply leaves, or all that were held back leave.
    pub(crate) fn set_stuck(&self, is_stuck: bool) {
        let mut stuck = self.shared.lock_stuck();
        self.shared.is_stuck.store(is_stuck, Ordering::Relaxed);
        let released = if is_stuck {
            stuck.get_or_insert_default();
            None
        } else {
            stuck.take()
        };
        drop(stuck);
        // Late by intention, which says nothing about this host.
        let due = self.shared.clock.now();
        for mut pending in released.unwrap_or_default() {
            pending.ticket.due = pending.ticket.due.max(due);
            self.hold(pending);
        }
    }

    /// From now on every reply is an error, also those that are held.
    pub(crate) fn cut(&self) {
        self.shared.is_cut.store(true, Ordering::SeqCst);
    }

    /// Ends the timer thread; replies that are still held are sent at once, and so are all that come later.
    pub(crate) fn stop(&self) {
        self.set_stuck(false);
        let held = self.shared.lock();
        self.shared.ended.store(true, Ordering::Release);
        drop(held);
        self.shared.alarm.set(0);
        let timer = self
            .timer
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(timer) = timer {
            // A panic in the thread has already been printed; there is nothing to add.
            let _ = timer.join();
        }
    }
}

impl SchedulerState {
    fn serve(&self) {
        priority::sharpen_timer();
        self.placement.enter_timer();
        let mut wakeup = WakeupError::default();
        let mut budget = SpinBudget::new(self.clock.now());
        loop {
            let mut lead = wakeup.lead();
            let alone = self.placement.follows();
            if !budget.allows(self.clock.now(), lead.longest(), alone) {
                lead = lead.on_average();
            }
            match self.next(lead) {
                Next::Send(pending) => self.send_held(pending),
                Next::SpinUntilEarliest => self.spin(&mut budget),
                Next::Sleep => self.sleep(&mut wakeup),
                Next::End => break,
            }
        }
        let held = std::mem::take(&mut self.lock().heap);
        for pending in held.into_sorted_vec() {
            self.send_held(pending);
        }
    }

    /// The timer thread sleeps until `wake`.
    fn wake_at(&self, wake: Nanoseconds) {
        self.alarm.set(self.clock.monotonic_ns(wake));
    }

    /// Returns the next step of the timer thread; before it sleeps, its alarm is set.
    fn next(&self, lead: Lead) -> Next {
        let mut held = self.lock();
        held.lead = lead;
        if self.ended.load(Ordering::Acquire) {
            return Next::End;
        }
        let Some(first) = held.heap.peek() else {
            self.earliest.store(u64::MAX, Ordering::Relaxed);
            held.asleep_until = Some(u64::MAX);
            return Next::Sleep;
        };
        let (due, wake) = (first.ticket.due, held.wake(&first.ticket));
        self.earliest.store(due, Ordering::Relaxed);
        let now = self.clock.now();
        if due <= now + NEAR_NS
            && let Some(pending) = held.heap.pop()
        {
            return Next::Send(pending);
        }
        if wake <= now {
            return Next::SpinUntilEarliest;
        }
        held.asleep_until = Some(wake);
        self.wake_at(wake);
        Next::Sleep
    }

    fn spin(&self, budget: &mut SpinBudget) {
        let began = self.clock.now();
        // An earlier deadline may arrive meanwhile; `earliest` follows it.
        while self.clock.now() + NEAR_NS < self.earliest.load(Ordering::Relaxed)
            && !self.ended.load(Ordering::Relaxed)
        {
            std::hint::spin_loop();
        }
        budget.spend(self.clock.now() - began);
    }

    fn sleep(&self, wakeup: &mut WakeupError) {
        self.alarm.sleep();
        let until = self.lock().asleep_until.take();
        // Woken before its time, by a deadline that was too near for a sleep, it says nothing about the timer.
        if let Some(error) = until.and_then(|until| self.clock.now().checked_sub(until)) {
            wakeup.learn(error);
        }
    }

    fn send_held(&self, pending: PendingReply) {
        self.counters.released();
        self.send(pending);
    }

    fn send(&self, pending: PendingReply) {
        let PendingReply { ticket, mut reply } = pending;
        let now = self.clock.now();
        self.correction.sent(&ticket);
        let counts = !matches!(reply, Reply::Probe(..));
        reply.record();
        // Looked at after it was recorded: what a cut leaves out of the recording is not acknowledged.
        if self.is_cut.load(Ordering::SeqCst) {
            return reply.fail();
        }
        reply.send(&self.buffers);
        if counts {
            self.count(&ticket, now);
        }
    }

    fn count(&self, ticket: &Ticket, now: Nanoseconds) {
        let late = now.saturating_sub(ticket.due);
        let latency = ticket.done - ticket.accepted + late;
        if ticket.from_memory {
            self.counters.answered(ticket.kind, ticket.what, latency);
        } else {
            self.counters
                .completed(ticket.kind, ticket.what, late, latency);
        }
    }

    fn lock_stuck(&self) -> MutexGuard<'_, Option<Vec<PendingReply>>> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, TimerQueue> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Next {
    Send(PendingReply),
    SpinUntilEarliest,
    Sleep,
    End,
}
