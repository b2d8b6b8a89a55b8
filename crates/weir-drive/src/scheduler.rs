//! Replies that are held until the model says that they are due.
//!
//! The thread that reads requests never sleeps: it does the I/O on the store, asks the model, and
//! hands the reply over. What is due at once it sends itself; what is due in a few microseconds it
//! waits for in a spin, because waking another thread would take as long; the rest goes into a
//! heap by deadline that one timer thread serves.
//!
//! The timer thread sleeps until shortly before the earliest deadline and spins for the rest. How
//! long before, it learns from its own wake-ups (mean and deviation, as TCP's retransmission timer
//! does, RFC 6298); how much it may spin is capped, since on a small host the spinning takes the
//! processor from the server under test.

mod pending;
pub(crate) mod priority;
mod wakeup;

use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{JoinHandle, Thread};

use weir_model::Nanoseconds;

use self::pending::Pending;
pub(crate) use self::pending::{Buffers, Reply};
use self::wakeup::{SpinBudget, WakeupError};
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
    shared: Arc<Shared>,
    timer: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    clock: Clock,
    counters: Arc<Counters>,
    buffers: Arc<Buffers>,
    correction: Arc<Correction>,
    placement: Arc<Placement>,
    heap: Mutex<BinaryHeap<Pending>>,
    /// Replies that do not leave, whatever their time, while there is such a list.
    stuck: Mutex<Option<Vec<Pending>>>,
    is_stuck: AtomicBool,
    /// The power is cut: nothing is done any more.
    is_cut: AtomicBool,
    /// When the timer thread will look at the heap by itself; 0 while it is awake.
    asleep_until: AtomicU64,
    /// The earliest deadline in the heap, for the timer thread's spin.
    earliest: AtomicU64,
    ended: AtomicBool,
    timer_thread: OnceLock<Thread>,
}

impl Scheduler {
    pub(crate) fn start(
        clock: Clock,
        counters: Arc<Counters>,
        buffers: Arc<Buffers>,
        correction: Arc<Correction>,
        placement: Arc<Placement>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            clock,
            counters,
            buffers,
            correction,
            placement,
            heap: Mutex::default(),
            stuck: Mutex::default(),
            is_stuck: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            asleep_until: AtomicU64::new(0),
            earliest: AtomicU64::new(u64::MAX),
            ended: AtomicBool::new(false),
            timer_thread: OnceLock::new(),
        });
        let of_timer = Arc::clone(&shared);
        let timer = std::thread::Builder::new()
            .name("drive-timer".to_owned())
            .spawn(move || of_timer.serve())?;
        let _ = shared.timer_thread.set(timer.thread().clone());
        Ok(Self {
            shared,
            timer: Mutex::new(Some(timer)),
        })
    }

    /// Sends `reply` when its `ticket` is due.
    pub(crate) fn complete(&self, reply: Reply, ticket: Ticket) {
        let shared = &self.shared;
        if shared.is_stuck.load(Ordering::Relaxed) {
            return self.stick(Pending { ticket, reply });
        }
        let wait = ticket.due.saturating_sub(shared.clock.now());
        if wait <= SPIN_NS_IN_READER {
            shared.clock.spin_until(ticket.due.saturating_sub(NEAR_NS));
            shared.send(Pending { ticket, reply });
            return;
        }
        shared.counters.held();
        self.hold(Pending { ticket, reply });
    }

    fn hold(&self, pending: Pending) {
        let shared = &self.shared;
        let due = pending.ticket.due;
        let mut heap = shared.lock();
        // Asked under the lock: what is in the heap before the timer thread ends, it sends.
        if shared.ended.load(Ordering::Acquire) {
            drop(heap);
            return shared.send_held(pending);
        }
        heap.push(pending);
        shared.earliest.fetch_min(due, Ordering::Relaxed);
        drop(heap);
        if due < shared.asleep_until.load(Ordering::Acquire)
            && let Some(timer) = shared.timer_thread.get()
        {
            timer.unpark();
        }
    }

    fn stick(&self, pending: Pending) {
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
        self.shared.ended.store(true, Ordering::Release);
        if let Some(timer) = self.shared.timer_thread.get() {
            timer.unpark();
        }
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

impl Shared {
    fn serve(&self) {
        priority::sharpen_timer();
        self.placement.enter_timer();
        let mut wakeup = WakeupError::default();
        let mut budget = SpinBudget::new(self.clock.now());
        while !self.ended.load(Ordering::Acquire) {
            let alone = self.placement.follows();
            let lead = if budget.allows(self.clock.now(), wakeup.lead_ns(), alone) {
                wakeup.lead_ns()
            } else {
                wakeup.mean_ns()
            };
            match self.take_due_or_announce_sleep(lead) {
                Next::Send(pending) => self.send_held(pending),
                Next::SpinUntilEarliest => self.spin(&mut budget),
                Next::Sleep(until) => self.sleep(until, &mut wakeup),
            }
        }
        let held = std::mem::take(&mut *self.lock());
        for pending in held.into_sorted_vec() {
            self.send_held(pending);
        }
    }

    fn take_due_or_announce_sleep(&self, lead: Nanoseconds) -> Next {
        let mut heap = self.lock();
        let Some(first) = heap.peek() else {
            self.earliest.store(u64::MAX, Ordering::Relaxed);
            self.asleep_until.store(u64::MAX, Ordering::Release);
            return Next::Sleep(u64::MAX);
        };
        let due = first.ticket.due;
        self.earliest.store(due, Ordering::Relaxed);
        let now = self.clock.now();
        if due <= now + NEAR_NS
            && let Some(pending) = heap.pop()
        {
            return Next::Send(pending);
        }
        if due <= now + lead {
            return Next::SpinUntilEarliest;
        }
        self.asleep_until.store(due - lead, Ordering::Release);
        Next::Sleep(due - lead)
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

    fn sleep(&self, until: Nanoseconds, wakeup: &mut WakeupError) {
        if until == u64::MAX {
            std::thread::park();
        } else if let Some(duration) = self.clock.remaining(until) {
            std::thread::park_timeout(duration);
            // Woken before its time, by an earlier deadline, it says nothing about the timer.
            if let Some(error) = self.clock.now().checked_sub(until) {
                wakeup.learn(error);
            }
        }
        self.asleep_until.store(0, Ordering::Release);
    }

    fn send_held(&self, pending: Pending) {
        self.counters.released();
        self.send(pending);
    }

    fn send(&self, pending: Pending) {
        let Pending { ticket, mut reply } = pending;
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

    fn lock_stuck(&self) -> MutexGuard<'_, Option<Vec<Pending>>> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, BinaryHeap<Pending>> {
        self.heap.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Next {
    Send(Pending),
    SpinUntilEarliest,
    Sleep(Nanoseconds),
}
