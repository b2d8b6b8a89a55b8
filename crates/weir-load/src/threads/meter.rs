//! Counts of threads, and the data that they share.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use weir_mysql::ServerError;

use super::{LOOK, StatementKind, lock};
use crate::meter::{ConnectionCounters, Kind, Meter, Phase, ReporterEnd, TransactionTiming};
use crate::reactor_kind::ReactorKind;

/// A meter that several threads share.
#[derive(Debug)]
pub(super) struct Shard {
    meter: Option<Meter<'static>>,
    /// Of its threads.
    counters: Vec<ConnectionCounters>,
}

impl Shard {
    /// A shard of so many threads.
    pub(super) fn new(meter: Meter<'static>, threads: usize) -> Self {
        Self {
            meter: Some(meter),
            counters: vec![ConnectionCounters::default(); threads],
        }
    }

    /// Ends intervals whose time has come; `stops`: and the measurement.
    pub(super) fn tick(&mut self, stops: bool) {
        let Some(meter) = &mut self.meter else {
            return;
        };
        meter.now();
        if stops {
            meter.cut();
        }
        let counters = &self.counters;
        meter.deliver(|| counters.iter().copied());
    }

    /// Sends the rest, with the longest time for which the threads' clock stood still, nanoseconds.
    pub(super) fn finish(&mut self, standstill_ns: u64) {
        if let Some(meter) = self.meter.take() {
            meter.finish(ReporterEnd {
                connections: std::mem::take(&mut self.counters),
                unfinished: 0,
                batch_scheduling: true,
                // Threads wait by themselves.
                reactor: ReactorKind::default(),
                standstill_ns,
            });
        }
    }
}

/// Data that the threads of a run share.
#[derive(Debug)]
pub(super) struct MeterState {
    threads: u32,
    state: Mutex<State>,
    /// A thread is ready, has failed or has left, or all may begin.
    changed: Condvar,
    is_given_up: AtomicBool,
    left: AtomicU32,
    shards: OnceLock<Vec<Mutex<Shard>>>,
}

#[derive(Debug, Default)]
struct State {
    ready: u32,
    has_begun: bool,
}

impl MeterState {
    pub(super) fn new(threads: u32) -> Self {
        Self {
            threads,
            state: Mutex::default(),
            changed: Condvar::new(),
            is_given_up: AtomicBool::new(false),
            left: AtomicU32::new(0),
            shards: OnceLock::new(),
        }
    }

    pub(super) fn shards(&self) -> &[Mutex<Shard>] {
        self.shards.get().map_or(&[], Vec::as_slice)
    }

    /// A thread has failed: none begins another event.
    pub(super) fn give_up(&self) {
        let _state = lock(&self.state);
        self.is_given_up.store(true, Ordering::Relaxed);
        self.changed.notify_all();
    }

    pub(super) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    /// Threads that have not ended their part in the run.
    pub(super) fn running(&self) -> u32 {
        self.threads - self.left.load(Ordering::Relaxed)
    }

    /// Lets all threads begin.
    pub(super) fn begin(&self, shards: Vec<Mutex<Shard>>) {
        // Once in the life of a run.
        let _ = self.shards.set(shards);
        lock(&self.state).has_begun = true;
        self.changed.notify_all();
    }

    /// Waits until all threads are ready, and returns whether they are. Calls `on_late` once when that takes longer than
    /// `limit`.
    pub(super) fn wait_until_ready(
        &self,
        limit: Duration,
        stop: &AtomicBool,
        on_late: &mut dyn FnMut(u32),
    ) -> bool {
        let until = Instant::now() + limit;
        let mut is_told = false;
        let mut state = lock(&self.state);
        loop {
            if stop.load(Ordering::Relaxed) {
                self.is_given_up.store(true, Ordering::Relaxed);
                self.changed.notify_all();
            }
            if self.is_given_up() || state.ready == self.threads {
                return !self.is_given_up();
            }
            if Instant::now() >= until && !is_told {
                is_told = true;
                on_late(self.threads - state.ready);
            }
            state = self.wait(state, LOOK);
        }
    }

    /// A thread is ready; waits for the others, and says whether the run has begun.
    pub(super) fn ready_and_wait(&self) -> bool {
        let mut state = lock(&self.state);
        state.ready += 1;
        self.changed.notify_all();
        while !state.has_begun && !self.is_given_up() {
            state = self.wait(state, Duration::from_secs(1));
        }
        state.has_begun
    }

    /// Waits a moment for all threads to end their part; whether they have.
    pub(super) fn wait_until_left(&self, moment: Duration) -> bool {
        let state = lock(&self.state);
        if self.running() > 0 {
            drop(self.wait(state, moment));
        }
        self.running() == 0
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, moment: Duration) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, moment);
        waited.unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    fn leave(&self) {
        let _state = lock(&self.state);
        if self.left.fetch_add(1, Ordering::Relaxed) + 1 == self.threads {
            self.changed.notify_all();
        }
    }
}

/// A thread's part in a run: when its next event is due, and what it counts. The part ends when this is
/// dropped.
#[derive(Debug)]
pub struct ThreadMeter {
    shared: Arc<MeterState>,
    number: usize,
    /// Time at which the next event is due, where there is a schedule; true if it waited for this thread.
    due: Option<(u64, bool)>,
    /// Of the event that is under way.
    timing: Option<TransactionTiming>,
}

impl ThreadMeter {
    pub(super) fn new(shared: Arc<MeterState>, number: u32) -> Self {
        Self {
            shared,
            number: number as usize,
            due: None,
            timing: None,
        }
    }

    fn with<T>(
        &self,
        otherwise: T,
        act: impl FnOnce(&mut Meter<'static>, &mut ConnectionCounters) -> T,
    ) -> T {
        let shards = self.shared.shards();
        let (place, count) = (self.number % shards.len(), shards.len());
        let mut shard = lock(&shards[place]);
        let Shard { meter, counters } = &mut *shard;
        match (meter, counters.get_mut(self.number / count)) {
            (Some(meter), Some(counters)) => act(meter, counters),
            _ => otherwise,
        }
    }

    /// Returns true if there is another event for this thread; waits until one is due, where they come at a rate.
    pub fn has_more_events(&mut self) -> bool {
        if self.shared.is_given_up() {
            return false;
        }
        let claimed = self.with(None, |meter, _| {
            meter.now();
            let due_ns = meter.claim()?;
            Some((due_ns, meter.has_schedule()))
        });
        let Some((due_ns, has_schedule)) = claimed else {
            return false;
        };
        self.due = has_schedule.then_some((due_ns, true));
        !has_schedule || self.wait_until(due_ns)
    }

    /// Waits until an event is due; whether it still is one.
    fn wait_until(&mut self, due_ns: u64) -> bool {
        loop {
            let now_ns = self.with(None, |meter, _| {
                let now_ns = meter.now();
                (meter.phase() != Phase::Drain).then_some(now_ns)
            });
            let Some(now_ns) = now_ns.filter(|_| !self.shared.is_given_up()) else {
                return false;
            };
            if now_ns >= due_ns {
                return true;
            }
            self.due = Some((due_ns, false));
            std::thread::sleep(Duration::from_nanos(due_ns - now_ns).min(LOOK));
        }
    }

    /// An event begins.
    pub fn begin_event(&mut self) {
        self.drop_event();
        let due = self.due.take();
        let timing = self.with(None, |meter, _| {
            let now_ns = meter.now();
            let (due_ns, waited) = due.unwrap_or((now_ns, false));
            Some(meter.begin(due_ns, waited))
        });
        self.timing = timing;
    }

    /// The event that began last is complete.
    pub fn end_event(&mut self) {
        let Some(timing) = self.timing.take() else {
            return;
        };
        self.with((), |meter, counters| {
            meter.reply_received(None);
            meter.transactions(1, timing);
            if meter.phase() == Phase::Measure {
                counters.transactions += 1;
                counters.busy_ns += meter
                    .reply_received_ns()
                    .saturating_sub(timing.last_attempt_ns);
            }
        });
    }

    /// The event that began last counts for nothing.
    fn drop_event(&mut self) {
        if self.timing.take().is_some() {
            self.with((), |meter, _| meter.give_up());
        }
    }

    /// Counts an event of the script's own count.
    pub fn event(&self) {
        self.with((), |meter, _| meter.count_transaction());
    }

    /// A statement was completed.
    pub fn statement(&self, kind: StatementKind) {
        self.with((), |meter, _| meter.query(kind.into()));
    }

    /// A statement of this kind, by its position in [`SessionKinds`](crate::SessionKinds), was answered after so long.
    pub fn answered(&self, kind: usize, took: Duration) {
        self.with((), |meter, _| {
            meter.reply_received(None);
            let took_ns = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
            let since_ns = meter.reply_received_ns().saturating_sub(took_ns);
            meter.completed(Kind::Statement(kind), since_ns);
        });
    }

    /// A statement failed with an error that does not end the run.
    pub fn error(&self, error: &ServerError) {
        self.with((), |meter, _| {
            meter.now();
            meter.failed_try(error);
        });
    }

    /// A connection was made again.
    pub fn reconnected(&self) {
        self.with((), |meter, _| meter.renewed());
    }

    /// The thread has failed: none begins another event.
    pub fn fail(self) {
        self.shared.give_up();
    }
}

impl Drop for ThreadMeter {
    fn drop(&mut self) {
        self.drop_event();
        self.shared.leave();
    }
}
