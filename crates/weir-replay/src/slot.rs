//! Data that the thread that reads the file and a session share. A slot makes a connection for one captured session
//! after the other.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use weir_capture::CommandEnd;
use weir_model::{ReplayOrder, ReplayPace};

use crate::ReplayOptions;
use crate::commits::Commits;
use crate::item::Item;
use crate::tally::{ReplayedStatement, Tally};

/// Interval at which a slot looks for more when the file's reader is behind, nanoseconds.
const LOOK_NS: u64 = 1_000_000;
/// Time before the end of what was read ahead at which a slot looks, nanoseconds.
const BEFORE_NS: u64 = 500_000_000;

/// All of a replay.
#[derive(Debug)]
pub(crate) struct Stage {
    pub(crate) options: ReplayOptions,
    pub(crate) slots: Vec<Slot>,
    pub(crate) tally: Mutex<Tally>,
    /// When the run began.
    began: OnceLock<Instant>,
    /// Everything before this time of the capture, microseconds, is in the slots.
    fed_us: AtomicU64,
    is_fed: AtomicBool,
    /// Items in all slots.
    waiting: AtomicUsize,
    commits: Commits,
}

/// One connection's place.
#[derive(Debug, Default)]
pub(crate) struct Slot(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    /// Statements of which one half is known: what came of them in the capture, or in the replay.
    halves: HashMap<u64, Half>,
}

/// Outcome of a statement in the capture.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CapturedOutcome {
    pub(crate) ended: CommandEnd,
    pub(crate) took_us: u64,
    /// The number of the writing transaction that it ended.
    pub(crate) commit: Option<u64>,
    /// Number of the last of the writing transactions that it may have waited for, as it wanted their rows; 0: of none.
    pub(crate) after: u64,
}

#[derive(Debug)]
enum Half {
    Captured(CapturedOutcome),
    Replayed(ReplayedStatement),
    NotSent,
}

impl Stage {
    pub(crate) fn new(options: ReplayOptions, slots: u32, fingerprints: usize) -> Self {
        Self {
            options,
            slots: (0..slots).map(|_| Slot::default()).collect(),
            tally: Mutex::new(Tally::new(fingerprints)),
            began: OnceLock::new(),
            fed_us: AtomicU64::new(0),
            is_fed: AtomicBool::new(false),
            waiting: AtomicUsize::new(0),
            commits: Commits::default(),
        }
    }

    pub(crate) fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run is this old.
    pub(crate) fn ticked(&self, now_ns: u64) {
        self.began.get_or_init(|| {
            let age = std::time::Duration::from_nanos(now_ns);
            Instant::now().checked_sub(age).unwrap_or_else(Instant::now)
        });
    }

    /// Returns the age of the run, nanoseconds; 0 before it begins.
    pub(crate) fn age_ns(&self) -> u64 {
        let age = self.began.get().map(Instant::elapsed);
        age.map_or(0, |age| u64::try_from(age.as_nanos()).unwrap_or(u64::MAX))
    }

    /// Everything up to this time is in the slots.
    pub(crate) fn fed(&self, until_us: u64) {
        self.fed_us.store(until_us, Ordering::Release);
    }

    /// Everything is in the slots.
    pub(crate) fn fed_all(&self) {
        self.is_fed.store(true, Ordering::Release);
    }

    pub(crate) fn is_fed(&self) -> bool {
        self.is_fed.load(Ordering::Acquire)
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    /// When a slot without items looks again.
    pub(crate) fn look_ns(&self, now_ns: u64) -> u64 {
        let soon_ns = now_ns + LOOK_NS;
        if self.options.pace == ReplayPace::Fast {
            return soon_ns;
        }
        let fed_ns = self.options.due_ns(self.fed_us.load(Ordering::Acquire));
        soon_ns.max(fed_ns.saturating_sub(BEFORE_NS))
    }

    pub(crate) fn push(&self, slot: usize, item: Item) {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        self.slots[slot].state().items.push_back(item);
    }

    /// Takes a slot's next item.
    pub(crate) fn pop(&self, slot: usize) -> Option<Item> {
        let item = self.slots[slot].state().items.pop_front();
        if item.is_some() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        item
    }

    /// Looks at a slot's next item.
    pub(crate) fn peek<T>(&self, slot: usize, look: impl FnOnce(&Item) -> T) -> Option<T> {
        self.slots[slot].state().items.front().map(look)
    }

    /// Records the outcome of a statement in the capture.
    pub(crate) fn captured(&self, slot: usize, number: u64, captured: CapturedOutcome) {
        let other = {
            let mut state = self.slots[slot].state();
            let other = state.halves.remove(&number);
            if other.is_none() {
                let half = Half::Captured(captured);
                state.halves.insert(number, half);
            }
            other
        };
        match other {
            Some(Half::Replayed(came)) => self.met(captured, Some(came)),
            Some(Half::NotSent) => self.met(captured, None),
            Some(Half::Captured(_)) | None => {}
        }
    }

    /// Returns true if a statement that has just been answered failed in the capture with this error. The file is read
    /// so far ahead that its end there is known, unless it took seconds longer there.
    pub(crate) fn had_error(&self, slot: usize, number: u64, code: u16) -> bool {
        let state = self.slots[slot].state();
        let half = state.halves.get(&number);
        matches!(half, Some(Half::Captured(captured)) if captured.ended.error == Some(code))
    }

    /// Returns true if a statement waits for transactions that ended before it in the capture.
    pub(crate) fn is_held(&self, after: u64) -> bool {
        self.options.order == ReplayOrder::Commit && after > self.commits.all_up_to()
    }

    /// Returns true if the slot's next statement waits for such transactions.
    pub(crate) fn holds_next(&self, slot: usize) -> bool {
        if self.options.order != ReplayOrder::Commit {
            return false;
        }
        let state = self.slots[slot].state();
        let Some(Item::Ask(ask)) = state.items.front() else {
            return false;
        };
        // A statement that wants rows comes after the transactions that had them in the capture, too: until these ended,
        // it did not end.
        let after = match state.halves.get(&ask.number) {
            Some(Half::Captured(captured)) => ask.after.max(captured.after),
            _ => ask.after,
        };
        let is_known = !ask.wants_rows
            || self.options.pace != ReplayPace::Fast
            || state.halves.contains_key(&ask.number)
            || self.is_fed();
        !is_known || self.is_held(after)
    }

    /// Records the outcome of a statement in the replay; `None`: it was not sent.
    pub(crate) fn replayed(&self, slot: usize, number: u64, came: Option<ReplayedStatement>) {
        let other = {
            let mut state = self.slots[slot].state();
            let other = state.halves.remove(&number);
            if other.is_none() {
                let half = came.map_or(Half::NotSent, Half::Replayed);
                state.halves.insert(number, half);
            }
            other
        };
        if let Some(Half::Captured(captured)) = other {
            self.met(captured, came);
        }
    }

    /// Both halves of a statement are known; `None`: it was not sent.
    fn met(&self, captured: CapturedOutcome, came: Option<ReplayedStatement>) {
        if let Some(commit) = captured.commit {
            self.commits.ended(commit);
        }
        let mut tally = self.tally();
        tally.took(captured.took_us, came.is_some());
        if let Some(came) = came {
            tally.compare(captured.ended, came);
        }
    }
}

impl Slot {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
